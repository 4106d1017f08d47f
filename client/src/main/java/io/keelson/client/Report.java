package io.keelson.client;

import java.math.BigDecimal;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A report on a task or a run's attempt.
 *
 * @param type {@code summary} for a run; for a task {@code incident} where it failed, else as its kind of work says:
 *     {@code research}, {@code delivery}, {@code audit} or {@code summary}
 * @param attempt the run's
 * @param taskId null when it is about the run
 * @param agent name of the agent in the plan
 * @param state in which the task or the run ended
 * @param failures of a run, how many of its tasks and steps failed although it may be completed; null for a task's report
 * @param cost credits
 * @param content Markdown; null in lists
 */
public record Report(String id, String type, String title, @Nullable String runId, @Nullable Integer attempt,
        @Nullable String taskId, @Nullable String agent, @Nullable String state,
        @Nullable Integer failures, long tokens, BigDecimal cost, @Nullable Long durationMs, @Nullable String content,
        Instant createdAt) {

    /** Whether it is about a run that completed with failures. */
    public boolean completedWithFailures() {
        return failures != null && failures > 0 && ("completed".equals(state) || "skipped".equals(state));
    }
}
