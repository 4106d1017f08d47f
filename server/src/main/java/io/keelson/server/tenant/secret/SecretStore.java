package io.keelson.server.tenant.secret;

import io.keelson.api.tenant.Secret;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.RecordColumns;
import io.keelson.server.base.db.Sql;
import io.keelson.server.tenant.audit.AuditLog;
import io.keelson.server.tenant.audit.AuditOrigin;
import java.security.MessageDigest;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * {@code secrets} and {@code former_secrets}. Opens values for execution only and caches none. Replaced and removed
 * values are redacted for another day, for steps that began with them.
 */
public final class SecretStore {

    private static final Logger LOG = LoggerFactory.getLogger(SecretStore.class);

    /** Shorter values would be redacted in texts that contain them by chance. */
    public static final int MIN_LENGTH = 4;
    /** In characters. */
    public static final int MAX_LENGTH = 65_536;

    private static final Sql SET = Sql.of("""
            insert into secrets as s (workspace_id, name, key_id, sealed, updated_by)
            values (:workspace, :name, :key_id, :sealed, :updated_by)
            on conflict (workspace_id, name) do update
               set version = s.version + 1, previous_key_id = s.key_id, previous = s.sealed, key_id = excluded.key_id,
                   sealed = excluded.sealed, updated_by = excluded.updated_by, updated_at = clock_timestamp()
            returning name, version, created_at, updated_at, updated_by""");

    private static final Sql LIST = Sql.of("""
            select name, version, created_at, updated_at, updated_by from secrets
             where workspace_id = :workspace order by name""");

    /** Keeps the replaced value, in the transaction that has just set the new one; safe for concurrent writers. */
    private static final Sql KEEP = Sql.of("""
            insert into former_secrets (workspace_id, name, key_id, sealed)
            select workspace_id, name, previous_key_id, previous from secrets
             where workspace_id = :workspace and name = :name and previous is not null""");

    private static final Sql REMOVE = Sql.of("""
            with removed as (
                delete from secrets where workspace_id = :workspace and name = :name
                returning workspace_id, name, key_id, sealed)
            insert into former_secrets (workspace_id, name, key_id, sealed)
            select workspace_id, name, key_id, sealed from removed""");

    private static final Sql FORGET = Sql.of("""
            delete from former_secrets where replaced_at < clock_timestamp() - interval '24 hours'""");

    private static final Sql VALUES = Sql.of("""
            with named as (select :workspace::uuid as workspace_id, unnest(:names::text[]) as name)
            select s.name, s.key_id, s.sealed, true as present from secrets s join named using (workspace_id, name)
            union all
            select s.name, s.previous_key_id, s.previous, false from secrets s join named using (workspace_id, name)
             where s.previous is not null
            union all
            select f.name, f.key_id, f.sealed, false from former_secrets f join named using (workspace_id, name)""");

    private static final Sql PRESENT =
            Sql.of("""
            select workspace_id, name, key_id, sealed from secrets
              join unnest(:workspaces::uuid[], :names::text[]) as named (workspace_id, name) using (workspace_id, name)""");

    private static final Sql FOREIGN = Sql.of("""
            select workspace_id, name, key_id, sealed from secrets where key_id <> :key_id
             order by workspace_id, name limit 500 for update""");

    private static final Sql RESEAL = Sql.of("""
            update secrets set key_id = :key_id, sealed = :sealed where workspace_id = :workspace and name = :name""");

    private static final Sql KEY_IDS = Sql.of("select distinct key_id from secrets order by key_id");

    /**
     * The secrets of an execution.
     *
     * @param values by name
     * @param redaction the values to redact: the current ones and their predecessors
     */
    public record Opened(Map<String, String> values, Redaction redaction) {
        public static final Opened NONE = new Opened(Map.of(), Redaction.NONE);
    }

    private final Database database;
    private final SealingKey key;
    private final Map<String, SealingKey> keys = new LinkedHashMap<>();

    /**
     * @param key what new values are sealed under
     * @param old keys that values may still be sealed under
     */
    public SecretStore(Database database, SealingKey key, Collection<SealingKey> old) {
        this.database = database;
        this.key = key;
        old.forEach(each -> keys.put(each.id(), each));
        keys.put(key.id(), key);
    }

    /** Ids of the keys under which the secrets of all workspaces are sealed. */
    public static List<String> keyIds(Connection c) throws SQLException {
        return KEY_IDS.on(c).all(row -> row.getString("key_id"));
    }

    /**
     * Sets a value, new or existing.
     *
     * @param value {@link #MIN_LENGTH} to {@link #MAX_LENGTH} characters
     * @param origin the caller
     */
    public Secret set(UUID workspace, String name, String value, AuditOrigin origin) {
        String by = origin.name();
        return database.inTransaction(c -> {
            Secret shown = SET.on(c).set("workspace", workspace).set("name", name).set("key_id", key.id())
                    .set("sealed", key.seal(value, context(workspace, name))).set("updated_by", by)
                    .one(RecordColumns.of(Secret.class));
            execute(c, KEEP, workspace, name);
            AuditLog.write(c, origin, "secret_set", workspace, name,
                    JsonNodeFactory.instance.objectNode().put("version", shown.version()));
            return shown;
        });
    }

    /** The secrets of the workspace, in order of their names. */
    public List<Secret> list(UUID workspace) {
        return database.inTransaction(c -> LIST.on(c).set("workspace", workspace).all(RecordColumns.of(Secret.class)));
    }

    /**
     * Removes a secret.
     *
     * @return false if the name is unknown
     */
    public boolean remove(UUID workspace, String name, AuditOrigin origin) {
        return database.inTransaction(c -> {
            boolean removed = execute(c, REMOVE, workspace, name);
            if (removed) {
                AuditLog.write(c, origin, "secret_removed", workspace, name, JsonNodeFactory.instance.objectNode());
            }
            return removed;
        });
    }

    private static boolean execute(Connection c, Sql sql, UUID workspace, String name) throws SQLException {
        return sql.on(c).set("workspace", workspace).set("name", name).update() > 0;
    }

    /** Deletes values that were replaced or removed a day ago. */
    public void forget() {
        database.withConnection(c -> FORGET.on(c).update());
    }

    /**
     * Opens the named secrets for an execution; reads nothing for an empty set.
     *
     * @throws SecretException {@code SECRET_NOT_FOUND}, {@code SECRET_KEY_MISSING}
     */
    public Opened open(UUID workspace, Set<String> names) {
        if (names.isEmpty()) {
            return Opened.NONE;
        }
        Opened opened = read(workspace, names);
        names.stream().filter(name -> !opened.values.containsKey(name)).sorted().findFirst().ifPresent(name -> {
            throw new SecretException("SECRET_NOT_FOUND", "the workspace has no secret '" + name
                    + "'; set it with: keelson secrets set " + name);
        });
        return opened;
    }

    /** The values to redact for those names: current values and values of the last day. */
    public Redaction redaction(UUID workspace, Set<String> names) {
        return names.isEmpty() ? Redaction.NONE : read(workspace, names).redaction;
    }

    /** The name of a secret of a workspace. */
    public record Name(UUID workspaceId, String name) {}

    /** The present values of secrets of any workspaces that exist and can be opened. */
    public Map<Name, String> present(Set<Name> names) {
        Map<Name, String> values = new HashMap<>();
        if (names.isEmpty()) {
            return values;
        }
        List<Name> asked = List.copyOf(names);
        for (Stored each : database.withConnection(
                c -> PRESENT.on(c).setUuids("workspaces", asked.stream().map(Name::workspaceId).toList())
                        .setTexts("names", asked.stream().map(Name::name).toList())
                        .all(RecordColumns.of(Stored.class)))) {
            try {
                values.put(new Name(each.workspaceId, each.name),
                        keyOf(each.keyId, each.name).open(each.sealed, context(each.workspaceId, each.name)));
            } catch (SecretException e) {
                LOG.debug("secret '{}' of workspace {} cannot be opened: {}", each.name, each.workspaceId,
                        e.getMessage());
            }
        }
        return values;
    }

    private Opened read(UUID workspace, Set<String> names) {
        return database.inTransaction(c -> {
            Map<String, String> values = new LinkedHashMap<>();
            Set<String> redacted = new HashSet<>();
            for (Value each : VALUES.on(c).set("workspace", workspace).setTexts("names", names)
                    .all(RecordColumns.of(Value.class))) {
                if (each.present || keys.containsKey(each.keyId)) {
                    String value = keyOf(each.keyId, each.name).open(each.sealed, context(workspace, each.name));
                    redacted.add(value);
                    if (each.present) {
                        values.put(each.name, value);
                    }
                }
            }
            return new Opened(values, Redaction.of(redacted));
        });
    }

    /**
     * An encrypted value of another package.
     *
     * @param keyId names the key under which it opens
     */
    public record Sealed(String keyId, byte[] bytes) {}

    /** Seals under the present key; it opens in that context only. */
    public Sealed seal(String value, String context) {
        return new Sealed(key.id(), key.seal(value, context));
    }

    /** @throws SecretException {@code SECRET_KEY_MISSING} */
    public String open(Sealed sealed, String context) {
        return keyOf(sealed.keyId, context).open(sealed.bytes, context);
    }

    /** A signature under the present key, for that context only. */
    public byte[] sign(String text, String context) {
        return key.sign(text, context);
    }

    /** Whether one of the installation's keys has signed the text for that context. */
    public boolean signed(String text, byte[] signature, String context) {
        return keys.values().stream().anyMatch(each -> MessageDigest.isEqual(each.sign(text, context), signature));
    }

    /** The present key's name. */
    public String keyId() {
        return key.id();
    }

    /** The names of all keys, first the key that encrypts new secrets. */
    public List<String> keyIds() {
        return Stream.concat(Stream.of(key.id()), keys.keySet().stream()).distinct().toList();
    }

    /** Whether values sealed under that key can be opened. */
    public boolean knows(String keyId) {
        return keys.containsKey(keyId);
    }

    private SealingKey keyOf(String id, String name) {
        SealingKey found = keys.get(id);
        if (found == null) {
            throw new SecretException(SecretException.KEY_MISSING,
                    "the secret '" + name + "' is sealed under the key " + id
                            + ", and this server has " + String.join(", ", keys.keySet())
                            + "; name that key in KEELSON_SECRET_KEY or KEELSON_SECRET_KEYS_PREVIOUS");
        }
        return found;
    }

    /** @param present whether the secret has it now, and not an earlier one */
    private record Value(String name, String keyId, byte[] sealed, boolean present) {}

    private record Stored(UUID workspaceId, String name, String keyId, byte[] sealed) {}

    /**
     * Re-encrypts values of known old keys under the current key.
     *
     * @return the number of re-encrypted values
     */
    public int reseal() {
        int done = 0;
        for (int last = 1; last > 0; done += last) {
            last = database.inTransaction(this::resealSome);
        }
        return done;
    }

    private int resealSome(Connection c) throws SQLException {
        int done = 0;
        for (Stored each : FOREIGN.on(c).set("key_id", key.id()).all(RecordColumns.of(Stored.class))) {
            SealingKey old = keys.get(each.keyId);
            if (old != null) {
                String context = context(each.workspaceId, each.name);
                done += RESEAL.on(c).set("key_id", key.id())
                        .set("sealed", key.seal(old.open(each.sealed, context), context))
                        .set("workspace", each.workspaceId).set("name", each.name).update();
            }
        }
        return done;
    }

    private static String context(UUID workspace, String name) {
        return workspace + "/" + name;
    }
}
