package io.keelson.cli;

import io.keelson.client.RetryFrom;
import io.keelson.client.Run;
import io.keelson.client.Runs;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(name = "retry", description = "Opens the next attempt of a failed run.", footerHeading = "%nExamples:%n",
        footer = {"  keelson retry latest --watch            # keeps what has completed",
                "  keelson retry latest --from start"})
final class RetryCommand extends ActionCommand {

    @Option(names = "--from", paramLabel = "WHERE", defaultValue = "FAILED",
            description = "failed keeps what has completed, start begins anew; failed when not given.")
    RetryFrom from = RetryFrom.FAILED;

    @Override
    Run act(Link link, Runs runs, String id) {
        return runs.retry(id, from);
    }
}
