package io.keelson.cli.control;

import io.keelson.api.run.BulkJob;
import io.keelson.api.run.Run;
import io.keelson.cli.common.CliException;
import io.keelson.cli.common.FilterParser;
import io.keelson.cli.common.RunDocuments;
import io.keelson.cli.common.ServerConnection.Work;
import io.keelson.cli.common.Sleep;
import io.keelson.cli.view.AmountText;
import io.keelson.client.Json;
import io.keelson.client.Keelson;
import io.keelson.client.RetryFrom;
import io.keelson.client.RunFilter;
import io.keelson.client.Runs;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** An action on one run, or on all runs of a filter. */
public abstract class RunOrFilterCommand extends RunChange {

    private static final Duration POLL_INTERVAL = Duration.ofMillis(300);

    @Parameters(arity = "0..1", paramLabel = "RUN", description = "The run's id, or latest.")
    @Nullable String run;

    @Option(names = "--where", paramLabel = "FILTER",
            description = "Select all runs that match the filter instead of one. " + FilterParser.HELP)
    @Nullable String where;

    @Option(names = {"-y", "--yes"}, description = "With --where: do not ask for confirmation.")
    boolean yes;

    @Option(names = "--dry-run", description = "With --where: only show the number of matching runs.")
    boolean dryRun;

    private @Nullable RunFilter filter;

    /** In a question: "cancel". */
    abstract String word();

    abstract Run act(Runs runs, String id);

    abstract long count(Keelson keelson, RunFilter filter);

    abstract BulkJob actOnAll(Keelson keelson, RunFilter filter, String key);

    @Override
    public final Run change(Keelson keelson) {
        return act(keelson.runs(), RunDocuments.id(keelson, String.valueOf(run)));
    }

    @Override
    protected final void prepare() {
        if ((run == null) == (where == null)) {
            throw CliException.usage("RUN_OR_FILTER_REQUIRED", "give either a run or --where");
        }
        if (where == null) {
            if (yes || dryRun) {
                throw CliException.usage("RUN_OR_FILTER_REQUIRED", "--yes and --dry-run require --where");
            }
            super.prepare();
        } else if (watch) {
            throw CliException.usage("RUN_OR_FILTER_REQUIRED", "--watch requires a single run");
        } else {
            filter = FilterParser.parse(where);
        }
    }

    @Override
    protected final Work work() {
        return dryRun ? Work.OF_RUNNING_SERVER : super.work();
    }

    @Override
    protected final void run(Keelson keelson) throws IOException {
        if (filter == null) {
            super.run(keelson);
            return;
        }
        long matches = count(keelson, filter);
        String runs = matches >= 100_000 ? "more than 100,000 runs" : AmountText.count(matches, "run");
        if (dryRun || matches == 0) {
            print(List.of(word() + ": " + runs));
        } else if (confirm(yes, word() + " " + runs, "this would " + word() + " " + runs)) {
            show(awaitEnd(keelson, actOnAll(keelson, filter, UUID.randomUUID().toString())), job -> List.of(line(job)));
        }
    }

    /** Waits for the end of a job. */
    private BulkJob awaitEnd(Keelson keelson, BulkJob first) {
        BulkJob job = first;
        while (!job.ended() && !server().interrupted()) {
            Sleep.of(POLL_INTERVAL);
            job = keelson.bulk().get(job.id());
        }
        return job;
    }

    private String line(BulkJob job) {
        long refused = BulkCommand.refused(job);
        return "bulk " + job.id() + " is " + style().state(job.state()) + ": " + job.changed() + " changed, "
                + job.unchanged() + " unchanged, " + refused + " refused"
                + (refused == 0 ? "" : " " + Json.of(job.refused()));
    }

    @Command(name = "cancel", description = "Cancels one run or many. Running steps are interrupted.",
            footer = {"  keelson cancel latest --reason \"wrong folder\"",
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
