package io.keelson.server.mission.roster;

import io.keelson.core.plan.RunsOn;
import io.keelson.core.policy.CallApprovals;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.Page;
import io.keelson.server.base.db.Rows;
import io.keelson.server.base.db.Sql;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.tool.ApprovalRules;
import io.keelson.server.tenant.audit.AuditLog;
import io.keelson.server.tenant.audit.AuditOrigin;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
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

    private static final Sql LIST = Sql.of("select " + COLUMNS + """

              from agents where workspace_id = :workspace and slug > :slug order by slug limit :limit""");

    private static final Sql BY_SLUG =
            Sql.of("select " + COLUMNS + " from agents where workspace_id = :workspace and slug = :slug");

    private static final Sql BY_ID = Sql.of(
            "select " + COLUMNS + " from agents where workspace_id = :workspace and id = :id and slug is not null");

    private static final Sql COUNT =
            Sql.of("select count(*) as n from agents where workspace_id = :workspace and slug is not null");

    private static final Sql INSERT = Sql.of("""
            insert into agents (workspace_id, slug, name, description, model, instructions, tools, capabilities, limits,
                runs_on, created_by, created_at, updated_at)
            values (:workspace, :slug, :name, :description, :model, :instructions, :tools::jsonb, :capabilities::jsonb,
                :limits::jsonb, :runs_on, :created_by, now(), now())
            on conflict (workspace_id, slug) do nothing
            returning\s""" + COLUMNS);

    private static final Sql UPDATE = Sql.of("""
            update agents set name = :name, description = :description, model = :model, instructions = :instructions,
                tools = :tools::jsonb, capabilities = :capabilities::jsonb, limits = :limits::jsonb, runs_on = :runs_on,
                updated_at = clock_timestamp()
             where workspace_id = :workspace and id = :id
            returning\s""" + COLUMNS);

    private static final Sql DELETE =
            Sql.of("delete from agents where workspace_id = :workspace and id = :id returning slug");

    private final Database database;

    public Roster(Database database) {
        this.database = database;
    }

    /** All agents of the workspace, in order of their slugs. */
    public List<RosterEntry> all(UUID workspace) {
        return database.withConnection(c -> LIST.on(c).set("workspace", workspace).set("slug", "")
                .set("limit", MAX_AGENTS).all(Roster::agent));
    }

    /** In order of their slugs; those behind {@code after}. */
    public Page<RosterEntry> list(UUID workspace, String after, int limit) {
        return database.withConnection(
                c -> LIST.on(c).set("workspace", workspace).set("slug", after).page(limit, Roster::agent));
    }

    /** @param name a slug, or an id in digits; no slug is digits only */
    public Optional<RosterEntry> find(UUID workspace, String name) {
        return database.withConnection(c -> find(c, workspace, name));
    }

    private static Optional<RosterEntry> find(Connection c, UUID workspace, String name) throws SQLException {
        return find(c, workspace, name, BY_ID, BY_SLUG);
    }

    private static Optional<RosterEntry> find(Connection c, UUID workspace, String name, Sql byId, Sql bySlug)
            throws SQLException {
        boolean id = name.matches("\\d{1,9}");
        Sql.Call read = id ? byId.on(c).set("id", Integer.parseInt(name)) : bySlug.on(c).set("slug", name);
        return read.set("workspace", workspace).first(Roster::agent);
    }

    /** True when the workspace has as many agents as it may. */
    public boolean full(Connection c, UUID workspace) throws SQLException {
        return COUNT.on(c).set("workspace", workspace).one(row -> row.getInt("n") >= MAX_AGENTS);
    }

    /** Empty when the workspace has an agent with that slug. */
    public Optional<RosterEntry> create(Connection c, UUID workspace, String slug, RosterEntry.Profile profile,
            String createdBy, AuditOrigin origin) throws SQLException {
        Optional<RosterEntry> made = with(INSERT.on(c), profile).set("workspace", workspace).set("slug", slug)
                .set("created_by", createdBy).first(Roster::agent);
        if (made.isPresent()) {
            AuditLog.write(c, origin, "agent_created", workspace, slug, audited(profile));
        }
        return made;
    }

    /**
     * Empty when there is no such agent.
     *
     * @param check sees the locked agent; an exception leaves the agent unchanged
     */
    public Optional<RosterEntry> update(UUID workspace, String name, RosterEntry.Profile profile, AuditOrigin origin,
            Consumer<RosterEntry> check) {
        return database.inTransaction(c -> {
            Optional<RosterEntry> before =
                    find(c, workspace, name, BY_ID.and(" for update"), BY_SLUG.and(" for update"));
            if (before.isEmpty()) {
                return before;
            }
            check.accept(before.get());
            Optional<RosterEntry> after =
                    with(UPDATE.on(c), profile).set("workspace", workspace).set("id", before.get().id())
                            .first(Roster::agent);
            if (after.isPresent()) {
                AuditLog.write(c, origin, "agent_updated", workspace, after.get().slug(), audited(profile));
            }
            return after;
        });
    }

    /** Its tasks keep it, on the terms of their time. False for an unknown agent. */
    public boolean delete(UUID workspace, String name, AuditOrigin origin) {
        return database.inTransaction(c -> {
            Optional<RosterEntry> found = find(c, workspace, name);
            if (found.isEmpty()) {
                return false;
            }
            DELETE.on(c).set("workspace", workspace).set("id", found.get().id()).exists();
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

    private static Sql.Call with(Sql.Call call, RosterEntry.Profile profile) {
        ObjectNode limits = JsonNodeFactory.instance.objectNode();
        if (profile.maxTurns() != null) {
            limits.put("max_turns", profile.maxTurns());
        }
        if (!profile.approvals().equals(CallApprovals.NONE)) {
            limits.set("approvals", ApprovalRules.write(profile.approvals()));
        }
        RunsOn runsOn = profile.runsOn();
        return call.set("name", profile.name()).set("description", profile.description()).set("model", profile.model())
                .set("instructions", profile.instructions()).set("tools", text(profile.tools()))
                .set("capabilities", text(profile.capabilities())).set("limits", limits)
                .set("runs_on", runsOn == null ? null : runsOn.wire());
    }

    private static String text(Collection<String> texts) {
        return Json.MAPPER.writeValueAsString(texts);
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
                row.getString("created_by"), Rows.time(row, "created_at"),
                Rows.time(row, "updated_at"));
    }

    private static List<String> texts(String json) {
        return Json.read(json).valueStream().map(JsonNode::asString).toList();
    }
}
