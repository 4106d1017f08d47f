package io.keelson.server.annex.mcp;

import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.RecordColumns;
import io.keelson.server.base.db.Rows;
import io.keelson.server.base.db.Sql;
import io.keelson.server.base.db.Tenancy;
import io.keelson.server.base.db.TxFunction;
import io.keelson.server.base.json.Json;
import io.keelson.server.tenant.audit.AuditLog;
import io.keelson.server.tenant.audit.AuditOrigin;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** {@code mcp_servers} and {@code mcp_tools}. Each change by a person has its entry in the audit log. */
final class McpStore {
    /** Most servers of a workspace. */
    public static final int MAX_SERVERS = 100;

    private static final Sql SERVERS = Sql.of("""
            select * from mcp_servers where :workspace::uuid is null or workspace_id = :workspace
             order by workspace_id, name""");
    private static final Sql SERVER =
            Sql.of("select * from mcp_servers where workspace_id = :workspace and name = :name");
    private static final Sql TOOLS = Sql.of("""
            select * from mcp_tools where :workspace::uuid is null or workspace_id = :workspace
             order by workspace_id, server, name""");
    private static final Sql TOOLS_OF_SERVER =
            Sql.of("select * from mcp_tools where workspace_id = :workspace and server = :server order by name");
    /** Another text after each change of a definition or a tool, and not after a mere look at one; null without rows. */
    private static final Sql FINGERPRINT = Sql.of("""
            select md5(string_agg(mark, ',' order by mark)) as mark from (
                select concat(workspace_id, name, revision, extract(epoch from created_at), error) as mark from mcp_servers
                union all
                select concat(workspace_id, server, name, xmin) from mcp_tools) as rows""");
    private static final Sql PUT = Sql.of("""
            insert into mcp_servers as s (workspace_id, name, definition, updated_by)
            values (:workspace, :name, :definition::jsonb, :updated_by)
            on conflict (workspace_id, name) do update
               set definition = excluded.definition, revision = s.revision + 1, updated_by = excluded.updated_by,
                   spoken = case when (s.definition->>'url', s.definition->>'command') is not distinct from
                                      (excluded.definition->>'url', excluded.definition->>'command') then s.spoken end,
                   updated_at = clock_timestamp()""");
    private static final Sql COUNT =
            Sql.of("select count(*) as n from mcp_servers where workspace_id = :workspace and name <> :name");
    private static final Sql CHECKED = Sql.of("""
            update mcp_servers set spoken = coalesce(:spoken, spoken), error = :error, checked_at = clock_timestamp()
             where workspace_id = :workspace and name = :name and revision = :revision""");
    private static final Sql REMOVE =
            Sql.of("delete from mcp_servers where workspace_id = :workspace and name = :name");
    private static final Sql REMOVE_TOOLS =
            Sql.of("delete from mcp_tools where workspace_id = :workspace and server = :name");
    private static final Sql UPSERT_TOOL = Sql.of("""
            insert into mcp_tools (workspace_id, server, name, seen, accepted)
            values (:workspace, :server, :name, :seen::jsonb, :accepted::jsonb)
            on conflict (workspace_id, server, name) do update
               set seen = excluded.seen, accepted = coalesce(mcp_tools.accepted, excluded.accepted),
                   change = case when :changed then gen_random_uuid() end,
                   changed_at = case when :changed then clock_timestamp() end""");
    private static final Sql LOSE = Sql.of("""
            update mcp_tools set seen = null, change = null, changed_at = null
             where workspace_id = :workspace and server = :server and name <> all (:kept)""");
    private static final Sql TURN_OFF =
            Sql.of("""
            update mcp_tools set accepted = null, change = null, changed_at = null
             where workspace_id = :workspace and server = :server and not ('*' = any (:tools) or name = any (:tools))""");
    private static final Sql TURN_ON = Sql.of("""
            update mcp_tools set accepted = seen
             where workspace_id = :workspace and server = :server and accepted is null
               and ('*' = any (:tools) or name = any (:tools))""");
    private static final Sql ACCEPT = Sql.of("""
            update mcp_tools set accepted = seen, change = null, changed_at = null
             where workspace_id = :workspace and server = :server and name = :name and seen is not null
               and accepted is not null""");
    /** The question's id names one description: a later one has another id. */
    private static final Sql ANSWER = Sql.of("""
            update mcp_tools set accepted = case when :accept then seen else accepted end, change = null,
                   changed_at = null
             where workspace_id = :workspace and change = :change and seen is not null and accepted is not null
            returning server, name""");

    private static final RecordColumns<McpToolRow> TOOL = RecordColumns.of(McpToolRow.class);

    private final Database database;

    public McpStore(Database database) {
        this.database = database;
    }

    /** Reads on a connection that sees all workspaces. */
    <T extends @Nullable Object> T ofAllWorkspaces(TxFunction<T> read) {
        return Tenancy.allWorkspaces(() -> database.withConnection(read));
    }

    /** Another text after each change of a server or a tool of any workspace. */
    String fingerprint(Connection c) throws SQLException {
        return FINGERPRINT.on(c).one(row -> String.valueOf(row.getString("mark")));
    }

    /** All servers and tools of all workspaces. */
    record Everything(List<McpServerRow> servers, List<McpToolRow> tools) {}

    Everything everything(Connection c) throws SQLException {
        return new Everything(servers(c, null), tools(c, null));
    }

    public List<McpServerRow> servers(UUID workspace) {
        return database.withConnection(c -> servers(c, workspace));
    }

    public Optional<McpServerRow> server(UUID workspace, String name) {
        return database.withConnection(
                c -> SERVER.on(c).set("workspace", workspace).set("name", name).first(McpStore::server));
    }

    /** The server's tools, by name. */
    public List<McpToolRow> tools(UUID workspace, String server) {
        return database.withConnection(c -> tools(c, workspace, server));
    }

    private static List<McpServerRow> servers(Connection c, @Nullable UUID workspace) throws SQLException {
        return SERVERS.on(c).set("workspace", workspace).all(McpStore::server);
    }

    private static List<McpToolRow> tools(Connection c, @Nullable UUID workspace) throws SQLException {
        return TOOLS.on(c).set("workspace", workspace).all(TOOL);
    }

    private static List<McpToolRow> tools(Connection c, UUID workspace, String server) throws SQLException {
        return TOOLS_OF_SERVER.on(c).set("workspace", workspace).set("server", server).all(TOOL);
    }

    /** Sets a server, new or existing. False when the workspace has as many as it may. */
    public boolean put(UUID workspace, String name, McpDefinition definition, AuditOrigin origin) {
        return database.inTransaction(c -> {
            if (count(c, workspace, name) >= MAX_SERVERS) {
                return false;
            }
            PUT.on(c).set("workspace", workspace).set("name", name).set("definition", definition.document())
                    .set("updated_by", origin.name()).update();
            switchTools(c, TURN_OFF, workspace, name, definition);
            switchTools(c, TURN_ON, workspace, name, definition);
            AuditLog.write(c, origin, "mcp_server_set", workspace, name, audited(definition));
            return true;
        });
    }

    private static ObjectNode audited(McpDefinition definition) {
        ObjectNode audited = definition.document();
        audited.remove(List.of("headers", "bearer", "auth"));
        return audited;
    }

    private static int count(Connection c, UUID workspace, String name) throws SQLException {
        return COUNT.on(c).set("workspace", workspace).set("name", name).one(row -> row.getInt("n"));
    }

    private static void switchTools(Connection c, Sql sql, UUID workspace, String server, McpDefinition definition)
            throws SQLException {
        sql.on(c).set("workspace", workspace).set("server", server).setTexts("tools", definition.tools()).update();
    }

    /** False when there was none of that name. */
    public boolean remove(UUID workspace, String name, AuditOrigin origin) {
        return database.inTransaction(c -> {
            boolean removed = REMOVE.on(c).set("workspace", workspace).set("name", name).update() == 1;
            if (removed) {
                REMOVE_TOOLS.on(c).set("workspace", workspace).set("name", name).update();
                AuditLog.write(c, origin, "mcp_server_removed", workspace, name, Json.object());
            }
            return removed;
        });
    }

    /** Uses a tool as the server describes it now. False when it is off or gone. */
    public boolean accept(UUID workspace, String server, String tool, AuditOrigin origin) {
        return database.inTransaction(c -> {
            boolean accepted =
                    ACCEPT.on(c).set("workspace", workspace).set("server", server).set("name", tool).update() == 1;
            if (accepted) {
                AuditLog.write(c, origin, "mcp_tool_accepted", workspace, server + "." + tool, Json.object());
            }
            return accepted;
        });
    }

    /**
     * Answers the question about a changed tool: it is used as its server describes it now, or stays held back.
     *
     * @param reason null if absent
     * @return false when the question does not wait any more
     */
    boolean answer(UUID workspace, UUID change, boolean accept, @Nullable String reason, AuditOrigin origin) {
        return database.inTransaction(c -> {
            Optional<String> tool = ANSWER.on(c).set("accept", accept).set("workspace", workspace).set("change", change)
                    .first(row -> row.getString("server") + "." + row.getString("name"));
            if (tool.isPresent()) {
                ObjectNode detail = Json.object();
                if (reason != null) {
                    detail.put("reason", reason);
                }
                AuditLog.write(c, origin, accept ? "mcp_tool_accepted" : "mcp_tool_rejected", workspace, tool.get(),
                        detail);
            }
            return tool.isPresent();
        });
    }

    /** Records a look at a server that has failed. */
    void failed(McpServerRow server, String error) {
        database.runInTransaction(c -> checked(c, server, null, error));
    }

    /**
     * Records what a server offers. A tool that is allowed and that this server sees for the first time is accepted as it is.
     *
     * @param tools pinned descriptions by name
     */
    void seen(McpServerRow server, String spoken, Map<String, ObjectNode> tools) {
        database.runInTransaction(c -> {
            checked(c, server, spoken, null);
            Map<String, McpToolRow> before = new HashMap<>();
            tools(c, server.workspaceId(), server.name()).forEach(row -> before.put(row.name(), row));
            for (Map.Entry<String, ObjectNode> each : tools.entrySet()) {
                McpToolRow row = before.get(each.getKey());
                if (row == null || !each.getValue().equals(row.seen())) {
                    see(c, server, each.getKey(), each.getValue(), row != null && row.differs(each.getValue()));
                }
            }
            Set<String> lost = new HashSet<>(before.keySet());
            lost.removeAll(tools.keySet());
            if (!lost.isEmpty()) {
                lose(c, server, tools.keySet());
            }
        });
    }

    /** @param changed whether it is another one than accepted */
    private static void see(Connection c, McpServerRow server, String name, ObjectNode tool, boolean changed)
            throws SQLException {
        UPSERT_TOOL.on(c).set("workspace", server.workspaceId()).set("server", server.name()).set("name", name)
                .set("seen", tool).set("accepted", server.definition().allows(name) ? tool : null)
                .set("changed", changed).update();
        if (changed) {
            AuditLog.write(c, AuditOrigin.SERVER, "mcp_tool_changed", server.workspaceId(),
                    server.name() + "." + name, Json.object());
        }
    }

    private static void lose(Connection c, McpServerRow server, Set<String> kept) throws SQLException {
        LOSE.on(c).set("workspace", server.workspaceId()).set("server", server.name()).setTexts("kept", kept).update();
    }

    private static void checked(Connection c, McpServerRow server, @Nullable String spoken, @Nullable String error)
            throws SQLException {
        CHECKED.on(c).set("spoken", spoken).set("error", error).set("workspace", server.workspaceId())
                .set("name", server.name()).set("revision", server.revision()).update();
    }

    private static McpServerRow server(ResultSet row) throws SQLException {
        return new McpServerRow(row.getObject("workspace_id", UUID.class), row.getString("name"),
                McpDefinition.of(Json.read(row.getString("definition"))), row.getInt("revision"),
                row.getString("spoken"), Rows.optionalTime(row, "checked_at"), row.getString("error"),
                Rows.time(row, "created_at"), Rows.time(row, "updated_at"), row.getString("updated_by"));
    }
}
