package io.keelson.core.run;

import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What the trace of a run's attempt follows from.
 *
 * @param given where whoever made the run was in a trace of theirs; null where they did not say
 */
public record RunTrace(UUID run, int attempt, @Nullable TraceParent given) {}
