package io.keelson.server.engine.store.queue;

import static io.keelson.server.engine.store.sql.Column.integer;
import static io.keelson.server.engine.store.sql.Column.json;
import static io.keelson.server.engine.store.sql.Column.real;
import static io.keelson.server.engine.store.sql.Column.text;
import static io.keelson.server.engine.store.sql.Column.uuid;

import io.keelson.server.base.db.DbClock;
import io.keelson.server.base.db.Rows;
import io.keelson.server.engine.store.sql.RowSetStatement;
import io.keelson.server.engine.store.sql.ViewLoader;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Heartbeats of lease holders: lease extensions, progress and log lines. */
public final class LeaseHeartbeats {
    private static final int LINE_CHARS = 4_000;

    /**
     * @param progress 0 to 1; null keeps the last value
     * @param details JSON text that the next attempt receives; null keeps the last value
     */
    public record Beat(UUID stepId, int epoch, @Nullable Double progress, @Nullable String message,
            @Nullable String details) {}

    /**
     * @param attempt the step's attempt; 0 for its present one
     * @param lines in order; cut at 4,000 characters, and dropped beyond 5,000 lines of one lease
     */
    public record Log(UUID stepId, int epoch, int attempt, List<String> lines) {}

    private record Sign(UUID workspaceId, String holder, Beat beat) {
        private @Nullable Double progress() {
            return beat.progress == null ? null : Math.clamp(beat.progress, 0, 1);
        }
    }

    private record Line(Log log, int ordinal, String text) {}

    /**
     * A lease is valid while the step runs under the same epoch; the holder's name is no fence. Skips a row that a
     * commit or another heartbeat is working on: its lease is not extended. Rows of the queue are looked up by key, however few
     * there are: see {@code QueueTable}.
     */
    private static final RowSetStatement<Sign> BEAT = new RowSetStatement<>("keelson_beat", """
            with beats as materialized (select * from {rows}),
            live as materialized (
                select b.step_id, b.epoch, q.task_id, q.lane, q.holder, q.lease_expires_at
                  from beats b
                  join orchestration_steps s on s.id = b.step_id and s.workspace_id = b.workspace_id
                   and s.lease_epoch = b.epoch and s.state = 'running'
                 cross join lateral (
                    select q.task_id, q.lane, q.holder, q.lease_expires_at from work_queue q
                     where q.task_id = s.task_id and q.lane = s.lane and q.holder is not distinct from b.holder
                       and (q.lease_expires_at > timestamptz 'epoch') is true
                     limit 1) q),
            locked as (
                select q.task_id, q.lane
                  from live
                  join task_steps s on s.id = live.step_id and s.lease_epoch in (0, live.epoch) and s.state_type <> 'terminal'
                  join work_queue q on q.task_id = any (array[live.task_id]) and q.lane = live.lane
                   and q.holder is not distinct from live.holder
                   for no key update of s, q skip locked),
            extended as (
                update work_queue q set lease_expires_at = {clock} + q.lease_ms * interval '1 millisecond'
                  from locked l where q.task_id = any (array[l.task_id]) and q.lane = l.lane
                returning q.task_id, q.lane, q.lease_expires_at),
            recorded as (
                insert into step_progress as p (step_id, lease_epoch, progress, message, details, updated_at)
                select b.step_id, b.epoch, b.progress, b.message, b.details, {clock}
                  from beats b join live on live.step_id = b.step_id
                 where b.progress is not null or b.message is not null or b.details is not null
                on conflict (step_id) do update
                   set lease_epoch = excluded.lease_epoch, progress = coalesce(excluded.progress, p.progress),
                       message = coalesce(excluded.message, p.message),
                       details = coalesce(excluded.details, p.details), updated_at = excluded.updated_at
                 where p.lease_epoch <= excluded.lease_epoch)
            select live.step_id, coalesce(e.lease_expires_at, live.lease_expires_at) as lease_expires_at
              from live left join extended e on e.task_id = live.task_id and e.lane = live.lane""",
            uuid("workspace_id", Sign::workspaceId), text("holder", Sign::holder),
            uuid("step_id", s -> s.beat.stepId), integer("epoch", s -> s.beat.epoch),
            real("progress", Sign::progress), text("message", s -> s.beat.message),
            json("details", s -> s.beat.details));

    private static final RowSetStatement<Line> LOG = new RowSetStatement<>("keelson_log_line", """
            insert into step_logs (step_id, lease_epoch, line, attempt, message, at)
            select u.step_id, u.epoch, before.lines + u.ordinal,
                coalesce(nullif(u.attempt, 0), (select s.attempt from orchestration_steps s where s.id = u.step_id), 0),
                u.message, {clock}
              from {rows} cross join lateral (
                select coalesce(max(l.line), 0) as lines from step_logs l
                 where l.step_id = u.step_id and l.lease_epoch = u.epoch) before
             where before.lines + u.ordinal <= 5000
            on conflict do nothing""",
            uuid("step_id", line -> line.log.stepId), integer("epoch", line -> line.log.epoch),
            integer("attempt", line -> line.log.attempt), integer("ordinal", Line::ordinal),
            text("message", LINE_CHARS, Line::text));

    private static final String LOCK = """
            select from task_steps s join work_queue q on q.task_id = s.task_id and q.lane = s.lane
             where s.id = ?
               for no key update of q""";

    private static final String DETAILS = "select details from step_progress where step_id = ?";

    private final DbClock clock;

    public LeaseHeartbeats(DbClock clock) {
        this.clock = clock;
    }

    /**
     * Extends the leases of steps that run in the workspace under that holder and epoch.
     *
     * @return the new end of each accepted lease, by step; missing ones are not the holder's any more
     */
    public Map<UUID, Instant> beat(Connection c, UUID workspaceId, String holder, Collection<Beat> beats)
            throws SQLException {
        Map<UUID, Sign> last = new LinkedHashMap<>();
        beats.forEach(beat -> last.merge(beat.stepId, new Sign(workspaceId, holder, beat),
                (one, other) -> one.beat.epoch > other.beat.epoch ? one : other));
        Map<UUID, Instant> extended = new HashMap<>();
        if (last.isEmpty()) {
            return extended;
        }
        try (PreparedStatement statement = BEAT.prepare(c, last.values(), clock.override());
                ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                extended.put(ViewLoader.uuid(row, "step_id"), Rows.time(row, "lease_expires_at"));
            }
        }
        return extended;
    }

    /**
     * Records the details of one step, in a transaction that has locked nothing. Waits for a commit or another
     * heartbeat that is working on the lane. So either an expired lease is found with these details, or they are not
     * written.
     *
     * @return false when the holder has lost the lease
     */
    public boolean record(Connection c, UUID workspaceId, String holder, Beat details) throws SQLException {
        try (PreparedStatement lock = c.prepareStatement(LOCK)) {
            lock.setObject(1, details.stepId);
            lock.execute();
        }
        return beat(c, workspaceId, holder, List.of(details)).containsKey(details.stepId);
    }

    /** The details that were last written about a step, JSON text; null if absent. */
    public @Nullable String details(Connection c, UUID stepId) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(DETAILS)) {
            statement.setObject(1, stepId);
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? row.getString(1) : null;
            }
        }
    }

    /** Appends log lines. Two concurrent writers of one lease may lose lines, never duplicate them. */
    public void log(Connection c, Collection<Log> logs) throws SQLException {
        Map<UUID, Map<Integer, Integer>> counts = new HashMap<>();
        List<Line> lines = new ArrayList<>();
        for (Log log : logs) {
            for (String text : log.lines) {
                int ordinal = counts.computeIfAbsent(log.stepId, id -> new HashMap<>()).merge(log.epoch, 1,
                        Integer::sum);
                lines.add(new Line(log, ordinal, text));
            }
        }
        LOG.execute(c, lines, clock.override());
    }
}
