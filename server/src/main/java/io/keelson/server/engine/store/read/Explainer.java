package io.keelson.server.engine.store.read;

import io.keelson.api.tenant.LimitName;
import io.keelson.core.decide.ChangeSet.Lane;
import io.keelson.core.decide.Explain;
import io.keelson.core.decide.RunRow;
import io.keelson.core.decide.RunView;
import io.keelson.core.decide.StepRow;
import io.keelson.core.decide.TaskRow;
import io.keelson.core.decide.UndoRow;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.money.Prices;
import io.keelson.core.plan.Concurrency;
import io.keelson.core.run.Explanation;
import io.keelson.core.run.TimerKind;
import io.keelson.core.run.VersionRule;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.base.db.Rows;
import io.keelson.server.base.db.Sql;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.RunStore;
import io.keelson.server.engine.store.RunTurn;
import io.keelson.server.engine.store.VersionRules;
import io.keelson.server.engine.store.WorkLimits;
import io.keelson.server.engine.store.sql.ModelName;
import io.keelson.server.engine.store.sql.ViewLoader;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Explains why a run, a task or a step waits, from the tables at one moment; takes no lock. */
public final class Explainer {
    /** A worker without a sign of life for this time counts as away. */
    private static final Duration AWAY = Duration.ofSeconds(60);

    private static final String LEASES = """
            select task_id, lane, lease_expires_at from work_queue where run_id = any (?) and holder is not null""";
    private static final String TIMERS = "select kind, subject, due_at from timers where run_id = any (?)";
    private static final String SERVED =
            """
            select distinct unnest(tools) as tool, coalesce(version, 'unversioned') as version from workers
             where workspace_id = ? and not draining and slots > 0 and last_seen_at >= {now} - ? * interval '1 millisecond'"""
                    .replace("{now}", DbClock.SQL);

    /** Names of open fan-out items; an explanation has at most a hundred tasks. */
    private static final String LABELS = """
            select t.id, t.title from orchestration_tasks t join orchestration_tasks g on g.id = t.group_id
             where t.run_id = any (?) and not t.superseded and t.state_type <> 'terminal' and t.title <> g.title
             order by t.sequence_number, t.item_index limit 1000""";

    /** The branch that a task has chosen. */
    private static final String BRANCH = """
            select %s ->> 'branch' as branch from orchestration_tasks t where t.id = ?""".formatted(TaskSql.YIELD);

    /** The questions of waiting approvals; an explanation has at most a hundred tasks. */
    private static final String QUESTIONS = """
            select s.id, left(coalesce(s.resolved_input, s.input) ->> 'question', 300) as question
              from timers w join orchestration_steps s on s.id = w.subject
             where w.run_id = any (?) and w.kind = 'human' and s.kind = 'approval'
             limit 1000""";

    /** The decisions of runs that wait for people. */
    private static final String DECISIONS =
            """
            select run_id, count(*)::int as decisions from timers where run_id = any (?) and kind = 'human' group by run_id""";

    /** The workspace's reached limits with their values; queried only where limits exist. */
    private static final Sql FULL = Sql.of("""
            select reached.name, reached.text from (
                select l.name, split_part(l.name, ':', 1) as kind, substr(l.name, strpos(l.name, ':') + 1) as of, l.most,
                        l.name || '=' || trim_scale(l.most) as text
                  from workspace_limits l where l.workspace_id = :workspace) l
             cross join lateral (
                select l.name, l.text
                 where l.kind = any (:at_a_time) and l.most <= (select count(*) from work_queue q
                        where q.workspace_id = :workspace and q.holder is not null
                          and case l.kind when 'tool' then q.tool = l.of when 'model' then q.model = l.of else true end)
                union all
                select l.name, l.text || case when l.most = 0 then ''
                        else ', which admits a step at ' || to_char(
                            date_trunc('second', n.next_at + interval '999999 microseconds') at time zone 'UTC',
                            'YYYY-MM-DD"T"HH24:MI:SS"Z"') end
                  from (select) one
                  left join work_rates r on r.workspace_id = :workspace and r.name = l.name
                 cross join lateral (select r.admitted_until - interval '500 milliseconds' as next_at) n
                 where l.kind = any (:rates) and (l.most = 0 or n.next_at > clock_timestamp())) reached""");

    /** The last pause of each run, from the pack of events that has it. */
    private static final String PAUSES = """
            select r.id, coalesce(e.payload ->> 'paused_by', e.actor_id, e.actor_type) as by, e.payload ->> 'reason' as reason
              from unnest(?::uuid[]) r (id) cross join lateral (
                select u.payload, u.actor_id, u.actor_type
                  from run_event_packs_kept p
                 cross join lateral keelson_unpack(p.id, p.first_seq, p.agent_id, p.task_id, p.actor_type, p.actor_id, p.body) u
                 where p.run_id = r.id and p.body::text like '%"e":"run\\_paused"%' and u.event_type = 'run_paused'
                 order by p.first_seq desc, u.seq desc limit 1) e""";

    /** The earliest runs at work with a concurrency key. */
    private static final String AT_WORK = """
            select k.key, r.id from unnest(?::text[]) k (key) cross join lateral (
                select id from orchestration_runs
                 where workspace_id = ? and policy #>> '{concurrency,key}' = k.key
                   and policy #>> '{concurrency,key}' is not null and state_type <> 'terminal'
                   and state not in ('created', 'pending', 'retrying')
                 order by created_at, id limit 5) r""";

    /** The last new request of each program that differs from the record. */
    private static final Sql DIFFERENCES = Sql.of("""
            select distinct on (g.step_id) g.task_id, g.step_id, g.lease_epoch, t.key || '/' || s.name as step,
                    (g.facts -> 'differs')::text as differs
              from gateway_requests g
              join orchestration_tasks t on t.id = g.task_id
              join orchestration_steps s on s.id = g.step_id
             where g.run_id = :run and (:task::uuid is null or g.task_id = :task)
               and (:step::uuid is null or g.step_id = :step) and g.facts -> 'differs' is not null
             order by g.step_id, g.sent_at desc limit 100""");

    /** The limits for which a request of each program would wait. */
    private static final Sql RATES = Sql.of("""
            select s.task_id, s.id as step_id, t.key || '/' || s.name as step,
                    substr(l.name, strpos(l.name, ':') + 1) as model, l.name || '=' || trim_scale(l.most) as text,
                    date_trunc('second', n.next_at + interval '999999 microseconds') as next_at
              from gateway_tokens g
              join orchestration_steps s on s.id = g.step_id and s.lease_epoch = g.lease_epoch and s.state = 'running'
              join orchestration_tasks t on t.id = s.task_id
              join workspace_limits l on l.workspace_id = g.workspace_id
                    and split_part(l.name, ':', 1) = any (:rates)
              join work_rates r on r.workspace_id = l.workspace_id and r.name = l.name
             cross join lateral (select r.admitted_until - interval '500 milliseconds' as next_at) n
             where g.run_id = :run and (:task::uuid is null or s.task_id = :task)
               and (:step::uuid is null or s.id = :step) and l.most > 0 and n.next_at > clock_timestamp()
             order by s.id, l.name limit 100""");

    private final DbClock clock;
    private final RunStore runs;
    private final Predicate<String> builtIn;

    /** @param builtIn the tools that the engine's own nodes run */
    public Explainer(DbClock clock, RunStore runs, Predicate<String> builtIn) {
        this.clock = clock;
        this.runs = runs;
        this.builtIn = builtIn;
    }

    private record TimerOf(TimerKind kind, UUID subject) {}

    private record Served(String tool, String version) {}

    /**
     * @param remote tools of workers, and their versions
     * @param full the reached limits by name, with their texts
     */
    private record Around(Predicate<String> builtIn, Set<Served> remote, Map<String, VersionRule> versions,
            Map<Lane, Instant> leases,
            Map<TimerOf, Instant> timers, Map<String, String> full, Map<UUID, String> labels,
            Map<UUID, String> questions, Map<UUID, Integer> ofUndos, @Nullable String branch,
            Map<UUID, Explain.Pause> pauses,
            Map<String, List<UUID>> atWork, Map<UUID, Instant> turns, Prices prices)
            implements Explain.Surroundings {
        @Override
        public boolean isServed(String tool) {
            return builtIn.test(tool) || remote.stream().anyMatch(each -> each.tool.equals(tool));
        }

        @Override
        public boolean isServed(String tool, String version) {
            return builtIn.test(tool) || remote.contains(new Served(tool, version));
        }

        @Override
        public @Nullable VersionRule version(String tool) {
            return versions.get(tool);
        }

        @Override
        public @Nullable Instant leaseUntil(Lane lane) {
            return leases.get(lane);
        }

        @Override
        public @Nullable String full(String tool, String input, @Nullable String agent) {
            return WorkLimits.names(tool, ModelName.of(input), agent == null ? "" : agent).map(full::get)
                    .filter(Objects::nonNull).findFirst().orElse(null);
        }

        @Override
        public @Nullable String label(UUID task) {
            return labels.get(task);
        }

        @Override
        public @Nullable String chosen(UUID task) {
            return branch;
        }

        @Override
        public @Nullable String question(UUID step) {
            return questions.get(step);
        }

        @Override
        public int questions(UUID undoRun) {
            return ofUndos.getOrDefault(undoRun, 0);
        }

        @Override
        public Explain.@Nullable Pause paused(UUID run) {
            return pauses.get(run);
        }

        @Override
        public List<UUID> atWork(String key) {
            return atWork.getOrDefault(key, List.of());
        }

        @Override
        public @Nullable Instant turn(UUID run) {
            return turns.get(run);
        }

        @Override
        public @Nullable Instant due(TimerKind kind, UUID subject) {
            return timers.get(new TimerOf(kind, subject));
        }
    }

    /** @param tasksLeftOut the number of further open tasks of a run, whose reasons are not among these */
    public record Explained(List<Explanation> reasons, int tasksLeftOut) {
        private Explained(List<Explanation> reasons) {
            this(reasons, 0);
        }
    }

    /**
     * @param c in a new transaction without earlier statements
     * @param task the task to explain; null if absent
     * @param step the step to explain; null for the task, or the run
     */
    public Explained explain(Connection c, UUID workspaceId, UUID runId, @Nullable UUID task,
            @Nullable UUID step) throws SQLException {
        atOneMoment(c);
        RunView view = runs.load(c, List.of(runId)).get(runId);
        if (view == null) {
            return new Explained(List.of());
        }
        Explained waits =
                explained(view, around(c, workspaceId, Map.of(runId, view), branch(c, view, task)), task, step);
        List<Explanation> all = new ArrayList<>(waits.reasons());
        all.addAll(DIFFERENCES.on(c).set("run", runId).set("task", task).set("step", step).all(Explainer::difference));
        all.addAll(RATES.on(c).set("run", runId).set("task", task).set("step", step).setTexts("rates",
                List.of(LimitName.MODEL_PER_MINUTE.text(), LimitName.MODEL_TOKENS_PER_MINUTE.text()))
                .all(Explainer::rate));
        return new Explained(all, waits.tasksLeftOut());
    }

    private static Explanation difference(ResultSet row) throws SQLException {
        JsonNode differs = Json.read(row.getString("differs"));
        return new Explanation("REQUEST_DIFFERS", "step '" + row.getString("step") + "': execution "
                + row.getInt("lease_epoch")
                + " differs from the recorded requests, and its answers from there on are new"
                + " and charged: message " + differs.path("message") + " (" + differs.path("role").asString("")
                + ") has '"
                + differs.path("sent").asString("") + "' instead of '" + differs.path("recorded").asString("") + "'",
                row.getObject("task_id", UUID.class), row.getObject("step_id", UUID.class), null, List.of());
    }

    private static Explanation rate(ResultSet row) throws SQLException {
        return new Explanation("WORKSPACE_LIMIT", "step '" + row.getString("step")
                + "': a request of its program to the model '" + row.getString("model")
                + "' waits for the limit " + row.getString("text") + ", which admits one at "
                + Rows.time(row, "next_at"), row.getObject("task_id", UUID.class), row.getObject("step_id", UUID.class),
                Rows.time(row, "next_at"), List.of(row.getString("text")));
    }

    private static Explained explained(RunView view, Around around, @Nullable UUID task, @Nullable UUID step) {
        if (step != null) {
            StepRow row = view.step(step);
            return new Explained(row == null ? past(task, step) : Explain.step(view, row, around));
        }
        if (task != null) {
            TaskRow row = view.task(task);
            return new Explained(row == null ? past(task, null) : Explain.task(view, row, around));
        }
        return new Explained(Explain.run(view, around), Explain.tasksLeftOut(view, around));
    }

    /**
     * The reasons of each of these runs, as {@link #explain(Connection, UUID, UUID, UUID, UUID)} has them, by a number of queries that does not depend on the runs.
     *
     * @param c in a new transaction without earlier statements
     */
    public Map<UUID, List<Explanation>> explain(Connection c, UUID workspaceId, Collection<UUID> runIds)
            throws SQLException {
        atOneMoment(c);
        Map<UUID, RunView> views = runs.load(c, runIds);
        Around around = around(c, workspaceId, views, null);
        Map<UUID, List<Explanation>> reasons = new HashMap<>();
        views.forEach((id, view) -> reasons.put(id, Explain.run(view, around)));
        return reasons;
    }

    private static void atOneMoment(Connection c) throws SQLException {
        try (Statement statement = c.createStatement()) {
            statement.execute("set transaction isolation level repeatable read read only");
        }
    }

    /** The branch that the task, or the task that chooses its branch, has chosen; null without one. */
    private static @Nullable String branch(Connection c, RunView view, @Nullable UUID task) throws SQLException {
        TaskRow row = task == null ? null : view.task(task);
        TaskRow chooser = row == null ? null : Explain.chooser(view, row);
        if (chooser == null) {
            return null;
        }
        try (PreparedStatement statement = c.prepareStatement(BRANCH)) {
            statement.setObject(1, chooser.id());
            try (ResultSet found = statement.executeQuery()) {
                return found.next() ? found.getString("branch") : null;
            }
        }
    }

    /** @param branch that a task has chosen; null unless a single task is explained */
    private Around around(Connection c, UUID workspaceId, Map<UUID, RunView> views, @Nullable String branch)
            throws SQLException {
        Array ids = c.createArrayOf("uuid", views.keySet().toArray());
        boolean stopped = views.values().stream().anyMatch(view -> view.run().state() == RunState.BUDGET_EXCEEDED);
        return new Around(builtIn, remote(c, workspaceId), VersionRules.in(c, workspaceId), leases(c, ids),
                timers(c, ids), full(c, workspaceId),
                texts(c, LABELS, ids, "title"), texts(c, QUESTIONS, ids, "question"), ofUndos(c, views.values()),
                branch, pauses(c, views.values()),
                atWork(c, workspaceId, views.values()), turns(c, views.values()),
                stopped ? runs.prices(c) : Prices.NONE);
    }

    private static List<Explanation> past(@Nullable UUID task, @Nullable UUID step) {
        return List.of(new Explanation("PAST_ATTEMPT", "it belongs to an attempt that is over", task, step, null,
                List.of()));
    }

    private Set<Served> remote(Connection c, UUID workspaceId) throws SQLException {
        Set<Served> tools = new HashSet<>();
        try (PreparedStatement statement = c.prepareStatement(SERVED)) {
            statement.setObject(1, workspaceId);
            clock.bind(statement, 2);
            statement.setLong(3, AWAY.toMillis());
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    tools.add(new Served(row.getString("tool"), row.getString("version")));
                }
            }
        }
        return tools;
    }

    private static Map<String, String> full(Connection c, UUID workspaceId) throws SQLException {
        Map<String, String> full = new HashMap<>();
        FULL.on(c).set("workspace", workspaceId).setTexts("at_a_time", WorkLimits.names(LimitName::atATime))
                .setTexts("rates", WorkLimits.names(LimitName::rate))
                .all(row -> full.put(row.getString("name"), row.getString("text")));
        return full;
    }

    /** Texts by run id; omits null texts. */
    private static Map<UUID, String> texts(Connection c, String sql, Array runs, String column) throws SQLException {
        Map<UUID, String> texts = new HashMap<>();
        each(c, sql, runs, row -> {
            String text = row.getString(column);
            if (text != null) {
                texts.put(ViewLoader.uuid(row, "id"), text);
            }
        });
        return texts;
    }

    private static Map<UUID, Explain.Pause> pauses(Connection c, Collection<RunView> views) throws SQLException {
        Map<UUID, Explain.Pause> found = new HashMap<>();
        Object[] paused = views.stream().map(RunView::run).filter(run -> run.state() == RunState.PAUSED)
                .map(RunRow::id).toArray();
        if (paused.length > 0) {
            each(c, PAUSES, c.createArrayOf("uuid", paused), row -> found.put(ViewLoader.uuid(row, "id"),
                    new Explain.Pause(row.getString("by"), row.getString("reason"))));
        }
        return found;
    }

    /** The number of decisions by the id of the run that undoes one of the runs. */
    private static Map<UUID, Integer> ofUndos(Connection c, Collection<RunView> views) throws SQLException {
        Map<UUID, Integer> found = new HashMap<>();
        Object[] undoes = views.stream().map(RunView::undo).filter(Objects::nonNull).map(UndoRow::undoRun)
                .filter(Objects::nonNull).toArray();
        if (undoes.length > 0) {
            each(c, DECISIONS, c.createArrayOf("uuid", undoes),
                    row -> found.put(ViewLoader.uuid(row, "run_id"), row.getInt("decisions")));
        }
        return found;
    }

    private static Map<UUID, Instant> turns(Connection c, Collection<RunView> views) throws SQLException {
        return RunTurn.next(c, views.stream().map(RunView::run).filter(run -> run.state() == RunState.PENDING)
                .filter(run -> run.policy().concurrency() != null && run.policy().concurrency().rate() != null)
                .map(RunRow::id).toList());
    }

    private static Map<String, List<UUID>> atWork(Connection c, UUID workspaceId, Collection<RunView> views)
            throws SQLException {
        Map<String, List<UUID>> found = new HashMap<>();
        Object[] keys = views.stream().map(RunView::run).filter(run -> run.state() == RunState.PENDING)
                .map(run -> run.policy().concurrency()).filter(Objects::nonNull).map(Concurrency::key).distinct()
                .toArray();
        if (keys.length == 0) {
            return found;
        }
        try (PreparedStatement statement = c.prepareStatement(AT_WORK)) {
            statement.setArray(1, c.createArrayOf("text", keys));
            statement.setObject(2, workspaceId);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    found.computeIfAbsent(row.getString("key"), _ -> new ArrayList<>())
                            .add(ViewLoader.uuid(row, "id"));
                }
            }
        }
        return found;
    }

    private static Map<Lane, Instant> leases(Connection c, Array runs) throws SQLException {
        Map<Lane, Instant> leases = new HashMap<>();
        each(c, LEASES, runs, row -> leases.put(new Lane(ViewLoader.uuid(row, "task_id"), row.getInt("lane")),
                Rows.optionalTime(row, "lease_expires_at")));
        return leases;
    }

    private static Map<TimerOf, Instant> timers(Connection c, Array runs) throws SQLException {
        Map<TimerOf, Instant> timers = new HashMap<>();
        each(c, TIMERS, runs, row -> timers.put(new TimerOf(TimerKind.of(row.getString("kind")),
                ViewLoader.uuid(row, "subject")), Rows.optionalTime(row, "due_at")));
        return timers;
    }

    private static void each(Connection c, String sql, Object of, ViewLoader.Row row) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(sql)) {
            statement.setObject(1, of);
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    row.take(rows);
                }
            }
        }
    }
}
