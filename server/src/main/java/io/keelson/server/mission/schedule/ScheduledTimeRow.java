package io.keelson.server.mission.schedule;

import java.time.Instant;
import java.util.Locale;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * One time of a schedule and its outcome.
 *
 * @param runId of the run that is made for it, known before there is one
 * @param fireAt when it is made: the time, and jitter
 * @param decidedAt null while it is open
 */
public record ScheduledTimeRow(UUID scheduleId, Instant scheduledFor, Kind kind, UUID runId, Instant fireAt,
        State state,
        @Nullable String errorCode, @Nullable String errorMessage, @Nullable Instant decidedAt) {

    /** Why there is such a time. */
    public enum Kind {
        CRON, MANUAL, BACKFILL;

        private final String wire = name().toLowerCase(Locale.ROOT);

        public String wire() {
            return wire;
        }
    }

    /** The outcome of the time. */
    public enum State {
        DUE,
        /** Waits for another run of the schedule to end. */
        QUEUED, MADE,
        /** Another run was open, the schedule was paused, or it has made all of its runs. */
        SKIPPED,
        /** No run could be made. */
        FAILED;

        private final String wire = name().toLowerCase(Locale.ROOT);

        public String wire() {
            return wire;
        }
    }
}
