package io.keelson.server.run.queue;

import io.keelson.server.db.DbClock;
import io.keelson.server.db.Rows;
import io.keelson.server.run.sql.BinaryParameter;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Who is there to work: this database's engine nodes, and each workspace's remote workers. */
public final class WorkerRegistry {

    public record Node(String id, String version, Instant startedAt, Instant lastSeenAt) {}

    private static final String BEAT = """
            insert into engine_nodes as n (id, version, started_at, last_seen_at)
            select ?, ?, now, now from (select {now} as now) clock
            on conflict (id) do update set version = excluded.version, last_seen_at = excluded.last_seen_at,
                left_at = null
            returning exists (select from engine_nodes o where o.id <> n.id and o.left_at is null
                and o.last_seen_at >= n.last_seen_at - ? * interval '1 millisecond') as company""".replace("{now}",
            DbClock.SQL);

    /** For so long a node that was not heard of again is remembered. */
    private static final Duration REMEMBERED = Duration.ofDays(1);

    /** Whoever else finds the same silence at this moment finds the same beginning of it. */
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

    private static final String NODES = """
            select id, version, started_at, last_seen_at from engine_nodes
             where left_at is null and last_seen_at >= (select {now} - ? * interval '1 millisecond') order by id"""
            .replace("{now}", DbClock.SQL);

    /** A worker may ask for its tools in several claims; one that was away for a minute begins anew. */
    private static final String SEEN_ASKING = """
            insert into workers as w (workspace_id, id, tools, slots, version, first_seen_at, last_seen_at)
            select ?, ?, ?, ?, ?, now, now from (select {now} as now) clock
            on conflict (workspace_id, id) do update
               set tools = case
                       when w.last_seen_at < excluded.last_seen_at - interval '1 minute' then excluded.tools
                       when w.tools @> excluded.tools then w.tools
                       else array(select unnest(w.tools) union select unnest(excluded.tools) order by 1) end,
                   slots = excluded.slots,
                   version = coalesce(excluded.version, w.version), last_seen_at = excluded.last_seen_at
            returning draining""".replace("{now}", DbClock.SQL);

    private static final String SEEN = """
            update workers set last_seen_at = {now} where workspace_id = ? and id = ?""".replace("{now}", DbClock.SQL);

    private static final String DRAIN = "update workers set draining = true where workspace_id = ? and id = ?";

    private static final String DRAINING = "select draining from workers where workspace_id = ? and id = ?";

    private static final String SERVED = """
            select distinct unnest(tools) as tool from workers where ?::uuid is null or workspace_id = ?""";

    private final DbClock clock;

    public WorkerRegistry(DbClock clock) {
        this.clock = clock;
    }

    /**
     * Registers a node or says that it lives.
     *
     * @param silence how long ago another node may have been heard of
     * @return whether there is one
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
     * A node begins. When nobody has been heard of for longer than the silence that is usual between two signs of life,
     * that was an outage, which counts for nobody's timeout.
     *
     * @return whether another node was heard of within that time
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

    /** A node says goodbye. */
    public void deregister(Connection c, String node) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(LEAVE)) {
            clock.bind(statement, 1);
            statement.setString(2, node);
            statement.executeUpdate();
        }
    }

    /** Nodes heard of within that time. */
    public List<Node> nodes(Connection c, Duration within) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(NODES)) {
            clock.bind(statement, 1);
            statement.setLong(2, within.toMillis());
            List<Node> nodes = new ArrayList<>();
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    nodes.add(new Node(row.getString("id"), row.getString("version"),
                            Rows.time(row, "started_at"),
                            Rows.time(row, "last_seen_at")));
                }
            }
            return nodes;
        }
    }

    /**
     * Notes a worker that asked for work.
     *
     * @param tools are added to those that it serves already
     * @param slots how much it asked for
     * @return true when the worker is to be drained: it gets nothing
     */
    public boolean seen(Connection c, UUID workspaceId, String worker, Collection<String> tools, int slots,
            @Nullable String version) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(SEEN_ASKING)) {
            statement.setObject(1, workspaceId);
            statement.setString(2, worker);
            BinaryParameter.bindTexts(statement, 3, tools);
            statement.setInt(4, slots);
            statement.setString(5, version);
            clock.bind(statement, 6);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return row.getBoolean("draining");
            }
        }
    }

    /** Notes that a worker lives. */
    public void seen(Connection c, UUID workspaceId, String worker) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(SEEN)) {
            clock.bind(statement, 1);
            statement.setObject(2, workspaceId);
            statement.setString(3, worker);
            statement.executeUpdate();
        }
    }

    /** The tools of all workers, of any workspace, that ever asked for work: some may be away at the moment. */
    public Set<String> served(Connection c) throws SQLException {
        return servedIn(c, null);
    }

    /** The tools of the workspace's workers, likewise. */
    public Set<String> served(Connection c, UUID workspaceId) throws SQLException {
        return servedIn(c, workspaceId);
    }

    private static Set<String> servedIn(Connection c, @Nullable UUID workspaceId) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(SERVED)) {
            statement.setObject(1, workspaceId);
            statement.setObject(2, workspaceId);
            Set<String> tools = new HashSet<>();
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    tools.add(row.getString("tool"));
                }
            }
            return tools;
        }
    }

    /** True when the worker is to be given no more work. */
    public boolean draining(Connection c, UUID workspaceId, String worker) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(DRAINING)) {
            statement.setObject(1, workspaceId);
            statement.setString(2, worker);
            try (ResultSet row = statement.executeQuery()) {
                return row.next() && row.getBoolean("draining");
            }
        }
    }

    /** Gives the worker no more work; false when the workspace has no such worker. */
    public boolean drain(Connection c, UUID workspaceId, String worker) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(DRAIN)) {
            statement.setObject(1, workspaceId);
            statement.setString(2, worker);
            return statement.executeUpdate() == 1;
        }
    }
}
