package io.keelson.server.api.http.runs;

import io.keelson.api.Reason;
import io.keelson.api.run.Task;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.run.Command;
import io.keelson.core.run.Command.DecideTask.Choice;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.IdKind;
import io.keelson.server.api.http.support.Reads;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.api.http.support.Submission;
import io.keelson.server.tenant.auth.Scope;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Actions of people on one task. Each returns the changed task. */
public final class TaskActions {

    /** @param gate the attempt that was looked at; null for the current one */
    /** @param gate as in {@link Approval} */
    private final Reads reads;
    private final Submission submission;

    public TaskActions(Reads reads, Submission submission) {
        this.reads = reads;
        this.submission = submission;
    }

    public void addTo(Route.Table table) {
        table.post(Scope.APPROVE, "/tasks/{id}/approve", Task.Approval.class,
                (request, body) -> decide(request, Choice.APPROVE, body.gate(), body.reason()));
        table.post(Scope.APPROVE, "/tasks/{id}/reject", Task.Rejection.class, (request, body) -> decide(request,
                body.retry() ? Choice.RETRY : Choice.REJECT, body.gate(), body.reason()));
        table.post(Scope.RUNS_WRITE, "/tasks/{id}/retry", this::retry);
        table.post(Scope.RUNS_WRITE, "/tasks/{id}/cancel", Reason.class,
                (request, body) -> done(request, (run, task) -> {
                    requireApproval(request, run, task);
                    return new Command.CancelTask(run, task, body.reason(), request.actor());
                }));
        table.post(Scope.RUNS_WRITE, "/tasks/{id}/skip", Reason.class, (request, body) -> done(request, (run, task) -> {
            requireApproval(request, run, task);
            return new Command.SkipTask(run, task, body.reason(), request.actor());
        }));
    }

    /** Requires the scope {@code approve} for ending a task with a pending approval: the run may continue after it. */
    private void requireApproval(ApiRequest request, UUID run, UUID task) {
        if (reads.read((runs, c) -> runs.asksForApproval(c, request.workspace(), task))) {
            submission.requireApprover(request, run);
        }
    }

    private interface Of {
        Command task(UUID run, UUID task);
    }

    private ApiResponse decide(ApiRequest request, Choice choice, @Nullable Integer gate, @Nullable String reason)
            throws InterruptedException {
        return done(request,
                (run, task) -> new Command.DecideTask(run, task, choice, gate, reason, request.actor()));
    }

    /** Requires the scope {@code approve} for an output that waits for a person, as the retry rejects it. */
    private ApiResponse retry(ApiRequest request) throws InterruptedException {
        if (reads.task(request.workspace(), request.id("id", IdKind.TASK)).get("state").stringValue()
                .equals(TaskState.AWAITING_HUMAN.wire())) {
            request.require(Scope.APPROVE);
        }
        return done(request, (run, task) -> new Command.RetryTask(run, task, request.actor()));
    }

    private ApiResponse done(ApiRequest request, Of command) throws InterruptedException {
        UUID id = request.id("id", IdKind.TASK);
        UUID run = UUID.fromString(reads.task(request.workspace(), id).get("run_id").stringValue());
        submission.submit(request, command.task(run, id));
        return ApiResponse.ok(reads.task(request.workspace(), id));
    }
}
