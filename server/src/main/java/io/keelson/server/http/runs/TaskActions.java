package io.keelson.server.http.runs;

import io.keelson.core.run.Command;
import io.keelson.core.run.Command.DecideTask.Choice;
import io.keelson.server.auth.Scope;
import io.keelson.server.http.support.ApiRequest;
import io.keelson.server.http.support.ApiResponse;
import io.keelson.server.http.support.Fields;
import io.keelson.server.http.support.IdKind;
import io.keelson.server.http.support.Reads;
import io.keelson.server.http.support.Route;
import io.keelson.server.http.support.Submission;
import java.io.IOException;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Actions of humans on one task. Each returns the changed task. */
public final class TaskActions {

    private static final int MAX_TEXT = 2_000;
    private static final int MAX_GATE = 1_000_000;

    private final Reads reads;
    private final Submission submission;

    public TaskActions(Reads reads, Submission submission) {
        this.reads = reads;
        this.submission = submission;
    }

    public void addTo(Route.Table table) {
        table.post(Scope.APPROVE, "/tasks/{id}/approve", request -> decide(request, true));
        table.post(Scope.APPROVE, "/tasks/{id}/reject", apiRequest -> decide(apiRequest, false));
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

    /** Requires the scope {@code approve} for ending a task with a pending approval: the run may continue after it. */
    private void requireApproval(ApiRequest request, UUID task) {
        if (reads.read((runs, c) -> runs.asksForApproval(c, request.workspace(), task))) {
            request.require(Scope.APPROVE);
        }
    }

    private interface Of {
        Command task(UUID run, UUID task);
    }

    private interface Reasoned {
        Command of(UUID run, UUID task, @Nullable String reason);
    }

    private ApiResponse decide(ApiRequest request, boolean approve) throws IOException, InterruptedException {
        Fields fields = request.fields();
        Long gate = fields.optionalInteger("gate", 1, MAX_GATE);
        String comment = fields.optionalText("reason", MAX_TEXT);
        Choice choice = approve ? Choice.APPROVE : fields.flag("retry", false) ? Choice.RETRY : Choice.REJECT;
        fields.done();
        return done(request, (run, task) -> new Command.DecideTask(run, task, choice,
                gate == null ? null : gate.intValue(), comment, request.actor()));
    }

    private ApiResponse retry(ApiRequest request) throws IOException, InterruptedException {
        request.fields().done();
        return done(request, (run, task) -> new Command.RetryTask(run, task, request.actor()));
    }

    private ApiResponse reasoned(ApiRequest request, Reasoned command) throws IOException, InterruptedException {
        Fields fields = request.fields();
        String reason = fields.optionalText("reason", MAX_TEXT);
        fields.done();
        return done(request, (run, task) -> command.of(run, task, reason));
    }

    private ApiResponse done(ApiRequest request, Of command) throws InterruptedException {
        request.query().done();
        UUID id = request.id("id", IdKind.TASK);
        UUID run = UUID.fromString(reads.task(request.workspace(), id).get("run_id").stringValue());
        submission.submit(request, command.task(run, id));
        return ApiResponse.ok(reads.task(request.workspace(), id));
    }
}
