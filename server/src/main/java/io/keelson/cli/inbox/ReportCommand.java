package io.keelson.cli.inbox;

import io.keelson.cli.common.CliCommand;
import io.keelson.cli.common.CliException;
import io.keelson.cli.common.ExitCode;
import io.keelson.cli.common.RunDocuments;
import io.keelson.cli.common.ServerConnection;
import io.keelson.cli.view.TerminalText;
import io.keelson.client.Keelson;
import io.keelson.client.Report;
import io.keelson.client.ReportQuery;
import io.keelson.server.InvalidSettingsException;
import io.keelson.server.StartupException;
import java.util.List;
import java.util.Objects;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(name = "report", description = "Prints a report as Markdown.", footerHeading = "%nExamples:%n",
        footer = {"  keelson report latest", "  keelson report 0199c0de-0000-7000-8000-000000000001 > report.md"})
public final class ReportCommand extends CliCommand {

    @Parameters(index = "0", paramLabel = "ID",
            description = "The report's id, as keelson reports lists it, or latest: the newest report of the latest run.")
    String id = "";

    @Override
    public Integer call() throws InvalidSettingsException, StartupException {
        try (ServerConnection server = link()) {
            String wanted = id.equals("latest") ? newest(server.keelson()) : id;
            if (json) {
                print(server.keelson().reports().document(wanted));
                return ExitCode.OK;
            }
            String content = Objects.requireNonNullElse(server.keelson().reports().get(wanted).content(), "");
            List<String> lines = content.lines()
                    .map(line -> " ".repeat(line.length() - line.stripLeading().length()) + TerminalText.clean(line))
                    .toList();
            print(lines);
            return ExitCode.OK;
        }
    }

    private static String newest(Keelson keelson) {
        String run = RunDocuments.id(keelson, "latest");
        return keelson.reports().list(ReportQuery.all().run(run).limit(1)).items().stream().findFirst().map(Report::id)
                .orElseThrow(() -> CliException.failed("REPORT_NOT_FOUND", "run " + run + " has no reports yet", null));
    }
}
