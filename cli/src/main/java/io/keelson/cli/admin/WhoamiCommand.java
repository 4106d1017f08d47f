package io.keelson.cli.admin;

import io.keelson.api.tenant.ApiKey;
import io.keelson.api.tenant.WhoAmI;
import io.keelson.cli.common.ClientCommand;
import io.keelson.cli.view.TerminalText;
import io.keelson.client.Json;
import io.keelson.client.Keelson;
import java.util.List;
import java.util.Objects;
import picocli.CommandLine.Command;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

@Command(name = "whoami",
        description = "Shows the server, the workspace, the API key and its scopes.",
        footer = {"  keelson whoami", "  keelson whoami --json | jq -r '.key.scopes[]'"})
public final class WhoamiCommand extends ClientCommand {

    @Override
    protected void run(Keelson keelson) {
        WhoAmI me = keelson.whoAmI();
        print(() -> document(keelson, me), () -> lines(keelson, me));
    }

    private static JsonNode document(Keelson keelson, WhoAmI me) {
        ObjectNode document = Json.object().put("server", String.valueOf(keelson.url()));
        document.set("workspace", Json.document(me.workspace()));
        return document.set("key", keelson.api().get("/whoami").get("key"));
    }

    private List<String> lines(Keelson keelson, WhoAmI me) {
        ApiKey key = me.key();
        return List.of("server     " + keelson.url(),
                "workspace  " + TerminalText.clean(me.workspace().name()) + "  " + style().dim(me.workspace().id()),
                "principal  " + TerminalText.clean(key.principal()) + " (" + key.principalKind() + ")",
                "key        " + key.prefix() + "…  " + TerminalText.clean(key.name()) + "  " + style().dim(key.id()),
                "scopes     " + String.join(" ", key.scopes()),
                "ends       " + Objects.toString(key.expiresAt(), "never"));
    }
}
