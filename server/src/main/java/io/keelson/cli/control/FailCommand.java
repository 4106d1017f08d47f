package io.keelson.cli.control;

import io.keelson.cli.common.ServerConnection;
import io.keelson.client.Run;
import io.keelson.client.Runs;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(name = "fail",
        description = "Ends a run as failed. Running steps are interrupted; `retry` can start the run again.",
        footerHeading = "%nExamples:%n", footer = "  keelson fail latest --reason \"the figures are wrong\"")
public final class FailCommand extends ActionCommand {

    @Option(names = "--reason", paramLabel = "TEXT", description = "Why, for the record.")
    @Nullable String reason;

    @Override
    public Run act(ServerConnection server, Runs runs, String id) {
        return runs.fail(id, reason);
    }
}
