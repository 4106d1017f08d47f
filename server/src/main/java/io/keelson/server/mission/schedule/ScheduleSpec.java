package io.keelson.server.mission.schedule;

import io.keelson.core.schedule.CatchUp;
import io.keelson.core.schedule.Cron;
import io.keelson.core.schedule.DueTimes;
import io.keelson.core.schedule.Overlap;
import io.keelson.server.base.db.RecordColumns.Column;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * The validated specification of a schedule: its components are the columns of {@code schedules} that users set.
 *
 * @param name unique in its workspace
 * @param recipe the recipe of its runs; null if it has a mission of its own
 * @param inputs values of the recipe's inputs
 * @param mission in the shape of a mission file; null if it has a recipe
 * @param window maximum age of a missed time that is still made up for
 * @param jitter maximum delay of a run after its time
 * @param endAt no time after it; null if absent
 * @param maxRuns maximum number of runs; null if unlimited
 */
public record ScheduleSpec(String name, @Column("recipe_id") @Nullable UUID recipe, ObjectNode inputs,
        @Nullable ObjectNode mission, String cron, String timeZone, Overlap overlap, CatchUp catchUp,
        @Column("catch_up_window_seconds") Duration window, @Column("jitter_seconds") Duration jitter,
        @Nullable Instant endAt, @Nullable Integer maxRuns) {

    /** When it is due. */
    public DueTimes.Rule rule() {
        return new DueTimes.Rule(Cron.parseValid(cron), ZoneId.of(timeZone), catchUp, window, endAt);
    }
}
