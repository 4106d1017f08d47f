package io.keelson.server.outlet.board;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A report.
 *
 * @param type {@code standup}, {@code research}, {@code incident}, {@code summary}, {@code delivery} or {@code audit}
 * @param runId null for one that is about no run
 * @param attempt the run's
 * @param taskId the task that it is about; null when it is about the run, or no longer there
 * @param subject the run or the task, also once that is gone; the report itself where it is about neither
 * @param agent name of the agent in the plan; null if absent
 * @param state in which the task or the run ended
 * @param cost credits
 * @param content Markdown that was put there; empty in lists, and where a run's or a task's is made when it is read
 */
public record AgentReport(UUID id, String type, String title, @Nullable UUID runId, @Nullable Integer attempt,
        @Nullable UUID taskId, UUID subject, @Nullable String agent, @Nullable String state, long tokens,
        BigDecimal cost,
        @Nullable Long durationMs, String content, Instant createdAt) {}
