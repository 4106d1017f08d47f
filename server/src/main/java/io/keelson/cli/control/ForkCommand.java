package io.keelson.cli.control;

import io.keelson.cli.common.MissionFile;
import io.keelson.cli.common.ServerConnection;
import io.keelson.client.Run;
import io.keelson.client.Runs;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

@Command(name = "fork", description = {"Starts a run of the same plan with other inputs, from one of its tasks.",
        "Completed tasks that do not depend on that task are reused with their outputs; the others run again."},
        footerHeading = "%nExamples:%n", footer = {"  keelson fork latest --from report --watch",
                "  keelson fork latest --from report --input title=\"Second try\""})
public final class ForkCommand extends ActionCommand {

    @Option(names = "--from", paramLabel = "TASK", required = true,
            description = "The first task to run again, by its id in the plan.")
    String task = "";

    @Option(names = {"-i", "--input"}, paramLabel = "NAME=VALUE", description = "The value of an input; repeatable.")
    Map<String, String> inputs = new LinkedHashMap<>();

    @Option(names = "--name", paramLabel = "NAME", description = "The new run's name, instead of the original's.")
    @Nullable String name;

    @Override
    public Run act(ServerConnection server, Runs runs, String id) {
        JsonNode before = runs.get(id).inputs();
        Map<String, JsonNode> values = new LinkedHashMap<>();
        inputs.forEach((key, value) -> values.put(key, MissionFile.value(value, before.path(key).isString())));
        return runs.fork(id, task, values, name);
    }
}
