package io.keelson.cli;

import io.keelson.cli.view.Amounts;
import io.keelson.cli.view.Cells;
import io.keelson.cli.view.Style;
import io.keelson.cli.view.Table;
import io.keelson.client.Page;
import io.keelson.client.Run;
import io.keelson.client.RunFilter;
import io.keelson.client.RunQuery;
import io.keelson.server.InvalidSettingsException;
import io.keelson.server.StartupException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(name = "runs", description = {"Lists runs, newest first.",
        "TOOK is how long a run that has ended was at work in its last attempt, COST what it was charged."},
        footerHeading = "%nExamples:%n", footer = {
                "  keelson runs", "  keelson runs --state failed --limit 5",
                "  keelson runs --where 'state=failed tag=nightly error=TIMEOUT created>2026-01-01'",
                "  keelson runs --json | jq -r '.items[].id'"})
final class RunsCommand extends CliCommand {

    @Option(names = "--state", paramLabel = "STATE", description = "Only runs in this state.")
    @Nullable String state;

    @Option(names = "--where", paramLabel = "FILTER", description = "Only runs that are meant. " + Where.HELP)
    @Nullable String where;

    @Option(names = "--limit", paramLabel = "N", defaultValue = "20",
            description = "At most so many; ${DEFAULT-VALUE} when not given.")
    int limit = 20;

    @Override
    public Integer call() throws InvalidSettingsException, StartupException {
        try (Link link = Link.open(settings(), Link.Work.NONE, this::news)) {
            RunFilter filter = where == null ? RunFilter.all() : Where.parse(where);
            RunQuery query = RunQuery.of(state == null ? filter : filter.state(state)).limit(limit);
            if (json) {
                print(link.keelson().runs().listDocument(query));
                return ExitCode.OK;
            }
            Page<Run> page = link.keelson().runs().list(query);
            print(page.items().isEmpty() ? List.of("no runs") : table(page.items(), clock().instant(), style()));
            if (page.nextCursor() != null) {
                note("there are more: --limit");
            }
            return ExitCode.OK;
        }
    }

    static List<String> table(List<Run> runs, Instant now, Style style) {
        Table table = new Table("RUN", "STATE", "TASKS", "AGE", "TOOK", "COST", "NAME");
        for (Run run : runs) {
            Long millis = run.ended() ? run.activeMs() : null;
            Instant created = run.createdAt();
            table.row(run.id(), state(run, style), run.tasksCompleted() + "/" + run.taskCount(),
                    created == null ? "" : Amounts.age(Duration.between(created, now)),
                    millis == null ? "" : Amounts.duration(Duration.ofMillis(millis)), cost(run),
                    Cells.clean(run.name()));
        }
        return table.lines(0, style);
    }

    private static String cost(Run run) {
        return run.creditsCharged() == null ? "" : CreditsCommand.shown(run.creditsCharged());
    }

    private static String state(Run run, Style style) {
        Instant start = run.startAt();
        if (start != null && run.state().equals("created")) {
            return style.state(run.state()) + ", starts at " + start;
        }
        return style.state(run.state()) + (run.waitsForHumans() == 0 ? "" : style.yellow(", waits for a human"));
    }
}
