package io.keelson.client;

import java.math.BigDecimal;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What became of a task or of a run's attempt.
 *
 * @param type {@code incident} for what failed; else {@code summary} for a run, and as its kind of work says for a task:
 *     {@code research}, {@code delivery}, {@code audit} or {@code summary}
 * @param attempt the run's
 * @param taskId null when it is about the run
 * @param agent name of the agent in the plan
 * @param state in which the task or the run ended
 * @param cost USD
 * @param content Markdown; null in lists
 */
public record Report(String id, String type, String title, @Nullable String runId, @Nullable Integer attempt,
        @Nullable String taskId, @Nullable String agent, @Nullable String state, long tokens, BigDecimal cost,
        @Nullable Long durationMs, @Nullable String content, Instant createdAt) {}
