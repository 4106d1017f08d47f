package io.keelson.cli.admin;

import io.keelson.api.tenant.ApiKey;
import io.keelson.api.tenant.NewApiKey;
import io.keelson.cli.common.ChangeCommand;
import io.keelson.cli.common.CliCommand;
import io.keelson.cli.common.DurationArgument;
import io.keelson.cli.common.ExitCode;
import io.keelson.cli.common.ListCommand;
import io.keelson.cli.common.WorkspaceIds;
import io.keelson.cli.view.AmountText;
import io.keelson.cli.view.TerminalText;
import io.keelson.client.ApiKeys;
import io.keelson.client.Json;
import io.keelson.client.Keelson;
import io.keelson.server.app.Settings;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(name = "keys",
        description = "Lists the API keys of the workspace, newest first. A key itself is shown once, when it is created.",
        subcommands = {KeysCommand.Create.class, KeysCommand.Generate.class, KeysCommand.Rotate.class,
                KeysCommand.Revoke.class},
        footer = {"  keelson keys", "  keelson keys --workspace acme",
                "  keelson keys create phone --principal ann --person --scope runs:read --scope approve"})
public final class KeysCommand extends ListCommand<ApiKey> {

    @Mixin
    OtherWorkspace of = new OtherWorkspace();

    KeysCommand() {
        super("", "KEY", "BEGINS", "STATE", "WHO", "USED", "ENDS", "SCOPES", "NAME");
    }

    @Override
    protected List<ApiKey> items(Keelson keelson) {
        return keelson.apiKeys().list(of.id(keelson));
    }

    @Override
    protected List<String> row(ApiKey key) {
        return List.of(key.id(), key.prefix(), key.state(), TerminalText.clean(key.principal()),
                key.lastUsedAt() == null ? "never" : age(key.lastUsedAt()) + " ago", ends(key, clock().instant()),
                String.join(" ", key.scopes()), TerminalText.clean(key.name()));
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
        return AmountText.when(end, now);
    }

    /** The workspace of keys. */
    static final class OtherWorkspace {
        @Option(names = "--workspace", paramLabel = "WORKSPACE",
                description = "Id or name of another workspace; for operators.")
        @Nullable String workspace;

        @Nullable String id(Keelson keelson) {
            return WorkspaceIds.ofOrOwn(keelson, workspace);
        }
    }

    /** Makes a key and prints it; standard output has the key and nothing else. */
    abstract static class Issue extends ChangeCommand {

        @Mixin
        OtherWorkspace of = new OtherWorkspace();

        abstract ApiKey key(ApiKeys keys, @Nullable String workspaceId);

        /** Prints notes behind the key. */
        void advise() {}

        @Override
        protected final void run(Keelson keelson) {
            ApiKey key = key(keelson.apiKeys(), of.id(keelson));
            show(key, String.valueOf(key.key()));
            if (!json) {
                note("key " + key.id() + " of " + key.principal() + ", shown only now");
                advise();
            }
        }
    }

    @Command(name = "create", description = "Creates an API key and prints it once.",
            footer = {
                    "  keelson keys create deployer --scope runs:read --scope runs:write",
                    "  keelson keys create phone --principal ann --person --scope approve --expires 90d",
                    "  keelson keys create first --workspace acme --scope runs:write"})
    static final class Create extends Issue {

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

        @Override
        ApiKey key(ApiKeys keys, @Nullable String workspaceId) {
            return keys.create(workspaceId,
                    new NewApiKey(name, principal, person ? "person" : null, scopes,
                            expires == null ? null : expires.toSeconds()));
        }
    }

    @Command(name = "generate",
            description = "Prints a new random key for KEELSON_BOOTSTRAP_KEY, without contacting a server.",
            footer = {
                    "  KEELSON_BOOTSTRAP_KEY=$(keelson keys generate) keelson server",
                    "  kubectl create secret generic keelson --from-literal=bootstrap-key=\"$(keelson keys generate)\""})
    static final class Generate extends CliCommand {

        @Override
        public Integer call() {
            String key = Settings.newBootstrapKey();
            print(() -> Json.object().put("key", key), () -> List.of(key));
            return ExitCode.OK;
        }
    }

    @Command(name = "rotate",
            description = "Replaces a key by a new one and prints it once. The old key stays valid for the overlap.",
            footer = {"  keelson keys rotate ID",
                    "  keelson keys rotate ID --overlap 0     # it has leaked"})
    static final class Rotate extends Issue {

        @Parameters(paramLabel = "KEY", description = "The key's id.")
        String key;

        @Option(names = "--overlap", paramLabel = "TIME", converter = DurationArgument.class, defaultValue = "1d",
                description = "How long the old key stays valid, at most 30d; ${DEFAULT-VALUE} when not given, 0 to end it now.")
        Duration overlap = Duration.ofDays(1);

        @Override
        ApiKey key(ApiKeys keys, @Nullable String workspaceId) {
            return keys.rotate(workspaceId, key, overlap);
        }

        @Override
        void advise() {
            note(overlap.isZero() ? "the old key has ended" : "the old key stays valid for " + AmountText.age(overlap));
        }
    }

    @Command(name = "revoke", description = "Revokes a key; all servers reject it within 5 seconds.",
            footer = {"  keelson keys revoke ID", "  keelson keys revoke ID --workspace acme"})
    static final class Revoke extends ChangeCommand {

        @Parameters(paramLabel = "KEY", description = "The key's id.")
        String key;

        @Mixin
        OtherWorkspace of = new OtherWorkspace();

        @Override
        protected void run(Keelson keelson) {
            ApiKey ended = keelson.apiKeys().revoke(of.id(keelson), key);
            show(ended, "key " + ended.id() + " is " + ended.state());
        }
    }
}
