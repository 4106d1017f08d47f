package io.keelson.api.schedule;

import io.keelson.api.Shape.Default;
import io.keelson.api.Shape.OneOf;
import io.keelson.api.Shape.Range;
import io.keelson.api.Shape.Request;
import io.keelson.api.Shape.Text;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Creates or replaces a schedule. It has either a recipe or a mission.
 *
 * @param name unique in the workspace
 * @param cron five fields, or a name such as @daily
 * @param timeZone of the IANA's, such as Europe/Berlin
 * @param recipe a recipe by its name or id; or a mission is given
 * @param mission as in a mission file, without members of a single run
 * @param inputs values of inputs, by name
 * @param overlap policy for a time at which a run of the schedule is open
 * @param catchUp policy for times that were missed without a server
 * @param catchUpWindowSeconds maximum age of a missed time that is caught up, in seconds
 * @param jitterSeconds maximum delay of a run after its time, in seconds
 * @param endAt last possible time
 * @param maxRuns maximum number of runs
 * @param paused whether it waits; if absent false for a new schedule, unchanged for another
 */
@Request
public record ScheduleDefinition(@Text(format = "name", pattern = "\\S", max = 200) String name,
        @Text(format = "cron", pattern = "\\S", max = 250) String cron,
        @Default("UTC") @Text(format = "time-zone", max = 60) String timeZone, @Nullable @Text(max = 200) String recipe,
        @Nullable ObjectNode mission, @Default("{}") ObjectNode inputs,
        @Default("skip") @OneOf({
                "allow", "skip", "queue", "cancel_running"}) String overlap,
        @Default("latest") @OneOf({"skip", "latest", "all"}) String catchUp,
        @Default("86400") @Range(min = 60, max = 2_678_400) long catchUpWindowSeconds,
        @Default("0") @Range(min = 0, max = 86_400) long jitterSeconds, @Nullable Instant endAt,
        @Nullable @Range(min = 1) Integer maxRuns, @Nullable Boolean paused) {

    public ScheduleDefinition {
        cron = cron.strip();
        inputs = inputs == null ? JsonNodeFactory.instance.objectNode() : inputs;
    }
}
