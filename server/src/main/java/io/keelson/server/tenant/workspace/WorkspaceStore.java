package io.keelson.server.tenant.workspace;

import io.keelson.core.plan.Autonomy;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.Rows;
import io.keelson.server.tenant.audit.AuditLog;
import io.keelson.server.tenant.audit.AuditOrigin;
import java.math.BigDecimal;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** The workspaces of an installation and their limits; each act has its entry in the audit log. */
public final class WorkspaceStore {

    private static final String COLUMNS =
            """
            select w.id, w.name, coalesce(w.created_at, to_timestamp(0)) as created_at, w.closed_at,
             w.purge_asked_at, w.purged_at, w.purged_rows,
             w.allowed_folders, w.allowed_models, w.allowed_tools, w.denied_tools,
             w.default_autonomy, %s from workspaces w"""
                    .formatted(Limits.column("w.id"));

    private static final String ONE = COLUMNS + " where w.id = ?";

    private static final String LOCK = ONE + " for no key update of w";

    private static final String LIST = COLUMNS + """

             where (?::uuid is null or (coalesce(w.created_at, to_timestamp(0)), w.id) < (
                select coalesce(last.created_at, to_timestamp(0)), last.id from workspaces last where last.id = ?))
             order by coalesce(w.created_at, to_timestamp(0)) desc, w.id desc
             limit ?""";

    /** Serialises changes of one name. */
    private static final String LOCK_NAME =
            "select pg_advisory_xact_lock(hashtextextended('keelson workspace ' || ?, 0))";

    private static final String NAMED =
            "select id from workspaces where name = ? and closed_at is null and id <> ? order by id limit 1";

    private static final String INSERT = "insert into workspaces (id, name, created_at) values (?, ?, now())";

    private static final String RENAME = "update workspaces set name = ? where id = ?";

    private static final String CLOSE = "update workspaces set closed_at = clock_timestamp() where id = ?";

    private static final String SET_LIMIT = """
            insert into workspace_limits (workspace_id, name, most) values (?, ?, ?)
            on conflict (workspace_id, name) do update set most = excluded.most""";

    private static final String SET_FOLDERS = "update workspaces set allowed_folders = ? where id = ?";

    private static final String SET_MODELS = "update workspaces set allowed_models = ? where id = ?";

    private static final String SET_TOOLS = "update workspaces set allowed_tools = ? where id = ?";

    private static final String DENY_TOOLS = "update workspaces set denied_tools = ? where id = ?";

    private static final String SET_AUTONOMY = "update workspaces set default_autonomy = ? where id = ?";

    private static final String RULES =
            "select allowed_tools, denied_tools, default_autonomy from workspaces where id = ?";

    private static final String MODELS = "select allowed_models from workspaces where id = ?";

    private static final String FOLDERS = "select allowed_folders from workspaces where id = ?";

    private static final String NO_LIMIT = "delete from workspace_limits where workspace_id = ? and name = ?";

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

    /** @param paths absolute; null for those of the server's settings */
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
        return database.withConnection(c -> {
            try (PreparedStatement list = c.prepareStatement(LIST)) {
                list.setObject(1, after);
                list.setObject(2, after);
                list.setInt(3, limit);
                List<WorkspaceRow> found = new ArrayList<>();
                try (ResultSet row = list.executeQuery()) {
                    while (row.next()) {
                        found.add(workspace(row));
                    }
                }
                return found;
            }
        });
    }

    /** The folders that the workspace's tools may use; empty for those of the server's settings. */
    public Optional<List<String>> folders(UUID id) {
        return allowed(id, FOLDERS);
    }

    /** The names of models that the workspace's plans and agents may use; empty for all models. */
    public Optional<List<String>> models(UUID id) {
        return allowed(id, MODELS);
    }

    /** The rules of a workspace for missions; those of an unknown one allow all tools. */
    public Rules rules(UUID id) {
        return database.withConnection(c -> {
            try (PreparedStatement rules = c.prepareStatement(RULES)) {
                rules.setObject(1, id);
                try (ResultSet row = rules.executeQuery()) {
                    return row.next() ? new Rules(tools(row), autonomy(row))
                            : new Rules(new Tools(null, List.of()), null);
                }
            }
        });
    }

    private static Tools tools(ResultSet row) throws SQLException {
        return new Tools(texts(row.getArray("allowed_tools")), denied(row.getArray("denied_tools")));
    }

    private static @Nullable Autonomy autonomy(ResultSet row) throws SQLException {
        String level = row.getString("default_autonomy");
        return level == null ? null : Autonomy.of(level);
    }

    private static List<String> denied(@Nullable Array texts) throws SQLException {
        List<String> denied = texts(texts);
        return denied == null ? List.of() : denied;
    }

    private Optional<List<String>> allowed(UUID id, String sql) {
        return database.withConnection(c -> {
            try (PreparedStatement allowed = c.prepareStatement(sql)) {
                allowed.setObject(1, id);
                try (ResultSet row = allowed.executeQuery()) {
                    return row.next() ? Optional.ofNullable(texts(row.getArray(1))) : Optional.empty();
                }
            }
        });
    }

    /** Made or NameTaken, in the caller's transaction. */
    public WorkspaceResult create(Connection c, UUID id, String name, Change settings, AuditOrigin origin)
            throws SQLException {
        Optional<UUID> namesake = namesake(c, id, name);
        if (namesake.isPresent()) {
            return new WorkspaceResult.NameTaken(namesake.get());
        }
        update(c, INSERT, id, name);
        set(c, id, settings);
        AuditLog.write(c, origin, "workspace_created", id, id.toString(), detail(name, settings));
        return new WorkspaceResult.Is(one(c, ONE, id).orElseThrow());
    }

    /** Another open workspace of that name; the name is locked until the transaction ends. */
    private static Optional<UUID> namesake(Connection c, UUID id, String name) throws SQLException {
        try (PreparedStatement lock = c.prepareStatement(LOCK_NAME)) {
            lock.setString(1, name);
            lock.executeQuery().close();
        }
        try (PreparedStatement named = c.prepareStatement(NAMED)) {
            named.setString(1, name);
            named.setObject(2, id);
            try (ResultSet row = named.executeQuery()) {
                return row.next() ? Optional.of(row.getObject("id", UUID.class)) : Optional.empty();
            }
        }
    }

    /** Is, with the workspace as it is then, NameTaken or NoWorkspace; one that is closed stays as it is. */
    public WorkspaceResult change(UUID id, Change change, AuditOrigin origin) {
        return database.inTransaction(c -> {
            Optional<WorkspaceRow> found = one(c, LOCK, id);
            if (found.isEmpty()) {
                return new WorkspaceResult.NoWorkspace();
            }
            if (found.get().closed()) {
                return new WorkspaceResult.Is(found.get());
            }
            if (change.name() != null) {
                Optional<UUID> namesake = namesake(c, id, change.name());
                if (namesake.isPresent()) {
                    return new WorkspaceResult.NameTaken(namesake.get());
                }
                update(c, RENAME, change.name(), id);
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
            update(c, CLOSE, id);
            AuditLog.write(c, origin, "workspace_closed", id, id.toString(),
                    detail(found.get().name(), new Change(null, Map.of())));
            return one(c, ONE, id);
        });
    }

    private static void setLimits(Connection c, UUID id, Map<String, Optional<BigDecimal>> limits) throws SQLException {
        for (Map.Entry<String, Optional<BigDecimal>> limit : limits.entrySet()) {
            if (limit.getValue().isPresent()) {
                update(c, SET_LIMIT, id, limit.getKey(), limit.getValue().get());
            } else {
                update(c, NO_LIMIT, id, limit.getKey());
            }
        }
    }

    private static void set(Connection c, UUID id, Change change) throws SQLException {
        setLimits(c, id, change.limits());
        if (change.folders() != null) {
            update(c, SET_FOLDERS, array(c, change.folders().paths()), id);
        }
        if (change.models() != null) {
            update(c, SET_MODELS, array(c, change.models().names()), id);
        }
        if (change.tools() != null) {
            update(c, SET_TOOLS, array(c, change.tools().names()), id);
        }
        if (change.denied() != null) {
            update(c, DENY_TOOLS, array(c, change.denied()), id);
        }
        if (change.autonomy() != null) {
            update(c, SET_AUTONOMY, wire(change.autonomy()), id);
        }
    }

    private static @Nullable String wire(DefaultAutonomy autonomy) {
        Autonomy level = autonomy.level();
        return level == null ? null : level.wire();
    }

    private static @Nullable Array array(Connection c, @Nullable List<String> texts) throws SQLException {
        return texts == null ? null : c.createArrayOf("text", texts.toArray());
    }

    private static @Nullable List<String> texts(@Nullable Array texts) throws SQLException {
        return texts == null ? null : List.of((String[]) texts.getArray());
    }

    private static void update(Connection c, String sql, @Nullable Object... parameters) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(sql)) {
            for (int i = 0; i < parameters.length; i++) {
                statement.setObject(i + 1, parameters[i]);
            }
            statement.executeUpdate();
        }
    }

    private static Optional<WorkspaceRow> one(Connection c, String sql, UUID id) throws SQLException {
        try (PreparedStatement one = c.prepareStatement(sql)) {
            one.setObject(1, id);
            try (ResultSet row = one.executeQuery()) {
                return row.next() ? Optional.of(workspace(row)) : Optional.empty();
            }
        }
    }

    private static WorkspaceRow workspace(ResultSet row) throws SQLException {
        return new WorkspaceRow(row.getObject("id", UUID.class), row.getString("name"),
                row.getObject("created_at", OffsetDateTime.class).toInstant(), Rows.optionalTime(row, "closed_at"),
                Limits.of(row), texts(row.getArray("allowed_folders")), texts(row.getArray("allowed_models")),
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
