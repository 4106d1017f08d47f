package io.keelson.server.http.definitions;

import io.keelson.core.schedule.CatchUp;
import io.keelson.core.schedule.Cron;
import io.keelson.core.schedule.Overlap;
import io.keelson.server.http.support.ApiProblem;
import io.keelson.server.http.support.Fields;
import io.keelson.server.http.support.IdKind;
import io.keelson.server.http.support.Json;
import io.keelson.server.http.support.RunSubmissions;
import io.keelson.server.json.Excerpt;
import io.keelson.server.recipe.RecipeRow;
import io.keelson.server.schedule.ScheduleSpec;
import io.keelson.server.submission.RecipeMissions;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The body that makes or changes a schedule. What it makes runs of is judged as if it made one now. */
final class ScheduleBody {

    private static final int MAX_NAME = 200;
    private static final int MAX_TEXT = 250;
    private static final int MAX_ZONE = 60;
    private static final long DAY = 86_400;
    private static final long LONGEST_WINDOW = 31 * DAY;
    private static final List<String> OVERLAPS = Arrays.stream(Overlap.values()).map(Overlap::wire).toList();
    private static final List<String> CATCH_UPS = Arrays.stream(CatchUp.values()).map(CatchUp::wire).toList();

    private ScheduleBody() {}

    /** @param paused as requested */
    record Asked(ScheduleSpec spec, boolean paused) {}

    /**
     * @param paused what it is where the body does not say
     * @throws ApiProblem listing what is wrong
     */
    static Asked read(Fields fields, UUID workspace, RecipeMissions missions, boolean paused) {
        String name = fields.text("name", MAX_NAME);
        String cron = fields.text("cron", MAX_TEXT);
        if (!cron.isBlank() && Cron.read(cron) instanceof Cron.Reading.Refused(String why)) {
            fields.problem("INVALID_CRON", "cron", why);
        }
        String zone = zone(fields);
        String overlap = fields.word("overlap", OVERLAPS, Overlap.SKIP.wire());
        String catchUp = fields.word("catch_up", CATCH_UPS, CatchUp.LATEST.wire());
        Duration window = Duration.ofSeconds(fields.integer("catch_up_window_seconds", 60, LONGEST_WINDOW, DAY));
        Duration jitter = Duration.ofSeconds(fields.integer("jitter_seconds", 0, DAY, 0));
        Instant end = time(fields, "end_at");
        Long most = fields.optionalInteger("max_runs", 1, Integer.MAX_VALUE);
        boolean rests = fields.flag("paused", paused);
        String recipe = fields.optionalText("recipe", MAX_NAME);
        JsonNode inputs = fields.any("inputs");
        JsonNode mission = fields.any("mission");
        if (IdKind.SCHEDULE.parse(name) != null) {
            fields.problem("INVALID_VALUE", "name", "a name may not look like an id");
        }
        if ((recipe == null) == (mission == null)) {
            fields.problem("REQUIRED", "recipe", "exactly one of recipe and mission is required");
        }
        if (inputs != null && !inputs.isObject()) {
            fields.problem("WRONG_TYPE", "inputs", "must be an object");
        }
        if (mission != null && !mission.isObject()) {
            fields.problem("WRONG_TYPE", "mission", "must be an object");
        }
        fields.done();
        ScheduleSpec spec = new ScheduleSpec(name, recipe == null ? null : recipe(missions, workspace, recipe),
                inputs instanceof ObjectNode values ? values : Json.object(), (ObjectNode) mission, cron.strip(), zone,
                Overlap.of(overlap), CatchUp.of(catchUp), window, jitter, end,
                most == null ? null : Integer.valueOf(most.intValue()));
        var _ = RunSubmissions.value(missions.ofSchedule(workspace, spec, "cron"));
        return new Asked(spec, rests);
    }

    private static UUID recipe(RecipeMissions missions, UUID workspace, String named) {
        return missions.find(workspace, named).map(RecipeRow::id)
                .orElseThrow(() -> ApiProblem.of(List.of(RecipeMissions.unknownRecipe(named))));
    }

    private static String zone(Fields fields) {
        String zone = fields.optionalText("time_zone", MAX_ZONE);
        if (zone != null && !ZoneId.getAvailableZoneIds().contains(zone)) {
            fields.problem("INVALID_VALUE", "time_zone", "'" + Excerpt.piece(zone)
                    + "' is not an IANA time zone such as Europe/Berlin or UTC");
        }
        return zone == null ? "UTC" : zone;
    }

    /** A time with its offset; null where there is none. */
    static @Nullable Instant time(Fields fields, String key) {
        String text = fields.optionalText(key, MAX_ZONE);
        if (text == null) {
            return null;
        }
        try {
            OffsetDateTime time = OffsetDateTime.parse(text);
            if (time.getYear() > 1970 && time.getYear() < 10_000) {
                return time.toInstant();
            }
        } catch (DateTimeException e) {
            // said below, as a year that cannot be
        }
        fields.problem("INVALID_VALUE", key, "must be a time with its offset (RFC 3339), such as 2026-12-01T06:00:00Z");
        return null;
    }
}
