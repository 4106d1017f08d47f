package io.keelson.api.inbox;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.keelson.api.Shape.Default;
import io.keelson.api.Shape.Id;
import io.keelson.api.Shape.OneOf;
import io.keelson.api.Shape.Range;
import io.keelson.api.Shape.Ref;
import io.keelson.api.Shape.Request;
import io.keelson.api.Shape.Text;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The outcome of an inbox item.
 *
 * @param id id of the item
 * @param kind kind of the item
 * @param decision the decision; {@code voted} if other people have to approve as well
 * @param approvals only of a question that several people have to approve and that still waits
 * @param runId run of the item; null for a {@code tool_change} and a {@code dead_letter}
 * @param runState state of the run after the decision; null for a {@code tool_change} and a {@code dead_letter}
 */
public record InboxDecision(String id, @Ref("InboxKind") String kind,
        @OneOf({
                "accepted", "rejected", "voted"}) String decision,
        @JsonInclude(JsonInclude.Include.NON_NULL) InboxItem.@Nullable Approvals approvals,
        @Nullable @Id String runId,
        @Nullable @Ref("RunState") String runState) {

    /**
     * Accepts an inbox item.
     *
     * @param reason stored with the decision
     * @param gate for a {@code task_review}, the attempt that was looked at; 409 {@code GATE_CHANGED} if the task is at another
     * @param hardLimitUsd for {@code budget}, the run's new hard limit in credits
     * @param tasks for {@code budget}, new budgets in credits, by the ids in the plan of tasks that have one; the others keep
     *     theirs
     * @param downgrade for {@code budget}, the model of the server that takes all further turns of agents
     * @param finishCurrent for {@code budget}: running steps complete, no step begins, and the run ends
     * @param content for an {@code elicitation}, the answer by the schema in the item's {@code data}; of several questions by
     *     their names
     * @param input for {@code call_approval}, the whole input with which the call is made instead
     * @param answer for {@code question}, the answer: any value that fits the question's {@code schema}
     */
    @Request
    public record Acceptance(@Nullable @Text(max = 2000) String reason,
            @Nullable @Range(min = 1, max = 1_000_000) Integer gate,
            @Nullable @Range(min = 0, max = 1_000_000_000, decimals = 6) BigDecimal hardLimitUsd,
            @Default("{}") Map<@Text(max = 200) String, @Ref("PositiveAmount") BigDecimal> tasks,
            @Nullable @Text(min = 1, max = 200) String downgrade, @Default("false") boolean finishCurrent,
            @Nullable ObjectNode content, @Nullable ObjectNode input, @Nullable JsonNode answer) {}

    /**
     * Rejects an inbox item.
     *
     * @param reason stored with the decision
     * @param gate as in {@code accept}
     * @param retry for a {@code task_review}, whether the task is done again with the reason as feedback
     * @param cancel for an {@code elicitation}, whether the person neither answers nor declines
     */
    @Request
    public record Rejection(@Nullable @Text(max = 2000) String reason,
            @Nullable @Range(min = 1, max = 1_000_000) Integer gate, @Default("false") boolean retry,
            @Default("false") boolean cancel) {}

    /**
     * Changes the assignee or the due time of an inbox item. A member that is absent stays unchanged; null removes the assignee,
     * or restores the due time of the run's own rule.
     *
     * @param assignee the name of a principal of the workspace; {@code @me} is the caller, {@code @none} unassigned
     * @param dueAt time by which it is due
     */
    @Request
    public record Assignment(@Nullable Optional<@Text(max = 100) String> assignee,
            @Nullable Optional<Instant> dueAt) {}
}
