package io.keelson.cli.commands;

import io.keelson.api.work.ExternalCommand;
import io.keelson.cli.common.ClientCommand;
import io.keelson.cli.common.PageCommand;
import io.keelson.cli.common.ProgramName;
import io.keelson.cli.common.RunDocuments;
import io.keelson.cli.view.TerminalText;
import io.keelson.client.Keelson;
import io.keelson.client.Page;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@picocli.CommandLine.Command(name = "commands",
        description = "Lists commands to external systems, such as orders, newest first.",
        subcommands = CommandsCommand.Show.class,
        footer = {"  keelson commands", "  keelson commands --state unknown", "  keelson commands --run latest",
                "  keelson commands show cmd_0192f0c1-7f6e-7000-8000-000000000000"})
public final class CommandsCommand extends PageCommand<ExternalCommand> {

    @Option(names = "--type", paramLabel = "TYPE",
            description = "Show only commands of this type, such as order.place.")
    @Nullable String type;

    @Option(names = "--state", paramLabel = "STATE",
            description = "Show only commands in this state: executing, awaiting_tool, completed, failed or unknown.")
    @Nullable String state;

    @Option(names = "--run", paramLabel = "RUN", description = "Show only commands of this run: its id, or latest.")
    @Nullable String run;

    CommandsCommand() {
        super("no commands", "COMMAND", "TYPE", "STATE", "ATTEMPTS", "AGE", "BY", "ERROR");
    }

    @Override
    protected Page<ExternalCommand> page(Keelson keelson) {
        return keelson.commands().list(type, state, RunDocuments.idIfGiven(keelson, run), null, limit);
    }

    @Override
    protected void advise(List<ExternalCommand> commands) {
        if (commands.stream().anyMatch(each -> each.advice() != null)) {
            note("what to do about unknown ones: " + ProgramName.current() + " commands show COMMAND");
        }
    }

    @Override
    protected List<String> row(ExternalCommand each) {
        return List.of("cmd_" + each.id(), each.type(), each.state(), String.valueOf(each.attempts()),
                age(each.createdAt()), TerminalText.clean(each.actor()),
                Objects.requireNonNullElse(each.errorCode(), ""));
    }

    @picocli.CommandLine.Command(name = "show",
            description = "Shows a command: its request, its outcome, and what to do if the outcome is unknown.")
    static final class Show extends ClientCommand {

        @Parameters(index = "0", paramLabel = "COMMAND", description = "Id of the command.")
        String id = "";

        @Override
        protected void run(Keelson keelson) {
            show(keelson.commands().get(id), Show::lines);
        }

        private static List<String> lines(ExternalCommand command) {
            List<String> lines = new ArrayList<>(List.of(
                    "cmd_" + command.id() + "  " + command.type() + "  " + command.state(),
                    "  actor:        " + TerminalText.clean(command.actor()) + ", " + command.createdAt(),
                    "  payload:      " + TerminalText.clean(command.payload().toString()),
                    "  adapter:      " + command.adapter() + ", attempts: " + command.attempts(),
                    "  provider key: " + command.providerKey()));
            add(lines, "  target:       ", command.targetId());
            add(lines, "  reference:    ", command.providerReference());
            add(lines, "  response:     ", command.response() == null ? null : command.response().toString());
            add(lines, "  error:        ", command.errorCode() == null ? null
                    : command.errorCode() + ": " + command.errorMessage());
            add(lines, "  advice:       ", command.advice());
            return lines;
        }

        private static void add(List<String> lines, String label, @Nullable String text) {
            if (text != null) {
                lines.add(label + TerminalText.clean(text));
            }
        }
    }
}
