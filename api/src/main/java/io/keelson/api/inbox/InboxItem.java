package io.keelson.api.inbox;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.keelson.api.Shape.Id;
import io.keelson.api.Shape.OneOf;
import io.keelson.api.Shape.Ref;
import io.keelson.api.Shape.Types;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A question that waits for a person.
 *
 * @param actions only of a single item; the answers to it, each as a request to send
 * @param id id of this question; not reused once it is answered
 * @param kind {@code plan_approval} and {@code result_acceptance} are about a run as a whole, {@code approval_step}
 *     about a step of the kind approval, {@code call_approval} about a call of an agent that waits for a person, {@code
 *     question} about an agent's question, {@code task_review} about a task's output, {@code escalation} about a ticket,
 *     {@code budget} about a run that its hard limit or its workspace's credits have stopped, {@code proposal} about a
 *     step's proposal, {@code elicitation} about the questions of an MCP server's tool, {@code tool_change} about such a
 *     tool whose description has changed, {@code dead_letter} about events of a trigger that were given up
 * @param runId null for a {@code tool_change} and a {@code dead_letter}
 * @param runName name of the run
 * @param runState state of the run
 * @param taskId task of the question; null for the run
 * @param taskKey id of the task in the plan
 * @param taskTitle title of the task
 * @param stepId step of the question; null for a task or the run
 * @param stepName name of the step in the plan
 * @param question question to the person
 * @param onAccept consequence of accepting
 * @param onReject consequence of rejecting
 * @param createdAt time of its creation
 * @param dueAt when an answer is due, as it was assigned or else by the run's {@code human_timeout_seconds}; null for
 *     never
 * @param overdue whether {@code due_at} has passed
 * @param reminderAt time of the next reminder, or of the automatic answer by {@code on_human_timeout}
 * @param assignee a principal of the workspace
 * @param severity of an {@code escalation}
 * @param errorCode of the failure behind an {@code escalation}
 * @param feedback a verifier's feedback on the output
 * @param gate the task attempt whose output is to be approved
 * @param hardLimitUsd maximum cost of the run
 * @param body further text of a {@code proposal}; a warning about an {@code elicitation} whose form requires a password,
 *     key or token
 * @param data subject of the decision. {@code plan_approval}: {@code goal}, {@code estimated_cost}, {@code task_count}
 *     and the {@code plan} with its first 50 tasks, each with its {@code tools}; above 64 KiB without steps and checks;
 *     {@code earlier}, how up to five attempts of the run before this one ended ({@code attempt}, {@code error_code},
 *     {@code message}). {@code result_acceptance}: {@code earlier}, the run's {@code output}; if it has none, or one
 *     above 64 KiB, null and its {@code summary}, and of a run without an output the {@code results} of its last tasks;
 *     {@code verified}, its first 20 tasks with criteria, checks or several attempts, each with its last ten {@code
 *     checks}: {@code attempt}, {@code check}, {@code verdict}, {@code score}, {@code feedback}, {@code marks} of a
 *     judge, and the beginning of an {@code output} that did not pass; its {@code artifacts}, counts of tasks, tokens
 *     and cost. {@code task_review}: the {@code output}, cut to 2,000 characters, and where it was cut {@code
 *     output_ref}, the path of the whole output; {@code success_criteria}, {@code score}, {@code attempt} and {@code
 *     checks}. {@code approval_step}: its input, resolved. {@code call_approval}: {@code tool}, {@code input} and the
 *     input's SHA-256 ({@code input_sha256}), and the reason for the question: {@code reason} is {@code always}, {@code
 *     destructive}, {@code tainted}, {@code condition} or {@code condition_failed}, {@code detail} the source of the
 *     data, the condition, or its error. {@code question}: {@code question} and {@code schema} of the answer. {@code
 *     escalation} of a failure: {@code task}, {@code step}, {@code tool}, {@code attempt}, {@code input} of that attempt
 *     (null with {@code input_missing}, a sentence, if no resolved input was recorded), {@code reason} and the same in
 *     words ({@code why}), {@code error_code}, {@code message}, tokens and cost; of a new plan: {@code reason}, the
 *     {@code failed} tasks, the proposed {@code plan} with {@code task_count} and {@code estimated_cost}, and {@code
 *     changes} with the ids of tasks that are {@code added}, {@code replaced}, {@code dropped} and {@code kept}. {@code
 *     budget}: {@code charged}, {@code hard_limit_usd}, {@code task_budgets} as in the run, counts of tasks and the
 *     titles of the {@code next} tasks. {@code proposal}: its data. {@code elicitation}: the {@code server}, the {@code
 *     tool} and the {@code questions} by their names, each with {@code mode}, {@code message} and for a form its {@code
 *     schema}, for a page its {@code url}. {@code tool_change}: the {@code server}, the {@code tool}, {@code
 *     differences} with the JSON {@code pointer} and both values of what differs, and the descriptions as they were
 *     {@code accepted} and are {@code seen} now. {@code dead_letter}: the {@code trigger}, its {@code trigger_id}, the {@code
 *     count} of the events, 1,000 at most, {@code error_code} and {@code message} of the last one
 * @param approvals only of a question that several people have to approve
 * @param links paths of related requests
 */
public record InboxItem(@JsonInclude(JsonInclude.Include.NON_NULL) @Nullable List<Action> actions, String id,
        @Ref("InboxKind") String kind, @Nullable @Id String runId, @Nullable String runName,
        @Nullable @Ref("RunState") String runState, @Nullable String taskId, @Nullable String taskKey,
        @Nullable String taskTitle, @Nullable String stepId, @Nullable String stepName, String question,
        String onAccept, String onReject, Instant createdAt, @Nullable Instant dueAt, boolean overdue,
        @Nullable Instant reminderAt, @Nullable String assignee, @Nullable String severity,
        @Nullable String errorCode, @Nullable String feedback, @Nullable Integer gate,
        @Nullable BigDecimal hardLimitUsd, @Nullable String body, JsonNode data,
        @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable Approvals approvals, Links links) {

    /**
     * The approvals of a question, and their required number.
     *
     * @param required different people who have to approve the same
     * @param votes the approvals so far, oldest first; an approval with another {@code digest} counts for itself
     */
    public record Approvals(int required, List<Vote> votes) {}

    /**
     * One person's approval.
     *
     * @param by the principal
     * @param at time of the approval
     * @param reason as it was given
     * @param digest SHA-256 of the approved content, such as a new limit
     */
    public record Vote(String by, Instant at, @Nullable String reason, String digest) {}

    /**
     * An action that answers the item.
     *
     * @param name name of the action
     * @param method HTTP method
     * @param href path of the request
     * @param scope scope that the key needs
     * @param body members that the request has anyway
     * @param fields members of the body that the person may give
     * @param confirm the consequence, for a confirmation; null if the action needs no confirmation
     */
    public record Action(
            @OneOf({"accept", "reject", "skip", "done", "try_all_again", "skip_all", "fail", "cancel", "downgrade",
                    "finish_current", "withdraw", "assign"}) String name,
            @OneOf("POST") String method, String href, @Ref("Scope") String scope,
            Map<String, @Types({"string", "boolean"}) JsonNode> body, List<String> fields, @Nullable String confirm) {}

    /**
     * Paths of related requests.
     *
     * @param accept path that accepts
     * @param reject path that rejects
     * @param assign path that assigns
     * @param subject path of the subject of the question
     * @param run null for a {@code tool_change} and a {@code dead_letter}
     */
    public record Links(String accept, String reject, String assign, String subject, @Nullable String run) {}
}
