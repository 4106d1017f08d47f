package io.keelson.server.mission.roster;

import io.keelson.core.plan.RunsOn;
import io.keelson.core.policy.CallApprovals;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.Page;
import io.keelson.server.base.db.Rows;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.tool.ApprovalRules;
import io.keelson.server.tenant.audit.AuditLog;
import io.keelson.server.tenant.audit.AuditOrigin;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** The agents of workspaces. Each change has its entry in the audit log, for it changes what agents may do. */
public final class Roster {
    /** Maximum agents of a workspace, all of which are considered for a task. */
    public static final int MAX_AGENTS = 1_000;

    private static final String COLUMNS = """
            id, slug, name, description, model, instructions, coalesce(tools, '[]') as tools,
            coalesce(capabilities, '[]') as capabilities, coalesce(limits, '{}') as limits, runs_on, created_by,
            coalesce(created_at, to_timestamp(0)) as created_at,
            coalesce(updated_at, created_at, to_timestamp(0)) as updated_at""";

    private static final String LIST = "select " + COLUMNS + """

              from agents where workspace_id = ? and slug > ? order by slug limit ?""";

    private static final String BY_SLUG = "select " + COLUMNS + " from agents where workspace_id = ? and slug = ?";

    private static final String BY_ID =
            "select " + COLUMNS + " from agents where workspace_id = ? and id = ? and slug is not null";

    private static final String COUNT = "select count(*) from agents where workspace_id = ? and slug is not null";

    private static final String INSERT = """
            insert into agents (workspace_id, slug, name, description, model, instructions, tools, capabilities, limits,
                runs_on, created_by, created_at, updated_at)
            values (?, ?, ?, ?, ?, ?, ?::jsonb, ?::jsonb, ?::jsonb, ?, ?, now(), now())
            on conflict (workspace_id, slug) do nothing
            returning\s""" + COLUMNS;

    private static final String UPDATE = """
            update agents set name = ?, description = ?, model = ?, instructions = ?, tools = ?::jsonb,
                capabilities = ?::jsonb, limits = ?::jsonb, runs_on = ?, updated_at = clock_timestamp()
             where workspace_id = ? and id = ?
            returning\s""" + COLUMNS;

    private static final String DELETE = "delete from agents where workspace_id = ? and id = ? returning slug";

    private final Database database;

    public Roster(Database database) {
        this.database = database;
    }

    /** All agents of the workspace, in order of their slugs. */
    public List<RosterEntry> all(UUID workspace) {
        return database.withConnection(c -> {
            try (PreparedStatement read = c.prepareStatement(LIST)) {
                read.setObject(1, workspace);
                read.setString(2, "");
                read.setInt(3, MAX_AGENTS);
                return Rows.all(read, Roster::agent);
            }
        });
    }

    /** In order of their slugs; those behind {@code after}. */
    public Page<RosterEntry> list(UUID workspace, String after, int limit) {
        return database.withConnection(c -> {
            try (PreparedStatement read = c.prepareStatement(LIST)) {
                read.setObject(1, workspace);
                read.setString(2, after);
                read.setInt(3, limit + 1);
                return Rows.page(read, limit, Roster::agent);
            }
        });
    }

    /** @param name a slug, or an id in digits; no slug is digits only */
    public Optional<RosterEntry> find(UUID workspace, String name) {
        return database.withConnection(c -> find(c, workspace, name));
    }

    private static Optional<RosterEntry> find(Connection c, UUID workspace, String name) throws SQLException {
        return find(c, workspace, name, "");
    }

    private static Optional<RosterEntry> find(Connection c, UUID workspace, String name, String lock)
            throws SQLException {
        boolean id = name.matches("\\d{1,9}");
        try (PreparedStatement read = c.prepareStatement((id ? BY_ID : BY_SLUG) + lock)) {
            read.setObject(1, workspace);
            if (id) {
                read.setInt(2, Integer.parseInt(name));
            } else {
                read.setString(2, name);
            }
            return one(read);
        }
    }

    /** True when the workspace has as many agents as it may. */
    public boolean full(Connection c, UUID workspace) throws SQLException {
        try (PreparedStatement count = c.prepareStatement(COUNT)) {
            count.setObject(1, workspace);
            try (ResultSet row = count.executeQuery()) {
                row.next();
                return row.getInt(1) >= MAX_AGENTS;
            }
        }
    }

    /** Empty when the workspace has an agent with that slug. */
    public Optional<RosterEntry> create(Connection c, UUID workspace, String slug, RosterEntry.Profile profile,
            String createdBy, AuditOrigin origin) throws SQLException {
        try (PreparedStatement insert = c.prepareStatement(INSERT)) {
            insert.setObject(1, workspace);
            insert.setString(2, slug);
            bind(insert, 3, profile);
            insert.setString(11, createdBy);
            Optional<RosterEntry> made = one(insert);
            if (made.isPresent()) {
                AuditLog.write(c, origin, "agent_created", workspace, slug, audited(profile));
            }
            return made;
        }
    }

    /**
     * Empty when there is no such agent.
     *
     * @param check sees the locked agent; what it throws keeps the agent as it is
     */
    public Optional<RosterEntry> update(UUID workspace, String name, RosterEntry.Profile profile, AuditOrigin origin,
            Consumer<RosterEntry> check) {
        return database.inTransaction(c -> {
            Optional<RosterEntry> before = find(c, workspace, name, " for update");
            if (before.isEmpty()) {
                return before;
            }
            check.accept(before.get());
            try (PreparedStatement update = c.prepareStatement(UPDATE)) {
                bind(update, 1, profile);
                update.setObject(9, workspace);
                update.setInt(10, before.get().id());
                Optional<RosterEntry> after = one(update);
                if (after.isPresent()) {
                    AuditLog.write(c, origin, "agent_updated", workspace, after.get().slug(), audited(profile));
                }
                return after;
            }
        });
    }

    /** Its tasks keep it, on the terms of their time. False for an unknown agent. */
    public boolean delete(UUID workspace, String name, AuditOrigin origin) {
        return database.inTransaction(c -> {
            Optional<RosterEntry> found = find(c, workspace, name);
            if (found.isEmpty()) {
                return false;
            }
            try (PreparedStatement delete = c.prepareStatement(DELETE)) {
                delete.setObject(1, workspace);
                delete.setInt(2, found.get().id());
                delete.executeQuery().close();
            }
            AuditLog.write(c, origin, "agent_deleted", workspace, found.get().slug(),
                    JsonNodeFactory.instance.objectNode());
            return true;
        });
    }

    private static ObjectNode audited(RosterEntry.Profile profile) {
        ObjectNode audited = JsonNodeFactory.instance.objectNode().put("model", profile.model());
        audited.set("tools", Json.MAPPER.valueToTree(profile.tools()));
        audited.put("max_turns", profile.maxTurns());
        audited.set("approvals", ApprovalRules.write(profile.approvals()));
        RunsOn runsOn = profile.runsOn();
        audited.put("runs_on", runsOn == null ? null : runsOn.wire());
        return audited;
    }

    private static void bind(PreparedStatement into, int first, RosterEntry.Profile profile) throws SQLException {
        into.setString(first, profile.name());
        into.setString(first + 1, profile.description());
        into.setString(first + 2, profile.model());
        into.setString(first + 3, profile.instructions());
        into.setString(first + 4, text(profile.tools()));
        into.setString(first + 5, text(profile.capabilities()));
        ObjectNode limits = JsonNodeFactory.instance.objectNode();
        if (profile.maxTurns() != null) {
            limits.put("max_turns", profile.maxTurns());
        }
        if (!profile.approvals().equals(CallApprovals.NONE)) {
            limits.set("approvals", ApprovalRules.write(profile.approvals()));
        }
        into.setString(first + 6, limits.toString());
        RunsOn runsOn = profile.runsOn();
        into.setString(first + 7, runsOn == null ? null : runsOn.wire());
    }

    private static String text(Collection<String> texts) {
        return Json.MAPPER.writeValueAsString(texts);
    }

    private static Optional<RosterEntry> one(PreparedStatement read) throws SQLException {
        try (ResultSet row = read.executeQuery()) {
            return row.next() ? Optional.of(agent(row)) : Optional.empty();
        }
    }

    private static RosterEntry agent(ResultSet row) throws SQLException {
        JsonNode limits = Json.read(row.getString("limits"));
        JsonNode turns = limits.path("max_turns");
        @Nullable String runsOn = row.getString("runs_on");
        @Nullable Integer maxTurns = turns.isInt() ? turns.asInt() : null;
        return new RosterEntry(row.getInt("id"), row.getString("slug"), row.getString("name"),
                row.getString("description"), row.getString("model"), row.getString("instructions"),
                texts(row.getString("tools")), texts(row.getString("capabilities")), maxTurns,
                runsOn == null ? null : RunsOn.of(runsOn), ApprovalRules.read(limits.path("approvals")),
                row.getString("created_by"), row.getObject("created_at", OffsetDateTime.class).toInstant(),
                row.getObject("updated_at", OffsetDateTime.class).toInstant());
    }

    private static List<String> texts(String json) {
        return Json.read(json).valueStream().map(JsonNode::asString).toList();
    }
}
