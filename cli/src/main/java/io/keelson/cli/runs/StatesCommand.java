package io.keelson.cli.runs;

import io.keelson.cli.common.CliCommand;
import io.keelson.cli.common.ExitCode;
import io.keelson.cli.common.RunDocuments;
import io.keelson.cli.common.ServerConnection;
import io.keelson.cli.view.Style;
import io.keelson.cli.view.Table;
import io.keelson.client.RunStates;
import io.keelson.server.app.InvalidSettingsException;
import io.keelson.server.app.StartupException;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(name = "states",
        description = "Shows a run's state in the engine's terms and in those of the five contracts, with the number of tasks and steps in each state.",
        footerHeading = "%nExamples:%n",
        footer = {"  keelson states latest", "  keelson states latest --json | jq -r .contracts.gate4.run"})
public final class StatesCommand extends CliCommand {

    @Parameters(paramLabel = "RUN", description = "The run's id, or latest.")
    String run;

    @Override
    public Integer call() throws InvalidSettingsException, StartupException {
        try (ServerConnection server = link()) {
            String id = RunDocuments.id(server.keelson(), run);
            if (json) {
                print(server.keelson().api().get("/runs/" + id + "/states"));
            } else {
                print(table(server.keelson().runs().states(id), style()));
            }
            return ExitCode.OK;
        }
    }

    static List<String> table(RunStates states, Style style) {
        Table table = new Table("CONTRACT", "RUN", "TASKS", "STEPS");
        row(table, "canonical", states.canonical());
        states.contracts().forEach((contract, words) -> row(table, contract, words));
        return table.lines(style);
    }

    private static void row(Table table, String vocabulary, RunStates.Words words) {
        table.row(vocabulary, words.run(), counts(words.tasks()), counts(words.steps()));
    }

    private static String counts(Map<String, Long> counts) {
        return counts.entrySet().stream().map(each -> each.getValue() + " " + each.getKey())
                .collect(Collectors.joining(", "));
    }
}
