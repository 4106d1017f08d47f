package io.keelson.cli.control;

import io.keelson.client.BulkJob;
import io.keelson.client.Keelson;
import io.keelson.client.RetryFrom;
import io.keelson.client.Run;
import io.keelson.client.RunFilter;
import io.keelson.client.Runs;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(name = "retry", description = "Starts the next attempt of one failed run or of many.",
        footerHeading = "%nExamples:%n",
        footer = {"  keelson retry latest --watch            # keeps what has completed",
                "  keelson retry latest --from start",
                "  keelson retry --where 'tag=nightly error=TIMEOUT created>2026-01-01' --per-second 2"})
public final class RetryCommand extends RunOrFilterCommand {

    @Option(names = "--from", paramLabel = "WHERE", defaultValue = "FAILED",
            description = "failed keeps completed tasks, start begins again; failed when not given.")
    RetryFrom from = RetryFrom.FAILED;

    @Option(names = "--per-second", paramLabel = "N",
            description = "With --where: at most N runs a second, from 1 to 1000; 10 when not given.")
    @Nullable Integer perSecond;

    @Override
    String word() {
        return "retry";
    }

    @Override
    Run act(Runs runs, String id) {
        return runs.retry(id, from);
    }

    @Override
    long count(Keelson keelson, RunFilter filter) {
        return keelson.bulk().countToRetry(filter);
    }

    @Override
    BulkJob actOnAll(Keelson keelson, RunFilter filter, String key) {
        return keelson.bulk().retry(filter, from, perSecond, key);
    }
}
