package io.keelson.cli.control;

import io.keelson.cli.common.ServerConnection;
import io.keelson.client.Run;
import io.keelson.client.Runs;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(name = "replan",
        description = "Requests a new plan from a run's planner: completed tasks stay, the others are replaced.",
        footerHeading = "%nExamples:%n", footer = "  keelson replan latest --reason \"another source\" --watch")
public final class ReplanCommand extends ActionCommand {

    @Option(names = "--reason", paramLabel = "TEXT", description = "Why, for the record and the planner.")
    @Nullable String reason;

    @Override
    public Run act(ServerConnection server, Runs runs, String id) {
        return runs.replan(id, reason);
    }
}
