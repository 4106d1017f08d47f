package io.keelson.server.engine.store.read;

import io.keelson.core.plan.Flow;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.sql.ViewLoader;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Reads when the tasks of a run waited and worked. Times are milliseconds since 1970. Events are read only for the
 * claim times of steps that were claimed more than once or are retried, and for the run itself, whose packs of events
 * are searched.
 */
public final class TimelineReader {

    /** Attempts before the current one whose times are read. */
    private static final int MAX_ATTEMPTS = 10;

    private static final int MAX_TOUCHED = 500;

    private static final String RUN = """
            select r.attempt_number, r.state_type = 'terminal' as ended, h.last_seq,
                (extract(epoch from clock_timestamp()) * 1000)::bigint as now,
                (extract(epoch from coalesce((select min(a.started_at) from run_attempts a
                    where a.run_id = r.id and a.attempt_number >= ?), r.started_at, r.created_at)) * 1000)::bigint as began,
                (extract(epoch from r.completed_at) * 1000)::bigint as completed
              from orchestration_runs r join run_heads h on h.run_id = r.id
             where (r.workspace_id = ?) is true and r.id = ? and r.deleted_at is null""";

    /** Events that begin and end questions about the run as a whole. Only packs with an event of the run itself are unpacked. */
    private static final String ASKED = """
            select e.event_type = 'run_acceptance_requested'
                    or (e.payload ->> 'to') is not null and e.payload ->> 'to' in ('awaiting_approval', 'budget_exceeded', 'escalated') as asks,
                (e.payload ->> 'to') is not null and e.payload ->> 'to' = 'failed' as ends,
                (extract(epoch from p.created_at) * 1000)::bigint as at
              from run_event_packs_kept p
             cross join lateral keelson_unpack(p.id, p.first_seq, p.agent_id, p.task_id, p.actor_type, p.actor_id, p.body) e
             where p.run_id = ? and p.attempt between ? and ? and p.body::text like '%"e":"run\\_%'
               and e.event_type in ('run_acceptance_requested', 'run_accepted', 'run_plan_ready', 'run_approved', 'run_rejected',
                   'run_budget_exceeded', 'run_escalated', 'run_finishing', 'run_resuming', 'run_resumed', 'run_paused', 'run_retrying',
                   'run_failed', 'run_cancelled', 'run_completed')
             order by p.first_seq, e.seq""";

    /** Events of a longer run are not read for that where only some of its tasks are. */
    private static final int MAX_EVENTS = 5_000;

    private static final String TOUCHED = """
            select distinct e.task_id from orchestration_events_kept e
             where e.run_id = ? and e.pack_seq > ? - 100 and e.seq > ? and e.task_id is not null""";

    private static final String TASKS = """
            select t.id, t.key, t.attempt, t.title, t.state, t.state_type, t.group_id, t.item_index, a.name as agent_name,
                t.error_code, t.failures, t.attempt_number, t.version_id, t.superseded,
                t.policy ->> 'review' = 'true' as reviewed,
                (t.policy -> 'repeat' ->> 'max')::int as max_rounds, t.policy ->> 'flow' as flow,
                (extract(epoch from t.queued_at) * 1000)::bigint as queued,
                (extract(epoch from t.started_at) * 1000)::bigint as started,
                (extract(epoch from t.completed_at) * 1000)::bigint as completed
              from orchestration_tasks t left join run_agents a on a.id = t.run_agent_id
             where t.run_id = ? and t.attempt between ? and ? and (t.id = any (?) is not false or t.attempt < ?)
               and not (t.superseded and t.attempt = ?)
             order by t.sequence_number, coalesce(t.item_index, -1), t.id""";

    private static final String STEPS = """
            select s.id, s.task_id, s.kind, s.state,
                s.lease_epoch > 1 or s.failures > 0 and s.completed_at is null as several, s.gate is not null as gated, s.name,
                (extract(epoch from s.started_at) * 1000)::bigint as started,
                (extract(epoch from s.completed_at) * 1000)::bigint as completed
              from orchestration_tasks t join orchestration_steps s on s.task_id = t.id
             where t.run_id = ? and t.attempt between ? and ? and (t.id = any (?) is not false or t.attempt < ?)
               and s.started_at is not null
             order by s.started_at, s.position, s.turn""";

    /**
     * The beginnings and ends of the leases of steps that had more than one, or will have. A lease that began and ended in one commit
     * has one time for both.
     */
    private static final String LEASES = """
            select l.step_id, l.claimed, l.failed, (extract(epoch from l.at) * 1000)::bigint as at
              from (select w.step_id, w.epoch, false as claimed, w.outcome = 'failed' as failed, w.recorded_at as at
                      from unnest(?::uuid[]) s join work_results w on w.step_id = s and w.outcome <> 'lost'
                    union all
                    select e.step_id, (e.payload ->> 'lease_epoch')::int, e.event_type <> 'step_lease_expired',
                        e.event_type = 'step_lease_expired', e.created_at
                      from orchestration_events_kept e
                     where e.run_id = ? and e.event_type in ('step_started', 'step_reclaimed', 'step_lease_expired')
                       and e.step_id = any (?)) l
             order by l.at, l.epoch, l.claimed desc""";

    private static final String TICKETS = """
            select e.task_id, (extract(epoch from e.opened_at) * 1000)::bigint as opened,
                (extract(epoch from e.resolved_at) * 1000)::bigint as resolved
              from escalation_tickets e
             where e.run_id = ? and e.attempt between ? and ?
             order by e.opened_at""";

    /**
     * @param attempt the run's attempt that is shown
     * @param from when the first attempt began whose times are there
     * @param to when the run ended; the present while it is open
     * @param lastSeq the number of the last event that the times contain for certain
     */
    public record Span(int attempt, boolean ended, long from, long to, long lastSeq) {}

    /**
     * @param group the {@code for_each} task of an item
     * @param maxRounds of a task with {@code repeat}
     * @param reviewed whether a person judges its output
     * @param steps in the order of their beginnings
     * @param asked when people were asked about it after a failure
     */
    public record Task(UUID id, String key, String title, String state, String stateType, @Nullable UUID group,
            @Nullable Integer itemIndex, @Nullable Integer maxRounds, @Nullable Flow flow, @Nullable String agent,
            @Nullable String errorCode, int failures,
            int attemptNumber, int version, boolean reviewed, @Nullable Long queued, @Nullable Long started,
            @Nullable Long completed, List<Step> steps, List<Between> asked, List<Task> before) {

        public boolean ended() {
            return stateType.equals("terminal");
        }
    }

    /** @param leases the beginnings and ends of its leases, if there was more than one, or will be after a failure */
    public record Step(String kind, String state, boolean gated, String name, long started, @Nullable Long completed,
            List<Lease> leases) {}

    /** @param claimed whether a lease began or ended then */
    public record Lease(boolean claimed, boolean failed, long at) {}

    /** @param to null while it lasts */
    public record Between(long from, @Nullable Long to) {}

    /**
     * @param asked when people were asked about the run as a whole, the earliest first
     * @param ended when the run had ended and was retried later
     * @param whole false where {@code asked} is without questions about plans, results and budgets, as only some tasks of a
     *            long run are read
     */
    public record Times(Span span, List<Task> tasks, List<Between> asked, List<Between> ended, boolean whole) {}

    /** A selection of tasks. */
    private record Range(UUID run, int first, int last, UUID @Nullable [] tasks) {}

    private TimelineReader() {}

    /**
     * The tasks of an attempt of the run, in plan order, with their times in this attempt and those before it.
     *
     * @param attempt null for the current one and those before it; else this one alone
     * @param after only tasks with an event after that number, unless they are many; null for all
     * @return empty for an unknown run
     */
    public static Optional<Times> of(Connection c, UUID workspace, UUID run, @Nullable Integer attempt,
            @Nullable Long after) throws SQLException {
        Span span;
        try (PreparedStatement statement = c.prepareStatement(RUN)) {
            statement.setInt(1, attempt == null ? 1 : attempt);
            statement.setObject(2, workspace);
            statement.setObject(3, run);
            try (ResultSet row = statement.executeQuery()) {
                if (!row.next()) {
                    return Optional.empty();
                }
                long now = row.getLong("now");
                Long completed = optional(row, "completed");
                span = new Span(attempt == null ? row.getInt("attempt_number") : attempt, row.getBoolean("ended"),
                        row.getLong("began"), completed == null ? now : completed, row.getLong("last_seq"));
            }
        }
        Range range = new Range(run, attempt == null ? Math.max(1, span.attempt - MAX_ATTEMPTS) : attempt, span.attempt,
                after == null ? null : touched(c, run, after));
        Map<UUID, List<Between>> tickets = tickets(c, range);
        List<Between> asked = new ArrayList<>(tickets.getOrDefault(run, List.of()));
        List<Between> ended = new ArrayList<>();
        boolean whole = after == null || span.lastSeq <= MAX_EVENTS;
        if (whole) {
            moments(c, range, asked, ended);
        }
        return Optional.of(new Times(span, tasks(c, range, steps(c, range), tickets), joined(asked), ended, whole));
    }

    /** In order, without overlaps: an escalated run has a ticket as well. */
    private static List<Between> joined(List<Between> asked) {
        asked.sort(Comparator.comparingLong(Between::from));
        List<Between> joined = new ArrayList<>();
        for (Between each : asked) {
            Between before = joined.isEmpty() ? null : joined.getLast();
            Long end = before == null ? Long.valueOf(Long.MIN_VALUE) : before.to();
            if (before == null || end != null && end < each.from()) {
                joined.add(each);
            } else {
                Long to = end == null || each.to() == null ? null : Long.valueOf(Math.max(end, each.to()));
                joined.set(joined.size() - 1, new Between(before.from(), to));
            }
        }
        return joined;
    }

    /** Adds when people were asked about a plan, a failure, a result or a budget, and when the run had ended between attempts. */
    private static void moments(Connection c, Range range, List<Between> asked, List<Between> ended)
            throws SQLException {
        Long from = null;
        Long end = null;
        try (PreparedStatement statement = c.prepareStatement(ASKED)) {
            statement.setObject(1, range.run);
            statement.setInt(2, range.first);
            statement.setInt(3, range.last);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    long at = row.getLong("at");
                    if (from != null) {
                        asked.add(new Between(from, at));
                    }
                    if (end != null) {
                        ended.add(new Between(end, at));
                    }
                    end = row.getBoolean("ends") ? at : null;
                    from = row.getBoolean("asks") ? at : null;
                }
            }
        }
        if (from != null) {
            asked.add(new Between(from, null));
        }
    }

    /** Null for so many that all are read as quickly. */
    private static UUID @Nullable [] touched(Connection c, UUID run, long after) throws SQLException {
        List<UUID> found = new ArrayList<>();
        try (PreparedStatement statement = c.prepareStatement(TOUCHED)) {
            statement.setObject(1, run);
            statement.setLong(2, after);
            statement.setLong(3, after);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    found.add(ViewLoader.uuid(row, "task_id"));
                }
            }
        }
        return found.size() > MAX_TOUCHED ? null : found.toArray(UUID[]::new);
    }

    private static List<Task> tasks(Connection c, Range range, Map<UUID, List<Step>> steps,
            Map<UUID, List<Between>> tickets) throws SQLException {
        List<Task> current = new ArrayList<>();
        Map<String, List<Task>> before = new HashMap<>();
        try (PreparedStatement statement = c.prepareStatement(TASKS)) {
            bind(statement, range);
            statement.setInt(6, range.last);
            statement.setFetchSize(1000);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    boolean now = row.getInt("attempt") == range.last;
                    UUID id = ViewLoader.uuid(row, "id");
                    String key = row.getString("key");
                    Task task = task(row, id, key, steps.getOrDefault(id, List.of()),
                            tickets.getOrDefault(id, List.of()),
                            now ? before.computeIfAbsent(key, _ -> new ArrayList<>())
                                    : List.of());
                    if (now) {
                        current.add(task);
                    } else {
                        before.computeIfAbsent(key, _ -> new ArrayList<>()).add(task);
                    }
                }
            }
        }
        return current;
    }

    private static Task task(ResultSet row, UUID id, String key, List<Step> steps, List<Between> asked,
            List<Task> before) throws SQLException {
        Long item = optional(row, "item_index");
        Long rounds = optional(row, "max_rounds");
        return new Task(id, key, row.getString("title"), row.getString("state"), row.getString("state_type"),
                ViewLoader.uuidOrNull(row, "group_id"), item == null ? null : item.intValue(),
                rounds == null ? null : rounds.intValue(), flow(row), row.getString("agent_name"),
                row.getString("error_code"), row.getInt("failures"),
                row.getInt("attempt_number"), row.getInt("version_id"), row.getBoolean("reviewed"),
                optional(row, "queued"), optional(row, "started"), optional(row, "completed"), steps, asked, before);
    }

    private static @Nullable Flow flow(ResultSet row) throws SQLException {
        String flow = row.getString("flow");
        return flow == null ? null : Json.MAPPER.readValue(flow, Flow.class);
    }

    private static Map<UUID, List<Step>> steps(Connection c, Range range) throws SQLException {
        Map<UUID, List<Step>> byTask = new HashMap<>();
        Map<UUID, List<Lease>> leases = new HashMap<>();
        try (PreparedStatement statement = c.prepareStatement(STEPS)) {
            bind(statement, range);
            statement.setFetchSize(1000);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    List<Lease> own = row.getBoolean("several")
                            ? leases.computeIfAbsent(ViewLoader.uuid(row, "id"), _ -> new ArrayList<>())
                            : List.of();
                    byTask.computeIfAbsent(ViewLoader.uuid(row, "task_id"), _ -> new ArrayList<>())
                            .add(new Step(row.getString("kind"), row.getString("state"), row.getBoolean("gated"),
                                    row.getString("name"), row.getLong("started"), optional(row, "completed"), own));
                }
            }
        }
        if (!leases.isEmpty()) {
            fill(c, range.run, leases);
        }
        return byTask;
    }

    private static void fill(Connection c, UUID run, Map<UUID, List<Lease>> leases) throws SQLException {
        UUID[] ids = leases.keySet().toArray(UUID[]::new);
        try (PreparedStatement statement = c.prepareStatement(LEASES)) {
            statement.setArray(1, c.createArrayOf("uuid", ids));
            statement.setObject(2, run);
            statement.setArray(3, c.createArrayOf("uuid", ids));
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    leases.getOrDefault(ViewLoader.uuid(row, "step_id"), new ArrayList<>())
                            .add(new Lease(row.getBoolean("claimed"), row.getBoolean("failed"), row.getLong("at")));
                }
            }
        }
    }

    /** Tickets by task; tickets of the run as a whole by the run's id. */
    private static Map<UUID, List<Between>> tickets(Connection c, Range range) throws SQLException {
        Map<UUID, List<Between>> found = new HashMap<>();
        try (PreparedStatement statement = c.prepareStatement(TICKETS)) {
            statement.setObject(1, range.run);
            statement.setInt(2, range.first);
            statement.setInt(3, range.last);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    UUID task = ViewLoader.uuidOrNull(row, "task_id");
                    found.computeIfAbsent(task == null ? range.run : task, _ -> new ArrayList<>())
                            .add(new Between(row.getLong("opened"), optional(row, "resolved")));
                }
            }
        }
        return found;
    }

    private static void bind(PreparedStatement statement, Range range) throws SQLException {
        statement.setObject(1, range.run);
        statement.setInt(2, range.first);
        statement.setInt(3, range.last);
        statement.setArray(4,
                range.tasks == null ? null : statement.getConnection().createArrayOf("uuid", range.tasks));
        statement.setInt(5, range.last);
    }

    private static @Nullable Long optional(ResultSet row, String column) throws SQLException {
        long value = row.getLong(column);
        return row.wasNull() ? null : value;
    }
}
