package io.keelson.cli.inbox;

import io.keelson.client.Inbox;
import io.keelson.client.InboxDecision;
import io.keelson.client.Run;
import io.keelson.client.Runs;
import io.keelson.client.Step;
import io.keelson.client.Steps;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;

@Command(name = "reject",
        description = "Rejects the pending plan, result, task output or approval step of a run. The run fails, or follows its failure modes. RUN may also be the id of an inbox item: then only that item is rejected.",
        footerHeading = "%nExamples:%n", footer = "  keelson reject latest --reason \"not yet\"")
public final class RejectCommand extends DecisionCommand {

    @Override
    Run decide(Runs runs, String id, @Nullable String reason) {
        return runs.reject(id, reason);
    }

    @Override
    InboxDecision decide(Inbox inbox, String id, @Nullable String reason) {
        return inbox.reject(id, reason);
    }

    @Override
    Step decide(Steps steps, String stepId, @Nullable String reason) {
        return steps.reject(stepId, reason);
    }
}
