package io.keelson.server.app;

import io.keelson.server.base.artifact.ArtifactStore;
import io.keelson.server.base.artifact.ArtifactStoreObserver;
import io.keelson.server.base.artifact.ObservedArtifactStore;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseOptions;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.base.db.Migrations;
import io.keelson.server.base.db.Standbys;
import io.keelson.server.base.problem.StartupException;
import io.keelson.server.engine.store.read.RunReader;
import io.keelson.server.outlet.webhook.Deliveries;
import io.keelson.server.outlet.webhook.Endpoints;
import io.keelson.server.tenant.auth.ApiKeyUsage;
import io.keelson.server.tenant.auth.AuthServices;
import io.keelson.server.tenant.money.Money;
import io.keelson.server.tenant.secret.SealingKey;
import io.keelson.server.tenant.secret.SecretStore;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The database and the artifact store of a server, and the stores of single packages in them. */
record Storage(Database database, InstalledArtifacts.Stores files, AuthServices auth, ApiKeyUsage keyUsage,
        SecretStore secrets, Endpoints endpoints, Deliveries deliveries, Money money, RunReader runs) {
    private static final Logger LOG = LoggerFactory.getLogger(Storage.class);

    /** Migrates the database, and re-encrypts secrets that are sealed under an older key. */
    static Storage open(Settings settings, List<SealingKey> keys, DatabaseUrl url, Closer closer)
            throws IOException, StartupException {
        Database database = closer.register(new Database(url,
                DatabaseOptions.DEFAULTS.withPoolSize(settings.databaseConnections() / 2)));
        Migrations.migrate(url);
        if (!database.rlsEnforced()) {
            LOG.warn("row-level security does not apply to requests: the database user bypasses it and"
                    + " may not create the role keelson_request; see docs/concepts/tenants.md");
        }
        String standbys = database.<@Nullable String>withConnection(Standbys::warning);
        if (standbys != null) {
            LOG.warn("STANDBY_NOT_SYNCHRONOUS: {}", standbys);
        }
        ApiKeyUsage keyUsage = closer.register(new ApiKeyUsage(database).start());
        AuthServices auth = AuthServices.of(database, keyUsage);
        SecretStore secrets = secrets(keys, database);
        Endpoints endpoints = new Endpoints(database, secrets, settings.notifications().mail() != null);
        endpoints.reseal();
        return new Storage(database,
                InstalledArtifacts.open(settings, database, closer), auth,
                keyUsage,
                secrets, endpoints, new Deliveries(database), new Money(database, DbClock.DATABASE), new RunReader());
    }

    /** With a count of the use of its artifact store. */
    Storage observed(ArtifactStoreObserver observer) {
        return new Storage(database, new InstalledArtifacts.Stores(
                new ObservedArtifactStore(files.artifacts(), observer), files.documents(), files.objects()), auth,
                keyUsage, secrets,
                endpoints, deliveries, money, runs);
    }

    ArtifactStore artifacts() {
        return files.artifacts();
    }

    private static SecretStore secrets(List<SealingKey> keys, Database database) {
        SecretStore secrets = new SecretStore(database, keys.getFirst(), keys.subList(1, keys.size()));
        List<String> missing = database.withConnection(SecretKeys::keyIds).stream()
                .filter(id -> !secrets.knows(id)).toList();
        if (!missing.isEmpty()) {
            LOG.warn(
                    "SECRET_KEY_MISSING: stored secrets are encrypted under the key {}, and this server has {}: steps and webhooks"
                            + " that need them fail; set KEELSON_SECRET_KEY, or KEELSON_SECRET_KEYS_PREVIOUS, to that key",
                    String.join(", ", missing), String.join(", ", secrets.keyIds()));
        }
        int count = secrets.reseal();
        if (count > 0) {
            LOG.info("{} secrets were re-encrypted under the key {}", count, keys.getFirst().id());
        }
        return secrets;
    }
}
