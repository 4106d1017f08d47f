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
 * @param recipe what it makes runs of; null where it has a mission of its own
 * @param inputs values of the recipe's inputs
 * @param mission in the shape of a mission file; null where it has a recipe
 * @param window how long ago a time may have been missed and still be made up for
 * @param jitter a run begins up to so much after its time
 * @param endAt no time after it; null if absent
 * @param maxRuns so many runs are made, then no more; null for any number
 */
public record ScheduleSpec(String name, @Column("recipe_id") @Nullable UUID recipe, ObjectNode inputs,
        @Nullable ObjectNode mission, String cron, String timeZone, Overlap overlap, CatchUp catchUp,
        @Column("catch_up_window_seconds") Duration window, @Column("jitter_seconds") Duration jitter,
        @Nullable Instant endAt, @Nullable Integer maxRuns) {

    /** When it is due. */
    public DueTimes.Rule rule() {
        return new DueTimes.Rule(Cron.known(cron), ZoneId.of(timeZone), catchUp, window, endAt);
    }
}
