package io.keelson.cli.runs;

import io.keelson.api.run.Run;
import io.keelson.cli.common.FilterParser;
import io.keelson.cli.common.PageCommand;
import io.keelson.cli.view.AmountText;
import io.keelson.cli.view.Style;
import io.keelson.cli.view.TerminalText;
import io.keelson.client.Keelson;
import io.keelson.client.Page;
import io.keelson.client.RunFilter;
import io.keelson.client.RunQuery;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

@Command(name = "runs", description = {"Lists runs, newest first.",
        "TOOK is the working time of an ended run's last attempt, COST the amount charged."},
        footer = {
                "  keelson runs", "  keelson runs --state failed --limit 5",
                "  keelson runs --where 'state=failed tag=nightly error=TIMEOUT created>2026-01-01'",
                "  keelson runs --archived --where 'name=nightly'",
                "  keelson runs --json | jq -r '.items[].id'"})
public final class RunsCommand extends PageCommand<Run> {

    @Option(names = "--state", paramLabel = "STATE", description = "Show only runs in this state.")
    @Nullable String state;

    @Option(names = "--where", paramLabel = "FILTER",
            description = "Show only runs that match the filter. " + FilterParser.HELP)
    @Nullable String where;

    @Option(names = "--archived", description = "Show archived runs, instead of those in the database.")
    boolean archived;

    RunsCommand() {
        super("no runs", "RUN", "STATE", "TASKS", "AGE", "TOOK", "COST", "NAME");
    }

    @Override
    protected Page<Run> page(Keelson keelson) {
        return keelson.runs().list(query());
    }

    @Override
    protected JsonNode document(Keelson keelson) {
        return keelson.runs().listDocument(query());
    }

    private RunQuery query() {
        RunFilter filter = where == null ? RunFilter.all() : FilterParser.parse(where);
        return RunQuery.of(state == null ? filter : filter.state(state)).limit(limit).archived(archived);
    }

    @Override
    protected List<String> row(Run run) {
        return List.of(run.id(), state(run, style()), run.tasksCompleted() + "/" + run.taskCount(),
                age(run.createdAt()), AmountText.took(run), cost(run), TerminalText.clean(run.name()));
    }

    private static String cost(Run run) {
        return run.creditsCharged() == null ? "" : AmountText.decimal(run.creditsCharged());
    }

    private static String state(Run run, Style style) {
        Instant start = run.startAt();
        if (start != null && run.state().equals("created")) {
            return style.state(run.state()) + ", starts at " + start;
        }
        return style.state(run) + (run.waitsForHumans() == 0 ? "" : style.yellow(", waits for a person"));
    }
}
