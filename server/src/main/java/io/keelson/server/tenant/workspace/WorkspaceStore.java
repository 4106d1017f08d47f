package io.keelson.server.tenant.workspace;

import io.keelson.core.plan.Autonomy;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.Rows;
import io.keelson.server.base.db.Sql;
import io.keelson.server.tenant.audit.AuditLog;
import io.keelson.server.tenant.audit.AuditOrigin;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** The workspaces of an installation and their limits; each act has its entry in the audit log. */
public final class WorkspaceStore {

    /** Maximum number of limits of a workspace, including limits of single tools, models and agents. */
    public static final int MAX_LIMITS = 1000;

    private static final String COLUMNS =
            """
            select w.id, w.name, coalesce(w.created_at, to_timestamp(0)) as created_at, w.closed_at,
             w.purge_asked_at, w.purged_at, w.purged_rows,
             w.allowed_folders, w.allowed_models, w.allowed_tools, w.denied_tools,
             w.default_autonomy, %s from workspaces w"""
                    .formatted(Limits.column("w.id"));

    private static final Sql OPEN = Sql.of("""
            select name, id from workspaces
             where closed_at is null and (:names::text[] is null or name = any (:names)) order by name limit 1000""");

    private static final Sql ONE = Sql.of(COLUMNS + " where w.id = :id");

    private static final Sql LOCK = ONE.and(" for no key update of w");

    private static final Sql LIST = Sql.of(COLUMNS + """

             where (:after::uuid is null or (coalesce(w.created_at, to_timestamp(0)), w.id) < (
                select coalesce(last.created_at, to_timestamp(0)), last.id from workspaces last where last.id = :after))
             order by coalesce(w.created_at, to_timestamp(0)) desc, w.id desc
             limit :limit""");

    /** Serialises changes of one name. */
    private static final Sql LOCK_NAME =
            Sql.of("select pg_advisory_xact_lock(hashtextextended('keelson workspace ' || :name, 0))");

    private static final Sql NAMED =
            Sql.of("""
            select id from workspaces where name = :name and closed_at is null and id <> :id order by id limit 1""");

    private static final Sql INSERT =
            Sql.of("insert into workspaces (id, name, created_at) values (:id, :name, now())");

    private static final Sql RENAME = Sql.of("update workspaces set name = :name where id = :id");

    private static final Sql CLOSE = Sql.of("update workspaces set closed_at = clock_timestamp() where id = :id");

    private static final Sql SET_LIMIT = Sql.of("""
            insert into workspace_limits (workspace_id, name, most) values (:id, :name, :most)
            on conflict (workspace_id, name) do update set most = excluded.most""");

    private static final Sql SET_FOLDERS = Sql.of("update workspaces set allowed_folders = :names where id = :id");

    private static final Sql SET_MODELS = Sql.of("update workspaces set allowed_models = :names where id = :id");

    private static final Sql SET_TOOLS = Sql.of("update workspaces set allowed_tools = :names where id = :id");

    private static final Sql DENY_TOOLS = Sql.of("update workspaces set denied_tools = :names where id = :id");

    private static final Sql SET_AUTONOMY = Sql.of("update workspaces set default_autonomy = :level where id = :id");

    private static final Sql RULES =
            Sql.of("select allowed_tools, denied_tools, default_autonomy from workspaces where id = :id");

    private static final Sql MODELS = Sql.of("select allowed_models as names from workspaces where id = :id");

    private static final Sql FOLDERS = Sql.of("select allowed_folders as names from workspaces where id = :id");

    private static final Sql NO_LIMIT =
            Sql.of("delete from workspace_limits where workspace_id = :id and name = :name");

    /**
     * The changes of an update.
     *
     * @param name null to leave it
     * @param limits those to be changed, by name; empty if absent any more
     * @param folders null to leave them
     * @param models null to leave them
     * @param tools allowed ones, null to leave them
     * @param denied tools, null to leave them
     * @param autonomy null to leave it
     */
    public record Change(@Nullable String name, Map<String, Optional<BigDecimal>> limits, @Nullable Folders folders,
            @Nullable AllowedModels models, @Nullable AllowedTools tools, @Nullable List<String> denied,
            @Nullable DefaultAutonomy autonomy) {

        /** A change of the name and limits only. */
        public Change(@Nullable String name, Map<String, Optional<BigDecimal>> limits) {
            this(name, limits, null, null, null, null, null);
        }

        public Change {
            limits = Map.copyOf(limits);
            denied = denied == null ? null : List.copyOf(denied);
        }
    }

    /** @param paths absolute; null for the folders of the server's settings */
    public record Folders(@Nullable List<String> paths) {

        public Folders {
            paths = paths == null ? null : List.copyOf(paths);
        }
    }

    /** @param names as plans have them; null for all models */
    public record AllowedModels(@Nullable List<String> names) {

        public AllowedModels {
            names = names == null ? null : List.copyOf(names);
        }
    }

    /** @param names of tools and groups; null for all tools */
    public record AllowedTools(@Nullable List<String> names) {

        public AllowedTools {
            names = names == null ? null : List.copyOf(names);
        }
    }

    /** @param level of missions that name none; null for the product's */
    public record DefaultAutonomy(@Nullable Autonomy level) {}

    /**
     * Which tools a workspace may use.
     *
     * @param allowed names of tools and groups; null for all
     * @param denied the same, refused in any case
     */
    public record Tools(@Nullable List<String> allowed, List<String> denied) {}

    /**
     * The rules of a workspace for missions.
     *
     * @param autonomy level of missions that name none; null for the product's
     */
    public record Rules(Tools tools, @Nullable Autonomy autonomy) {}

    private final Database database;

    public WorkspaceStore(Database database) {
        this.database = database;
    }

    public Optional<WorkspaceRow> find(UUID id) {
        return database.withConnection(c -> one(c, ONE, id));
    }

    /**
     * Newest first.
     *
     * @param after the last workspace of the page before; null to begin with the newest
     */
    public List<WorkspaceRow> list(@Nullable UUID after, int limit) {
        return database
                .withConnection(c -> LIST.on(c).set("after", after).set("limit", limit).all(WorkspaceStore::workspace));
    }

    /**
     * Open workspaces by their names, with their ids, in the order of their names; at most 1,000.
     *
     * @param names null for all of them
     */
    public Map<String, UUID> open(@Nullable Collection<String> names) {
        Map<String, UUID> found = new LinkedHashMap<>();
        database.withConnection(c -> OPEN.on(c).setTexts("names", names)
                .all(row -> found.put(row.getString("name"), row.getObject("id", UUID.class))));
        return found;
    }

    /** The folders that the workspace's tools may use; empty for the folders of the server's settings. */
    public Optional<List<String>> folders(UUID id) {
        return allowed(id, FOLDERS);
    }

    /** The names of models that the workspace's plans and agents may use; empty for all models. */
    public Optional<List<String>> models(UUID id) {
        return allowed(id, MODELS);
    }

    /** The rules of a workspace for missions; an unknown workspace allows all tools. */
    public Rules rules(UUID id) {
        return database.withConnection(
                c -> RULES.on(c).set("id", id).first(row -> new Rules(tools(row), autonomy(row)))
                        .orElse(new Rules(new Tools(null, List.of()), null)));
    }

    private static Tools tools(ResultSet row) throws SQLException {
        List<String> denied = Rows.optionalList(row, "denied_tools", String[].class);
        return new Tools(Rows.optionalList(row, "allowed_tools", String[].class), denied == null ? List.of() : denied);
    }

    private static @Nullable Autonomy autonomy(ResultSet row) throws SQLException {
        String level = row.getString("default_autonomy");
        return level == null ? null : Autonomy.of(level);
    }

    private Optional<List<String>> allowed(UUID id, Sql sql) {
        return database.withConnection(c -> sql.on(c).set("id", id)
                .first(row -> Optional.ofNullable(Rows.optionalList(row, "names", String[].class))))
                .flatMap(Function.identity());
    }

    /** Made, NameTaken or TooManyLimits, in the caller's transaction. */
    public WorkspaceResult create(Connection c, UUID id, String name, Change settings, AuditOrigin origin)
            throws SQLException {
        Optional<UUID> namesake = namesake(c, id, name);
        if (namesake.isPresent()) {
            return new WorkspaceResult.NameTaken(namesake.get());
        }
        if (tooMany(Limits.NONE, settings)) {
            return new WorkspaceResult.TooManyLimits();
        }
        INSERT.on(c).set("id", id).set("name", name).update();
        set(c, id, settings);
        AuditLog.write(c, origin, "workspace_created", id, id.toString(), detail(name, settings));
        return new WorkspaceResult.Is(one(c, ONE, id).orElseThrow());
    }

    /** Another open workspace of that name; the name is locked until the transaction ends. */
    private static Optional<UUID> namesake(Connection c, UUID id, String name) throws SQLException {
        LOCK_NAME.on(c).set("name", name).exists();
        return NAMED.on(c).set("name", name).set("id", id).first(row -> row.getObject("id", UUID.class));
    }

    /** Whether the change adds limits beyond the maximum. */
    private static boolean tooMany(Limits before, Change change) {
        Set<String> after = new HashSet<>(before.byName().keySet());
        change.limits().forEach((name, most) -> {
            if (most.isPresent()) {
                after.add(name);
            } else {
                after.remove(name);
            }
        });
        return after.size() > Math.max(MAX_LIMITS, before.byName().size());
    }

    /** Changes a workspace. Returns Is, NameTaken, TooManyLimits or NoWorkspace; a closed workspace is unchanged. */
    public WorkspaceResult change(UUID id, Change change, AuditOrigin origin) {
        return database.inTransaction(c -> {
            Optional<WorkspaceRow> found = one(c, LOCK, id);
            if (found.isEmpty()) {
                return new WorkspaceResult.NoWorkspace();
            }
            if (found.get().closed()) {
                return new WorkspaceResult.Is(found.get());
            }
            if (tooMany(found.get().limits(), change)) {
                return new WorkspaceResult.TooManyLimits();
            }
            if (change.name() != null) {
                Optional<UUID> namesake = namesake(c, id, change.name());
                if (namesake.isPresent()) {
                    return new WorkspaceResult.NameTaken(namesake.get());
                }
                RENAME.on(c).set("name", change.name()).set("id", id).update();
            }
            set(c, id, change);
            AuditLog.write(c, origin, "workspace_changed", id, id.toString(), detail(change.name(), change));
            return new WorkspaceResult.Is(one(c, ONE, id).orElseThrow());
        });
    }

    /** Its keys open nothing any more, on any node within 5 seconds. Empty when there is none. */
    public Optional<WorkspaceRow> close(UUID id, AuditOrigin origin) {
        return database.inTransaction(c -> {
            Optional<WorkspaceRow> found = one(c, LOCK, id);
            if (found.isEmpty() || found.get().closed()) {
                return found;
            }
            CLOSE.on(c).set("id", id).update();
            AuditLog.write(c, origin, "workspace_closed", id, id.toString(),
                    detail(found.get().name(), new Change(null, Map.of())));
            return one(c, ONE, id);
        });
    }

    private static void setLimits(Connection c, UUID id, Map<String, Optional<BigDecimal>> limits) throws SQLException {
        for (Map.Entry<String, Optional<BigDecimal>> limit : limits.entrySet()) {
            if (limit.getValue().isPresent()) {
                SET_LIMIT.on(c).set("id", id).set("name", limit.getKey()).set("most", limit.getValue().get()).update();
            } else {
                NO_LIMIT.on(c).set("id", id).set("name", limit.getKey()).update();
            }
        }
    }

    private static void set(Connection c, UUID id, Change change) throws SQLException {
        setLimits(c, id, change.limits());
        if (change.folders() != null) {
            SET_FOLDERS.on(c).setTexts("names", change.folders().paths()).set("id", id).update();
        }
        if (change.models() != null) {
            SET_MODELS.on(c).setTexts("names", change.models().names()).set("id", id).update();
        }
        if (change.tools() != null) {
            SET_TOOLS.on(c).setTexts("names", change.tools().names()).set("id", id).update();
        }
        if (change.denied() != null) {
            DENY_TOOLS.on(c).setTexts("names", change.denied()).set("id", id).update();
        }
        if (change.autonomy() != null) {
            SET_AUTONOMY.on(c).set("level", wire(change.autonomy())).set("id", id).update();
        }
    }

    private static @Nullable String wire(DefaultAutonomy autonomy) {
        Autonomy level = autonomy.level();
        return level == null ? null : level.wire();
    }

    private static Optional<WorkspaceRow> one(Connection c, Sql sql, UUID id) throws SQLException {
        return sql.on(c).set("id", id).first(WorkspaceStore::workspace);
    }

    private static WorkspaceRow workspace(ResultSet row) throws SQLException {
        return new WorkspaceRow(row.getObject("id", UUID.class), row.getString("name"),
                Rows.time(row, "created_at"), Rows.optionalTime(row, "closed_at"),
                Limits.of(row), Rows.optionalList(row, "allowed_folders", String[].class),
                Rows.optionalList(row, "allowed_models", String[].class),
                tools(row), autonomy(row), new WorkspaceRow.Purge(Rows.optionalTime(row, "purge_asked_at") != null,
                        Rows.optionalTime(row, "purged_at") != null, row.getLong("purged_rows")));
    }

    private static ObjectNode detail(@Nullable String name, Change change) {
        ObjectNode detail = JsonNodeFactory.instance.objectNode();
        if (name != null) {
            detail.put("name", name);
        }
        if (!change.limits().isEmpty()) {
            ObjectNode changed = detail.putObject("limits");
            change.limits().forEach((limit, most) -> changed.put(limit, most.orElse(null)));
        }
        if (change.folders() != null) {
            put(detail, "allowed_folders", change.folders().paths());
        }
        if (change.models() != null) {
            put(detail, "allowed_models", change.models().names());
        }
        if (change.tools() != null) {
            put(detail, "allowed_tools", change.tools().names());
        }
        if (change.denied() != null) {
            put(detail, "denied_tools", change.denied());
        }
        if (change.autonomy() != null) {
            detail.put("default_autonomy", wire(change.autonomy()));
        }
        return detail;
    }

    private static void put(ObjectNode detail, String name, @Nullable List<String> texts) {
        if (texts == null) {
            detail.putNull(name);
        } else {
            texts.forEach(detail.putArray(name)::add);
        }
    }
}
