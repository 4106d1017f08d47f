package io.keelson.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.GeneratedDocs;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;

class CliDocTest {

    @Test
    void theDocumentIsTheHelpOfEveryCommand() {
        CommandLine keelson =
                Cli.commandLine(Clock.systemUTC(), Map.of()).setUsageHelpAutoWidth(false).setUsageHelpWidth(100);
        GeneratedDocs.check("docs/reference/cli.md", "commands", String.join("\n", sections("keelson", keelson)));
    }

    @Test
    void everyCommandIsInASection() {
        assertThat(Cli.commandLine(Clock.systemUTC(), Map.of()).getUsageMessage(Ansi.OFF)).doesNotContain("Others:")
                .contains("Runs:", "Authoring:");
    }

    /** A command's own, then those of its subcommands. */
    private static List<String> sections(String title, CommandLine command) {
        List<String> sections = new ArrayList<>(List.of(section(title, command)));
        command.getSubcommands().forEach((name, each) -> sections.addAll(sections(title + " " + name, each)));
        return sections;
    }

    private static String section(String title, CommandLine command) {
        String usage = command.setUsageHelpAutoWidth(false).setUsageHelpWidth(100).getUsageMessage(Ansi.OFF);
        return "## " + title + "\n\n```\n" + usage.lines().map(String::stripTrailing).reduce((a, b) -> a + "\n" + b)
                .orElse("") + "\n```\n";
    }
}
