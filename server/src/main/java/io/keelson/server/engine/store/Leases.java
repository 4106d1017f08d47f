package io.keelson.server.engine.store;

import static io.keelson.server.engine.store.sql.Column.integer;
import static io.keelson.server.engine.store.sql.Column.text;
import static io.keelson.server.engine.store.sql.Column.uuid;

import io.keelson.core.decide.ChangeSet.Lane;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.base.db.Rows;
import io.keelson.server.engine.store.RunStore.Expired;
import io.keelson.server.engine.store.RunStore.Unreported;
import io.keelson.server.engine.store.sql.RowSetStatement;
import io.keelson.server.engine.store.sql.ViewLoader;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/** Leases of the queue's lanes: kept by heartbeats of their holders, and expired without them. */
final class Leases {

    private record Held(Lane lane, String holder) {}

    /** From then on no heartbeat extends them and no details are written. Skips a lane whose heartbeat is not committed. */
    private static final String TAKE = """
            update work_queue q set lease_expires_at = timestamptz 'epoch'
              from (select task_id, lane from work_queue
                     where holder is not null and lease_expires_at < (select {now})
                     order by lease_expires_at limit ?
                       for no key update skip locked) lapsed
             where q.task_id = lapsed.task_id and q.lane = lapsed.lane""".replace("{now}", DbClock.SQL);

    /**
     * A lateral with a limit, because a plain join may read all steps. Of the details of an earlier lease, answers count that can
     * still be fetched. The planner estimates twice the rows for {@code < … is false} as for {@code >=}, and so uses the index of
     * deadlines in an empty table.
     */
    private static final String EXPIRED = """
            with lapsed as (
                (select q.run_id, q.task_id, q.lane, q.lease_ms, false as timed_out, not exists (
                        select from workers w
                         where w.workspace_id = q.workspace_id and w.id <> q.holder and q.tool = any (w.tools)
                           and not w.draining and w.slots > 0
                           and w.last_seen_at >= (select {now}) - interval '1 minute') as unserved
                   from work_queue q
                  where q.holder is not null and q.lease_expires_at = timestamptz 'epoch'
                  limit ?)
                union all
                (select q.run_id, q.task_id, q.lane, q.lease_ms, true, false from work_queue q
                  where q.deadline_at < (select {now} - ? * interval '1 millisecond')
                    and (q.lease_expires_at < (select {now})) is false
                  order by q.deadline_at limit ?))
            select l.run_id, l.task_id, l.lane, s.id as step_id, s.lease_epoch, l.lease_ms, l.timed_out, l.unserved,
                (select case when p.lease_epoch = s.lease_epoch then p.details
                        else jsonb_build_object('model_requests',
                            jsonb_path_query_array(p.details, '$.model_requests[*] ? (exists (@.response_id))')) end
                   from step_progress p where p.step_id = s.id) as details
              from lapsed l
              cross join lateral (
                select s.id, s.lease_epoch from orchestration_steps s
                 where s.task_id = l.task_id and s.lane = l.lane and s.state = 'running'
                 limit 1) s
             limit ?""".replace("{now}", DbClock.SQL);

    private static final String UNREPORTED = """
            select s.run_id, s.id, s.lease_epoch, p.details
              from orchestration_steps s
              join step_progress p on p.step_id = s.id and p.lease_epoch = s.lease_epoch
             where s.id = any (?) and s.state_type = 'terminal' and s.result_epoch <> s.lease_epoch
               and p.details is not null""";

    /**
     * Skips a lane that a commit is writing, which knows more than its holder's heartbeat. Laterals with a limit, and the
     * conditions of {@link QueueTable}: a plan that was made while the queue was empty would read the whole table.
     */
    private static final RowSetStatement<Held> EXTEND = new RowSetStatement<>("keelson_lease_kept", """
            with held as materialized (select * from {rows}),
            mine as (
                select mine.* from held h cross join lateral (
                    select q.task_id, q.lane from work_queue q
                     where q.task_id = h.task_id and q.lane = h.lane and q.holder is not distinct from h.holder
                       and (q.lease_expires_at > timestamptz 'epoch') is true
                     limit 1 for no key update skip locked) mine),
            extended as (
                update work_queue q set lease_expires_at = {clock} + q.lease_ms * interval '1 millisecond'
                  from mine where q.task_id = any (array[mine.task_id]) and q.lane = mine.lane)
            select h.task_id, h.lane
              from held h left join lateral (
                select true as kept from work_queue q
                 where q.task_id = h.task_id and q.lane = h.lane and q.holder is not distinct from h.holder
                   and (q.lease_expires_at > timestamptz 'epoch') is true
                 limit 1) lease on true
             where lease.kept is null""",
            uuid("task_id", h -> h.lane.taskId()), integer("lane", h -> h.lane.lane()), text("holder", Held::holder));

    private final DbClock clock;

    Leases(DbClock clock) {
        this.clock = clock;
    }

    List<Expired> expired(Connection c, Duration grace, int limit) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(TAKE)) {
            clock.bind(statement, 1);
            statement.setInt(2, limit);
            statement.executeUpdate();
        }
        try (PreparedStatement statement = c.prepareStatement(EXPIRED)) {
            clock.bind(statement, 1);
            statement.setInt(2, limit);
            clock.bind(statement, 3);
            statement.setLong(4, grace.toMillis());
            clock.bind(statement, 5);
            statement.setInt(6, limit);
            statement.setInt(7, limit);
            List<Expired> found = new ArrayList<>();
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    found.add(new Expired(ViewLoader.uuid(row, "run_id"), ViewLoader.uuid(row, "task_id"),
                            row.getInt("lane"), ViewLoader.uuid(row, "step_id"), row.getInt("lease_epoch"),
                            Duration.ofMillis(row.getLong("lease_ms")), row.getBoolean("unserved"),
                            row.getBoolean("timed_out"), row.getString("details")));
                }
            }
            return found;
        }
    }

    List<Unreported> unreported(Connection c, Collection<UUID> steps) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(UNREPORTED)) {
            statement.setArray(1, c.createArrayOf("uuid", steps.toArray()));
            return Rows.all(statement, row -> new Unreported(ViewLoader.uuid(row, "run_id"), ViewLoader.uuid(row, "id"),
                    row.getInt("lease_epoch"), row.getString("details")));
        }
    }

    Set<Lane> extend(Connection c, String holder, Collection<Lane> lanes) throws SQLException {
        Set<Lane> lost = new HashSet<>();
        if (lanes.isEmpty()) {
            return lost;
        }
        List<Held> held = lanes.stream().map(lane -> new Held(lane, holder)).toList();
        try (PreparedStatement statement = EXTEND.prepare(c, held, clock.override());
                ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                lost.add(new Lane(ViewLoader.uuid(row, "task_id"), row.getInt("lane")));
            }
        }
        return lost;
    }
}
