package io.keelson.api.schedule;

import io.keelson.api.Shape.Id;
import io.keelson.api.Shape.OneOf;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A time of a schedule and its outcome.
 *
 * @param scheduleId id of the schedule
 * @param scheduledFor time of the schedule
 * @param kind source of the time
 * @param state outcome of the time
 * @param runId id of the run, which exists if the state is {@code made}
 * @param fireAt time at which the run is made, jitter included
 * @param errorCode why no run could be made; null without an error
 * @param errorMessage message of the error; null without one
 * @param decidedAt time of the decision; null while it is open
 */
public record ScheduledTime(@Id String scheduleId, Instant scheduledFor,
        @OneOf({"cron", "manual", "backfill"}) String kind,
        @OneOf({"due", "queued", "made", "skipped", "failed"}) String state, @Id String runId, Instant fireAt,
        @Nullable String errorCode, @Nullable String errorMessage, @Nullable Instant decidedAt) {}
