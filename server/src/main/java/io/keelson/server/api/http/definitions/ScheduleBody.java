package io.keelson.server.api.http.definitions;

import io.keelson.core.schedule.CatchUp;
import io.keelson.core.schedule.Overlap;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.IdKind;
import io.keelson.server.api.http.support.SubmissionMapping;
import io.keelson.server.base.json.Json;
import io.keelson.server.mission.recipe.RecipeRow;
import io.keelson.server.mission.schedule.ScheduleSpec;
import io.keelson.server.mission.submission.RecipeMissions;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * The body that creates or replaces a schedule.
 *
 * @param paused null leaves it as it is
 */
record ScheduleBody(String name, String cron, String timeZone, @Nullable String recipe, @Nullable ObjectNode mission,
        @Nullable ObjectNode inputs, String overlap, String catchUp, long catchUpWindowSeconds, long jitterSeconds,
        @Nullable Instant endAt, @Nullable Integer maxRuns, @Nullable Boolean paused) {

    /**
     * The schedule that it describes. Its mission is checked as if a run of it were created now.
     *
     * @throws ApiProblem listing all problems
     */
    ScheduleSpec spec(UUID workspace, RecipeMissions missions) {
        if (IdKind.SCHEDULE.parse(name) != null) {
            throw ApiProblem.of("INVALID_VALUE", "/name", "a name may not look like an id");
        }
        if ((recipe == null) == (mission == null)) {
            throw ApiProblem.of("REQUIRED", "/recipe", "exactly one of recipe and mission is required");
        }
        ScheduleSpec spec = new ScheduleSpec(name, recipe == null ? null : recipe(missions, workspace, recipe),
                inputs == null ? Json.object() : inputs, mission, cron.strip(), timeZone, Overlap.of(overlap),
                CatchUp.of(catchUp), Duration.ofSeconds(catchUpWindowSeconds), Duration.ofSeconds(jitterSeconds),
                endAt, maxRuns);
        var _ = SubmissionMapping.value(missions.ofSchedule(workspace, spec, "cron"));
        return spec;
    }

    private static UUID recipe(RecipeMissions missions, UUID workspace, String named) {
        return missions.find(workspace, named).map(RecipeRow::id)
                .orElseThrow(() -> ApiProblem.of(List.of(RecipeMissions.unknownRecipe(named))));
    }
}
