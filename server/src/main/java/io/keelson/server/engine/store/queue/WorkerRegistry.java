package io.keelson.server.engine.store.queue;

import io.keelson.api.work.NodeInfo;
import io.keelson.core.policy.Effects;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.base.db.RecordColumns;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.sql.BinaryParameter;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Registry of this database's engine nodes and of each workspace's remote workers. */
public final class WorkerRegistry {

    /** @param key the name of the key that the node seals secrets with */
    public record NodeKey(String node, String key) {}

    private static final String BEAT = """
            insert into engine_nodes as n (id, version, started_at, last_seen_at)
            select ?, ?, now, now from (select {now} as now) clock
            on conflict (id) do update set version = excluded.version, last_seen_at = excluded.last_seen_at,
                left_at = null
            returning exists (select from engine_nodes o where o.id <> n.id and o.left_at is null
                and o.last_seen_at >= n.last_seen_at - ? * interval '1 millisecond') as company""".replace("{now}",
            DbClock.SQL);

    /** How long a silent node stays registered. */
    private static final Duration REMEMBERED = Duration.ofDays(1);

    /** Concurrent findings of the same outage have the same beginning. */
    private static final String OUTAGE = """
            with clock as materialized (select {now} as now),
            last as (select max(last_seen_at) as at from engine_nodes)
            insert into engine_outages (from_at, to_at)
            select last.at, clock.now from last, clock where last.at < clock.now - ? * interval '1 millisecond'
            on conflict do nothing""".replace("{now}", DbClock.SQL);

    private static final String FORGET = """
            delete from engine_nodes
             where last_seen_at < (select max(last_seen_at) from engine_nodes) - ? * interval '1 millisecond'""";

    private static final String LEAVE = """
            update engine_nodes set last_seen_at = now, left_at = now from (select {now} as now) clock where id = ?"""
            .replace("{now}", DbClock.SQL);

    private static final String KEYS = "update engine_nodes set secret_keys = ? where id = ?";

    private static final String OTHER_KEYS = """
            select o.id, o.secret_keys[1] as key from engine_nodes n join engine_nodes o on o.id <> n.id
             where n.id = ? and o.left_at is null and o.last_seen_at >= n.last_seen_at - ? * interval '1 millisecond'
               and o.secret_keys <> '{}'
               and (o.secret_keys[1] <> all (n.secret_keys) or n.secret_keys[1] <> all (o.secret_keys))
             order by o.id""";

    private static final String NODES = """
            select id, version, started_at, last_seen_at from engine_nodes
             where left_at is null and last_seen_at >= (select {now} - ? * interval '1 millisecond') order by id"""
            .replace("{now}", DbClock.SQL);

    /** Adds tools of several claims; a worker that was silent for a minute starts with an empty list. */
    private static final String SEEN_ASKING = """
            insert into workers as w (workspace_id, id, tools, slots, version, tool_specs, first_seen_at, last_seen_at)
            select ?, ?, ?, ?, ?, coalesce(given, '[]'), now, now
              from (select {now} as now, ?::jsonb as given) clock
            on conflict (workspace_id, id) do update
               set tools = case
                       when w.last_seen_at < excluded.last_seen_at - interval '1 minute' then excluded.tools
                       when w.tools @> excluded.tools then w.tools
                       else array(select unnest(w.tools) union select unnest(excluded.tools) order by 1) end,
                   slots = excluded.slots,
                   version = excluded.version,
                   tool_specs = case when excluded.tool_specs = '[]' then w.tool_specs else excluded.tool_specs end,
                   last_seen_at = excluded.last_seen_at
            returning draining""".replace("{now}", DbClock.SQL);

    /** Adds tools, and replaces announcements of the same names, without a sign of life. */
    private static final String REGISTER = """
            insert into workers as w (workspace_id, id, tools, slots, version, tool_specs, first_seen_at, last_seen_at)
            select ?, ?, ?, 0, null, given, now, now from (select {now} as now, ?::jsonb as given) clock
            on conflict (workspace_id, id) do update
               set tools = array(select unnest(w.tools) union select unnest(excluded.tools) order by 1),
                   tool_specs = excluded.tool_specs || coalesce((
                       select jsonb_agg(s) from jsonb_array_elements(w.tool_specs) s
                        where s -> 'name' not in (select jsonb_array_elements(excluded.tool_specs) -> 'name')), '[]')"""
            .replace("{now}", DbClock.SQL);

    private static final String SEEN = """
            update workers set last_seen_at = {now} where workspace_id = ? and id = ?""".replace("{now}", DbClock.SQL);

    private static final String DRAIN = "update workers set draining = true where workspace_id = ? and id = ?";

    private static final String STATE = "select draining, version from workers where workspace_id = ? and id = ?";

    private static final String SERVED = """
            select distinct unnest(tools) as tool from workers where workspace_id = ?""";

    /** The tools of workers; of several announcements, the one of the worker seen last counts. */
    private static final String ANNOUNCED = """
            select distinct on (s ->> 'name') s ->> 'name' as name, s::text as spec
              from workers w cross join lateral jsonb_array_elements(w.tool_specs) s
             where w.workspace_id = ? and s ->> 'name' = any (w.tools)
             order by s ->> 'name', w.last_seen_at desc, w.id""";

    private static final String GATEWAYS = """
            select distinct on (s ->> 'name') s ->> 'name' as name, s -> 'gateway' as gateway
              from workers w cross join lateral jsonb_array_elements(w.tool_specs) s
             where w.workspace_id = ? and s ->> 'name' = any (w.tools)
             order by s ->> 'name', w.last_seen_at desc, w.id""";

    private static final String EFFECTS = """
            select s ->> 'effects' as effects
              from workers w cross join lateral jsonb_array_elements(w.tool_specs) s
             where w.workspace_id = ? and s ->> 'name' = ? and ? = any (w.tools)
             order by w.last_seen_at desc, w.id limit 1""";

    private final DbClock clock;

    public WorkerRegistry(DbClock clock) {
        this.clock = clock;
    }

    /**
     * Registers a node or records its heartbeat.
     *
     * @param silence maximum age of another node's heartbeat
     * @return whether there is such a node
     */
    public boolean heartbeat(Connection c, String node, String version, Duration silence) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(BEAT)) {
            statement.setString(1, node);
            statement.setString(2, version);
            clock.bind(statement, 3);
            statement.setLong(4, silence.toMillis());
            try (ResultSet row = statement.executeQuery()) {
                return row.next() && row.getBoolean("company");
            }
        }
    }

    /**
     * Registers a starting node. If no node has sent a heartbeat for longer than the usual interval, records an outage,
     * which does not count for timeouts.
     *
     * @return whether another node was alive within that time
     */
    public boolean register(Connection c, String node, String version, Duration silence) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(OUTAGE)) {
            clock.bind(statement, 1);
            statement.setLong(2, silence.toMillis());
            statement.executeUpdate();
        }
        boolean company = heartbeat(c, node, version, silence);
        try (PreparedStatement statement = c.prepareStatement(FORGET)) {
            statement.setLong(1, REMEMBERED.toMillis());
            statement.executeUpdate();
        }
        return company;
    }

    /**
     * Stores the names of the keys that a registered node opens secrets with.
     *
     * @param keys the sealing key first
     */
    public void announceKeys(Connection c, String node, List<String> keys) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(KEYS)) {
            BinaryParameter.bindTexts(statement, 1, keys);
            statement.setString(2, node);
            statement.executeUpdate();
        }
    }

    /**
     * The other nodes at work whose secrets this node cannot open, or which cannot open this node's.
     *
     * @param silence maximum age of another node's heartbeat
     */
    public List<NodeKey> otherKeys(Connection c, String node, Duration silence) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(OTHER_KEYS)) {
            statement.setString(1, node);
            statement.setLong(2, silence.toMillis());
            List<NodeKey> found = new ArrayList<>();
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    found.add(new NodeKey(row.getString("id"), row.getString("key")));
                }
            }
            return found;
        }
    }

    /** Deregisters a node. */
    public void deregister(Connection c, String node) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(LEAVE)) {
            clock.bind(statement, 1);
            statement.setString(2, node);
            statement.executeUpdate();
        }
    }

    /** Nodes with a heartbeat within that time. */
    public List<NodeInfo> nodes(Connection c, Duration within) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(NODES)) {
            clock.bind(statement, 1);
            statement.setLong(2, within.toMillis());
            List<NodeInfo> nodes = new ArrayList<>();
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    nodes.add(RecordColumns.of(NodeInfo.class).read(row));
                }
            }
            return nodes;
        }
    }

    /**
     * Records a worker that claims work.
     *
     * @param tools are added to its known ones
     * @param specs the announced tools, as JSON text; null keeps the stored ones
     * @param slots the requested number
     * @return true when the worker is to be drained: it gets no steps
     */
    public boolean seen(Connection c, UUID workspaceId, String worker, Collection<String> tools,
            @Nullable String specs, int slots, @Nullable String version) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(SEEN_ASKING)) {
            statement.setObject(1, workspaceId);
            statement.setString(2, worker);
            BinaryParameter.bindTexts(statement, 3, tools);
            statement.setInt(4, slots);
            statement.setString(5, version);
            clock.bind(statement, 6);
            statement.setString(7, specs);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return row.getBoolean("draining");
            }
        }
    }

    /**
     * Makes tools known before a worker claims their steps.
     *
     * @param worker the name under which they are stored
     * @param specs the announced tools, as JSON text
     */
    public void register(Connection c, UUID workspaceId, String worker, Collection<String> tools, String specs)
            throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(REGISTER)) {
            statement.setObject(1, workspaceId);
            statement.setString(2, worker);
            BinaryParameter.bindTexts(statement, 3, tools);
            clock.bind(statement, 4);
            statement.setString(5, specs);
            statement.executeUpdate();
        }
    }

    /** The announced tools of the workspace's workers, by name. */
    public Map<String, JsonNode> announced(Connection c, UUID workspaceId) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(ANNOUNCED)) {
            statement.setObject(1, workspaceId);
            Map<String, JsonNode> specs = new HashMap<>();
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    specs.put(row.getString("name"), Json.read(row.getString("spec")));
                }
            }
            return specs;
        }
    }

    /** Grants for the gateway by tool, of the tools that workers of the workspace have announced with one. */
    public Map<String, GatewayGrant> gateways(Connection c, UUID workspaceId) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(GATEWAYS)) {
            statement.setObject(1, workspaceId);
            Map<String, GatewayGrant> grants = new HashMap<>();
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    String gateway = row.getString("gateway");
                    GatewayGrant grant = gateway == null ? null : GatewayGrant.of(Json.read(gateway));
                    if (grant != null) {
                        grants.put(row.getString("name"), grant);
                    }
                }
            }
            return grants;
        }
    }

    /** The effects of a tool's calls, as the worker that was seen last announces them; null where it does not announce them. */
    public @Nullable Effects effects(Connection c, UUID workspaceId, String tool) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(EFFECTS)) {
            statement.setObject(1, workspaceId);
            statement.setString(2, tool);
            statement.setString(3, tool);
            try (ResultSet row = statement.executeQuery()) {
                String effects = row.next() ? row.getString("effects") : null;
                return effects == null ? null : Effects.valueOf(effects.toUpperCase(Locale.ROOT));
            }
        }
    }

    /** Records a sign of life of a worker. */
    public void seen(Connection c, UUID workspaceId, String worker) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(SEEN)) {
            clock.bind(statement, 1);
            statement.setObject(2, workspaceId);
            statement.setString(3, worker);
            statement.executeUpdate();
        }
    }

    /** The tools of the workspace's workers, including those away. */
    public Set<String> served(Connection c, UUID workspaceId) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(SERVED)) {
            statement.setObject(1, workspaceId);
            Set<String> tools = new HashSet<>();
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    tools.add(row.getString("tool"));
                }
            }
            return tools;
        }
    }

    /**
     * A worker as it has announced itself.
     *
     * @param draining whether it gets no more work
     * @param version null if absent
     */
    public record State(boolean draining, @Nullable String version) {}

    /** The state of a worker, also of an unknown one. */
    public State state(Connection c, UUID workspaceId, String worker) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(STATE)) {
            statement.setObject(1, workspaceId);
            statement.setString(2, worker);
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? new State(row.getBoolean("draining"), row.getString("version"))
                        : new State(false, null);
            }
        }
    }

    /** Drains the worker; false for an unknown worker. */
    public boolean drain(Connection c, UUID workspaceId, String worker) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(DRAIN)) {
            statement.setObject(1, workspaceId);
            statement.setString(2, worker);
            return statement.executeUpdate() == 1;
        }
    }
}
