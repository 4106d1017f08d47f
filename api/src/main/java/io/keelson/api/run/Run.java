package io.keelson.api.run;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.keelson.api.Absent;
import io.keelson.api.Shape.Id;
import io.keelson.api.Shape.Omittable;
import io.keelson.api.Shape.OneOf;
import io.keelson.api.Shape.Range;
import io.keelson.api.Shape.Ref;
import io.keelson.api.Shape.Size;
import io.keelson.api.Shape.Text;
import io.keelson.api.Shape.Types;
import io.keelson.api.money.TokenUsage;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A run as the server shows it. JSON components are never Java null: an absent member is a JSON null. Money is in
 * credits ({@code totalCost}) or credits; durations in milliseconds.
 *
 * @param inputsBytes with {@code light}: the size of the inputs as JSON
 * @param inputsStart with {@code light}: their first 1,024 characters
 * @param outputBytes with {@code light}: size of the output as JSON, in bytes
 * @param outputStart with {@code light}: first 1,024 characters of the output
 * @param now in lists with the parameter {@code now} only: the first reason of the run's explanation, by its stable
 *     code. Runs after the first 100 open ones of the page, and runs with more tasks than are left of 5,000 for the
 *     page, have a reason by state and numbers in its place, such as "4000 steps are at work"; {@code GET
 *     /runs/{id}/explain} has all reasons of these. Null for a run that has ended, and where only tasks could tell.
 * @param id id of the resource
 * @param workspaceId id of its workspace
 * @param name name of the run
 * @param description text for people
 * @param goal goal from which a planner makes the plan; null without one
 * @param agentSlug the agent of the roster that it is about
 * @param externalId the caller's own name for it, unique in the workspace
 * @param createdBy the principal that created it
 * @param state state of the run
 * @param status the same as state
 * @param stateType kind of the state
 * @param priority priority; lower numbers come first
 * @param trigger source of the run, such as {@code manual} or {@code cron}
 * @param plan the current plan; not in lists
 * @param config as in the mission
 * @param inputs values of its inputs, by name; not in lists
 * @param tags tags of the run
 * @param attemptNumber number of the attempt, from 1
 * @param maxAttempts maximum number of attempts
 * @param planVersion rises with every re-planning; 0 while a goal has no plan yet
 * @param replans re-plannings of the attempt
 * @param gate reason other than its tasks for which a running run waits
 * @param openEscalations open escalation tickets
 * @param escalationTicketId the ticket that holds an escalated run up; of several the latest
 * @param waitsForHumans decisions that only people can take and that are due now, tickets included
 * @param startAt when it was to start by itself
 * @param recipeId the recipe of the run
 * @param recipeVersion version of its recipe; null without a recipe
 * @param scheduleId the schedule that made it
 * @param scheduledFor the time for which the schedule made it
 * @param forkedFrom the run that it was forked from
 * @param forkTask the task from which on it differs, by its id in the plan
 * @param parentRunId the run whose step started this run
 * @param parentStepId the step
 * @param childCount number of child runs; list them by parent_run_id
 * @param undo the undo of an ended run; null if absent
 * @param undoes the run that this one undoes; null for any other run
 * @param taskCount number of tasks of the plan; planning tasks and hooks do not count
 * @param tasksCompleted number of these that have completed
 * @param tasksFailed number of these that have failed
 * @param tasksSkipped number of skipped tasks
 * @param failures tasks that failed, and steps that failed in tasks that continued without them. A completed or skipped
 *     run with failures completed with failures. While a run is open, the failed tasks so far
 * @param stepsTotal number of steps
 * @param stepsCompleted number of completed steps
 * @param agentCount number of agents of the plan
 * @param agentNames names of agents of the latest attempt, the first ten in order
 * @param creditsReserved reserved by all of its attempts
 * @param creditsCharged of all of its attempts, the open one included
 * @param creditsRefunded refunds of ended attempts
 * @param creditsUncollected cost of its steps that could not be charged
 * @param hardLimitUsd current limit of the cost of all attempts together: set by budget, or the config's; null for no
 *     limit
 * @param softLimitUsd current amount at which one warning is sent
 * @param taskBudgets of the tasks that have one, over all attempts
 * @param totalTokens tokens of all attempts
 * @param usage tokens by their price; no token is in two of input, cache_read, cache_write and output, which sum up to
 *     all. Null for no tokens
 * @param totalCost credits of all attempts
 * @param output output; null without one
 * @param resultSummary the result: the first 2,000 characters of {@code output}. Without an output template, of the
 *     output of the task on which no other depends, or of each such task's title and output. Null before the work is
 *     done
 * @param coordinatorAgentId the agent of the roster that {@code agent_slug} names
 * @param errorCode code of the error; null without one
 * @param errorMessage message of the error; null without one
 * @param createdAt time of its creation
 * @param updatedAt time of its last change
 * @param startedAt time of its start; null before it
 * @param completedAt time of its end; null while it is open
 * @param cancelledAt {@code completed_at} of a cancelled run; null for others
 * @param durationMs from its first start to its end, without {@code ended_ms}; null while it is open
 * @param endedMs for how long it had ended before its retries
 * @param activeMs how long it worked in its present attempt, without the time that it was paused; null while it works
 * @param lastHeartbeatAt when a worker or server with a lease of the run last showed that it is alive; null while the
 *     run has no lease, such as while it waits for a person
 * @param versionId rises with every change
 * @param archivedAt when it was archived: it can be read and restored, not changed; absent for other runs
 * @param awaited only in the response to a signal: whether a step of the plan waits or will wait for it
 */
public record Run(@Omittable @Nullable Long inputsBytes, @Omittable @Nullable String inputsStart,
        @Omittable @Nullable Long outputBytes, @Omittable @Nullable String outputStart,
        @Omittable @Nullable Now now, @Id String id, @Id String workspaceId, String name,
        @Nullable String description, @Nullable String goal, @Nullable String agentSlug,
        @Nullable String externalId, @Nullable String createdBy, @Ref("RunState") String state,
        @Ref("RunState") String status, @Ref("StateType") String stateType, int priority, @Nullable String trigger,
        @Omittable @Types({
                "object", "null"}) JsonNode plan,
        @Types({"object", "null"}) JsonNode config,
        @Omittable @Types({"object", "null"}) JsonNode inputs, List<String> tags, @Range(min = 1) int attemptNumber,
        int maxAttempts, @Range(min = 0) int planVersion, int replans,
        @OneOf({"none", "replanning", "replan_approved", "acceptance", "finishing"}) String gate,
        int openEscalations, @Nullable @Id String escalationTicketId, int waitsForHumans, @Nullable Instant startAt,
        @Nullable @Id String recipeId, @Nullable Integer recipeVersion, @Nullable @Id String scheduleId,
        @Nullable Instant scheduledFor, @Nullable String forkedFrom, @Nullable String forkTask,
        @Nullable String parentRunId, @Nullable String parentStepId, int childCount, @Nullable RunUndo undo,
        @Nullable @Id String undoes, int taskCount,
        int tasksCompleted, int tasksFailed, int tasksSkipped, int failures, int stepsTotal, int stepsCompleted,
        int agentCount, @Size(max = 10) List<String> agentNames, BigDecimal creditsReserved,
        BigDecimal creditsCharged, BigDecimal creditsRefunded, BigDecimal creditsUncollected,
        @Nullable BigDecimal hardLimitUsd, @Nullable BigDecimal softLimitUsd, List<TaskBudget> taskBudgets,
        long totalTokens, @Nullable TokenUsage usage, BigDecimal totalCost, @Omittable JsonNode output,
        @Nullable @Text(max = 2000) String resultSummary, @Nullable Integer coordinatorAgentId,
        @Nullable String errorCode, @Nullable String errorMessage, Instant createdAt, Instant updatedAt,
        @Nullable Instant startedAt, @Nullable Instant completedAt, @Nullable Instant cancelledAt,
        @Nullable Long durationMs, @Range(min = 0) long endedMs, @Nullable Long activeMs,
        @Nullable Instant lastHeartbeatAt, long versionId,
        @Omittable @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable Instant archivedAt,
        @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable Boolean awaited) {

    public Run {
        plan = Absent.asNull(plan);
        config = Absent.asNull(config);
        inputs = Absent.asNull(inputs);
        output = Absent.asNull(output);
        taskBudgets = Absent.asEmpty(taskBudgets);
    }

    /** Whether this attempt is over; a failed run may still be retried. */
    public boolean ended() {
        return "terminal".equals(stateType);
    }

    /** Whether the run has completed. */
    public boolean completed() {
        return "completed".equals(state);
    }

    /** Whether it has come to its end although parts failed: its state is {@code completed} or {@code skipped}. */
    public boolean completedWithFailures() {
        return failures > 0 && ("completed".equals(state) || "skipped".equals(state));
    }

    /**
     * The first reason of the run's explanation.
     *
     * @param code code of the reason
     * @param text explanation for people
     * @param since since when the task or step is in this state
     * @param until when it is over by itself
     */
    public record Now(String code, String text, @Nullable Instant since, @Nullable Instant until) {}
}
