package io.keelson.server.run;

import static io.keelson.server.run.Column.integer;
import static io.keelson.server.run.Column.text;
import static io.keelson.server.run.Column.uuid;

import io.keelson.core.run.Changes.Lane;
import io.keelson.core.run.TimerKind;
import io.keelson.server.db.DbClock;
import io.keelson.server.run.RunStore.Candidate;
import io.keelson.server.run.RunStore.Due;
import io.keelson.server.run.RunStore.DueTimer;
import io.keelson.server.run.RunStore.Expired;
import io.keelson.server.run.RunStore.Place;
import io.keelson.server.run.RunStore.Search;
import io.keelson.server.run.RunStore.Sweep;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.UUID;

/**
 * What wants to be done, found by index whatever the size of queue and history. Nothing here is locked: whoever acts on a
 * finding asks for a decision, which looks again. The time stands in scalar subqueries, for a volatile function in a
 * condition would forbid the index.
 */
final class DueWork {

    private record Held(Lane lane, String holder) {}

    /**
     * Each workspace and tool has its own stretch of the index; the workspaces that have anything queued are found by
     * skipping from one to the next. Within a priority the workspaces take turns, beginning after the one that was served
     * last.
     */
    private static final String CANDIDATES = """
            with recursive workspaces (id) as (
                (select workspace_id from work_queue where holder is null order by workspace_id limit 1)
                union all
                select (select q.workspace_id from work_queue q
                         where q.holder is null and q.workspace_id > w.id order by q.workspace_id limit 1)
                  from workspaces w where w.id is not null),
            chosen (id) as (
                select id from workspaces where ?::uuid is null and id is not null
                union all select ?::uuid where ?::uuid is not null),
            ready as (
                select q.*, row_number() over (partition by q.workspace_id, q.priority
                    order by q.queued_at, q.task_id, q.lane) as turn
                  from chosen w cross join unnest(?::text[]) as t (tool) cross join lateral (
                    select workspace_id, run_id, task_id, lane, tool, priority, queued_at from work_queue
                     where holder is null and workspace_id = w.id and tool = t.tool
                     order by priority, queued_at
                     limit ?) q
                 where not exists (select from unnest(?::uuid[], ?::text[]) as f (id, tool)
                     where f.id = w.id and coalesce(f.tool, t.tool) = t.tool))
            select r.run_id, r.task_id, r.lane, r.tool, r.workspace_id, r.priority
              from ready r
              left join unnest(?::int4[], ?::uuid[]) as served (priority, last) on served.priority = r.priority
             order by r.priority, r.turn, (r.workspace_id <= served.last) is true, r.workspace_id, r.queued_at, r.task_id,
                r.lane
             limit ?""";

    private static final String DUE = """
            with clock as materialized (select {now} as now)
            select (select task_id from work_queue where holder is null order by workspace_id limit 1) is not null as ready,
                   (select min(lease_expires_at) from work_queue where holder is not null) < now as lapsed,
                   (select min(deadline_at) from work_queue) < now - ? * interval '1 millisecond' as late,
                   (select min(due_at) from timers) <= now as timers,
                   (select ceil(extract(epoch from min(lease_expires_at) - now) * 1000)::bigint from work_queue
                     where holder is not null and lease_expires_at >= now) as next_lease_ms
              from clock""".replace("{now}", DbClock.SQL);

    private static final String EXPIRED = """
            with lapsed as (
                (select q.run_id, q.task_id, q.lane, q.lease_ms, false as timed_out from work_queue q
                  where q.holder is not null and q.lease_expires_at < (select {now})
                  order by q.lease_expires_at limit ?)
                union all
                (select q.run_id, q.task_id, q.lane, q.lease_ms, true from work_queue q
                  where q.deadline_at < (select {now} - ? * interval '1 millisecond')
                    and q.lease_expires_at >= (select {now})
                  order by q.deadline_at limit ?))
            select l.run_id, l.task_id, l.lane, s.id as step_id, s.lease_epoch, l.lease_ms, l.timed_out
              from lapsed l join orchestration_steps s on s.task_id = l.task_id
             where s.state = 'running' and l.lane in (0, s.position)
             limit ?""".replace("{now}", DbClock.SQL);

    private static final String DUE_TIMERS = """
            select run_id, kind, subject from timers where due_at <= (select {now}) order by due_at limit ?"""
            .replace("{now}", DbClock.SQL);

    /** Laterals with a limit, for a plain {@code exists} may be answered by reading all open tasks there are. */
    private static final String STUCK_JOINS = """
            with open as materialized (
                select r.workspace_id, r.id, r.attempt_number,
                    r.state = 'running' and r.updated_at < (select {now} - interval '1 minute') as old
                  from orchestration_runs r
                 where r.state_type <> 'terminal' and (r.workspace_id, r.id) > (?, ?)
                 order by r.workspace_id, r.id
                 limit ?)
            select o.workspace_id, o.id, o.old and task.found is null and timer.found is null as stuck
              from open o
              left join lateral (
                select true as found from orchestration_tasks t
                 where o.old and t.run_id = o.id and t.attempt = o.attempt_number and t.state_type <> 'terminal'
                 limit 1) task on true
              left join lateral (
                select true as found from timers
                 where o.old and timers.run_id = o.id and timers.kind <> 'watch' limit 1) timer on true
             order by o.workspace_id, o.id""".replace("{now}", DbClock.SQL);

    /** Whoever writes a lane at this moment knows more of it than its holder's heartbeat: not waited for. */
    private static final SetStatement<Held> EXTEND = new SetStatement<>("keelson_lease_kept", """
            with mine as (
                select q.task_id, q.lane
                  from {rows} join work_queue q on q.task_id = u.task_id and q.lane = u.lane and q.holder = u.holder
                   for no key update of q skip locked)
            update work_queue q set lease_expires_at = {now} + q.lease_ms * interval '1 millisecond'
              from mine where q.task_id = mine.task_id and q.lane = mine.lane""",
            uuid("task_id", h -> h.lane.taskId()), integer("lane", h -> h.lane.lane()), text("holder", Held::holder));

    private final DbClock clock;

    DueWork(DbClock clock) {
        this.clock = clock;
    }

    List<Candidate> candidates(Connection c, Search search, List<WorkLimits.Full> full) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(CANDIDATES)) {
            statement.setObject(1, search.workspaceId());
            statement.setObject(2, search.workspaceId());
            statement.setObject(3, search.workspaceId());
            BinaryArray.bindTexts(statement, 4, search.tools());
            statement.setInt(5, search.limit());
            BinaryArray.bindIds(statement, 6, full.stream().map(WorkLimits.Full::workspaceId).toList());
            BinaryArray.bind(statement, 7, full.stream().map(WorkLimits.Full::tool).toList(), Column.Element.TEXT);
            BinaryArray.bind(statement, 8, search.turns().priorities(), Column.Element.INT4);
            BinaryArray.bindIds(statement, 9, search.turns().workspaces());
            statement.setInt(10, search.limit());
            List<Candidate> found = new ArrayList<>();
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    found.add(new Candidate(Loading.uuid(row, "run_id"), Loading.uuid(row, "task_id"),
                            row.getInt("lane"), row.getString("tool"), Loading.uuid(row, "workspace_id"),
                            row.getInt("priority")));
                }
            }
            return found;
        }
    }

    /** A subquery that finds nothing gives null, which reads as false. */
    Due due(Connection c, Duration grace) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(DUE)) {
            clock.bind(statement, 1);
            statement.setLong(2, grace.toMillis());
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                Long nextLease = row.getObject("next_lease_ms", Long.class);
                return new Due(row.getBoolean("ready"), row.getBoolean("lapsed") || row.getBoolean("late"),
                        row.getBoolean("timers"), nextLease == null ? null : Duration.ofMillis(nextLease));
            }
        }
    }

    List<Expired> expired(Connection c, Duration grace, int limit) throws SQLException {
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
                    found.add(new Expired(Loading.uuid(row, "run_id"), Loading.uuid(row, "task_id"),
                            row.getInt("lane"), Loading.uuid(row, "step_id"), row.getInt("lease_epoch"),
                            Duration.ofMillis(row.getLong("lease_ms")), row.getBoolean("timed_out")));
                }
            }
            return found;
        }
    }

    List<DueTimer> dueTimers(Connection c, int limit) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(DUE_TIMERS)) {
            clock.bind(statement, 1);
            statement.setInt(2, limit);
            List<DueTimer> found = new ArrayList<>();
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    found.add(new DueTimer(Loading.uuid(row, "run_id"), TimerKind.of(row.getString("kind")),
                            Loading.uuid(row, "subject")));
                }
            }
            return found;
        }
    }

    Sweep stuckJoins(Connection c, Place after, int limit) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(STUCK_JOINS)) {
            clock.bind(statement, 1);
            statement.setObject(2, after.workspaceId());
            statement.setObject(3, after.runId());
            statement.setInt(4, limit);
            List<UUID> stuck = new ArrayList<>();
            Place last = Place.FIRST;
            int seen = 0;
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    seen++;
                    last = new Place(Loading.uuid(row, "workspace_id"), Loading.uuid(row, "id"));
                    if (row.getBoolean("stuck")) {
                        stuck.add(last.runId());
                    }
                }
            }
            return new Sweep(stuck, seen < limit ? Place.FIRST : last);
        }
    }

    int extendLeases(Connection c, String holder, Collection<Lane> lanes) throws SQLException {
        return EXTEND.execute(c, lanes.stream().map(lane -> new Held(lane, holder)).toList(), clock.override());
    }
}
