package io.keelson.server.app;

import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseOptions;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.Sql;
import io.keelson.server.base.problem.StartupException;
import io.keelson.server.outlet.webhook.Endpoints;
import io.keelson.server.tenant.secret.SealingKey;
import io.keelson.server.tenant.secret.SecretStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.stream.Stream;

/** Keys that encrypt an installation's secrets, from the settings or else from the data directory. */
public final class SecretKeys {

    private static final Sql TABLES = Sql.of("select to_regclass('webhook_endpoints') is not null as exist");

    private SecretKeys() {}

    /**
     * The first key encrypts, all keys decrypt. Creates the file of a key if the installation has no key.
     *
     * @throws StartupException SECRET_KEY_INVALID
     */
    static List<SealingKey> of(Settings settings) throws IOException, StartupException {
        if (!settings.keys().secrets().isEmpty()) {
            return settings.keys().secrets();
        }
        SealingKey key = SealingKey.ofFile(file(settings));
        if (key == null) {
            throw new StartupException("SECRET_KEY_INVALID", file(settings)
                    + " has no key of 32 bytes in Base64: restore the file, or set KEELSON_SECRET_KEY", null);
        }
        return List.of(key);
    }

    /** Ids of the keys of all secrets, of workspaces and of webhooks, in their order. */
    static List<String> keyIds(Connection c) throws SQLException {
        return Stream.concat(SecretStore.keyIds(c).stream(), Endpoints.keyIds(c).stream()).distinct().sorted().toList();
    }

    /**
     * Ids of keys of stored secrets that the installation lacks; empty for a database without the schema.
     *
     * @throws StartupException SECRET_KEY_INVALID
     */
    public static List<String> missing(Settings settings, DatabaseUrl url) throws IOException, StartupException {
        try (Database database = new Database(url, DatabaseOptions.DEFAULTS.withPoolSize(1))) {
            List<String> stored = database.withConnection(c -> TABLES.on(c).one(row -> row.getBoolean("exist"))
                    ? keyIds(c)
                    : List.of());
            return missing(settings, stored);
        }
    }

    /** The key's file in the data directory. */
    public static Path file(Settings settings) {
        return settings.dataDir().resolve("secret-key");
    }

    /** The ids of the installation's keys. */
    public static List<String> present(Settings settings) throws IOException, StartupException {
        boolean any = !settings.keys().secrets().isEmpty() || Files.exists(file(settings));
        return any ? of(settings).stream().map(SealingKey::id).toList() : List.of();
    }

    /** Which of these keys the installation does not have. */
    public static List<String> missing(Settings settings, List<String> ids) throws IOException, StartupException {
        List<String> present = present(settings);
        return ids.stream().filter(id -> !present.contains(id)).toList();
    }
}
