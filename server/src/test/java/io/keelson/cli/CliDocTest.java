package io.keelson.cli;

import io.keelson.GeneratedDocs;
import java.time.Clock;
import java.util.Map;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;

class CliDocTest {

    @Test
    void theDocumentIsTheHelpOfEveryCommand() {
        CommandLine keelson = Cli.commandLine(Clock.systemUTC()).setUsageHelpAutoWidth(false).setUsageHelpWidth(100);
        StringBuilder text = new StringBuilder(section("keelson", keelson));
        for (Map.Entry<String, CommandLine> command : keelson.getSubcommands().entrySet()) {
            text.append('\n').append(section("keelson " + command.getKey(), command.getValue()));
        }
        GeneratedDocs.check("docs/cli.md", "commands", text.toString());
    }

    private static String section(String title, CommandLine command) {
        String usage = command.setUsageHelpAutoWidth(false).setUsageHelpWidth(100).getUsageMessage(Ansi.OFF);
        return "## " + title + "\n\n```\n" + usage.lines().map(String::stripTrailing).reduce((a, b) -> a + "\n" + b)
                .orElse("") + "\n```\n";
    }
}
