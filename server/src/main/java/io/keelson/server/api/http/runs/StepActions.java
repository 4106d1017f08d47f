package io.keelson.server.api.http.runs;

import io.keelson.api.Reason;
import io.keelson.core.run.Command;
import io.keelson.server.api.http.support.ApiRequest;
import io.keelson.server.api.http.support.ApiResponse;
import io.keelson.server.api.http.support.IdKind;
import io.keelson.server.api.http.support.Reads;
import io.keelson.server.api.http.support.Route;
import io.keelson.server.api.http.support.Submission;
import io.keelson.server.tenant.auth.Scope;
import java.util.UUID;

/** Decisions of people on single steps. */
public final class StepActions {

    private final Reads reads;
    private final Submission submission;

    public StepActions(Reads reads, Submission submission) {
        this.reads = reads;
        this.submission = submission;
    }

    public void addTo(Route.Table table) {
        table.post(Scope.APPROVE, "/steps/{id}/approve", Reason.class, (request, body) -> decide(request, true, body));
        table.post(Scope.APPROVE, "/steps/{id}/reject", Reason.class, (request, body) -> decide(request, false, body));
    }

    private ApiResponse decide(ApiRequest request, boolean approve, Reason body) throws InterruptedException {
        UUID id = request.id("id", IdKind.STEP);
        UUID run = UUID.fromString(reads.step(request.workspace(), id).get("run_id").stringValue());
        submission.submit(request, new Command.DecideStep(run, id, approve, body.reason(), request.actor()));
        return ApiResponse.ok(reads.step(request.workspace(), id));
    }
}
