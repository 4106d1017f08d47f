package io.keelson.client;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * One time of a schedule, and its result.
 *
 * @param kind {@code cron}, {@code manual} or {@code backfill}
 * @param state {@code due}, {@code queued}, {@code made}, {@code skipped} or {@code failed}
 * @param runId such a run exists if the state is {@code made}
 * @param errorCode why no run could be made; null otherwise
 */
public record ScheduledTime(String scheduleId, Instant scheduledFor, String kind, String state, String runId,
        Instant fireAt, @Nullable String errorCode, @Nullable String errorMessage, @Nullable Instant decidedAt) {}
