package io.keelson.client;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A run as the server shows it. JSON components are never Java null: an absent value is a JSON null. Money is in
 * credits ({@code totalCost}) or credits; durations in milliseconds.
 *
 * @param state one of the run states of {@code GET /lifecycles}; more may be added
 * @param stateType {@code pending}, {@code running}, {@code paused} or {@code terminal}
 * @param priority lower goes first
 * @param inputs the values that the run works with, defaults filled in; JSON null in a list, as are plan and output
 * @param planVersion rises with every re-planning, from 1
 * @param replans re-plannings of the attempt
 * @param gate the gate that a running run waits for, in addition to its tasks: {@code none}, {@code replanning},
 *            {@code replan_approved} or {@code acceptance}
 * @param openEscalations tickets that wait for an answer
 * @param waitsForHumans decisions that only people can take and that are due now, tickets included
 * @param forkedFrom the run that it was forked from; null if absent
 * @param parentRunId the run whose step {@code parentStepId} has started it; null if absent
 * @param childCount the number of its child runs
 * @param startAt the scheduled start; null for a start by command
 * @param recipeId its recipe, in {@code recipeVersion}; null if absent
 * @param scheduleId the schedule that made it, for the time {@code scheduledFor}; null if absent
 * @param failures tasks that failed, and steps that failed in tasks that continued without them; while the run
 *            continues, the failed tasks so far
 * @param creditsReserved reserved by all of its attempts
 * @param creditsCharged by all of its attempts, the open one included
 * @param creditsRefunded what ended attempts did not need
 * @param creditsUncollected what its steps cost beyond what could be charged
 * @param hardLimitUsd current limit of the cost of all attempts together; null for no limit
 * @param softLimitUsd current amount at which one warning is sent; null if absent
 * @param taskBudgets of the tasks that have one
 * @param createdBy the principal that submitted it
 * @param cancelledAt {@code completedAt} of a cancelled run; null for others
 * @param durationMs from its first start to its end, without {@code endedMs}; null while it is open
 * @param endedMs for how long it had ended before its retries
 * @param activeMs how long it was at work in its present attempt, without the time that it was held up; null while it
 *            is at work
 * @param versionId rises with every change of the run
 */
public record Run(String id, String workspaceId, String name, @Nullable String externalId, @Nullable String goal,
        String state, String stateType,
        int priority, @Nullable String trigger, JsonNode plan, JsonNode config, JsonNode inputs, JsonNode tags,
        int attemptNumber, int maxAttempts, int planVersion, int replans, @Nullable String gate, int openEscalations,
        int waitsForHumans,
        @Nullable String forkedFrom, @Nullable String forkTask, @Nullable String parentRunId,
        @Nullable String parentStepId, int childCount, @Nullable Instant startAt, @Nullable String recipeId,
        @Nullable Integer recipeVersion, @Nullable String scheduleId, @Nullable Instant scheduledFor, int taskCount,
        int tasksCompleted, int tasksFailed, int failures,
        int stepsTotal,
        int stepsCompleted, int agentCount, @Nullable BigDecimal creditsReserved, @Nullable BigDecimal creditsCharged,
        @Nullable BigDecimal creditsRefunded, @Nullable BigDecimal creditsUncollected,
        @Nullable BigDecimal hardLimitUsd, @Nullable BigDecimal softLimitUsd,
        List<TaskBudget> taskBudgets, long totalTokens, @Nullable TokenUsage usage,
        @Nullable BigDecimal totalCost,
        @Nullable String resultSummary, JsonNode output, @Nullable String errorCode, @Nullable String errorMessage,
        @Nullable String createdBy, @Nullable Instant createdAt, @Nullable Instant startedAt,
        @Nullable Instant completedAt, @Nullable Instant cancelledAt,
        @Nullable Long durationMs, long endedMs, @Nullable Long activeMs, @Nullable Instant lastHeartbeatAt,
        long versionId) {

    public Run {
        plan = Json.orNull(plan);
        config = Json.orNull(config);
        inputs = Json.orNull(inputs);
        tags = Json.orNull(tags);
        output = Json.orNull(output);
        taskBudgets = taskBudgets == null ? List.of() : List.copyOf(taskBudgets);
    }

    /** Whether this attempt is over; a failed run may still be retried. */
    public boolean ended() {
        return "terminal".equals(stateType);
    }

    /** Whether the run has completed. */
    public boolean completed() {
        return "completed".equals(state);
    }

    /** Whether the run completed with failures: its state is {@code completed} or {@code skipped}. */
    public boolean completedWithFailures() {
        return failures > 0 && ("completed".equals(state) || "skipped".equals(state));
    }
}
