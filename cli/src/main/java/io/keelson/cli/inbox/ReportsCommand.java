package io.keelson.cli.inbox;

import io.keelson.api.outlet.Report;
import io.keelson.cli.common.CliException;
import io.keelson.cli.common.ClientCommand;
import io.keelson.cli.common.PageCommand;
import io.keelson.cli.common.RunDocuments;
import io.keelson.cli.view.Summary;
import io.keelson.cli.view.TerminalText;
import io.keelson.client.Keelson;
import io.keelson.client.Page;
import io.keelson.client.ReportQuery;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

@Command(name = "reports", description = "Lists the reports of runs and their tasks, newest first.",
        footer = {"  keelson reports latest", "  keelson reports --type incident",
                "  keelson reports latest --json | jq -r '.items[].id'"})
public final class ReportsCommand extends PageCommand<Report> {

    @Parameters(index = "0", arity = "0..1", paramLabel = "RUN",
            description = "Show only reports of this run: its id, or latest.")
    @Nullable String run;

    @Option(names = "--type", paramLabel = "TYPE",
            description = "Show only this type: incident, research, delivery, audit or summary.")
    @Nullable String type;

    ReportsCommand() {
        super("no reports", "REPORT", "TYPE", "STATE", "AGE", "AGENT", "TITLE");
    }

    @Override
    protected Page<Report> page(Keelson keelson) {
        return keelson.reports().list(query(keelson));
    }

    @Override
    protected JsonNode document(Keelson keelson) {
        return keelson.reports().document(query(keelson));
    }

    private ReportQuery query(Keelson keelson) {
        ReportQuery query = ReportQuery.all().limit(limit);
        query = run == null ? query : query.run(RunDocuments.id(keelson, run));
        return type == null ? query : query.type(type);
    }

    @Override
    protected List<String> row(Report report) {
        return List.of(report.id(), report.type(), state(report), age(report.createdAt()),
                TerminalText.clean(report.agent()),
                TerminalText.clean(report.title()));
    }

    private String state(Report report) {
        return report.state() == null ? ""
                : report.completedWithFailures() ? style().withFailures() : style().state(report.state());
    }

    @Command(name = "report", description = "Prints a report as Markdown.",
            footer = {"  keelson report latest", "  keelson report 0199c0de-0000-7000-8000-000000000001 > report.md"})
    public static final class Print extends ClientCommand {

        @Parameters(index = "0", paramLabel = "ID",
                description = "The report's id, as keelson reports lists it, or latest: the newest report of the latest run.")
        String id = "";

        @Override
        protected void run(Keelson keelson) {
            String wanted = id.equals("latest") ? newest(keelson) : id;
            print(() -> keelson.reports().document(wanted), () -> lines(keelson.reports().get(wanted)));
        }

        private static List<String> lines(Report report) {
            return Objects.requireNonNullElse(report.content(), "").lines().map(Summary::printable).toList();
        }

        private static String newest(Keelson keelson) {
            String run = RunDocuments.id(keelson, "latest");
            return keelson.reports().list(ReportQuery.all().run(run).limit(1)).items().stream().findFirst()
                    .map(Report::id)
                    .orElseThrow(
                            () -> CliException.failed("REPORT_NOT_FOUND", "run " + run + " has no reports yet"));
        }
    }
}
