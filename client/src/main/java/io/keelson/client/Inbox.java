package io.keelson.client;

import io.keelson.api.inbox.InboxDecision;
import io.keelson.api.inbox.InboxItem;
import io.keelson.api.inbox.InboxStats;
import io.keelson.api.tenant.ApprovalRule;
import java.math.BigDecimal;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The inbox: decisions that wait for people in the workspace. Every method throws {@link KeelsonException} as {@link Api} says. */
public final class Inbox {

    private final Api api;

    Inbox(Api api) {
        this.api = api;
    }

    /** Lists waiting items: due first, then oldest. */
    public Page<InboxItem> list(InboxQuery query) {
        RequestPath route = RequestPath.of("/inbox").with("kind", query.kind()).with("run_id", query.runId())
                .with("assignee", query.assignee()).with("overdue", query.overdue() ? "true" : null)
                .with("each", query.each() ? "true" : null)
                .with("cursor", query.cursor()).with("limit", query.limit());
        return Page.of(api.get(route.toString()), InboxItem.class);
    }

    /** Cheap enough to be asked every few seconds. */
    public InboxStats stats() {
        return Json.document(api.get("/inbox/stats"), InboxStats.class);
    }

    /** Accepts the item: its {@code onAccept} takes effect. A repeated answer changes nothing. */
    public InboxDecision accept(String id, @Nullable String reason) {
        return decide(id, "/accept", Json.object().put("reason", reason));
    }

    /** Rejects the item: its {@code onReject} takes effect. A repeated answer changes nothing. */
    public InboxDecision reject(String id, @Nullable String reason) {
        return decide(id, "/reject", Json.object().put("reason", reason));
    }

    /** A {@code task_review}: the task is done again, with the reason as feedback. */
    public InboxDecision again(String id, @Nullable String reason) {
        return decide(id, "/reject", Json.object().put("reason", reason).put("retry", true));
    }

    /** Accepts a {@code budget} item: the run continues with this hard limit. */
    public InboxDecision accept(String id, BigDecimal hardLimitUsd, @Nullable String reason) {
        return decide(id, "/accept", Json.object().put("reason", reason).put("hard_limit_usd", hardLimitUsd));
    }

    /** Accepts a {@code budget} item: the run continues, and this model of the server takes all further turns of its agents. */
    public InboxDecision downgrade(String id, String model, @Nullable String reason) {
        return decide(id, "/accept", Json.object().put("reason", reason).put("downgrade", model));
    }

    /** Accepts a {@code budget} item: what runs completes, nothing begins, and the run ends. */
    public InboxDecision finishCurrent(String id, @Nullable String reason) {
        return decide(id, "/accept", Json.object().put("reason", reason).put("finish_current", true));
    }

    /** Accepts an {@code elicitation}: its call is sent again, with the content as the answer. */
    public InboxDecision answer(String id, JsonNode content) {
        ObjectNode body = Json.object();
        body.set("content", content);
        return decide(id, "/accept", body);
    }

    /** Dismisses an {@code elicitation}: its server learns that the person has neither answered nor declined. */
    public InboxDecision cancel(String id, @Nullable String reason) {
        return decide(id, "/reject", Json.object().put("reason", reason).put("cancel", true));
    }

    /** Accepts a {@code call_approval}: the call is made with this input instead of its own. */
    public InboxDecision accept(String id, ObjectNode input, @Nullable String reason) {
        ObjectNode body = Json.object().put("reason", reason);
        body.set("input", input);
        return decide(id, "/accept", body);
    }

    /** Answers a {@code question} of an agent. */
    public InboxDecision answer(String id, JsonNode answer, @Nullable String reason) {
        ObjectNode body = Json.object().put("reason", reason);
        body.set("answer", answer);
        return decide(id, "/accept", body);
    }

    /**
     * Assigns an item and sets its due time.
     *
     * @param assignee a principal of the workspace, {@code @me} for the caller; null to unassign
     * @param dueAt null to apply the run's rule
     */
    public InboxItem assign(String id, @Nullable String assignee, @Nullable Instant dueAt) {
        return assigned(id, Json.object().put("assignee", assignee).put("due_at", text(dueAt)));
    }

    /**
     * Assigns an item. Its due time stays.
     *
     * @param assignee a principal of the workspace, {@code @me} for the caller; null to unassign
     */
    public InboxItem assign(String id, @Nullable String assignee) {
        return assigned(id, Json.object().put("assignee", assignee));
    }

    /**
     * Sets the due time of an item. Its assignee stays.
     *
     * @param dueAt null to apply the run's rule
     */
    public InboxItem due(String id, @Nullable Instant dueAt) {
        return assigned(id, Json.object().put("due_at", text(dueAt)));
    }

    private static @Nullable String text(@Nullable Instant time) {
        return time == null ? null : time.toString();
    }

    /** Takes back the caller's approval of an item that several people have to approve. */
    public InboxItem withdraw(String id) {
        return Json.document(api.send(Call.post(RequestPath.of("/inbox/", id, "/withdraw"), Json.object())).body(),
                InboxItem.class);
    }

    private InboxItem assigned(String id, ObjectNode body) {
        return Json.document(api.send(Call.post(RequestPath.of("/inbox/", id, "/assign"), body).repeatable()).body(),
                InboxItem.class);
    }

    private InboxDecision decide(String id, String answer, ObjectNode body) {
        return Json.document(api.send(Call.post(RequestPath.of("/inbox/", id, answer), body).repeatable()).body(),
                InboxDecision.class);
    }

    /** The workspace's rule about approvals, and the rule that counts for new runs. */
    public ApprovalRule rule() {
        return Json.document(api.get("/approval-rule"), ApprovalRule.class);
    }

    /**
     * Changes the workspace's rule about approvals.
     *
     * @param approvals people who have to approve each question of new runs, from 1 to 5; null leaves the number as it is
     * @param fourEyes whether the submitter of a run cannot approve for it; null leaves that as it is
     */
    public ApprovalRule changeRule(@Nullable Integer approvals, @Nullable Boolean fourEyes) {
        ObjectNode change = Json.object();
        if (approvals != null) {
            change.put("approvals", approvals);
        }
        if (fourEyes != null) {
            change.put("four_eyes", fourEyes);
        }
        return Json.document(api.send(Call.patch("/approval-rule", change)).body(), ApprovalRule.class);
    }
}
