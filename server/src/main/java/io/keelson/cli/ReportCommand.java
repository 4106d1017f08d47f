package io.keelson.cli;

import io.keelson.cli.view.Cells;
import io.keelson.server.InvalidSettingsException;
import io.keelson.server.StartupException;
import java.util.List;
import java.util.Objects;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(name = "report", description = "Shows a report; it is Markdown.", footerHeading = "%nExamples:%n",
        footer = {"  keelson report 0199c0de-0000-7000-8000-000000000001 > report.md"})
final class ReportCommand extends CliCommand {

    @Parameters(index = "0", paramLabel = "ID", description = "The report's id, as keelson reports lists it.")
    String id = "";

    @Override
    public Integer call() throws InvalidSettingsException, StartupException {
        try (Link link = link()) {
            if (json) {
                print(link.keelson().reports().document(id));
                return ExitCode.OK;
            }
            String content = Objects.requireNonNullElse(link.keelson().reports().get(id).content(), "");
            List<String> lines = content.lines()
                    .map(line -> " ".repeat(line.length() - line.stripLeading().length()) + Cells.clean(line)).toList();
            print(lines);
            return ExitCode.OK;
        }
    }
}
