package io.keelson.server.outlet.board;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A report.
 *
 * @param type {@code standup}, {@code research}, {@code incident}, {@code summary}, {@code delivery} or {@code audit}
 * @param runId null if it is not about a run
 * @param attempt the run's
 * @param taskId the task; null for a report about a run, or if the task was deleted
 * @param subject the run or the task, also after its deletion; otherwise the report itself
 * @param agent name of the agent in the plan; null if absent
 * @param state in which the task or the run ended
 * @param cost credits
 * @param content stored Markdown; empty in lists, and for reports that are generated when they are read
 */
public record AgentReport(UUID id, String type, String title, @Nullable UUID runId, @Nullable Integer attempt,
        @Nullable UUID taskId, UUID subject, @Nullable String agent, @Nullable String state, long tokens,
        BigDecimal cost,
        @Nullable Long durationMs, String content, Instant createdAt) {}
