package io.keelson.cli;

import io.keelson.client.Run;
import io.keelson.client.Runs;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(name = "fail", description = "Ends a run as failed: what runs is interrupted, and `retry` can begin it again.",
        footerHeading = "%nExamples:%n", footer = "  keelson fail latest --reason \"the figures are wrong\"")
final class FailCommand extends ActionCommand {

    @Option(names = "--reason", paramLabel = "TEXT", description = "Why, for the record.")
    @Nullable String reason;

    @Override
    Run act(Link link, Runs runs, String id) {
        return runs.fail(id, reason);
    }
}
