package io.keelson.cli;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.Help.Ansi.Text;
import picocli.CommandLine.Help.Column;
import picocli.CommandLine.Help.Column.Overflow;
import picocli.CommandLine.Help.TextTable;
import picocli.CommandLine.Model.UsageMessageSpec;

/** The list of commands in the help of {@code keelson}, by what they are about. */
final class Sections {

    private record Section(String heading, List<String> commands) {}

    private static final List<Section> ALL = List.of(
            new Section("Runs",
                    List.of("run", "watch", "runs", "show", "logs", "transcript", "states", "events", "artifacts",
                            "explain")),
            new Section("Run control",
                    List.of("pause", "resume", "cancel", "fail", "retry", "replan", "fork", "budget", "delete",
                            "task", "signal", "bulk")),
            new Section("Decisions and reports",
                    List.of("inbox", "proposals", "approve", "reject", "escalations", "resolve", "board",
                            "reports", "report")),
            new Section("Definitions", List.of("recipes", "schedules", "agents", "mcp", "secrets")),
            new Section("Effects and webhooks", List.of("commands", "orders", "deployments", "webhooks")),
            new Section("Money", List.of("credits", "ledger", "usage", "prices")),
            new Section("Server and workspaces",
                    List.of("server", "open", "doctor", "whoami", "workspaces", "keys", "audit")),
            new Section("Authoring", List.of("init", "validate", "tools", "lifecycles")),
            new Section("Models", List.of("models", "eval", "dev-model")),
            new Section("Command line", List.of("help", "completion")));

    private Sections() {}

    /** Sets the sections of this command only; the help of its subcommands has one list. */
    static CommandLine in(CommandLine keelson) {
        UsageMessageSpec usage = keelson.getCommandSpec().usageMessage();
        Objects.requireNonNull(keelson.getSubcommands().get("help")).getCommandSpec().usageMessage()
                .description("Shows the help of a command.");
        usage.sectionMap().remove(UsageMessageSpec.SECTION_KEY_COMMAND_LIST_HEADING);
        usage.sectionMap().put(UsageMessageSpec.SECTION_KEY_COMMAND_LIST, Sections::render);
        return keelson;
    }

    private static String render(Help help) {
        Set<String> left = new LinkedHashSet<>(help.subcommands().keySet());
        StringBuilder text = new StringBuilder();
        for (Section section : ALL) {
            left.removeAll(section.commands());
            text.append(section(help, section));
        }
        return text + (left.isEmpty() ? "" : section(help, new Section("Others", new ArrayList<>(left))));
    }

    private static String section(Help help, Section section) {
        UsageMessageSpec usage = help.commandSpec().usageMessage();
        int names = help.subcommands().keySet().stream().mapToInt(String::length).max().orElse(0) + 2;
        TextTable table = TextTable.forColumns(help.colorScheme(), new Column(names, 2, Overflow.SPAN),
                new Column(usage.width() - names, 2, Overflow.WRAP));
        for (String name : section.commands()) {
            Help command = Objects.requireNonNull(help.subcommands().get(name));
            Text description = help.colorScheme().text(command.commandSpec().usageMessage().description()[0]);
            table.addRowValues(help.colorScheme().commandText(name), description);
        }
        return help.createHeading("%n" + section.heading() + ":%n") + table;
    }
}
