package io.keelson.server.api.http.inbox;

import io.keelson.api.inbox.InboxDecision;
import io.keelson.api.inbox.InboxItem;
import io.keelson.core.plan.PlanProblem;
import io.keelson.core.run.Command;
import io.keelson.core.run.Command.DecideGate.Gate;
import io.keelson.core.run.Command.DecideGate.Way;
import io.keelson.core.run.Command.DecideTask.Choice;
import io.keelson.core.run.Command.Resolution;
import io.keelson.server.api.http.inbox.InboxItems.Id;
import io.keelson.server.api.http.runs.EscalationActions;
import io.keelson.server.api.http.runs.ParentShare;
import io.keelson.server.api.http.runs.ProposalActions;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.ErrorCode;
import io.keelson.server.api.http.support.Reads;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.api.http.support.Submission;
import io.keelson.server.base.json.DeclaredSchema;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.execute.TurnText;
import io.keelson.server.tenant.audit.AuditOrigin;
import io.keelson.server.tenant.auth.Scope;
import java.math.BigDecimal;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.MissingNode;
import tools.jackson.databind.node.ObjectNode;

/** Answers to inbox items: each calls the decision of its subject only. */
public final class InboxDecisions {

    /** Answers to the questions of a kind that are of no run. */
    @FunctionalInterface
    public interface WorkspaceQuestions {
        /**
         * @param reason null if absent
         * @return false when the question does not wait any more
         */
        boolean answer(UUID workspace, UUID subject, boolean accept, @Nullable String reason, AuditOrigin origin);
    }

    private final Reads reads;
    private final Submission submission;
    private final ParentShare share;
    private final EscalationActions escalations;
    private final ProposalActions proposals;
    private final InboxItems items;
    private final UsableModels models;
    private final Map<InboxKind, WorkspaceQuestions> ofWorkspace;

    public InboxDecisions(Reads reads, Submission submission, EscalationActions escalations,
            ProposalActions proposals, InboxItems items, UsableModels models,
            Map<InboxKind, WorkspaceQuestions> ofWorkspace) {
        this.models = models;
        this.items = items;
        this.ofWorkspace = ofWorkspace;
        this.proposals = proposals;
        this.reads = reads;
        this.submission = submission;
        this.share = new ParentShare(reads, submission);
        this.escalations = escalations;
    }

    public void addTo(Route.Table table) {
        table.post(Scope.APPROVE, "/inbox/{id}/accept", InboxDecision.Acceptance.class,
                (request, body) -> decide(request,
                        new Decision(true, body.reason(), body.gate(), false, false, body.hardLimitUsd(), body.tasks(),
                                new Way(body.downgrade(), body.finishCurrent()), body.content(),
                                body.input(),
                                body.answer())));
        table.post(Scope.APPROVE, "/inbox/{id}/reject", InboxDecision.Rejection.class,
                (request, body) -> decide(request,
                        new Decision(false, body.reason(), body.gate(), body.retry(), body.cancel(), null, Map.of(),
                                Way.AS_BEFORE,
                                null, null, null)));
        table.post(Scope.APPROVE, "/inbox/{id}/withdraw", this::withdraw);
    }

    /** Takes the caller's approval back, while other people have to approve. */
    private ApiResponse withdraw(ApiRequest request) throws InterruptedException {
        Id id = InboxItems.id(request);
        if (!request.repeats()) {
            ObjectNode item = items.require(request.workspace(), id);
            if (item.path("run_id").isNull()) {
                throw ApiProblem.of(ErrorCode.NO_VOTE, "one person decides this question");
            }
        }
        UUID run = run(request.workspace(), id);
        submission.submit(request, new Command.WithdrawVote(run, id.subject(), request.actor()));
        return ApiResponse.ok(items.require(request.workspace(), id));
    }

    /**
     * @param gate the attempt of a task that is meant; null for whichever waits
     * @param retry whether a task whose output is rejected is done again
     * @param cancel whether the person neither answers nor declines
     * @param limit the run's new hard limit; null leaves it unchanged
     * @param tasks new budgets of tasks, by the tasks' ids in the plan
     * @param way how a run continues at its limit
     * @param content the answer to an elicitation
     * @param input of a call instead of its own; null for its own
     * @param answer to a question; null if absent
     */
    private record Decision(boolean accept, @Nullable String comment, @Nullable Integer gate, boolean retry,
            boolean cancel, @Nullable BigDecimal limit, Map<String, BigDecimal> tasks, Way way,
            @Nullable ObjectNode content,
            @Nullable ObjectNode input, @Nullable JsonNode answer) {}

    /**
     * Decides as the routes do.
     *
     * @param item the item's id
     * @param said the members of an acceptance, or of a rejection, with types that were checked
     * @return the item's id and kind, the decision, and the run with its state
     * @throws ApiProblem when the item does not wait, or a member does not belong to its kind
     */
    public ObjectNode decide(ApiRequest request, String item, boolean accept, ObjectNode said)
            throws InterruptedException {
        Map<String, BigDecimal> tasks = new LinkedHashMap<>();
        said.path("tasks").forEachEntry((task, budget) -> tasks.put(task, budget.decimalValue()));
        return decide(request, InboxItems.id(item), new Decision(accept, said.path("reason").asString(null),
                said.has("gate") ? said.get("gate").intValue() : null, said.path("retry").asBoolean(false),
                said.path("cancel").asBoolean(false),
                said.has("hard_limit_usd") ? said.get("hard_limit_usd").decimalValue() : null, tasks,
                new Way(said.path("downgrade").asString(null), said.path("finish_current").asBoolean(false)),
                (ObjectNode) said.get("content"), (ObjectNode) said.get("input"), said.get("answer")));
    }

    /**
     * Approves the plan with which the run waits. Repeating it is not an error.
     *
     * @param said the {@code reason}, if there is one
     * @throws ApiProblem when no plan waits and none was approved
     */
    public ObjectNode approvePlan(ApiRequest request, UUID run, ObjectNode said) throws InterruptedException {
        Id ofRun = new Id(InboxKind.PLAN_APPROVAL, run, null);
        Id waits = items.waiting(request.workspace(), ofRun);
        if (waits != null) {
            return decide(request, waits.text(), true, said);
        }
        submission.submit(request, new Command.DecideGate(run, Gate.PLAN, true, null, Map.of(), Way.AS_BEFORE, null,
                said.path("reason").asString(null), request.actor()));
        return decided(request, ofRun, true, run);
    }

    private ApiResponse decide(ApiRequest request, Decision decision) throws InterruptedException {
        return ApiResponse.ok(decide(request, InboxItems.id(request), decision));
    }

    private ObjectNode decide(ApiRequest request, Id id, Decision decision) throws InterruptedException {
        requireKnown("gate", decision.gate == null || id.kind() == InboxKind.TASK_REVIEW, id);
        requireKnown("retry", !decision.retry || id.kind() == InboxKind.TASK_REVIEW, id);
        requireKnown("cancel", !decision.cancel || id.kind() == InboxKind.ELICITATION, id);
        requireKnown("hard_limit_usd", decision.limit == null || id.kind() == InboxKind.BUDGET, id);
        requireKnown("tasks", decision.tasks.isEmpty() || id.kind() == InboxKind.BUDGET, id);
        requireKnown("downgrade", decision.way.model() == null || id.kind() == InboxKind.BUDGET, id);
        requireKnown("finish_current", !decision.way.finishing() || id.kind() == InboxKind.BUDGET, id);
        requireOne(request.workspace(), decision);
        requireKnown("content", decision.content == null || id.kind() == InboxKind.ELICITATION, id);
        requireKnown("input", decision.input == null || id.kind() == InboxKind.CALL_APPROVAL, id);
        requireKnown("answer", decision.answer == null || id.kind() == InboxKind.QUESTION, id);
        WorkspaceQuestions questions = ofWorkspace.get(id.kind());
        if (questions != null) {
            request.require(id.kind().scope());
            if (!questions.answer(request.workspace(), id.subject(), decision.accept, decision.comment,
                    request.origin())) {
                throw InboxItems.notFound(id.text());
            }
            return decided(request, id, decision.accept, null);
        }
        UUID run = run(request.workspace(), id);
        decide(request, run, id, decision);
        return decided(request, id, decision.accept, run);
    }

    private ObjectNode decided(ApiRequest request, Id id, boolean accept, @Nullable UUID run) {
        JsonNode approvals = run == null || !accept ? MissingNode.getInstance()
                : items.approvals(request.workspace(), id);
        boolean waits = approvals.path("votes").valueStream()
                .anyMatch(vote -> vote.path("by").asString("").equals(request.actor().id()));
        return Json.document(new InboxDecision(id.text(), id.kind().wire(),
                waits ? "voted" : accept ? "accepted" : "rejected",
                waits ? Json.MAPPER.treeToValue(approvals, InboxItem.Approvals.class) : null,
                Objects.toString(run, null),
                run == null ? null : reads.run(request.workspace(), run).get("state").stringValue()));
    }

    private static void requireKnown(String member, boolean known, Id id) {
        if (!known) {
            throw ApiProblem.of("UNKNOWN_KEY", "/" + member, "a decision about a " + id.kind().wire() + " has no '"
                    + member + "'");
        }
    }

    /** Another limit, another model and an end are three different answers. */
    private void requireOne(UUID workspace, Decision decision) {
        String model = decision.way.model();
        boolean raised = decision.limit != null || !decision.tasks.isEmpty();
        if ((raised ? 1 : 0) + (model != null ? 1 : 0) + (decision.way.finishing() ? 1 : 0) > 1) {
            throw ApiProblem.of("INVALID_VALUE", model == null ? "/finish_current" : "/downgrade",
                    "give a limit, downgrade or finish_current, and only one of them");
        }
        if (model != null) {
            models.require(workspace, model, "/downgrade");
        }
    }

    private void decide(ApiRequest request, UUID run, Id id, Decision said) throws InterruptedException {
        if (id.kind().gate() != null && !request.repeats()) {
            items.requireNoOther(request.workspace(), id);
        }
        switch (id.kind()) {
            case PLAN_APPROVAL -> gate(request, run, Gate.PLAN, id, said);
            case RESULT_ACCEPTANCE -> gate(request, run, Gate.RESULT, id, said);
            case BUDGET -> {
                if (decides(request, id)) {
                    share.requestForStopped(request, run, said.limit());
                }
                gate(request, run, Gate.BUDGET, id, said);
            }
            case APPROVAL_STEP -> submission.submit(request,
                    new Command.DecideStep(run, id.subject(), said.accept(), said.comment(), request.actor()));
            case CALL_APPROVAL -> submission.submit(request, new Command.DecideStep(run, id.subject(), said.accept(),
                    said.comment(), said.input() == null ? null : TurnText.literal(said.input()).toString(),
                    request.actor()));
            case QUESTION -> submission.submit(request, new Command.DecideStep(run, id.subject(), said.accept(),
                    said.comment(), said.answer() == null ? null : answer(request.workspace(), id, said.answer()),
                    request.actor()));
            case TASK_REVIEW -> submission.submit(request, new Command.DecideTask(run, id.subject(),
                    said.accept() ? Choice.APPROVE : said.retry() ? Choice.RETRY : Choice.REJECT, said.gate(),
                    said.comment(), request.actor()));
            case PROPOSAL -> proposals.answer(request, reads.proposal(request.workspace(), id.subject()), said.accept(),
                    said.comment());
            case ESCALATION -> escalation(request, id.subject(), said);
            case ELICITATION -> elicitation(request, run, id, said);
            case TOOL_CHANGE, DEAD_LETTER -> throw new IllegalStateException("it is of no run");
        }
    }

    /** Whether no other person has to approve behind the caller. */
    private boolean decides(ApiRequest request, Id id) {
        JsonNode approvals = items.approvals(request.workspace(), id);
        return approvals.path("required").asInt(1) <= 1 + approvals.path("votes").valueStream()
                .filter(vote -> !vote.path("by").asString("").equals(request.actor().id())).count();
    }

    /** The answer to an agent's question, checked against the question's own schema where that is one. */
    private String answer(UUID workspace, Id id, JsonNode answer) {
        JsonNode schema = TurnText.meant(reads.step(workspace, id.subject()).path("input")).path("schema");
        DeclaredSchema declared = new DeclaredSchema(schema.isObject() ? schema : Json.object());
        List<PlanProblem> problems = !declared.flaws().isEmpty() ? List.of()
                : declared.check(answer).stream()
                        .map(flaw -> new PlanProblem("ANSWER_INVALID", "/answer" + flaw.pointer(), flaw.message()))
                        .toList();
        if (!problems.isEmpty()) {
            throw ApiProblem.of(problems);
        }
        return answer.toString();
    }

    private void gate(ApiRequest request, UUID run, Gate gate, Id id, Decision said) throws InterruptedException {
        submission.submit(request, new Command.DecideGate(run, gate, said.accept(), said.limit(), said.tasks(),
                said.way(), id.askedAt(), said.comment(), request.actor()));
    }

    private void elicitation(ApiRequest request, UUID run, Id id, Decision said) throws InterruptedException {
        if (request.repeats()) {
            return;
        }
        JsonNode asked = items.asked(request.workspace(), id);
        ObjectNode answers = Elicitation.answers(asked,
                said.accept() ? "accept" : said.cancel() ? "cancel" : "decline", said.content());
        submission.submit(request, new Command.Answer(run, id.subject(), asked.path("round").intValue(),
                answers.toString(), request.actor()));
    }

    private void escalation(ApiRequest request, UUID id, Decision said) throws InterruptedException {
        ObjectNode ticket = reads.escalation(request.workspace(), id);
        boolean skips = ticket.get("kind").stringValue().equals("replan_approval") || ticket.get("undo").booleanValue();
        Resolution no = skips ? Resolution.SKIP : Resolution.FAIL;
        escalations.answer(request, ticket, said.accept() ? Resolution.RESUME : no, said.comment(), false);
    }

    /** The run that it is about. */
    private UUID run(UUID workspace, Id id) {
        Optional<UUID> run = switch (id.kind()) {
            case PLAN_APPROVAL, RESULT_ACCEPTANCE, BUDGET -> Optional.of(id.subject())
                    .filter(subject -> reads.exists(workspace, subject));
            case APPROVAL_STEP, CALL_APPROVAL, QUESTION, ELICITATION -> of(
                    reads.read((runs, c) -> runs.step(c, workspace, id.subject())));
            case TASK_REVIEW -> of(reads.read((runs, c) -> runs.task(c, workspace, id.subject())));
            case PROPOSAL -> of(reads.findProposal(workspace, id.subject()));
            case ESCALATION -> of(reads.read((runs, c) -> runs.escalation(c, workspace, id.subject())));
            case TOOL_CHANGE, DEAD_LETTER -> Optional.empty();
        };
        return run.orElseThrow(() -> InboxItems.notFound(id.text()));
    }

    private static Optional<UUID> of(Optional<ObjectNode> row) {
        return row.map(found -> UUID.fromString(found.get("run_id").stringValue()));
    }
}
