package io.keelson.cli.control;

import io.keelson.cli.common.CliCommand;
import io.keelson.cli.common.ExitCode;
import io.keelson.cli.common.RunDocuments;
import io.keelson.cli.common.ServerConnection;
import io.keelson.server.app.InvalidSettingsException;
import io.keelson.server.app.StartupException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

@Command(name = "delete",
        description = "Deletes runs that have ended or have never started. Their cost stays in the ledger.",
        footerHeading = "%nExamples:%n", footer = "  keelson delete latest")
public final class DeleteCommand extends CliCommand {

    @Parameters(arity = "1..*", paramLabel = "RUN", description = "Ids of runs, or latest.")
    List<String> runs = List.of();

    @Override
    public Integer call() throws InvalidSettingsException, StartupException, IOException {
        try (ServerConnection server = link(true)) {
            List<String> deleted = new ArrayList<>();
            for (String run : runs) {
                String id = RunDocuments.id(server.keelson(), run);
                server.keelson().runs().delete(id);
                deleted.add(id);
            }
            if (json) {
                print(deletedOnes(deleted));
            } else {
                print(deleted.stream().map(id -> "run " + id + " is deleted").toList());
            }
            return ExitCode.OK;
        }
    }

    private static JsonNode deletedOnes(List<String> ids) {
        ObjectNode document = JsonNodeFactory.instance.objectNode();
        ids.forEach(document.putArray("deleted")::add);
        return document;
    }
}
