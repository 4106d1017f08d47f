package io.keelson.cli.control;

import io.keelson.cli.common.ChangeCommand;
import io.keelson.cli.common.RunDocuments;
import io.keelson.client.Json;
import io.keelson.client.Keelson;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(name = "delete",
        description = "Deletes runs that have ended or have never started. Their cost stays in the ledger.",
        footer = "  keelson delete latest")
public final class DeleteCommand extends ChangeCommand {

    @Parameters(arity = "1..*", paramLabel = "RUN", description = "Ids of runs, or latest.")
    List<String> runs = List.of();

    @Override
    protected void run(Keelson keelson) {
        List<String> deleted = new ArrayList<>();
        for (String run : runs) {
            String id = RunDocuments.id(keelson, run);
            keelson.runs().delete(id);
            deleted.add(id);
        }
        print(() -> Json.of(Map.of("deleted", deleted)),
                () -> deleted.stream().map(id -> "run " + id + " is deleted").toList());
    }
}
