package io.keelson.cli.commands;

import io.keelson.cli.common.ChangeCommand;
import io.keelson.cli.common.ClientCommand;
import io.keelson.cli.common.PageCommand;
import io.keelson.cli.view.TerminalText;
import io.keelson.client.Keelson;
import io.keelson.client.Page;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

@Command(name = "deployments", description = "Lists deployments with their state at the provider, newest first.",
        subcommands = {DeploymentsCommand.Show.class, DeploymentsCommand.Stop.class},
        footer = {"  keelson deployments", "  keelson deployments show 0192f0c1-7f6e-7000-8000-000000000000",
                "  keelson deployments stop 0192f0c1-7f6e-7000-8000-000000000000"})
public final class DeploymentsCommand extends PageCommand<JsonNode> {

    DeploymentsCommand() {
        super("no deployments", "DEPLOYMENT", "STRATEGY", "MODE", "CAPITAL", "STATUS", "CREATED");
    }

    @Override
    protected Page<JsonNode> page(Keelson keelson) {
        return keelson.commands().deployments(null, limit);
    }

    @Override
    protected List<String> row(JsonNode deployment) {
        return TerminalText.texts(deployment, "id", "strategy", "mode", "capital", "status", "created_at");
    }

    @Command(name = "show", description = "Shows a deployment with its state at the provider.")
    static final class Show extends ClientCommand {

        @Parameters(paramLabel = "DEPLOYMENT", description = "Id of the deployment.")
        String id = "";

        @Override
        protected void run(Keelson keelson) {
            show(keelson.commands().deployment(id), TerminalText::members);
        }
    }

    @Command(name = "stop", description = "Stops a deployment. Repeating the command has no effect.")
    static final class Stop extends ChangeCommand {

        @Parameters(paramLabel = "DEPLOYMENT", description = "Id of the deployment.")
        String id = "";

        @Override
        protected void run(Keelson keelson) {
            show(keelson.commands().stopDeployment(id), TerminalText::members);
        }
    }
}
