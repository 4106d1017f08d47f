package io.keelson.cli;

import io.keelson.client.Run;
import io.keelson.client.Runs;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(name = "cancel", description = "Cancels a run: what runs is interrupted, nothing of it stays open.",
        footerHeading = "%nExamples:%n", footer = "  keelson cancel latest --reason \"wrong folder\"")
final class CancelCommand extends ActionCommand {

    @Option(names = "--reason", paramLabel = "TEXT", description = "Why, for the record.")
    @Nullable String reason;

    @Override
    Run act(Link link, Runs runs, String id) {
        return runs.cancel(id, reason);
    }
}
