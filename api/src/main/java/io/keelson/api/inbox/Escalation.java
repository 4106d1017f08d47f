package io.keelson.api.inbox;

import io.keelson.api.Absent;
import io.keelson.api.Shape.Default;
import io.keelson.api.Shape.Id;
import io.keelson.api.Shape.OneOf;
import io.keelson.api.Shape.Range;
import io.keelson.api.Shape.Request;
import io.keelson.api.Shape.Text;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A ticket: a question of the failure policy that holds a run up until a person has answered it.
 *
 * @param id id of the resource
 * @param runId id of the run
 * @param runName name of the run
 * @param attempt the run's attempt
 * @param kind kind of the ticket
 * @param taskId task of the ticket; null for a new plan
 * @param taskKey id of the task in the plan
 * @param stepId step of the ticket; null without one
 * @param stepName name of the step in the plan
 * @param severity a failure is {@code high}, a new plan that wants approval {@code medium}; it rises with every reminder
 * @param reason reason for the question: a reason code of the retry decision, replan_approval, or no_price
 * @param errorCode code of the error; null without one
 * @param message message of the failure
 * @param state state of the ticket
 * @param resolution {@code void} when the run ended without an answer
 * @param resolvedBy name of the person who answered; null before it
 * @param resolutionReason reason of the answer; null if absent
 * @param suggestedActions answers that are possible
 * @param openedAt opened at
 * @param resolvedAt resolved at
 * @param undo whether it is about a task of an undo, which has the answer {@code done}
 */
public record Escalation(@Id String id, @Id String runId, String runName, @Range(min = 1) int attempt,
        @OneOf({
                "failure", "replan_approval"}) String kind,
        @Nullable String taskId, @Nullable String taskKey,
        @Nullable String stepId, @Nullable String stepName, @OneOf({"medium", "high", "critical"}) String severity,
        String reason, @Nullable String errorCode, String message, @OneOf({"open", "resolved"}) String state,
        @Nullable @OneOf({"resume", "skip", "done", "fail", "cancel", "void"}) String resolution,
        @Nullable String resolvedBy, @Nullable String resolutionReason,
        List<@OneOf({"resume", "skip", "done", "fail", "cancel"}) String> suggestedActions,
        @Nullable Instant openedAt, @Nullable Instant resolvedAt, boolean undo) {

    public Escalation {
        suggestedActions = Absent.asEmpty(suggestedActions);
    }

    /** Whether it waits for an answer. */
    public boolean open() {
        return state.equals("open");
    }

    /**
     * Answers a ticket.
     *
     * @param resolution {@code resume} retries what failed, with new attempts, or approves the new plan; {@code skip} continues
     *     without it; {@code done} tells of an undo that a person has done it by other means; {@code fail} and {@code cancel} end the
     *     run
     * @param reason stored with the decision
     * @param alike whether all open tickets of the run about the same failure get the answer: of the same tool, system and code
     */
    @Request
    public record Answer(@OneOf({"resume", "skip", "done", "fail", "cancel"}) String resolution,
            @Nullable @Text(max = 2000) String reason, @Default("false") boolean alike) {}
}
