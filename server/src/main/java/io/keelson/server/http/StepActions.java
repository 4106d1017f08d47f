package io.keelson.server.http;

import io.keelson.core.run.Command;
import io.keelson.server.auth.Scope;
import java.io.IOException;
import java.util.UUID;

/** Decisions of humans on single steps. */
final class StepActions {

    private static final int MAX_COMMENT = 2_000;

    private final Reads reads;
    private final Submission submission;

    StepActions(Reads reads, Submission submission) {
        this.reads = reads;
        this.submission = submission;
    }

    void addTo(Route.Table table) {
        table.post(Scope.APPROVE, "/steps/{id}/approve", call -> decide(call, true));
        table.post(Scope.APPROVE, "/steps/{id}/reject", call -> decide(call, false));
    }

    private Answer decide(Call call, boolean approve) throws IOException, InterruptedException {
        call.query().done();
        Fields fields = call.fields();
        String comment = fields.optionalText("reason", MAX_COMMENT);
        fields.done();
        UUID id = call.id("id", IdKind.STEP);
        UUID run = UUID.fromString(reads.step(call.workspace(), id).get("run_id").stringValue());
        submission.submit(call, new Command.DecideStep(run, id, approve, comment, call.actor()));
        return Answer.ok(reads.step(call.workspace(), id));
    }
}
