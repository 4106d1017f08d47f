package io.keelson.cli;

import io.keelson.cli.view.Amounts;
import io.keelson.cli.view.Cells;
import io.keelson.cli.view.Table;
import io.keelson.client.Page;
import io.keelson.client.Report;
import io.keelson.client.ReportQuery;
import io.keelson.server.InvalidSettingsException;
import io.keelson.server.StartupException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(name = "reports", description = "Lists the reports of runs and their tasks, newest first.",
        footerHeading = "%nExamples:%n", footer = {"  keelson reports latest", "  keelson reports --type incident",
                "  keelson reports latest --json | jq -r '.items[].id'"})
final class ReportsCommand extends CliCommand {

    @Parameters(index = "0", arity = "0..1", paramLabel = "RUN",
            description = "Only those of this run: its id, or latest.")
    @Nullable String run;

    @Option(names = "--type", paramLabel = "TYPE",
            description = "Only these: incident, research, delivery, audit or summary.")
    @Nullable String type;

    @Option(names = "--limit", paramLabel = "N", defaultValue = "20",
            description = "At most so many; ${DEFAULT-VALUE} when not given.")
    int limit = 20;

    @Override
    public Integer call() throws InvalidSettingsException, StartupException {
        try (Link link = Link.open(settings(), Link.Work.NONE, this::news)) {
            ReportQuery query = ReportQuery.all().limit(limit);
            query = run == null ? query : query.run(RunDocuments.id(link.keelson(), run));
            query = type == null ? query : query.type(type);
            if (json) {
                print(link.keelson().reports().document(query));
                return ExitCode.OK;
            }
            Page<Report> page = link.keelson().reports().list(query);
            print(page.items().isEmpty() ? List.of("no reports") : table(page.items()));
            if (page.nextCursor() != null) {
                note("there are more: --limit");
            }
            return ExitCode.OK;
        }
    }

    private List<String> table(List<Report> reports) {
        Table table = new Table("REPORT", "TYPE", "STATE", "AGE", "AGENT", "TITLE");
        for (Report report : reports) {
            table.row(report.id(), report.type(), Objects.requireNonNullElse(report.state(), ""),
                    Amounts.age(Duration.between(report.createdAt(), clock().instant())),
                    Cells.clean(Objects.requireNonNullElse(report.agent(), "")), Cells.clean(report.title()));
        }
        return table.lines(0, style());
    }
}
