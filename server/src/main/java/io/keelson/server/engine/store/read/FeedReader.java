package io.keelson.server.engine.store.read;

import io.keelson.server.engine.store.sql.JsonRows;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * Reads events of all runs in the order of their ids, up to a settled id ({@link FeedWatermark}). Uses the primary key
 * of packs only, at any size of the table.
 */
public final class FeedReader {

    private static final String WATERMARK = "select last_id, next, open_from from keelson_feed_look(?)";

    /** Another server may have stored a higher one. */
    private static final String PUBLISH = "update event_watermark set last_id = ? where last_id < ?";

    /** The cost depends only on the range of ids; the workspace selects no index. */
    private static final String EVENTS = """
            with page as materialized (
                select e.id, e.seq, e.run_id, e.attempt, e.agent_id, e.task_id, e.step_id, e.event_type,
                    e.payload, e.actor_type, e.actor_id, e.created_at,
                    e.step_id is not null and e.payload ->> 'to' = 'completed' as completes
                  from (select ?::bigint as low, ?::bigint as high) ids
                  join orchestration_events_kept e on e.pack_id > ids.low - 1000 and e.pack_id <= ids.high
                   and e.id > ids.low and e.id <= ids.high
                  join orchestration_runs r on r.id = e.run_id
                 where (r.workspace_id = ?) is true),
            before as materialized (
                select f.run_id, f.attempt, (
                    select count(*) from orchestration_events_kept b
                     where b.run_id = f.run_id and b.pack_seq < f.seq and b.seq < f.seq and b.attempt = f.attempt
                       and b.step_id is not null and b.payload ->> 'to' = 'completed') as steps
                  from (select run_id, attempt, min(seq) as seq from page group by run_id, attempt
                        having bool_or(event_type = 'step_completed')) f)
            select p.id, p.seq, p.run_id, p.attempt, p.agent_id, p.task_id, p.step_id, p.event_type, p.payload,
                p.actor_type, p.actor_id, p.created_at,
                case when p.event_type = 'step_completed' then b.steps + count(*) filter (where p.completes)
                    over (partition by p.run_id, p.attempt order by p.seq) end as step
              from page p left join before b on b.run_id = p.run_id and b.attempt = p.attempt
             order by p.id""";

    /** As above, the range selects the index. No types means all types. */
    private static final String OF = """
            select e.id, e.seq, e.run_id, r.workspace_id, r.title as run_name, r.external_id, e.attempt, e.agent_id,
                e.task_id, e.step_id, e.event_type, e.payload, e.actor_type, e.actor_id, e.created_at,
                r.config -> 'notifications' as notifications, r.origin ->> 'traceparent' as traceparent
              from (select ?::bigint as low, ?::bigint as high) ids
              join orchestration_events_kept e on e.pack_id > ids.low - 1000 and e.pack_id <= ids.high
               and e.id > ids.low and e.id <= ids.high
              join orchestration_runs r on r.id = e.run_id
             where (r.workspace_id = any (?::uuid[])) is true and (e.event_type = any (?::text[])) is not false
             order by e.id""";

    /** Backwards; as above, the range selects the index. No types and no runs mean all. */
    private static final String LATEST = """
            select e.id, e.seq, e.run_id, e.attempt, e.agent_id, e.task_id, e.step_id, e.event_type, e.payload,
                e.actor_type, e.actor_id, e.created_at
              from (select ?::bigint as low, ?::bigint as high) ids
              join orchestration_events_kept e on e.pack_id > ids.low - 1000 and e.pack_id <= ids.high
               and e.id > ids.low and e.id <= ids.high
              join orchestration_runs r on r.id = e.run_id
             where (r.workspace_id = ?) is true and r.deleted_at is null and (e.run_id = any (?::uuid[])) is not false
               and (e.event_type = any (?::text[])) is not false
             order by e.id desc
             limit ?""";

    /** Ids of the first range that is read backwards, and of all ranges that one call reads. */
    private static final long FIRST_RANGE = 200_000;

    private static final long MAX_IDS = 2_000_000;

    /** Binary search in packs: ids are ordered by time, except for a moment. */
    private static final String BY_TIME = """
            with recursive halves (low, high) as (
                select coalesce((select min(id) from run_event_packs_kept), 0) - 1,
                    coalesce((select max(id) from run_event_packs_kept), 0)
                union all
                select case when m.early then m.middle else h.low end, case when m.early then h.high else m.middle end
                  from halves h cross join lateral (
                    select (h.low + h.high + 1) / 2 as middle, (select p.created_at from run_event_packs_kept p
                         where p.id >= (h.low + h.high + 1) / 2 order by p.id limit 1) < ? as early) m
                 where h.high - h.low > 1)
            select low from halves order by high - low limit 1""";

    private FeedReader() {}

    /**
     * The highest id, and the transactions that may still have uncommitted ones.
     *
     * @param lastId the highest id
     * @param next all ids up to it belong to transactions below this one; 0 without news
     * @param openFrom all transactions below it have ended
     */
    record Look(long lastId, long next, long openFrom) {}

    static void publish(Connection c, long settled) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(PUBLISH)) {
            statement.setLong(1, settled);
            statement.setLong(2, settled);
            statement.executeUpdate();
        }
    }

    /** @param known the id up to which the transaction is already known */
    static Look look(Connection c, long known) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(WATERMARK)) {
            statement.setLong(1, known);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return new Look(row.getLong("last_id"), row.getLong("next"), row.getLong("open_from"));
            }
        }
    }

    /** The highest assigned id; events committed earlier have none above it. */
    public static long lastId(Connection c) throws SQLException {
        return look(c, Long.MAX_VALUE).lastId();
    }

    /**
     * The workspace's events with ids in (from, to], where {@code to} is settled; completed steps have {@code step},
     * the number in which they completed in their attempt.
     */
    public static List<ObjectNode> events(Connection c, UUID workspace, long after, long to) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(EVENTS)) {
            statement.setLong(1, after);
            statement.setLong(2, to);
            statement.setObject(3, workspace);
            return JsonRows.list(statement);
        }
    }

    /**
     * Events of the workspace, newest first.
     *
     * @param before all events with a lower id were looked at, as far back; 0 when there are none before
     */
    public record Latest(List<ObjectNode> events, long before) {}

    /**
     * The workspace's latest events with ids below {@code before}, at most {@code limit}; fewer where the last 2,000,000 ids
     * before it, of all workspaces, have no more of them.
     *
     * @param runs only events of these; empty for all
     * @param types only events of these; empty for all
     */
    public static Latest latest(Connection c, UUID workspace, Collection<UUID> runs, Collection<String> types,
            long before, int limit) throws SQLException {
        List<ObjectNode> found = new ArrayList<>();
        long high = before - 1;
        long range = FIRST_RANGE;
        long end = Math.max(0, high - MAX_IDS);
        try (PreparedStatement statement = c.prepareStatement(LATEST)) {
            while (high > end && found.size() < limit) {
                long low = Math.max(end, high - range);
                statement.setLong(1, low);
                statement.setLong(2, high);
                statement.setObject(3, workspace);
                statement.setArray(4, runs.isEmpty() ? null : c.createArrayOf("uuid", runs.toArray()));
                statement.setArray(5, types.isEmpty() ? null : c.createArrayOf("text", types.toArray()));
                statement.setInt(6, limit - found.size());
                found.addAll(JsonRows.list(statement));
                high = low;
                range *= 4;
            }
        }
        if (found.size() == limit) {
            return new Latest(found, found.getLast().get("id").longValue());
        }
        return new Latest(found, high > 0 ? high + 1 : 0);
    }

    /**
     * Events of several workspaces with ids in (from, to], where {@code to} is settled. They have their workspace,
     * their run's name and external id, {@code notifications} of the run's configuration, and {@code traceparent}, the
     * run's trace position.
     *
     * @param types only events of these; null for all
     */
    public static List<ObjectNode> of(Connection c, Collection<UUID> workspaces, @Nullable Collection<String> types,
            long after, long to) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(OF)) {
            statement.setLong(1, after);
            statement.setLong(2, to);
            statement.setArray(3, c.createArrayOf("uuid", workspaces.toArray()));
            statement.setArray(4, types == null ? null : c.createArrayOf("text", types.toArray()));
            return JsonRows.list(statement);
        }
    }

    /**
     * An id such that no event after that time has a lower one; within a minute, for differences between clocks and
     * commits.
     */
    public static long before(Connection c, Instant time) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(BY_TIME)) {
            statement.setObject(1, time.minusSeconds(60).atOffset(ZoneOffset.UTC));
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? row.getLong(1) : 0;
            }
        }
    }
}
