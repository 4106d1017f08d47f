package io.keelson.cli.runs;

import io.keelson.api.run.RunStates;
import io.keelson.cli.common.OneRunCommand;
import io.keelson.cli.view.Style;
import io.keelson.cli.view.Table;
import io.keelson.client.Keelson;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;

@Command(name = "states",
        description = "Shows a run's state in the engine's terms and in those of the five contracts, with the number of tasks and steps in each state.",
        footer = {"  keelson states latest", "  keelson states latest --json | jq -r .contracts.gate4.run"})
public final class StatesCommand extends OneRunCommand {

    @Override
    protected void run(Keelson keelson, String id) {
        print(() -> keelson.api().get("/runs/" + id + "/states"), () -> table(keelson.runs().states(id), style()));
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
