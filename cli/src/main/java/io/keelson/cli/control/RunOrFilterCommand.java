package io.keelson.cli.control;

import io.keelson.cli.common.CliException;
import io.keelson.cli.common.ExitCode;
import io.keelson.cli.common.FilterParser;
import io.keelson.cli.common.RunDocuments;
import io.keelson.cli.common.ServerConnection;
import io.keelson.client.BulkJob;
import io.keelson.client.Keelson;
import io.keelson.client.RetryFrom;
import io.keelson.client.Run;
import io.keelson.client.RunFilter;
import io.keelson.client.Runs;
import io.keelson.server.app.InvalidSettingsException;
import io.keelson.server.app.StartupException;
import java.io.IOException;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** An action on one run, or on all runs of a filter. */
public abstract class RunOrFilterCommand extends RunChange {

    @Parameters(arity = "0..1", paramLabel = "RUN", description = "The run's id, or latest.")
    @Nullable String run;

    @Option(names = "--where", paramLabel = "FILTER",
            description = "Select all runs that match the filter instead of one. " + FilterParser.HELP)
    @Nullable String where;

    @Option(names = {"-y", "--yes"}, description = "With --where: do not ask for confirmation.")
    boolean yes;

    @Option(names = "--dry-run", description = "With --where: only show the number of matching runs.")
    boolean dryRun;

    /** In a question: "cancel". */
    abstract String word();

    abstract Run act(Runs runs, String id);

    abstract long count(Keelson keelson, RunFilter filter);

    abstract BulkJob actOnAll(Keelson keelson, RunFilter filter, String key);

    @Override
    public final Run change(ServerConnection server) {
        return act(server.keelson().runs(), RunDocuments.id(server.keelson(), String.valueOf(run)));
    }

    @Override
    public final Integer call() throws InvalidSettingsException, StartupException, IOException {
        if ((run == null) == (where == null)) {
            throw CliException.usage("RUN_OR_FILTER_REQUIRED", "give either a run or --where");
        }
        if (where == null) {
            if (yes || dryRun) {
                throw CliException.usage("RUN_OR_FILTER_REQUIRED", "--yes and --dry-run require --where");
            }
            return super.call();
        }
        if (watch) {
            throw CliException.usage("RUN_OR_FILTER_REQUIRED", "--watch requires a single run");
        }
        RunFilter filter = FilterParser.parse(where);
        try (ServerConnection server = link(!dryRun)) {
            long matches = count(server.keelson(), filter);
            if (dryRun || matches == 0) {
                print(List.of(word() + ": " + BulkConfirmation.runs(matches)));
                return ExitCode.OK;
            }
            String key = UUID.randomUUID().toString();
            return BulkConfirmation.sure(this, matches, word(), yes)
                    ? BulkConfirmation.follow(this, server, () -> actOnAll(server.keelson(), filter, key))
                    : ExitCode.OK;
        }
    }

    @Command(name = "cancel", description = "Cancels one run or many. Running steps are interrupted.",
            footerHeading = "%nExamples:%n", footer = {"  keelson cancel latest --reason \"wrong folder\"",
                    "  keelson cancel --where 'tag=nightly created<2026-01-01' --dry-run"})
    public static final class Cancel extends RunOrFilterCommand {

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

    @Command(name = "retry", description = "Starts the next attempt of one failed run or of many.",
            footerHeading = "%nExamples:%n",
            footer = {"  keelson retry latest --watch            # keeps what has completed",
                    "  keelson retry latest --from start",
                    "  keelson retry --where 'tag=nightly error=TIMEOUT created>2026-01-01' --per-second 2"})
    public static final class Retry extends RunOrFilterCommand {

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
}
