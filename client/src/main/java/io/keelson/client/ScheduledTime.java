package io.keelson.client;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * One time of a schedule, and what became of it.
 *
 * @param kind {@code cron}, {@code manual} or {@code backfill}
 * @param state {@code due}, {@code queued}, {@code made}, {@code skipped} or {@code failed}
 * @param runId there is such a run where it is {@code made}
 * @param errorCode why no run could be made; null otherwise
 */
public record ScheduledTime(String scheduleId, Instant scheduledFor, String kind, String state, String runId,
        Instant fireAt, @Nullable String errorCode, @Nullable String errorMessage, @Nullable Instant decidedAt) {}
