package io.keelson.server.tenant.auth;

import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.Sql;
import io.keelson.server.tenant.audit.AuditOrigin;
import java.time.Duration;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The first start: a default workspace, and a key to it for the programs on this machine. */
public final class Bootstrap {

    /** The workspace that every database has; its id is fixed so that servers starting at once agree on it. */
    public static final UUID DEFAULT_WORKSPACE = UUID.fromString("00000000-0000-7000-8000-000000000001");

    private static final Sql INSERT_WORKSPACE = Sql.of("""
            insert into workspaces (id, name, created_at) values (:id, 'default', now())
            on conflict do nothing""");

    private Bootstrap() {}

    /** Makes the default workspace where there is none. */
    public static void ensureWorkspace(Database database) {
        database.runInTransaction(connection -> {
            INSERT_WORKSPACE.on(connection).set("id", DEFAULT_WORKSPACE).update();
        });
    }

    /** The key that the data directory keeps, or a new one to the default workspace when it keeps none that opens it. */
    public static String ensureKey(Database database, ApiKeyLookup keys, LocalCredentials files) {
        ensureWorkspace(database);
        String kept = files.readKey();
        if (kept != null && keys.find(kept) != null) {
            return kept;
        }
        String key = allPowerful(new KeyStore(database), Principal.Kind.PERSON);
        files.writeKey(key);
        return key;
    }

    /**
     * A key of the default workspace that the operator created, instead of a key in the data folder.
     *
     * @param lifetime from the first start with it; null for no end
     */
    public record GivenKey(String text, @Nullable Duration lifetime) {}

    /**
     * Stores the key if it was never stored. A revoked or expired key stays so.
     *
     * @return the key; never shown
     */
    public static String ensureGiven(Database database, GivenKey given) {
        ensureWorkspace(database);
        NewKey wanted = new NewKey("bootstrap", "bootstrap", null, Scope.all(true), given.lifetime());
        var _ = new KeyStore(database).createOnce(DEFAULT_WORKSPACE, wanted, given.text(), AuditOrigin.SERVER);
        return given.text();
    }

    /** @param kind null to take the principal as it is */
    private static String allPowerful(KeyStore store, Principal.@Nullable Kind kind) {
        NewKey wanted = new NewKey("local", "local", kind, Scope.all(true), null);
        return switch (store.create(DEFAULT_WORKSPACE, wanted, AuditOrigin.SERVER)) {
            case KeyResult.Issued(IssuedKey key) -> key.text();
            case KeyResult.OtherKind o -> allPowerful(store, null);
            case KeyResult.NotActive n -> throw new IllegalStateException("nothing was rotated");
            case KeyResult.NoWorkspace n -> throw new IllegalStateException("the first workspace is never closed");
            case KeyResult.NoKey n -> throw new IllegalStateException("nothing was rotated");
        };
    }
}
