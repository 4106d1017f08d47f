package io.keelson.client;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * An agent of one run.
 *
 * @param number in the run, from 1
 * @param name null for the run's default agent
 * @param attempt the run's attempt that it belongs to
 * @param attemptNumber its own attempt, which rises when it starts over
 * @param failureIgnored true when it failed and the run continued without it
 * @param nextRunAt when it starts over; null when it does not
 * @param completedAt the last agent of a run ends with the run, after its result was accepted; null while it is open
 * @param tasksEndedAt when the last of its tasks ended; null while one is open
 */
public record RunAgent(String id, int number, @Nullable String name, int attempt, int attemptNumber, String state,
        boolean failureIgnored, @Nullable Instant nextRunAt, @Nullable Instant startedAt,
        @Nullable Instant completedAt, @Nullable Instant tasksEndedAt) {}
