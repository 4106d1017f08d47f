package io.keelson.cli.control;

import io.keelson.cli.common.ListCommand;
import io.keelson.cli.common.OneCommand;
import io.keelson.cli.view.AmountText;
import io.keelson.cli.view.Table;
import io.keelson.cli.view.TerminalText;
import io.keelson.client.BulkJob;
import io.keelson.client.Keelson;
import io.keelson.client.Page;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(name = "bulk", description = "Lists bulk jobs, which cancel or retry many runs, newest first.",
        subcommands = {BulkCommand.Show.class, BulkCommand.Stop.class}, footerHeading = "%nExamples:%n",
        footer = {"  keelson cancel --where 'tag=nightly' --yes       # makes one", "  keelson bulk",
                "  keelson bulk stop 0192f0c1-7f6e-7000-8000-000000000000"})
public final class BulkCommand extends ListCommand<BulkJob> {

    BulkCommand() {
        super("no bulk jobs");
    }

    @Override
    public Page<BulkJob> page(Keelson keelson) {
        return keelson.bulk().list(null, limit);
    }

    @Override
    public Table table(List<BulkJob> jobs) {
        Table table = new Table("JOB", "ACTION", "STATE", "MATCHES", "CHANGED", "UNCHANGED", "REFUSED", "AGE");
        jobs.forEach(job -> table.row(job.id(), job.action(), style().state(job.state()),
                (job.matchesAtLeast() ? "more than " : "") + job.matches(), String.valueOf(job.changed()),
                String.valueOf(job.unchanged()), String.valueOf(refused(job)),
                AmountText.age(Duration.between(job.createdAt(), clock().instant()))));
        return table;
    }

    private static long refused(BulkJob job) {
        return job.refused().valueStream().mapToLong(n -> n.asLong()).sum();
    }

    /** Actions on one of them. */
    private abstract static class One extends OneCommand<BulkJob> {

        @Parameters(index = "0", paramLabel = "JOB", description = "Id of the job.")
        String id = "";

        @Override
        public final List<String> lines(BulkJob job) {
            List<String> lines =
                    new ArrayList<>(List.of(job.id() + "  " + job.action() + "  " + style().state(job.state()),
                            "  filter:    " + TerminalText.clean(job.filter().toString()),
                            "  matches:   " + (job.matchesAtLeast() ? "more than " : "") + job.matches(),
                            "  changed:   " + job.changed() + ", unchanged: " + job.unchanged() + ", refused: "
                                    + refused(job)
                                    + (refused(job) == 0 ? "" : " " + job.refused())));
            if (job.reason() != null) {
                lines.add("  reason:    " + TerminalText.clean(job.reason()));
            }
            if (job.waitsFor() != null) {
                lines.add("  waits for: " + job.waitsFor());
            }
            return lines;
        }
    }

    @Command(name = "show", description = "Shows a bulk job with its filter and progress.")
    static final class Show extends One {
        @Override
        public BulkJob act(Keelson keelson) {
            return keelson.bulk().get(id);
        }
    }

    @Command(name = "stop", description = "Stops a bulk job; runs that it has already changed stay changed.")
    static final class Stop extends One {
        @Override
        public boolean changes() {
            return true;
        }

        @Override
        public BulkJob act(Keelson keelson) {
            return keelson.bulk().stop(id);
        }
    }
}
