package io.keelson.api.run;

import io.keelson.api.Shape.Range;
import java.time.Instant;

/**
 * A line that a step's executor wrote.
 *
 * @param seq rises within the step; numbers may be left out
 * @param attempt the step's attempt
 * @param message text of the line
 * @param createdAt time of the line
 */
public record LogLine(@Range(min = 1) long seq, @Range(min = 0) int attempt, String message, Instant createdAt) {}
