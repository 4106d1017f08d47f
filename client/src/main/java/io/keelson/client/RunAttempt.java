package io.keelson.client;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * One attempt of a run. The end of an attempt is immutable; a retry opens the next one.
 *
 * @param attemptNumber from 1
 */
public record RunAttempt(int attemptNumber, String state, @Nullable Instant startedAt, @Nullable Instant completedAt,
        @Nullable String errorCode, @Nullable String errorMessage) {}
