package io.keelson.cli;

import io.keelson.cli.view.Amounts;
import io.keelson.cli.view.Cells;
import io.keelson.cli.view.Table;
import io.keelson.client.Bulk;
import io.keelson.client.BulkJob;
import io.keelson.client.Json;
import io.keelson.server.InvalidSettingsException;
import io.keelson.server.StartupException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(name = "bulk", description = "Lists bulk jobs, by which many runs are cancelled or retried, newest first.",
        subcommands = {BulkCommand.Show.class, BulkCommand.Stop.class}, footerHeading = "%nExamples:%n",
        footer = {"  keelson cancel --where 'tag=nightly' --yes       # makes one", "  keelson bulk",
                "  keelson bulk stop 0192f0c1-7f6e-7000-8000-000000000000"})
final class BulkCommand extends CliCommand {

    @Option(names = "--limit", paramLabel = "N", defaultValue = "20",
            description = "At most so many; ${DEFAULT-VALUE} when not given.")
    int limit = 20;

    @Override
    public Integer call() throws InvalidSettingsException, StartupException {
        try (Link link = Link.open(settings(), Link.Work.NONE, this::news)) {
            List<BulkJob> all = link.keelson().bulk().list();
            List<BulkJob> jobs = all.subList(0, Math.min(all.size(), Math.max(0, limit)));
            if (json) {
                print(Json.object().set("items", Json.document(jobs)));
                return ExitCode.OK;
            }
            print(jobs.isEmpty() ? List.of("no bulk jobs") : table(jobs));
            if (jobs.size() < all.size()) {
                note("there are more: --limit");
            }
            return ExitCode.OK;
        }
    }

    private List<String> table(List<BulkJob> jobs) {
        Table table = new Table("JOB", "ACTION", "STATE", "MATCHES", "CHANGED", "UNCHANGED", "REFUSED", "AGE");
        jobs.forEach(job -> table.row(job.id(), job.action(), style().state(job.state()),
                (job.matchesAtLeast() ? "more than " : "") + job.matches(), String.valueOf(job.changed()),
                String.valueOf(job.unchanged()), String.valueOf(refused(job)),
                Amounts.age(Duration.between(job.createdAt(), clock().instant()))));
        return table.lines(0, style());
    }

    private static long refused(BulkJob job) {
        return job.refused().valueStream().mapToLong(n -> n.asLong()).sum();
    }

    /** What is done with one of them. */
    private abstract static class One extends CliCommand {

        @Parameters(index = "0", paramLabel = "JOB", description = "Its id.")
        String id = "";

        abstract BulkJob act(Bulk bulk);

        @Override
        public final Integer call() throws InvalidSettingsException, StartupException {
            try (Link link = Link.open(settings(), Link.Work.NONE, this::news)) {
                BulkJob job = act(link.keelson().bulk());
                if (json) {
                    print(Json.document(job));
                } else {
                    print(lines(job));
                }
                return ExitCode.OK;
            }
        }

        private List<String> lines(BulkJob job) {
            List<String> lines =
                    new ArrayList<>(List.of(job.id() + "  " + job.action() + "  " + style().state(job.state()),
                            "  filter:    " + Cells.clean(job.filter().toString()),
                            "  matches:   " + (job.matchesAtLeast() ? "more than " : "") + job.matches(),
                            "  changed:   " + job.changed() + ", unchanged: " + job.unchanged() + ", refused: "
                                    + refused(job)
                                    + (refused(job) == 0 ? "" : " " + job.refused())));
            if (job.reason() != null) {
                lines.add("  reason:    " + Cells.clean(job.reason()));
            }
            if (job.waitsFor() != null) {
                lines.add("  waits for: " + job.waitsFor());
            }
            return lines;
        }
    }

    @Command(name = "show", description = "Shows a bulk job: which runs are meant, and how far it has come.")
    static final class Show extends One {
        @Override
        BulkJob act(Bulk bulk) {
            return bulk.get(id);
        }
    }

    @Command(name = "stop", description = "Stops a bulk job: no more runs are told; what was done stays.")
    static final class Stop extends One {
        @Override
        BulkJob act(Bulk bulk) {
            return bulk.stop(id);
        }
    }
}
