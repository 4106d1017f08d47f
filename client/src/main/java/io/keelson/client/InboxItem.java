package io.keelson.client;

import java.math.BigDecimal;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A question that waits for a person.
 *
 * @param id of this question; not reused once it is answered
 * @param kind {@code plan_approval}, {@code result_acceptance}, {@code approval_step}, {@code call_approval},
 *            {@code question}, {@code task_review}, {@code escalation}, {@code budget}, {@code proposal},
 *            {@code elicitation} or {@code tool_change}
 * @param runId null for a {@code tool_change}, which belongs to no run; the run's name and state are null, too
 * @param taskKey the task's id in the plan; null for a question about the whole run
 * @param onAccept the effect of acceptance
 * @param onReject the effect of rejection
 * @param dueAt when an answer is due; null for never
 * @param reminderAt time of the engine's next reminder, or of its automatic answer
 * @param assignee a principal of the workspace; null if unassigned
 * @param severity of a ticket
 * @param feedback a verifier's comment on an output
 * @param gate the task attempt whose output is meant
 * @param hardLimitUsd what a run may cost that its budget has stopped; null where nothing limits it
 * @param body further text of a proposal
 * @param data what the decision is about: {@code goal}, {@code task_count} and {@code plan}; the {@code output} of a
 *            run or a task; an approval's input; a proposal's data; null for tickets and budgets
 * @param links where to answer and where to read more
 */
public record InboxItem(String id, String kind, @Nullable String runId, @Nullable String runName,
        @Nullable String runState,
        @Nullable String taskId, @Nullable String taskKey, @Nullable String taskTitle, @Nullable String stepId,
        @Nullable String stepName, String question, String onAccept, String onReject, Instant createdAt,
        @Nullable Instant dueAt, boolean overdue, @Nullable Instant reminderAt, @Nullable String assignee,
        @Nullable String severity, @Nullable String errorCode, @Nullable String feedback, @Nullable Integer gate,
        @Nullable BigDecimal hardLimitUsd, @Nullable String body,
        @Nullable JsonNode data, Links links) {

    /**
     * Paths of the API, from {@code /api/v1} on.
     *
     * @param accept takes a POST, as {@code reject} and {@code assign} do
     * @param subject what waits: the step, the task, the ticket, the proposal, the MCP server or the run
     * @param run null for a {@code tool_change}
     */
    public record Links(String accept, String reject, String assign, String subject, @Nullable String run) {}
}
