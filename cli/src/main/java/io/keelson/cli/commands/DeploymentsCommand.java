package io.keelson.cli.commands;

import io.keelson.cli.common.ListCommand;
import io.keelson.cli.common.OneCommand;
import io.keelson.cli.view.Table;
import io.keelson.cli.view.TerminalText;
import io.keelson.client.Keelson;
import io.keelson.client.Page;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

@Command(name = "deployments", description = "Lists deployments with their state at the provider, newest first.",
        subcommands = {DeploymentsCommand.Show.class, DeploymentsCommand.Stop.class}, footerHeading = "%nExamples:%n",
        footer = {"  keelson deployments", "  keelson deployments show 0192f0c1-7f6e-7000-8000-000000000000",
                "  keelson deployments stop 0192f0c1-7f6e-7000-8000-000000000000"})
public final class DeploymentsCommand extends ListCommand<JsonNode> {

    DeploymentsCommand() {
        super("no deployments");
    }

    @Override
    public Page<JsonNode> page(Keelson keelson) {
        return keelson.commands().deployments(null, limit);
    }

    @Override
    public Table table(List<JsonNode> deployments) {
        Table table = new Table("DEPLOYMENT", "STRATEGY", "MODE", "CAPITAL", "STATUS", "CREATED");
        deployments.forEach(
                each -> table.row(TerminalText.text(each, "id"), TerminalText.text(each, "strategy"),
                        TerminalText.text(each, "mode"),
                        TerminalText.text(each, "capital"), TerminalText.text(each, "status"),
                        TerminalText.text(each, "created_at")));
        return table;
    }

    /** Actions on one of them. */
    private abstract static class One extends OneCommand<JsonNode> {

        @Parameters(index = "0", paramLabel = "DEPLOYMENT", description = "Id of the deployment.")
        String id = "";

        @Override
        public final List<String> lines(JsonNode deployment) {
            return members(deployment);
        }
    }

    @Command(name = "show", description = "Shows a deployment with its state at the provider.")
    static final class Show extends One {
        @Override
        public JsonNode act(Keelson keelson) {
            return keelson.commands().deployment(id);
        }
    }

    @Command(name = "stop", description = "Stops a deployment. Repeating the command has no effect.")
    static final class Stop extends One {
        @Override
        public boolean changes() {
            return true;
        }

        @Override
        public JsonNode act(Keelson keelson) {
            return keelson.commands().stopDeployment(id);
        }
    }
}
