package io.keelson.core.run;

import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The origin of the trace of a run's attempt.
 *
 * @param given position in the caller's trace; null where the caller gave none
 */
public record RunTrace(UUID run, int attempt, @Nullable TraceParent given) {}
