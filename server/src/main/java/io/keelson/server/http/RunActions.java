package io.keelson.server.http;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.run.Command;
import io.keelson.core.run.TraceParent;
import io.keelson.server.auth.Audit;
import io.keelson.server.auth.Scope;
import io.keelson.server.db.Database;
import io.keelson.server.db.DbClock;
import io.keelson.server.run.RunDeletion;
import io.keelson.server.run.RunTraces;
import java.io.IOException;
import java.math.BigDecimal;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.JsonNodeFactory;

/** What clients do to a run that exists. Every answer is the run as it is afterwards. */
final class RunActions {

    private static final int MAX_REASON = 2_000;
    private static final int PLACES = 6;
    /** USD. */
    private static final BigDecimal MOST = new BigDecimal(1_000_000_000);

    private final Reads reads;
    private final Admission admission;
    private final CreditDoor credits;
    private final Submission submission;
    private final ParentShare share;
    private final Database database;
    private final RunDeletion deletion = new RunDeletion(DbClock.DATABASE);

    RunActions(Reads reads, Admission admission, CreditDoor credits, Submission submission, Database database) {
        this.reads = reads;
        this.admission = admission;
        this.credits = credits;
        this.submission = submission;
        this.share = new ParentShare(reads, submission);
        this.database = database;
    }

    void addTo(Route.Table table) {
        table.postAlso(Scope.RUNS_WRITE, "/runs/{id}/start", this::start);
        table.deleteAlso(Scope.RUNS_WRITE, "/runs/{id}", this::delete);
        table.postAlso(Scope.RUNS_WRITE, "/runs/{id}/budget", this::budget);
        table.postAlso(Scope.RUNS_WRITE, "/runs/{id}/pause", call -> reasoned(call,
                (run, reason) -> new Command.Pause(run, reason, call.actor())));
        table.postAlso(Scope.RUNS_WRITE, "/runs/{id}/resume",
                call -> plain(call, run -> new Command.Resume(run, call.actor())));
        table.postAlso(Scope.RUNS_WRITE, "/runs/{id}/cancel", call -> reasoned(call,
                (run, reason) -> new Command.Cancel(run, reason, call.actor())));
        table.postAlso(Scope.RUNS_WRITE, "/runs/{id}/fail", call -> reasoned(call,
                (run, reason) -> new Command.FailRun(run, reason, call.actor())));
        table.postAlso(Scope.RUNS_WRITE, "/runs/{id}/replan", call -> reasoned(call,
                (run, reason) -> new Command.Replan(run, reason, call.actor())));
        table.postAlso(Scope.RUNS_WRITE, "/runs/{id}/retry", this::retry);
        table.postAlso(Scope.APPROVE, "/runs/{id}/approve", call -> reasoned(call,
                (run, comment) -> new Command.Approve(run, comment, call.actor())));
        table.postAlso(Scope.APPROVE, "/runs/{id}/reject", call -> reasoned(call,
                (run, comment) -> new Command.Reject(run, comment, call.actor())));
    }

    private interface Plain {
        Command of(UUID run);
    }

    private interface Reasoned {
        Command of(UUID run, @Nullable String why);
    }

    private Answer plain(Call call, Plain command) throws IOException, InterruptedException {
        call.fields().done();
        return done(call, command);
    }

    private Answer reasoned(Call call, Reasoned command) throws IOException, InterruptedException {
        Fields fields = call.fields();
        String why = fields.optionalText("reason", MAX_REASON);
        fields.done();
        return done(call, run -> command.of(run, why));
    }

    private Answer start(Call call) throws IOException, InterruptedException {
        call.fields().done();
        UUID id = call.id("id", IdKind.RUN);
        credits.beginAgain(call, id);
        TraceParent trace = call.traceparent();
        if (trace != null) {
            database.runInTransaction(c -> RunTraces.join(c, call.workspace(), id, trace));
        }
        return done(call, run -> new Command.Start(run, call.actor()));
    }

    private Answer budget(Call call) throws IOException, InterruptedException {
        Fields fields = call.fields();
        BigDecimal hard = fields.optionalAmount("hard_limit_usd", PLACES, MOST);
        BigDecimal soft = fields.optionalAmount("soft_limit_usd", PLACES, MOST);
        if (hard == null && soft == null) {
            fields.problem("REQUIRED", "hard_limit_usd", "one of the limits must be given");
        }
        fields.done();
        call.query().done();
        share.ask(call, call.id("id", IdKind.RUN), hard);
        return done(call, run -> new Command.RaiseBudget(run, hard, soft, call.actor()));
    }

    private Answer retry(Call call) throws IOException, InterruptedException {
        Fields fields = call.fields();
        boolean fromStart = fields.word("from", List.of("failed", "start"), "failed").equals("start");
        fields.done();
        credits.beginAgain(call, call.id("id", IdKind.RUN));
        try (Admission.Ticket _ = admission.reopen(call, call.id("id", IdKind.RUN))) {
            return done(call, run -> new Command.Retry(run, fromStart, call.actor()));
        }
    }

    /** One that was never started is cancelled first: whatever is open can still begin. */
    private Answer delete(Call call) throws IOException, InterruptedException {
        call.query().done();
        call.fields().done();
        UUID id = call.id("id", IdKind.RUN);
        RunDeletion.Found found = deleted(call, id);
        if (found.state() == RunState.CREATED) {
            submission.submit(call, new Command.Cancel(id, "deleted", call.actor()));
            found = deleted(call, id);
        }
        if (!found.state().terminal()) {
            throw Refusal
                    .of(ErrorCode.INVALID_STATE_TRANSITION, "only a run that was not started, or has ended, is deleted")
                    .allowing(List.of("cancel")).with("current_state", found.state().wire());
        }
        return Answer.empty(204);
    }

    private RunDeletion.Found deleted(Call call, UUID id) {
        return database.inTransaction(c -> {
            var found = deletion.delete(c, call.workspace(), id);
            if (found.isPresent() && found.get().state().terminal() && !found.get().deleted()) {
                Audit.write(c, call.origin(), "run_deleted", call.workspace(), id.toString(),
                        JsonNodeFactory.instance.objectNode());
            }
            return Reads.found(found, IdKind.RUN, id);
        });
    }

    private Answer done(Call call, Plain command) throws InterruptedException {
        call.query().done();
        UUID id = call.id("id", IdKind.RUN);
        reads.requireRun(call.workspace(), id);
        submission.submit(call, command.of(id));
        return Answer.ok(reads.run(call.workspace(), id));
    }
}
