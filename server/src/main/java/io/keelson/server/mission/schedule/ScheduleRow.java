package io.keelson.server.mission.schedule;

import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A stored schedule.
 *
 * @param runsMade for times of its own; without manual runs and backfills
 * @param timesMissed within the window, that made no run
 * @param nextRunAt null when it is paused or over
 * @param version incremented by each change of a user
 */
public record ScheduleRow(UUID id, UUID workspaceId, ScheduleSpec spec, int runsMade, int timesMissed, boolean paused,
        @Nullable Instant nextRunAt, int version, String createdBy, Instant createdAt, Instant updatedAt) {

    /** How many runs it may still make. */
    public int left() {
        Integer most = spec.maxRuns();
        return most == null ? Integer.MAX_VALUE : Math.max(0, most - runsMade);
    }
}
