package io.keelson.cli.admin;

import io.keelson.cli.common.CliCommand;
import io.keelson.cli.common.DurationArgument;
import io.keelson.cli.common.ExitCode;
import io.keelson.cli.common.ServerConnection;
import io.keelson.cli.common.WorkspaceIds;
import io.keelson.client.ApiKeyRequest;
import io.keelson.client.Keelson;
import io.keelson.server.InvalidSettingsException;
import io.keelson.server.StartupException;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(name = "create", description = "Creates an API key and prints it once.",
        footerHeading = "%nExamples:%n", footer = {
                "  keelson keys create deployer --scope runs:read --scope runs:write",
                "  keelson keys create phone --principal ann --person --scope approve --expires 90d",
                "  keelson keys create first --workspace acme --scope runs:write"})
final class KeysCreateCommand extends CliCommand {

    @Parameters(paramLabel = "NAME", description = "The purpose of the key.")
    String name;

    @Option(names = "--scope", required = true, paramLabel = "SCOPE",
            description = "Its scope: runs:read, "
                    + "runs:write, approve, work, credits:read, credits:grant, admin, operator; repeatable.")
    List<String> scopes = List.of();

    @Option(names = "--principal", paramLabel = "WHO",
            description = "The principal that acts with the key, as named in events; NAME when not given.")
    @Nullable String principal;

    @Option(names = "--person", description = "The principal is a person, not a service.")
    boolean person;

    @Option(names = "--expires", paramLabel = "TIME", converter = DurationArgument.class,
            description = "When it expires: 90d, 12h, 30m; never when not given.")
    @Nullable Duration expires;

    @Option(names = "--workspace", paramLabel = "WORKSPACE",
            description = "For another workspace, by id or name; for operators.")
    @Nullable String workspace;

    @Override
    public Integer call() throws InvalidSettingsException, StartupException {
        try (ServerConnection server = link()) {
            Keelson keelson = server.keelson();
            String id = WorkspaceIds.ofOrOwn(keelson, workspace);
            KeysCommand.issued(this, keelson.apiKeys().create(id,
                    new ApiKeyRequest(name, principal, person ? "person" : null, scopes, expires)));
            return ExitCode.OK;
        }
    }
}
