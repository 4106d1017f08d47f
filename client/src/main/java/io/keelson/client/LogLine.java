package io.keelson.client;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A line that a step's executor wrote.
 *
 * @param seq rises within the step: its lease epoch times a million, plus the line's number
 * @param attempt the step's attempt that wrote it
 */
public record LogLine(long seq, int attempt, String message, @Nullable Instant createdAt) {}
