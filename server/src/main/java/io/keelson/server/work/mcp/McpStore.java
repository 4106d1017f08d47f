package io.keelson.server.work.mcp;

import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.Rows;
import io.keelson.server.base.db.Tenancy;
import io.keelson.server.base.db.TxFunction;
import io.keelson.server.base.json.Json;
import io.keelson.server.tenant.audit.AuditLog;
import io.keelson.server.tenant.audit.AuditOrigin;
import java.sql.Connection;
import java.sql.PreparedStatement;
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
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** {@code mcp_servers} and {@code mcp_tools}. Each change by a person has its entry in the audit log. */
public final class McpStore {
    /** Most servers of a workspace. */
    public static final int MAX_SERVERS = 100;

    private static final String SERVERS = """
            select * from mcp_servers where ?::uuid is null or workspace_id = ? order by workspace_id, name""";
    private static final String SERVER = "select * from mcp_servers where workspace_id = ? and name = ?";
    private static final String TOOLS = """
            select * from mcp_tools where ?::uuid is null or workspace_id = ? order by workspace_id, server, name""";
    private static final String TOOLS_OF_SERVER =
            "select * from mcp_tools where workspace_id = ? and server = ? order by name";
    /** Another text after each change of a definition or a tool, and not after a mere look at one; null without rows. */
    private static final String FINGERPRINT = """
            select md5(string_agg(mark, ',' order by mark)) from (
                select concat(workspace_id, name, revision, extract(epoch from created_at), error) as mark from mcp_servers
                union all
                select concat(workspace_id, server, name, xmin) from mcp_tools) as rows""";
    private static final String PUT = """
            insert into mcp_servers as s (workspace_id, name, definition, updated_by) values (?, ?, ?::jsonb, ?)
            on conflict (workspace_id, name) do update
               set definition = excluded.definition, revision = s.revision + 1, updated_by = excluded.updated_by,
                   spoken = case when (s.definition->>'url', s.definition->>'command') is not distinct from
                                      (excluded.definition->>'url', excluded.definition->>'command') then s.spoken end,
                   updated_at = clock_timestamp()""";
    private static final String COUNT = "select count(*) from mcp_servers where workspace_id = ? and name <> ?";
    private static final String CHECKED = """
            update mcp_servers set spoken = coalesce(?, spoken), error = ?, checked_at = clock_timestamp()
             where workspace_id = ? and name = ? and revision = ?""";
    private static final String REMOVE = "delete from mcp_servers where workspace_id = ? and name = ?";
    private static final String REMOVE_TOOLS = "delete from mcp_tools where workspace_id = ? and server = ?";
    private static final String UPSERT_TOOL =
            """
            insert into mcp_tools (workspace_id, server, name, seen, accepted) values (?, ?, ?, ?::jsonb, ?::jsonb)
            on conflict (workspace_id, server, name) do update
               set seen = excluded.seen, accepted = coalesce(mcp_tools.accepted, excluded.accepted),
                   change = case when ? then gen_random_uuid() end, changed_at = case when ? then clock_timestamp() end""";
    private static final String LOSE =
            """
            update mcp_tools set seen = null, change = null, changed_at = null where workspace_id = ? and server = ? and name <> all (?)""";
    private static final String TURN_OFF = """
            update mcp_tools set accepted = null, change = null, changed_at = null
             where workspace_id = ? and server = ? and not ('*' = any (?) or name = any (?))""";
    private static final String TURN_ON = """
            update mcp_tools set accepted = seen
             where workspace_id = ? and server = ? and accepted is null and ('*' = any (?) or name = any (?))""";
    private static final String ACCEPT = """
            update mcp_tools set accepted = seen, change = null, changed_at = null
             where workspace_id = ? and server = ? and name = ? and seen is not null and accepted is not null""";
    /** The question's id names one description: a later one has another id. */
    private static final String ANSWER = """
            update mcp_tools set accepted = case when ? then seen else accepted end, change = null, changed_at = null
             where workspace_id = ? and change = ? and seen is not null and accepted is not null
            returning server, name""";

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
        try (PreparedStatement read = c.prepareStatement(FINGERPRINT); ResultSet row = read.executeQuery()) {
            row.next();
            return String.valueOf(row.getString(1));
        }
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
        return database.withConnection(c -> {
            try (PreparedStatement read = c.prepareStatement(SERVER)) {
                read.setObject(1, workspace);
                read.setString(2, name);
                return Rows.all(read, McpStore::server).stream().findFirst();
            }
        });
    }

    /** The server's tools, by name. */
    public List<McpToolRow> tools(UUID workspace, String server) {
        return database.withConnection(c -> tools(c, workspace, server));
    }

    private static List<McpServerRow> servers(Connection c, @Nullable UUID workspace) throws SQLException {
        try (PreparedStatement read = c.prepareStatement(SERVERS)) {
            read.setObject(1, workspace);
            read.setObject(2, workspace);
            return Rows.all(read, McpStore::server);
        }
    }

    private static List<McpToolRow> tools(Connection c, @Nullable UUID workspace) throws SQLException {
        try (PreparedStatement read = c.prepareStatement(TOOLS)) {
            read.setObject(1, workspace);
            read.setObject(2, workspace);
            return Rows.all(read, McpStore::tool);
        }
    }

    private static List<McpToolRow> tools(Connection c, UUID workspace, String server) throws SQLException {
        try (PreparedStatement read = c.prepareStatement(TOOLS_OF_SERVER)) {
            read.setObject(1, workspace);
            read.setString(2, server);
            return Rows.all(read, McpStore::tool);
        }
    }

    /** Sets a server, new or existing. False when the workspace has as many as it may. */
    public boolean put(UUID workspace, String name, McpDefinition definition, AuditOrigin origin) {
        return database.inTransaction(c -> {
            if (count(c, workspace, name) >= MAX_SERVERS) {
                return false;
            }
            try (PreparedStatement put = c.prepareStatement(PUT)) {
                put.setObject(1, workspace);
                put.setString(2, name);
                put.setString(3, definition.document().toString());
                put.setString(4, origin.name());
                put.executeUpdate();
            }
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
        try (PreparedStatement count = c.prepareStatement(COUNT)) {
            count.setObject(1, workspace);
            count.setString(2, name);
            try (ResultSet row = count.executeQuery()) {
                row.next();
                return row.getInt(1);
            }
        }
    }

    private static void switchTools(Connection c, String sql, UUID workspace, String server, McpDefinition definition)
            throws SQLException {
        try (PreparedStatement change = c.prepareStatement(sql)) {
            change.setObject(1, workspace);
            change.setString(2, server);
            change.setArray(3, c.createArrayOf("text", definition.tools().toArray()));
            change.setArray(4, c.createArrayOf("text", definition.tools().toArray()));
            change.executeUpdate();
        }
    }

    /** False when there was none of that name. */
    public boolean remove(UUID workspace, String name, AuditOrigin origin) {
        return database.inTransaction(c -> {
            try (PreparedStatement remove = c.prepareStatement(REMOVE);
                    PreparedStatement tools = c.prepareStatement(REMOVE_TOOLS)) {
                for (PreparedStatement each : List.of(remove, tools)) {
                    each.setObject(1, workspace);
                    each.setString(2, name);
                }
                boolean removed = remove.executeUpdate() == 1;
                if (removed) {
                    tools.executeUpdate();
                    AuditLog.write(c, origin, "mcp_server_removed", workspace, name, Json.object());
                }
                return removed;
            }
        });
    }

    /** Uses a tool as the server describes it now. False when it is off or gone. */
    public boolean accept(UUID workspace, String server, String tool, AuditOrigin origin) {
        return database.inTransaction(c -> {
            try (PreparedStatement accept = c.prepareStatement(ACCEPT)) {
                accept.setObject(1, workspace);
                accept.setString(2, server);
                accept.setString(3, tool);
                boolean accepted = accept.executeUpdate() == 1;
                if (accepted) {
                    AuditLog.write(c, origin, "mcp_tool_accepted", workspace, server + "." + tool, Json.object());
                }
                return accepted;
            }
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
            try (PreparedStatement answer = c.prepareStatement(ANSWER)) {
                answer.setBoolean(1, accept);
                answer.setObject(2, workspace);
                answer.setObject(3, change);
                try (ResultSet row = answer.executeQuery()) {
                    if (!row.next()) {
                        return false;
                    }
                    ObjectNode detail = Json.object();
                    if (reason != null) {
                        detail.put("reason", reason);
                    }
                    AuditLog.write(c, origin, accept ? "mcp_tool_accepted" : "mcp_tool_rejected", workspace,
                            row.getString("server") + "." + row.getString("name"), detail);
                    return true;
                }
            }
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
        try (PreparedStatement see = c.prepareStatement(UPSERT_TOOL)) {
            see.setObject(1, server.workspaceId());
            see.setString(2, server.name());
            see.setString(3, name);
            see.setString(4, tool.toString());
            see.setString(5, server.definition().allows(name) ? tool.toString() : null);
            see.setBoolean(6, changed);
            see.setBoolean(7, changed);
            see.executeUpdate();
            if (changed) {
                AuditLog.write(c, AuditOrigin.SERVER, "mcp_tool_changed", server.workspaceId(),
                        server.name() + "." + name, Json.object());
            }
        }
    }

    private static void lose(Connection c, McpServerRow server, Set<String> kept) throws SQLException {
        try (PreparedStatement lose = c.prepareStatement(LOSE)) {
            lose.setObject(1, server.workspaceId());
            lose.setString(2, server.name());
            lose.setArray(3, c.createArrayOf("text", kept.toArray()));
            lose.executeUpdate();
        }
    }

    private static void checked(Connection c, McpServerRow server, @Nullable String spoken, @Nullable String error)
            throws SQLException {
        try (PreparedStatement checked = c.prepareStatement(CHECKED)) {
            checked.setString(1, spoken);
            checked.setString(2, error);
            checked.setObject(3, server.workspaceId());
            checked.setString(4, server.name());
            checked.setInt(5, server.revision());
            checked.executeUpdate();
        }
    }

    private static McpServerRow server(ResultSet row) throws SQLException {
        return new McpServerRow(row.getObject("workspace_id", UUID.class), row.getString("name"),
                McpDefinition.of(Json.read(row.getString("definition"))), row.getInt("revision"),
                row.getString("spoken"), Rows.optionalTime(row, "checked_at"), row.getString("error"),
                Rows.time(row, "created_at"), Rows.time(row, "updated_at"), row.getString("updated_by"));
    }

    private static McpToolRow tool(ResultSet row) throws SQLException {
        return new McpToolRow(row.getObject("workspace_id", UUID.class), row.getString("server"),
                row.getString("name"), json(row.getString("accepted")), json(row.getString("seen")));
    }

    private static @Nullable JsonNode json(@Nullable String text) {
        return text == null ? null : Json.read(text);
    }
}
