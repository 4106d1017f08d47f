package io.keelson.cli.admin;

import io.keelson.cli.common.CliCommand;
import io.keelson.cli.common.ExitCode;
import io.keelson.cli.common.ServerConnection;
import io.keelson.cli.common.WorkspaceIds;
import io.keelson.client.ApiKey;
import io.keelson.client.Json;
import io.keelson.client.Keelson;
import io.keelson.server.InvalidSettingsException;
import io.keelson.server.StartupException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(name = "revoke", description = "Revokes a key; all servers reject it within 5 seconds.",
        footerHeading = "%nExamples:%n",
        footer = {"  keelson keys revoke ID", "  keelson keys revoke ID --workspace acme"})
final class KeysRevokeCommand extends CliCommand {

    @Parameters(paramLabel = "KEY", description = "The key's id.")
    String key;

    @Option(names = "--workspace", paramLabel = "WORKSPACE",
            description = "Of another workspace, by id or name; for operators.")
    @Nullable String workspace;

    @Override
    public Integer call() throws InvalidSettingsException, StartupException {
        try (ServerConnection server = link()) {
            Keelson keelson = server.keelson();
            ApiKey ended = keelson.apiKeys().revoke(WorkspaceIds.ofOrOwn(keelson, workspace), key);
            if (json) {
                print(Json.document(ended));
            } else {
                print(List.of("key " + ended.id() + " is " + ended.state()));
            }
            return ExitCode.OK;
        }
    }
}
