package io.keelson.client;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * An agent at work in one run.
 *
 * @param attempt the run's attempt that it belongs to
 */
public record RunAgent(String id, @Nullable String name, int attempt, String state, @Nullable Instant startedAt,
        @Nullable Instant completedAt) {}
