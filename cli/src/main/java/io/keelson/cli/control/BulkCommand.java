package io.keelson.cli.control;

import io.keelson.api.run.BulkJob;
import io.keelson.cli.common.ChangeCommand;
import io.keelson.cli.common.ClientCommand;
import io.keelson.cli.common.PageCommand;
import io.keelson.cli.view.Style;
import io.keelson.cli.view.TerminalText;
import io.keelson.client.Json;
import io.keelson.client.Keelson;
import io.keelson.client.Page;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(name = "bulk", description = "Lists bulk jobs, which cancel or retry many runs, newest first.",
        subcommands = {BulkCommand.Show.class, BulkCommand.Stop.class},
        footer = {"  keelson cancel --where 'tag=nightly' --yes       # makes one", "  keelson bulk",
                "  keelson bulk stop 0192f0c1-7f6e-7000-8000-000000000000"})
public final class BulkCommand extends PageCommand<BulkJob> {

    BulkCommand() {
        super("no bulk jobs", "JOB", "ACTION", "STATE", "MATCHES", "CHANGED", "UNCHANGED", "REFUSED", "AGE");
    }

    @Override
    protected Page<BulkJob> page(Keelson keelson) {
        return keelson.bulk().list(null, limit);
    }

    @Override
    protected List<String> row(BulkJob job) {
        return List.of(job.id(), job.action(), style().state(job.state()), matches(job),
                String.valueOf(job.changed()), String.valueOf(job.unchanged()), String.valueOf(refused(job)),
                age(job.createdAt()));
    }

    private static String matches(BulkJob job) {
        return (job.matchesAtLeast() ? "more than " : "") + job.matches();
    }

    static long refused(BulkJob job) {
        return job.refused().values().stream().mapToLong(Integer::intValue).sum();
    }

    private static List<String> lines(BulkJob job, Style style) {
        List<String> lines = new ArrayList<>(List.of(job.id() + "  " + job.action() + "  " + style.state(job.state()),
                "  filter:    " + TerminalText.clean(job.filter().toString()), "  matches:   " + matches(job),
                "  changed:   " + job.changed() + ", unchanged: " + job.unchanged() + ", refused: " + refused(job)
                        + (refused(job) == 0 ? "" : " " + Json.of(job.refused()))));
        if (job.reason() != null) {
            lines.add("  reason:    " + TerminalText.clean(job.reason()));
        }
        if (job.waitsFor() != null) {
            lines.add("  waits for: " + job.waitsFor());
        }
        return lines;
    }

    @Command(name = "show", description = "Shows a bulk job with its filter and progress.")
    static final class Show extends ClientCommand {

        @Parameters(paramLabel = "JOB", description = "Id of the job.")
        String id = "";

        @Override
        protected void run(Keelson keelson) {
            show(keelson.bulk().get(id), job -> lines(job, style()));
        }
    }

    @Command(name = "stop", description = "Stops a bulk job; runs that it has already changed stay changed.")
    static final class Stop extends ChangeCommand {

        @Parameters(paramLabel = "JOB", description = "Id of the job.")
        String id = "";

        @Override
        protected void run(Keelson keelson) {
            show(keelson.bulk().stop(id), job -> lines(job, style()));
        }
    }
}
