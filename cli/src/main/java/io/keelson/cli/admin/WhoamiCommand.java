package io.keelson.cli.admin;

import io.keelson.cli.common.CliCommand;
import io.keelson.cli.common.ExitCode;
import io.keelson.cli.common.ServerConnection;
import io.keelson.cli.view.TerminalText;
import io.keelson.client.ApiKey;
import io.keelson.client.Json;
import io.keelson.client.WhoAmI;
import io.keelson.server.app.InvalidSettingsException;
import io.keelson.server.app.StartupException;
import java.util.List;
import java.util.Objects;
import picocli.CommandLine.Command;
import tools.jackson.databind.node.ObjectNode;

@Command(name = "whoami",
        description = "Shows the server, the workspace, the API key and its scopes.",
        footerHeading = "%nExamples:%n",
        footer = {"  keelson whoami", "  keelson whoami --json | jq -r '.key.scopes[]'"})
public final class WhoamiCommand extends CliCommand {

    @Override
    public Integer call() throws InvalidSettingsException, StartupException {
        try (ServerConnection serverConnection = link()) {
            WhoAmI me = serverConnection.keelson().whoAmI();
            String server = String.valueOf(serverConnection.keelson().url());
            if (json) {
                ObjectNode document = Json.object().put("server", server);
                document.set("workspace", Json.document(me.workspace()));
                document.set("key", serverConnection.keelson().api().get("/whoami").get("key"));
                print(document);
                return ExitCode.OK;
            }
            ApiKey key = me.key();
            print(List.of("server     " + server,
                    "workspace  " + TerminalText.clean(me.workspace().name()) + "  " + style().dim(me.workspace().id()),
                    "principal  " + TerminalText.clean(key.principal()) + " (" + key.principalKind() + ")",
                    "key        " + key.prefix() + "…  " + TerminalText.clean(key.name()) + "  "
                            + style().dim(key.id()),
                    "scopes     " + String.join(" ", key.scopes()),
                    "ends       " + Objects.toString(key.expiresAt(), "never")));
            return ExitCode.OK;
        }
    }
}
