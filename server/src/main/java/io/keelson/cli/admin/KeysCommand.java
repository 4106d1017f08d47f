package io.keelson.cli.admin;

import io.keelson.cli.common.CliCommand;
import io.keelson.cli.common.ExitCode;
import io.keelson.cli.common.ServerConnection;
import io.keelson.cli.common.WorkspaceIds;
import io.keelson.cli.view.AmountText;
import io.keelson.cli.view.Table;
import io.keelson.cli.view.TerminalText;
import io.keelson.client.ApiKey;
import io.keelson.client.Json;
import io.keelson.client.Keelson;
import io.keelson.server.InvalidSettingsException;
import io.keelson.server.StartupException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(name = "keys",
        description = "Lists the API keys of the workspace, newest first. A key itself is shown once, when it is created.",
        subcommands = {KeysCreateCommand.class, KeysGenerateCommand.class, KeysRotateCommand.class,
                KeysRevokeCommand.class},
        footerHeading = "%nExamples:%n", footer = {"  keelson keys", "  keelson keys --workspace acme",
                "  keelson keys create phone --principal ann --person --scope runs:read --scope approve"})
public final class KeysCommand extends CliCommand {

    @Option(names = "--workspace", paramLabel = "WORKSPACE",
            description = "Of another workspace, by id or name; for operators.")
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
                        ends(key, now),
                        String.join(" ", key.scopes()), TerminalText.clean(key.name()));
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
}
