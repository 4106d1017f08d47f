package io.keelson.cli.control;

import io.keelson.client.BulkJob;
import io.keelson.client.Keelson;
import io.keelson.client.Run;
import io.keelson.client.RunFilter;
import io.keelson.client.Runs;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(name = "cancel", description = "Cancels one run or many. Running steps are interrupted.",
        footerHeading = "%nExamples:%n", footer = {"  keelson cancel latest --reason \"wrong folder\"",
                "  keelson cancel --where 'tag=nightly created<2026-01-01' --dry-run"})
public final class CancelCommand extends RunOrFilterCommand {

    @Option(names = "--reason", paramLabel = "TEXT", description = "Why, for the record.")
    @Nullable String reason;

    @Override
    String word() {
        return "cancel";
    }

    @Override
    Run act(Runs runs, String id) {
        return runs.cancel(id, reason);
    }

    @Override
    long count(Keelson keelson, RunFilter filter) {
        return keelson.bulk().countToCancel(filter);
    }

    @Override
    BulkJob actOnAll(Keelson keelson, RunFilter filter, String key) {
        return keelson.bulk().cancel(filter, reason, key);
    }
}
