package io.keelson.server.api.http.definitions;

import io.keelson.api.schedule.Schedule;
import io.keelson.api.schedule.ScheduleDefinition;
import io.keelson.api.schedule.ScheduledTime;
import io.keelson.core.schedule.CatchUp;
import io.keelson.core.schedule.Overlap;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.IdKind;
import io.keelson.server.api.http.support.SubmissionMapping;
import io.keelson.server.base.json.Json;
import io.keelson.server.mission.recipe.RecipeRow;
import io.keelson.server.mission.schedule.ScheduleRow;
import io.keelson.server.mission.schedule.ScheduleSpec;
import io.keelson.server.mission.schedule.ScheduledTimeRow;
import io.keelson.server.mission.submission.RecipeMissions;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.UUID;

/** Schedules of the API to those of the store, and back. */
final class ScheduleMapping {

    private ScheduleMapping() {}

    /**
     * The specification of a definition. Its mission is checked as if a run of it were created now.
     *
     * @throws ApiProblem that lists all problems
     */
    static ScheduleSpec spec(ScheduleDefinition body, UUID workspace, RecipeMissions missions) {
        if (IdKind.SCHEDULE.parse(body.name()) != null) {
            throw ApiProblem.of("INVALID_VALUE", "/name", "a name may not look like an id");
        }
        if ((body.recipe() == null) == (body.mission() == null)) {
            throw ApiProblem.of("REQUIRED", "/recipe", "exactly one of recipe and mission is required");
        }
        ScheduleSpec spec = new ScheduleSpec(body.name(),
                body.recipe() == null ? null : recipe(missions, workspace, body.recipe()),
                Objects.requireNonNullElseGet(body.inputs(), Json::object), body.mission(), body.cron().strip(),
                body.timeZone(), Overlap.of(body.overlap()), CatchUp.of(body.catchUp()),
                Duration.ofSeconds(body.catchUpWindowSeconds()), Duration.ofSeconds(body.jitterSeconds()), body.endAt(),
                body.maxRuns());
        var _ = SubmissionMapping.value(missions.ofSchedule(workspace, spec, "cron"));
        return spec;
    }

    private static UUID recipe(RecipeMissions missions, UUID workspace, String named) {
        return missions.find(workspace, named).map(RecipeRow::id)
                .orElseThrow(() -> ApiProblem.of(List.of(RecipeMissions.unknownRecipe(named))));
    }

    static Schedule schedule(ScheduleRow row) {
        ScheduleSpec spec = row.spec();
        return new Schedule(row.id().toString(), row.workspaceId().toString(), spec.name(),
                Objects.toString(spec.recipe(), null), spec.inputs(), null, spec.mission(), spec.cron(),
                spec.timeZone(), spec.overlap().wire(), spec.catchUp().wire(), spec.window().toSeconds(),
                spec.jitter().toSeconds(), spec.endAt(), spec.maxRuns(), row.paused(), row.nextRunAt(), row.runsMade(),
                row.timesMissed(), row.version(), row.createdBy(), row.createdAt(), row.updatedAt());
    }

    static ScheduledTime time(ScheduledTimeRow row) {
        return new ScheduledTime(row.scheduleId().toString(), row.scheduledFor(), row.kind().wire(), row.state().wire(),
                row.runId().toString(), row.fireAt(), row.errorCode(), row.errorMessage(), row.decidedAt());
    }
}
