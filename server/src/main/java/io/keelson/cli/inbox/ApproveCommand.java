package io.keelson.cli.inbox;

import io.keelson.client.Inbox;
import io.keelson.client.InboxDecision;
import io.keelson.client.Run;
import io.keelson.client.Runs;
import io.keelson.client.Step;
import io.keelson.client.Steps;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;

@Command(name = "approve",
        description = "Approves the pending plan, result, task output or approval step of a run. RUN may also be the id of an inbox item: then only that item is approved.",
        footerHeading = "%nExamples:%n", footer = {"  keelson approve latest --watch     # and follow the run",
                "  keelson approve latest --step sign-off --reason \"figures checked\""})
public final class ApproveCommand extends DecisionCommand {

    @Override
    Run decide(Runs runs, String id, @Nullable String reason) {
        return runs.approve(id, reason);
    }

    @Override
    InboxDecision decide(Inbox inbox, String id, @Nullable String reason) {
        return inbox.accept(id, reason);
    }

    @Override
    Step decide(Steps steps, String stepId, @Nullable String reason) {
        return steps.approve(stepId, reason);
    }
}
