package io.keelson.cli;

import io.keelson.cli.view.Cells;
import io.keelson.client.ApiKey;
import io.keelson.client.Json;
import io.keelson.client.WhoAmI;
import io.keelson.server.InvalidSettingsException;
import io.keelson.server.StartupException;
import java.util.List;
import java.util.Objects;
import picocli.CommandLine.Command;
import tools.jackson.databind.node.ObjectNode;

@Command(name = "whoami",
        description = "Shows which server is asked, in which workspace, with which key, and what that may "
                + "do.",
        footerHeading = "%nExamples:%n",
        footer = {"  keelson whoami", "  keelson whoami --json | jq -r '.key.scopes[]'"})
final class WhoamiCommand extends CliCommand {

    @Override
    public Integer call() throws InvalidSettingsException, StartupException {
        try (Link link = link()) {
            WhoAmI me = link.keelson().whoAmI();
            String server = link.own() ? "none runs; one in this process" : String.valueOf(link.keelson().url());
            if (json) {
                ObjectNode document = Json.object().put("server", link.own() ? null : server);
                document.set("workspace", Json.document(me.workspace()));
                document.set("key", link.keelson().api().get("/whoami").get("key"));
                print(document);
                return ExitCode.OK;
            }
            ApiKey key = me.key();
            print(List.of("server     " + server,
                    "workspace  " + Cells.clean(me.workspace().name()) + "  " + style().dim(me.workspace().id()),
                    "principal  " + Cells.clean(key.principal()) + " (" + key.principalKind() + ")",
                    "key        " + key.prefix() + "…  " + Cells.clean(key.name()) + "  " + style().dim(key.id()),
                    "scopes     " + String.join(" ", key.scopes()),
                    "ends       " + Objects.toString(key.expiresAt(), "never")));
            return ExitCode.OK;
        }
    }
}
