package io.keelson.server.api.http.runs;

import io.keelson.api.Reason;
import io.keelson.api.run.RunAction;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.money.Amounts;
import io.keelson.core.plan.PlanProblem;
import io.keelson.core.run.Command;
import io.keelson.core.run.TraceParent;
import io.keelson.server.api.http.support.ApiProblem;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.ErrorCode;
import io.keelson.server.api.http.support.IdKind;
import io.keelson.server.api.http.support.Reads;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.api.http.support.Submission;
import io.keelson.server.api.http.support.SubmissionMapping;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.engine.store.read.RunTraces;
import io.keelson.server.engine.store.retention.RunDeletion;
import io.keelson.server.mission.plan.ReadResult;
import io.keelson.server.mission.submission.AdmissionControl;
import io.keelson.server.mission.submission.CreditPrecheck;
import io.keelson.server.mission.submission.PlanEdits;
import io.keelson.server.tenant.audit.AuditLog;
import io.keelson.server.tenant.auth.Scope;
import java.math.BigDecimal;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Actions on existing runs. Each returns the changed run. */
public final class RunActions {

    /**
     * Limits in credits; null leaves one unchanged.
     *
     * @param tasks new budgets of tasks, by the tasks' ids in the plan
     */
    /** @param from {@code failed} or {@code start} */
    /** @param plan replaces the waiting plan; null to approve the waiting plan */
    private final Reads reads;
    private final AdmissionControl admission;
    private final CreditPrecheck credits;
    private final Submission submission;
    private final ParentShare share;
    private final PlanEdits edits;
    private final Database database;
    private final RunDeletion deletion = new RunDeletion(DbClock.DATABASE);

    public RunActions(Reads reads, AdmissionControl admission, CreditPrecheck credits, Submission submission,
            PlanEdits edits, Database database) {
        this.edits = edits;
        this.reads = reads;
        this.admission = admission;
        this.credits = credits;
        this.submission = submission;
        this.share = new ParentShare(reads, submission);
        this.database = database;
    }

    public void addTo(Route.Table table) {
        table.postAlso(Scope.RUNS_WRITE, "/runs/{id}/start", this::start);
        table.deleteAlso(Scope.RUNS_WRITE, "/runs/{id}", this::delete);
        table.postAlso(Scope.RUNS_WRITE, "/runs/{id}/budget", RunAction.Budget.class, this::budget);
        table.postAlso(Scope.RUNS_WRITE, "/runs/{id}/pause", Reason.class, (request, body) -> done(request,
                run -> new Command.Pause(run, body.reason(), request.actor())));
        table.postAlso(Scope.RUNS_WRITE, "/runs/{id}/resume",
                call -> done(call, run -> new Command.Resume(run, call.actor())));
        table.postAlso(Scope.RUNS_WRITE, "/runs/{id}/cancel", Reason.class, (request, body) -> done(request,
                run -> new Command.Cancel(run, body.reason(), request.actor())));
        table.postAlso(Scope.RUNS_WRITE, "/runs/{id}/fail", Reason.class, (request, body) -> done(request,
                run -> new Command.FailRun(run, body.reason(), request.actor())));
        table.postAlso(Scope.RUNS_WRITE, "/runs/{id}/replan", Reason.class, (request, body) -> done(request, run -> {
            requireApproval(request, run);
            return new Command.Replan(run, body.reason(), request.actor());
        }));
        table.postAlso(Scope.RUNS_WRITE, "/runs/{id}/retry", RunAction.Retry.class, this::retry);
        table.postAlso(Scope.RUNS_WRITE, "/runs/{id}/undo", Reason.class, (request, body) -> done(request,
                run -> new Command.Undo(run, body.reason(), request.actor())));
        table.postAlso(Scope.APPROVE, "/runs/{id}/approve", RunAction.PlanApproval.class, this::approve);
        table.postAlso(Scope.APPROVE, "/runs/{id}/reject", Reason.class, (request, body) -> done(request,
                run -> new Command.Reject(run, body.reason(), request.actor())));
    }

    private ApiResponse approve(ApiRequest request, RunAction.PlanApproval body) throws InterruptedException {
        ObjectNode plan = body.plan();
        if (plan == null) {
            return done(request, run -> new Command.Approve(run, body.reason(), request.actor()));
        }
        UUID id = request.id("id", IdKind.RUN);
        String state = reads.run(request.workspace(), id).get("state").stringValue();
        if (!state.equals(RunState.AWAITING_APPROVAL.wire())) {
            throw ApiProblem.of(ErrorCode.INVALID_STATE_TRANSITION, "the run is " + state
                    + ": only a plan that waits for approval can be changed").with("current_state", state);
        }
        Command.Approve.Edit edit = switch (edits.read(id, plan)) {
            case ReadResult.Ok<Command.Approve.Edit>(Command.Approve.Edit checked) -> checked;
            case ReadResult.Invalid<Command.Approve.Edit>(List<PlanProblem> problems) -> throw ApiProblem.of(problems);
        };
        return done(request, run -> new Command.Approve(run, body.reason(), edit, request.actor()));
    }

    /** Requires the scope {@code approve} while a person has yet to approve anything: the new plan may not ask for it. */
    private void requireApproval(ApiRequest request, UUID run) {
        if (reads.read((runs, c) -> runs.replanSkipsApproval(c, request.workspace(), run))) {
            submission.requireApprover(request, run);
        }
    }

    private interface Plain {
        Command of(UUID run);
    }

    private ApiResponse start(ApiRequest request) throws InterruptedException {
        UUID id = request.id("id", IdKind.RUN);
        requireCredits(request, id);
        TraceParent trace = request.traceparent();
        if (trace != null) {
            database.runInTransaction(c -> RunTraces.join(c, request.workspace(), id, trace));
        }
        return done(request, run -> new Command.Start(run, request.actor()));
    }

    private ApiResponse budget(ApiRequest request, RunAction.Budget body) throws InterruptedException {
        if (body.hardLimitUsd() == null && body.softLimitUsd() == null && body.tasks().isEmpty()) {
            throw ApiProblem.of("REQUIRED", "/hard_limit_usd",
                    "one of the limits or the budget of a task must be given");
        }
        UUID id = request.id("id", IdKind.RUN);
        requireBudgetApproval(request, id);
        requireSoftBelowHard(request, id, body);
        share.request(request, id, body.hardLimitUsd());
        return done(request, run -> new Command.RaiseBudget(run, body.hardLimitUsd(), body.softLimitUsd(),
                body.tasks(), request.actor()));
    }

    /** Requires the scope {@code approve} for a run that its budget has stopped: the inbox asks a person to raise it. */
    private void requireBudgetApproval(ApiRequest request, UUID run) {
        if (reads.run(request.workspace(), run).get("state").stringValue().equals(RunState.BUDGET_EXCEEDED.wire())) {
            submission.requireApprover(request, run);
        }
    }

    /** Refuses a soft limit above the hard one: the run would stop without a warning. */
    private void requireSoftBelowHard(ApiRequest request, UUID run, RunAction.Budget body) {
        if (body.softLimitUsd() == null) {
            return;
        }
        BigDecimal hard = body.hardLimitUsd() != null ? body.hardLimitUsd()
                : reads.run(request.workspace(), run).path("hard_limit_usd").decimalValue(null);
        if (hard != null && body.softLimitUsd().compareTo(hard) > 0) {
            throw ApiProblem.of("INVALID_VALUE", "/soft_limit_usd",
                    "must not be above the hard limit of " + Amounts.text(hard)
                            + ", at which the run stops without a warning");
        }
    }

    private ApiResponse retry(ApiRequest request, RunAction.Retry body) throws InterruptedException {
        UUID id = request.id("id", IdKind.RUN);
        requireCredits(request, id);
        try (AdmissionControl.Permit _ =
                SubmissionMapping.permit(admission.reopen(request.workspace(), request.limits(), id))) {
            return done(request, run -> new Command.Retry(run, body.from().equals("start"), request.actor()));
        }
    }

    private void requireCredits(ApiRequest request, UUID run) {
        credits.restart(request.workspace(), run).ifPresent(insufficient -> {
            throw SubmissionMapping.problem(insufficient);
        });
    }

    /** Cancels a run. */
    public void cancel(ApiRequest request, UUID run, @Nullable String reason) throws InterruptedException {
        reads.requireRun(request.workspace(), run);
        submission.submit(request, new Command.Cancel(run, reason, request.actor()));
    }

    /** Cancels a run that was never started first, as its open work could still start. */
    private ApiResponse delete(ApiRequest request) throws InterruptedException {
        UUID id = request.id("id", IdKind.RUN);
        RunDeletion.Found found = deleted(request, id);
        if (found.state() == RunState.CREATED) {
            submission.submit(request, new Command.Cancel(id, "deleted", request.actor()));
            found = deleted(request, id);
        }
        if (!found.state().terminal()) {
            throw ApiProblem
                    .of(ErrorCode.INVALID_STATE_TRANSITION,
                            "only a run that has not started or has ended can be deleted")
                    .allowing(List.of("cancel")).with("current_state", found.state().wire());
        }
        return ApiResponse.empty(204);
    }

    private RunDeletion.Found deleted(ApiRequest request, UUID id) {
        return database.inTransaction(c -> {
            var found = deletion.delete(c, request.workspace(), id);
            if (found.isPresent() && found.get().state().terminal() && !found.get().deleted()) {
                AuditLog.write(c, request.origin(), "run_deleted", request.workspace(), id.toString(),
                        JsonNodeFactory.instance.objectNode());
            }
            return Reads.found(found, IdKind.RUN, id);
        });
    }

    private ApiResponse done(ApiRequest request, Plain command) throws InterruptedException {
        UUID id = request.id("id", IdKind.RUN);
        reads.requireRun(request.workspace(), id);
        submission.submit(request, command.of(id));
        return ApiResponse.ok(reads.run(request.workspace(), id));
    }
}
