package io.keelson.api.run;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.keelson.api.Absent;
import io.keelson.api.Shape.Default;
import io.keelson.api.Shape.Id;
import io.keelson.api.Shape.Omittable;
import io.keelson.api.Shape.OneOf;
import io.keelson.api.Shape.Range;
import io.keelson.api.Shape.Ref;
import io.keelson.api.Shape.Request;
import io.keelson.api.Shape.Text;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A task of a run.
 *
 * @param id id of the resource
 * @param runId id of the run
 * @param workspaceId id of its workspace
 * @param key its id in the plan
 * @param sequenceNumber its position in the plan
 * @param title title of the task
 * @param description text for people
 * @param taskType kind of work (PRD-101); the engine's own tasks have types of their own
 * @param successCriteria criteria that the output must meet; null if absent
 * @param triggerRule condition on upstream tasks under which it starts
 * @param dependsOn keys of the tasks that it depends on
 * @param groupId of an item of a fan-out: the task that fanned out; of a round: the task with {@code repeat}
 * @param itemIndex of an item of a fan-out, from 0; of a round its number
 * @param item the item of the fan-out
 * @param round of a round of a {@code repeat}: its number, from 1; of the task with {@code repeat}: the number of its last
 *     round. Null for others
 * @param maxRounds of a task with {@code repeat}: the maximum number of its rounds; null for others
 * @param flow its place in the switches and groups of the plan; null outside of any
 * @param reusedFrom the task of an earlier attempt whose output was reused
 * @param resultFrom the step whose result its last step has taken over; null for others
 * @param agentId of an agent of the roster
 * @param agentType kind of its agent
 * @param agentName name of its agent
 * @param modelOverride model of the task; null for the model of its agent
 * @param toolsRequested names of the tools that its agent may use; null if absent
 * @param boardTaskId number of its board task; null without one
 * @param state state of the task
 * @param stateType kind of the state
 * @param effectiveState {@code paused} for an open task while its run is paused, escalated or stopped at its limit; else
 *     the {@code state}
 * @param attempt the run's attempt
 * @param attemptNumber its own attempt
 * @param failures failed attempts so far
 * @param continuationCount how often its attempt has continued with another turn; turns after tool calls do not count
 * @param stepCount the steps of its present attempt
 * @param failureIgnored it failed, or all its steps or items that were not skipped did, and the run continued without it
 * @param superseded another row has taken its place, or no plan needs it any more
 * @param nextRunAt time of the next attempt; null while its ticket is open
 * @param gate the attempt in question while a person decides; null if absent
 * @param ticketId its open ticket
 * @param verifierScore score of the last verdict; null without one
 * @param verifiedBy source of the last verdict: auto (a verifying tool) or human
 * @param output in lists null where it is longer than 16384 bytes
 * @param outputSummary the first 2000 characters of the output
 * @param outputRef where the whole output is read, {@code /api/v1/tasks/{id}/output}; null if {@code output_summary} is
 *     the whole output
 * @param outputBytes with {@code light}: the size of the output as JSON
 * @param outputStart with {@code light}: its first 1,024 characters
 * @param itemBytes with {@code light}: size of the item as JSON, in bytes
 * @param itemStart with {@code light}: first 1,024 characters of the item
 * @param omitted in lists and with {@code light}, the members whose values were omitted; the read of a single task
 *     returns them
 * @param errorCode code of the error; null without one
 * @param errorMessage message of the last error; of an output before a person, the verifier's feedback
 * @param errorClass class of the error, which decides whether it is retried
 * @param tokensUsed of all its attempts
 * @param cost of all its attempts
 * @param createdAt time of its creation
 * @param updatedAt time of its last change
 * @param queuedAt when it was last queued: later than {@code started_at} after a retry
 * @param startedAt time of its start; null before it
 * @param completedAt time of its end; null while it is open
 * @param cancelledAt {@code completed_at} of a cancelled task; null for others
 * @param durationMs from start to end
 * @param versionId rises with every change
 */
public record Task(@Id String id, @Id String runId, @Id String workspaceId, String key,
        @Range(min = 1) int sequenceNumber, String title, @Nullable String description,
        @Ref("TaskType") String taskType, @Nullable String successCriteria,
        @OneOf({
                "all_success", "all_done", "none_failed", "always"}) String triggerRule,
        List<String> dependsOn,
        @Nullable String groupId, @Nullable @Range(min = 0) Integer itemIndex, JsonNode item,
        @Nullable @Range(min = 0) Integer round, @Nullable @Range(min = 1) Integer maxRounds,
        @Nullable TaskFlow flow, @Nullable String reusedFrom,
        @Nullable ResultSource resultFrom, @Nullable Integer agentId,
        @Nullable String agentType,
        @Nullable String agentName, @Nullable String modelOverride, @Nullable List<String> toolsRequested,
        @Nullable Integer boardTaskId, @Ref("TaskState") String state, @Ref("StateType") String stateType,
        String effectiveState, @Range(min = 1) int attempt, @Range(min = 1) int attemptNumber, int failures,
        int continuationCount, @Range(min = 0) int stepCount, boolean failureIgnored, boolean superseded,
        @Nullable Instant nextRunAt, @Nullable Integer gate, @Nullable String ticketId,
        @Nullable @Range(min = 0, max = 1) BigDecimal verifierScore, @Nullable String verifiedBy, JsonNode output,
        @Nullable @Text(max = 2000) String outputSummary, @Nullable @Text(max = 500) String outputRef,
        @Omittable @Nullable Long outputBytes, @Omittable @Nullable String outputStart,
        @Omittable @Nullable Long itemBytes, @Omittable @Nullable String itemStart,
        @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable List<@OneOf({"output", "item"}) String> omitted,
        @Nullable String errorCode, @Nullable String errorMessage, @Nullable String errorClass, long tokensUsed,
        BigDecimal cost, Instant createdAt, Instant updatedAt, @Nullable Instant queuedAt,
        @Nullable Instant startedAt, @Nullable Instant completedAt, @Nullable Instant cancelledAt,
        @Nullable Long durationMs, int versionId) {

    public Task {
        dependsOn = Absent.asEmpty(dependsOn);
        output = Absent.asNull(output);
    }

    /** Whether the task has ended. */
    public boolean ended() {
        return "terminal".equals(stateType);
    }

    /**
     * Approves the output of a task.
     *
     * @param gate the attempt of the task that the decision is about; 409 {@code GATE_CHANGED} if the task is at another
     * @param reason stored with the decision
     */
    @Request
    public record Approval(@Nullable @Range(min = 1, max = 1_000_000) Integer gate,
            @Nullable @Text(max = 2000) String reason) {}

    /**
     * Rejects the output of a task.
     *
     * @param gate the attempt of the task that the decision is about; 409 {@code GATE_CHANGED} if the task is at another
     * @param reason stored with the decision
     * @param retry whether the task gets another attempt with the reason as feedback
     */
    @Request
    public record Rejection(@Nullable @Range(min = 1, max = 1_000_000) Integer gate,
            @Nullable @Text(max = 2000) String reason, @Default("false") boolean retry) {}
}
