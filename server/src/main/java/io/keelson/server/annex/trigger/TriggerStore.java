package io.keelson.server.annex.trigger;

import io.keelson.api.trigger.Trigger;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.RecordColumns;
import io.keelson.server.base.db.Sql;
import io.keelson.server.base.db.Tenancy;
import io.keelson.server.engine.store.read.FeedReader;
import io.keelson.server.tenant.audit.AuditLog;
import io.keelson.server.tenant.audit.AuditOrigin;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.JsonNodeFactory;

/** {@code triggers}. A change by a person has its entry in the audit log. Methods with a connection do not commit. */
final class TriggerStore {

    /** Maximum triggers of one workspace. */
    static final int MAX_TRIGGERS = 200;

    private static final RecordColumns<TriggerRow> ROW = RecordColumns.of(TriggerRow.class);

    /** Serialises creations in a workspace, so that its triggers can be counted. */
    private static final Sql TURN =
            Sql.of("select pg_advisory_xact_lock(hashtextextended('keelson triggers ' || :workspace, 0))");

    private static final Sql COUNT = Sql.of("select count(*) as n from triggers where workspace_id = :workspace");

    private static final Sql INSERT = Sql.of("""
            insert into triggers (id, workspace_id, name, recipe_id, definition, enabled, created_by, run_ends_from)
            values (:id, :workspace, :name, :recipe, :definition::jsonb, :enabled, :created_by, :run_ends_from)
            on conflict (workspace_id, name) do nothing""");

    private static final Sql LIST = Sql.of("select " + ROW.names()
            + " from triggers where workspace_id = :workspace and (:name::text is null or name = :name) order by name");

    /** Triggers for events of programs. */
    private static final Sql OF_EVENTS = Sql.of("select " + ROW.names()
            + """

             from triggers
             where workspace_id = any (:workspaces) and enabled and definition #>> '{source,event}' is not null
             order by workspace_id, name""");

    private static final Sql ONE =
            Sql.of("select " + ROW.names() + " from triggers where workspace_id = :workspace and id = :id");

    private static final Sql LOCKED = ONE.and(" for update");

    private static final Sql ALL = Sql.of("select " + ROW.names() + " from triggers where id = any (:ids)");

    /**
     * Keeps changes and deletions of triggers waiting. An advisory lock, since a lock of the rows would give the transaction an id:
     * the event feed shows no later events while a transaction with an id is open.
     */
    private static final Sql HOLD = Sql.of("""
            select count(pg_advisory_xact_lock_shared(lock)) as n
              from (select hashtextextended('keelson trigger ' || id, 0) as lock from unnest(:ids::uuid[]) as id
                     order by lock) as locks""");

    private static final Sql HOLD_ALONE =
            Sql.of("select pg_advisory_xact_lock(hashtextextended('keelson trigger ' || :id, 0))");

    private static final Sql HELD =
            Sql.of("select id, enabled, version from triggers where id = any (:ids)");

    /** Events of the trigger are stored meanwhile: their key share does not conflict. */
    private static final Sql LOCK =
            Sql.of("select id, enabled, version from triggers where id = :id for no key update");

    private static final Sql CHANGE = Sql.of("""
            update triggers set name = :name, recipe_id = :recipe, definition = :definition::jsonb, enabled = :enabled,
                version = version + 1, updated_at = clock_timestamp(),
                run_ends_from = case when :run_ends_from::bigint is null or run_ends_from is null or not :was_enabled
                    then :run_ends_from else run_ends_from end
             where workspace_id = :workspace and id = :id""");

    /** Before its deletion: it neither receives events nor starts runs. */
    private static final Sql DISABLE = Sql.of("""
            update triggers set enabled = false, version = version + 1, updated_at = clock_timestamp()
             where workspace_id = :workspace and id = :id""");

    private static final int DELETION_BATCH_SIZE = 10_000;

    private static final Sql DELETE_DELIVERIES = Sql.of("""
            delete from trigger_deliveries where id = any (array(
                select id from trigger_deliveries where trigger_id = :id limit :limit))""");

    private static final Sql DELETE = Sql.of("delete from triggers where workspace_id = :workspace and id = :id");

    /** The outcome of a creation. */
    enum Created {
        DONE, NAME_TAKEN, LIMIT_REACHED
    }

    /** The present state of a trigger. */
    record Held(UUID id, boolean enabled, int version) {}

    private final Database database;

    TriggerStore(Database database) {
        this.database = database;
    }

    /**
     * @param recipe the recipe of its runs; null without one
     * @param runEndsFrom {@link #runEndsFrom}, read before the transaction
     */
    Created create(Connection c, UUID id, UUID workspace, Trigger.Definition given, @Nullable UUID recipe,
            @Nullable Long runEndsFrom, AuditOrigin origin) throws SQLException {
        TURN.on(c).set("workspace", workspace.toString()).exists();
        if (COUNT.on(c).set("workspace", workspace).one(row -> row.getLong("n")) >= MAX_TRIGGERS) {
            return Created.LIMIT_REACHED;
        }
        if (INSERT.on(c).set("id", id).set("workspace", workspace).set("name", given.name()).set("recipe", recipe)
                .set("definition", TriggerRow.columns(given)).set("enabled", given.enabled())
                .set("created_by", origin.name()).set("run_ends_from", runEndsFrom).update() == 0) {
            return Created.NAME_TAKEN;
        }
        audit(c, origin, "trigger_created", workspace, id);
        return Created.DONE;
    }

    /**
     * By name.
     *
     * @param name only that one; null for all
     */
    List<TriggerRow> list(UUID workspace, @Nullable String name) {
        return database.withConnection(c -> LIST.on(c).set("workspace", workspace).set("name", name).all(ROW));
    }

    /** Enabled triggers of workspaces for events of programs, by workspace and name. */
    List<TriggerRow> ofEvents(Collection<UUID> workspaces) {
        return database.withConnection(c -> OF_EVENTS.on(c).setUuids("workspaces", workspaces).all(ROW));
    }

    Optional<TriggerRow> find(UUID workspace, UUID id) {
        return database.withConnection(c -> find(c, workspace, id));
    }

    Optional<TriggerRow> find(Connection c, UUID workspace, UUID id) throws SQLException {
        return ONE.on(c).set("workspace", workspace).set("id", id).first(ROW);
    }

    /** Locked until the transaction ends. Waits for deliveries that are being decided. */
    Optional<TriggerRow> locked(Connection c, UUID workspace, UUID id) throws SQLException {
        HOLD_ALONE.on(c).set("id", id.toString()).exists();
        return LOCKED.on(c).set("workspace", workspace).set("id", id).first(ROW);
    }

    /** The triggers that exist. */
    List<TriggerRow> all(Collection<UUID> ids) {
        return database.withConnection(c -> ALL.on(c).setUuids("ids", ids).all(ROW));
    }

    /** Keeps the triggers from being changed or deleted until the transaction ends, which gets no id by this. */
    List<Held> hold(Connection c, Collection<UUID> ids) throws SQLException {
        HOLD.on(c).setUuids("ids", ids).exists();
        return HELD.on(c).setUuids("ids", ids).all(RecordColumns.of(Held.class));
    }

    /** Keeps other servers from looking at the trigger's flow until the transaction ends. */
    Optional<Held> lock(Connection c, UUID id) throws SQLException {
        return LOCK.on(c).set("id", id).first(RecordColumns.of(Held.class));
    }

    /** The last event before the trigger receives ends of runs; null for another source. */
    @Nullable Long runEndsFrom(Trigger.Definition given) {
        return TriggerRow.ofRuns(given)
                ? Tenancy.allWorkspaces(() -> database.withConnection(FeedReader::lastId))
                : null;
    }

    /**
     * Replaces the definition of a locked trigger.
     *
     * @param recipe the recipe of its runs; null without one
     * @param runEndsFrom {@link #runEndsFrom}, read before the transaction
     * @throws SQLException with the state of a unique violation when another one has its name
     */
    void change(Connection c, TriggerRow before, Trigger.Definition given, @Nullable UUID recipe,
            @Nullable Long runEndsFrom, AuditOrigin origin)
            throws SQLException {
        CHANGE.on(c).set("name", given.name()).set("recipe", recipe).set("definition", TriggerRow.columns(given))
                .set("enabled", given.enabled()).set("workspace", before.workspaceId()).set("id", before.id())
                .set("run_ends_from", runEndsFrom).set("was_enabled", before.enabled()).update();
        FlowLines.wake(c, before.id());
        audit(c, origin, before.enabled() == given.enabled() ? "trigger_changed"
                : given.enabled() ? "trigger_enabled" : "trigger_disabled", before.workspaceId(), before.id());
    }

    /**
     * Disables a trigger, deletes its deliveries in batches, and deletes it. An interrupted deletion leaves it disabled, and can be
     * repeated.
     *
     * @return false for an unknown id
     */
    boolean delete(UUID workspace, UUID id, AuditOrigin origin) {
        boolean known = database.inTransaction(c -> {
            HOLD_ALONE.on(c).set("id", id.toString()).exists();
            return DISABLE.on(c).set("workspace", workspace).set("id", id).update() == 1;
        });
        if (!known) {
            return false;
        }
        int deleted;
        do {
            deleted = database.inTransaction(
                    c -> DELETE_DELIVERIES.on(c).set("id", id).set("limit", DELETION_BATCH_SIZE).update());
        } while (deleted == DELETION_BATCH_SIZE);
        return database.inTransaction(c -> {
            if (DELETE.on(c).set("workspace", workspace).set("id", id).update() == 0) {
                return false;
            }
            audit(c, origin, "trigger_deleted", workspace, id);
            return true;
        });
    }

    static void audit(Connection c, AuditOrigin origin, String action, UUID workspace, UUID id) throws SQLException {
        AuditLog.write(c, origin, action, workspace, id.toString(), JsonNodeFactory.instance.objectNode());
    }
}
