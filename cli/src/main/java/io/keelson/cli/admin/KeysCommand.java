package io.keelson.cli.admin;

import io.keelson.cli.common.CliCommand;
import io.keelson.cli.common.DurationArgument;
import io.keelson.cli.common.ExitCode;
import io.keelson.cli.common.ServerConnection;
import io.keelson.cli.common.WorkspaceIds;
import io.keelson.cli.view.AmountText;
import io.keelson.cli.view.Table;
import io.keelson.cli.view.TerminalText;
import io.keelson.client.ApiKey;
import io.keelson.client.ApiKeyRequest;
import io.keelson.client.Json;
import io.keelson.client.Keelson;
import io.keelson.server.app.InvalidSettingsException;
import io.keelson.server.app.Settings;
import io.keelson.server.app.StartupException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(name = "keys",
        description = "Lists the API keys of the workspace, newest first. A key itself is shown once, when it is created.",
        subcommands = {KeysCommand.Create.class, KeysCommand.Generate.class, KeysCommand.Rotate.class,
                KeysCommand.Revoke.class},
        footerHeading = "%nExamples:%n", footer = {"  keelson keys", "  keelson keys --workspace acme",
                "  keelson keys create phone --principal ann --person --scope runs:read --scope approve"})
public final class KeysCommand extends CliCommand {

    @Option(names = "--workspace", paramLabel = "WORKSPACE",
            description = "Id or name of another workspace; for operators.")
    @Nullable String workspace;

    @Override
    public Integer call() throws InvalidSettingsException, StartupException {
        try (ServerConnection server = link()) {
            Keelson keelson = server.keelson();
            List<ApiKey> keys = keelson.apiKeys()
                    .list(WorkspaceIds.ofOrOwn(keelson, workspace));
            if (json) {
                print(Json.object().set("items", Json.document(keys)));
                return ExitCode.OK;
            }
            Table table = new Table("KEY", "BEGINS", "STATE", "WHO", "USED", "ENDS", "SCOPES", "NAME");
            Instant now = clock().instant();
            for (ApiKey key : keys) {
                table.row(key.id(), key.prefix(), key.state(), TerminalText.clean(key.principal()),
                        key.lastUsedAt() == null ? "never"
                                : AmountText.age(Duration.between(key.lastUsedAt(), now)) + " ago",
                        ends(key, now), String.join(" ", key.scopes()), TerminalText.clean(key.name()));
            }
            print(table.lines(style()));
            return ExitCode.OK;
        }
    }

    /** When it ends, or how long ago it did. */
    private static String ends(ApiKey key, Instant now) {
        Instant end = key.expiresAt();
        Instant revoked = key.revokedAt();
        if (revoked != null && (end == null || revoked.isBefore(end))) {
            end = revoked;
        }
        if (end == null) {
            return "never";
        }
        return end.isAfter(now) ? "in " + AmountText.age(Duration.between(now, end))
                : AmountText.age(Duration.between(end, now)) + " ago";
    }

    /** Tells of a key that was just made: on standard output the key and nothing else. */
    static void issued(CliCommand command, ApiKey key) {
        if (command.json) {
            command.print(Json.document(key));
            return;
        }
        command.print(List.of(String.valueOf(key.key())));
        command.note("key " + key.id() + " of " + key.principal() + ", shown only now");
    }

    @Command(name = "create", description = "Creates an API key and prints it once.",
            footerHeading = "%nExamples:%n", footer = {
                    "  keelson keys create deployer --scope runs:read --scope runs:write",
                    "  keelson keys create phone --principal ann --person --scope approve --expires 90d",
                    "  keelson keys create first --workspace acme --scope runs:write"})
    static final class Create extends CliCommand {

        @Parameters(paramLabel = "NAME", description = "The purpose of the key.")
        String name;

        @Option(names = "--scope", required = true, paramLabel = "SCOPE",
                description = "Scope of the key: runs:read, "
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
                description = "Id or name of another workspace; for operators.")
        @Nullable String workspace;

        @Override
        public Integer call() throws InvalidSettingsException, StartupException {
            try (ServerConnection server = link(true)) {
                Keelson keelson = server.keelson();
                String id = WorkspaceIds.ofOrOwn(keelson, workspace);
                issued(this, keelson.apiKeys().create(id,
                        new ApiKeyRequest(name, principal, person ? "person" : null, scopes, expires)));
                return ExitCode.OK;
            }
        }
    }

    @Command(name = "generate",
            description = "Prints a new random key for KEELSON_BOOTSTRAP_KEY, without contacting a server.",
            footerHeading = "%nExamples:%n", footer = {
                    "  KEELSON_BOOTSTRAP_KEY=$(keelson keys generate) keelson server",
                    "  kubectl create secret generic keelson --from-literal=bootstrap-key=\"$(keelson keys generate)\""})
    static final class Generate extends CliCommand {

        @Override
        public Integer call() {
            String key = Settings.newBootstrapKey();
            if (json) {
                print(Json.object().put("key", key));
            } else {
                print(List.of(key));
            }
            return ExitCode.OK;
        }
    }

    @Command(name = "rotate",
            description = "Replaces a key by a new one and prints it once. The old key stays valid for the overlap.",
            footerHeading = "%nExamples:%n", footer = {"  keelson keys rotate ID",
                    "  keelson keys rotate ID --overlap 0     # it has leaked"})
    static final class Rotate extends CliCommand {

        @Parameters(paramLabel = "KEY", description = "The key's id.")
        String key;

        @Option(names = "--workspace", paramLabel = "WORKSPACE",
                description = "Id or name of another workspace; for operators.")
        @Nullable String workspace;

        @Option(names = "--overlap", paramLabel = "TIME", converter = DurationArgument.class, defaultValue = "1d",
                description = "How long the old key stays valid, at most 30d; ${DEFAULT-VALUE} when not given, 0 to end it now.")
        Duration overlap = Duration.ofDays(1);

        @Override
        public Integer call() throws InvalidSettingsException, StartupException {
            try (ServerConnection server = link(true)) {
                Keelson keelson = server.keelson();
                issued(this, keelson.apiKeys().rotate(WorkspaceIds.ofOrOwn(keelson, workspace), key, overlap));
                if (!json) {
                    note(overlap.isZero() ? "the old key has ended"
                            : "the old key stays valid for " + AmountText.age(overlap));
                }
                return ExitCode.OK;
            }
        }
    }

    @Command(name = "revoke", description = "Revokes a key; all servers reject it within 5 seconds.",
            footerHeading = "%nExamples:%n",
            footer = {"  keelson keys revoke ID", "  keelson keys revoke ID --workspace acme"})
    static final class Revoke extends CliCommand {

        @Parameters(paramLabel = "KEY", description = "The key's id.")
        String key;

        @Option(names = "--workspace", paramLabel = "WORKSPACE",
                description = "Id or name of another workspace; for operators.")
        @Nullable String workspace;

        @Override
        public Integer call() throws InvalidSettingsException, StartupException {
            try (ServerConnection server = link(true)) {
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
}
