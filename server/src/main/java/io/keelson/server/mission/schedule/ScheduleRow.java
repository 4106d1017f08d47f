package io.keelson.server.mission.schedule;

import io.keelson.api.schedule.Schedule;
import io.keelson.api.schedule.ScheduleDefinition;
import io.keelson.core.schedule.CatchUp;
import io.keelson.core.schedule.Cron;
import io.keelson.core.schedule.DueTimes;
import io.keelson.core.schedule.Overlap;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A stored schedule, and the rules that follow from it.
 *
 * @param shown its row; in lists without its mission and longer inputs
 */
public record ScheduleRow(Schedule shown) {

    public UUID id() {
        return UUID.fromString(shown.id());
    }

    public UUID workspaceId() {
        return UUID.fromString(shown.workspaceId());
    }

    /** The recipe of its runs; null if it has a mission of its own. */
    public @Nullable UUID recipe() {
        String recipe = shown.recipeId();
        return recipe == null ? null : UUID.fromString(recipe);
    }

    public Overlap overlap() {
        return Overlap.of(shown.overlap());
    }

    /** Maximum delay of a run after its time. */
    public Duration jitter() {
        return Duration.ofSeconds(shown.jitterSeconds());
    }

    /** When it is due. */
    public DueTimes.Rule rule() {
        return new DueTimes.Rule(Cron.parseValid(shown.cron()), ZoneId.of(shown.timeZone()),
                CatchUp.of(shown.catchUp()), Duration.ofSeconds(shown.catchUpWindowSeconds()), shown.endAt());
    }

    /** When a schedule of that definition is due. */
    static DueTimes.Rule rule(ScheduleDefinition given) {
        return new DueTimes.Rule(Cron.parseValid(given.cron()), ZoneId.of(given.timeZone()),
                CatchUp.of(given.catchUp()), Duration.ofSeconds(given.catchUpWindowSeconds()), given.endAt());
    }

    /** How many runs it may still make. */
    public int left() {
        return runsLeft(shown.maxRuns());
    }

    /** How many runs it may still make if this is the maximum; null if unlimited. */
    int runsLeft(@Nullable Integer most) {
        return most == null ? Integer.MAX_VALUE : Math.max(0, most - shown.runsMade());
    }

    /** Null when it is paused or over. */
    public @Nullable Instant nextRunAt() {
        return shown.nextRunAt();
    }
}
