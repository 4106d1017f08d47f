package io.keelson.server.engine.store.read;

import io.keelson.server.engine.store.sql.JsonRows;
import io.keelson.server.engine.store.sql.ViewLoader;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import tools.jackson.databind.node.ObjectNode;

/** Reads the values of runs' documents in the artifact store; of all workspaces. */
public final class DocumentReader {

    /** A run with new events. */
    public record Changed(UUID run, UUID workspace) {}

    private static final String CHANGED = """
            select distinct e.run_id, r.workspace_id
              from (select ?::bigint as low, ?::bigint as high) ids
              join orchestration_events_kept e on e.pack_id > ids.low - 1000 and e.pack_id <= ids.high
               and e.id > ids.low and e.id <= ids.high
              join orchestration_runs r on r.id = e.run_id
             order by e.run_id""";

    /** The values of {@link ReadSql#STATUS} for an earlier attempt. */
    private static final String PAST = """
            select r.id as run_id, r.agent_slug, a.state, r.trigger, a.started_at, a.completed_at as finished_at,
                (select s.name from orchestration_steps s where s.id = (
                    select e.step_id from orchestration_events_kept e
                     where e.run_id = r.id and e.attempt = a.attempt_number and e.step_id is not null
                       and e.event_type not in ('step_cancelled', 'step_skipped')
                     order by e.pack_seq desc, e.seq desc limit 1)) as current_step,
                steps.total as steps_total, steps.completed as steps_completed,
                array(select 'prop_' || p.id from proposals p
                       where p.run_id = r.id and p.attempt <= a.attempt_number order by p.id)::text[]
                    as proposals_created, a.error_code, a.error_message, f.error_of_turn, f.error_retried,
                a.attempt_number < r.attempt_number or r.begun_at is not null as begun
              from orchestration_runs r join run_attempts a on a.run_id = r.id
             cross join lateral (
                select count(*) as total, count(*) filter (where s.state = 'completed') as completed
                  from orchestration_tasks t
                  join orchestration_steps s on s.task_id = t.id and s.task_attempt = t.attempt_number
                 where t.run_id = r.id and t.attempt = a.attempt_number and not t.superseded) steps
             cross join lateral (%s) f
             where r.id = ? and a.attempt_number = ?""".formatted(ReadSql.failure("a"));

    private static final String STEPS = """
            select e.seq, 'run_' || s.run_id as run_id, t.key as task, s.name, s.kind, s.tool, s.state as status, s.attempt,
                s.output, s.tokens, trim_scale(s.cost) as cost, s.started_at, s.completed_at
              from (select ?::uuid as run_id, ?::integer as attempt, ?::bigint as low, ?::bigint as high) part
              join orchestration_events_kept e on e.run_id = part.run_id and e.attempt = part.attempt
               and e.pack_seq > part.low - 100 and e.pack_seq <= part.high and e.seq > part.low and e.seq <= part.high
              join orchestration_steps s on s.id = e.step_id
              join orchestration_tasks t on t.id = s.task_id
             where e.step_id is not null and e.payload ->> 'to' = 'completed'
             order by e.pack_seq, e.seq
             limit ?""";

    private static final String ARTIFACTS = """
            select a.id, a.name, a.content_type, a.size_bytes, a.sha256, a.storage_key
              from artifacts a
             where a.run_id = ? and a.attempt = ? and a.deleted_at is null
             order by a.created_at, a.id""";

    private static final String THERE = """
            select id from orchestration_runs where id = any (?) and deleted_at is null""";

    private DocumentReader() {}

    /** The runs of the events with ids in (from, to]. */
    public static List<Changed> changed(Connection c, long after, long to) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(CHANGED)) {
            statement.setLong(1, after);
            statement.setLong(2, to);
            try (ResultSet row = statement.executeQuery()) {
                List<Changed> changed = new ArrayList<>();
                while (row.next()) {
                    changed.add(new Changed(ViewLoader.uuid(row, "run_id"), ViewLoader.uuid(row, "workspace_id")));
                }
                return changed;
            }
        }
    }

    /** The values of {@link StatusDocument} for an ended attempt. */
    public static Optional<ObjectNode> past(Connection c, UUID run, int attempt) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(PAST)) {
            statement.setObject(1, run);
            statement.setInt(2, attempt);
            return JsonRows.first(statement);
        }
    }

    /**
     * The results of the attempt's steps that completed with an event in (from, to], in that order, each with its
     * event's number {@code seq}.
     */
    public static List<ObjectNode> steps(Connection c, UUID run, int attempt, long after, long to, int limit)
            throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(STEPS)) {
            statement.setObject(1, run);
            statement.setInt(2, attempt);
            statement.setLong(3, after);
            statement.setLong(4, to);
            statement.setInt(5, limit);
            return JsonRows.list(statement);
        }
    }

    /** The attempt's artifacts. */
    public static List<ObjectNode> artifacts(Connection c, UUID run, int attempt) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(ARTIFACTS)) {
            statement.setObject(1, run);
            statement.setInt(2, attempt);
            return JsonRows.list(statement);
        }
    }

    /** The runs that exist. */
    public static Set<UUID> there(Connection c, List<UUID> runs) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(THERE)) {
            statement.setArray(1, c.createArrayOf("uuid", runs.toArray()));
            try (ResultSet row = statement.executeQuery()) {
                Set<UUID> there = new HashSet<>();
                while (row.next()) {
                    there.add(ViewLoader.uuid(row, "id"));
                }
                return there;
            }
        }
    }
}
