package io.keelson.server.http;

import io.keelson.core.run.Command;
import io.keelson.core.run.Command.DecideTask.Choice;
import io.keelson.server.auth.Scope;
import java.io.IOException;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** What humans do to one task. Every answer is the task as it is afterwards. */
final class TaskActions {

    private static final int MAX_TEXT = 2_000;
    private static final int MAX_GATE = 1_000_000;

    private final Reads reads;
    private final Submission submission;

    TaskActions(Reads reads, Submission submission) {
        this.reads = reads;
        this.submission = submission;
    }

    void addTo(Route.Table table) {
        table.post(Scope.APPROVE, "/tasks/{id}/approve", call -> decide(call, true));
        table.post(Scope.APPROVE, "/tasks/{id}/reject", call -> decide(call, false));
        table.post(Scope.RUNS_WRITE, "/tasks/{id}/retry", this::retry);
        table.post(Scope.RUNS_WRITE, "/tasks/{id}/cancel", call -> reasoned(call, (run, task, reason) -> {
            requireApproval(call, task);
            return new Command.CancelTask(run, task, reason, call.actor());
        }));
        table.post(Scope.RUNS_WRITE, "/tasks/{id}/skip", call -> reasoned(call, (run, task, reason) -> {
            requireApproval(call, task);
            return new Command.SkipTask(run, task, reason, call.actor());
        }));
    }

    /** Who may not approve may not pass an approval by ending its task either: the run may go on after it. */
    private void requireApproval(Call call, UUID task) {
        if (reads.read((runs, c) -> runs.asksForApproval(c, call.workspace(), task))) {
            call.require(Scope.APPROVE);
        }
    }

    private interface Of {
        Command task(UUID run, UUID task);
    }

    private interface Reasoned {
        Command of(UUID run, UUID task, @Nullable String reason);
    }

    private Answer decide(Call call, boolean approve) throws IOException, InterruptedException {
        Fields fields = call.fields();
        Long gate = fields.optionalInteger("gate", 1, MAX_GATE);
        String comment = fields.optionalText("reason", MAX_TEXT);
        Choice choice = approve ? Choice.APPROVE : fields.flag("retry", false) ? Choice.RETRY : Choice.REJECT;
        fields.done();
        return done(call, (run, task) -> new Command.DecideTask(run, task, choice,
                gate == null ? null : gate.intValue(), comment, call.actor()));
    }

    private Answer retry(Call call) throws IOException, InterruptedException {
        call.fields().done();
        return done(call, (run, task) -> new Command.RetryTask(run, task, call.actor()));
    }

    private Answer reasoned(Call call, Reasoned command) throws IOException, InterruptedException {
        Fields fields = call.fields();
        String reason = fields.optionalText("reason", MAX_TEXT);
        fields.done();
        return done(call, (run, task) -> command.of(run, task, reason));
    }

    private Answer done(Call call, Of command) throws InterruptedException {
        call.query().done();
        UUID id = call.id("id", IdKind.TASK);
        UUID run = UUID.fromString(reads.task(call.workspace(), id).get("run_id").stringValue());
        submission.submit(call, command.task(run, id));
        return Answer.ok(reads.task(call.workspace(), id));
    }
}
