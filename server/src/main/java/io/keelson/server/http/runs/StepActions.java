package io.keelson.server.http.runs;

import io.keelson.core.run.Command;
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

/** Decisions of humans on single steps. */
public final class StepActions {

    private static final int MAX_COMMENT = 2_000;

    private final Reads reads;
    private final Submission submission;

    public StepActions(Reads reads, Submission submission) {
        this.reads = reads;
        this.submission = submission;
    }

    public void addTo(Route.Table table) {
        table.post(Scope.APPROVE, "/steps/{id}/approve", apiRequest -> decide(apiRequest, true));
        table.post(Scope.APPROVE, "/steps/{id}/reject", request -> decide(request, false));
    }

    private ApiResponse decide(ApiRequest request, boolean approve) throws IOException, InterruptedException {
        request.query().done();
        Fields fields = request.fields();
        String comment = fields.optionalText("reason", MAX_COMMENT);
        fields.done();
        UUID id = request.id("id", IdKind.STEP);
        UUID run = UUID.fromString(reads.step(request.workspace(), id).get("run_id").stringValue());
        submission.submit(request, new Command.DecideStep(run, id, approve, comment, request.actor()));
        return ApiResponse.ok(reads.step(request.workspace(), id));
    }
}
