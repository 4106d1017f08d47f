package io.keelson.server.engine.store;

import static io.keelson.server.engine.store.sql.Column.bigint;
import static io.keelson.server.engine.store.sql.Column.flag;
import static io.keelson.server.engine.store.sql.Column.integer;
import static io.keelson.server.engine.store.sql.Column.json;
import static io.keelson.server.engine.store.sql.Column.money;
import static io.keelson.server.engine.store.sql.Column.text;
import static io.keelson.server.engine.store.sql.Column.time;
import static io.keelson.server.engine.store.sql.Column.uuid;
import static io.keelson.server.engine.store.sql.Column.word;

import io.keelson.core.decide.ChangeSet.NewPlan;
import io.keelson.core.decide.RunRow;
import io.keelson.core.decide.RunRow.Gate;
import io.keelson.core.decide.RunView;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.plan.Plan;
import io.keelson.core.run.EngineOutage;
import io.keelson.core.run.NewRun;
import io.keelson.core.run.TraceParent;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.base.db.Rows;
import io.keelson.server.engine.store.RunStore.Locked;
import io.keelson.server.engine.store.RunStore.Reading;
import io.keelson.server.engine.store.sql.BinaryParameter;
import io.keelson.server.engine.store.sql.Column;
import io.keelson.server.engine.store.sql.RowSetStatement;
import io.keelson.server.engine.store.sql.RowSetStatement.Part;
import io.keelson.server.engine.store.sql.TextColumns;
import io.keelson.server.engine.store.sql.ViewLoader;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** {@code orchestration_runs}. */
final class RunsTable {

    /**
     * An accepted run, and its row at the end of the batch.
     *
     * @param outcome the summary of its tasks; null if it has none, or {@link #UPDATE} computes it
     */
    record Accepted(NewRun run, RunRow row, @Nullable String outcome) {}

    /** The columns of the failure policy, the timeout monitor and the budget. */
    private static final List<Column<RunRow>> KEPT = List.of(integer("plan_version", RunRow::planVersion),
            integer("replans", RunRow::replans), word("gate", r -> r.gate().wire()),
            time("state_since", RunRow::stateSince), bigint("active_ms", r -> r.active().toMillis()),
            time("active_since", RunRow::activeSince), time("quiet_since", RunRow::quietSince),
            money("credits_charged_before", RunRow::chargedBefore), money("credits_refunded", RunRow::refunded),
            money("credits_uncollected", RunRow::uncollected), money("hard_limit_usd", RunRow::hardLimit),
            money("soft_limit_usd", RunRow::softLimit), flag("budget_warned", RunRow::budgetWarned),
            text("turn_model", RunRow::turnModel), bigint("ended_ms", r -> r.ended().toMillis()),
            time("begun_at", RunRow::begunAt));

    /** An accepted run, and the places of JSON texts that runs of a mission have in common. */
    record Inserted(Accepted accepted, @Nullable Integer plan, @Nullable Integer config, @Nullable Integer policy) {}

    static final RowSetStatement<Inserted> INSERT = new RowSetStatement<>("keelson_run_new_3", """
            insert into orchestration_runs (id, workspace_id, title, description, goal, plan, config, policy, inputs,
                tags, output_template, priority, trigger, agent_slug, external_id, created_by, max_attempts,
                forked_from, fork_task, start_at, origin, input_declarations, state, state_type, attempt_number,
                effect_generation, failing, agent_count, task_count, tasks_completed,
                tasks_failed, tasks_skipped, steps_total, total_tokens, total_cost, started_at,
                completed_at, duration_ms, error_code, error_message, output, result_summary, coordinator_agent_id,
                version_id, plan_version, replans, gate, state_since, active_ms, active_since, quiet_since, credits_charged_before,
                credits_refunded, credits_uncollected, hard_limit_usd, soft_limit_usd, budget_warned,
                turn_model, ended_ms, begun_at, cancelled_at, created_at, updated_at)
            select id, workspace_id, title, description, goal, json[plan], json[config], json[policy], inputs, tags, output_template,
                priority, trigger, agent_slug, external_id, created_by, max_attempts, forked_from, fork_task, start_at,
                origin, input_declarations, state, state_type,
                attempt_number, effect_generation, failing, agent_count, task_count, tasks_completed, tasks_failed,
                tasks_skipped, steps_total, total_tokens, total_cost, started_at, completed_at,
                keelson_duration_ms(started_at, completed_at) - ended_ms, error_code, error_message, output,
                coalesce(result_summary, keelson_summary(output)),
                case when agent_slug is not null then (select a.id from agents a
                    where a.workspace_id = u.workspace_id and a.slug = u.agent_slug) end, version_id, plan_version, replans, gate, state_since, active_ms, active_since, quiet_since,
                credits_charged_before, credits_refunded, credits_uncollected, hard_limit_usd, soft_limit_usd,
                budget_warned, turn_model, ended_ms, begun_at, case when state = 'cancelled' then completed_at end, {now}, {now}
              from {rows} cross join (select {shared} as json) as texts""",
            Column.joined(Column.of(Column.joined(List.of(
                    uuid("id", a -> a.run.id()), uuid("workspace_id", a -> a.run.workspaceId()),
                    text("title", 500, a -> a.run.name()), text("description", a -> a.run.description()),
                    text("goal", a -> a.run.goal()), json("inputs", a -> a.run.inputsJson()),
                    json("tags", a -> a.run.tagsJson()),
                    text("output_template", a -> a.run.outputTemplate()), integer("priority", a -> a.run.priority()),
                    text("trigger", 50, a -> a.run.trigger()), text("agent_slug", 255, a -> a.run.agentSlug()),
                    text("external_id", a -> a.run.externalId()), text("created_by", 255, a -> a.run.createdBy()),
                    integer("max_attempts", a -> a.run.policy().maxAttempts()),
                    uuid("forked_from", a -> a.run.fork() == null ? null : a.run.fork().run()),
                    text("fork_task", 220, a -> a.run.fork() == null ? null : a.run.fork().task()),
                    time("start_at", a -> a.run.startAt()), json("origin", a -> a.run.origin().originJson()),
                    json("input_declarations", a -> a.run.origin().declarationsJson()),
                    word("state", a -> a.row.state().wire()), word("state_type", a -> a.row.state().type().wire()),
                    integer("attempt_number", a -> a.row.attempt()),
                    integer("effect_generation", a -> a.row.effectGeneration()), flag("failing", a -> a.row.failing()),
                    integer("agent_count", a -> a.row.counts().agents()),
                    integer("task_count", a -> a.row.counts().tasks()),
                    integer("tasks_completed", a -> a.row.counts().tasksCompleted()),
                    integer("tasks_failed", a -> a.row.counts().tasksFailed()),
                    integer("tasks_skipped", a -> a.row.counts().tasksSkipped()),
                    integer("steps_total", a -> a.row.counts().steps()),
                    integer("total_tokens", a -> TextColumns.clamp(a.row.tokens().total())),
                    money("total_cost", a -> a.row.cost()),
                    time("started_at", a -> a.row.startedAt()), time("completed_at", a -> a.row.completedAt()),
                    text("error_code", 100, a -> a.row.errorCode()), text("error_message", a -> a.row.errorMessage()),
                    json("output", a -> a.row.output()),
                    integer("version_id", a -> a.row.version())),
                    KEPT.stream().map(column -> column.of(Accepted::row)).toList(),
                    List.of(text("result_summary", TasksTable.SUMMARY, Accepted::outcome))), Inserted::accepted),
                    List.of(integer("plan", Inserted::plan), integer("config", Inserted::config),
                            integer("policy", Inserted::policy))));

    static Part<Inserted> insert(List<Accepted> accepted) {
        SharedJson json = new SharedJson();
        List<Inserted> rows = new ArrayList<>(accepted.size());
        for (Accepted each : accepted) {
            rows.add(new Inserted(each, json.place(each.run.planJson()), json.place(each.run.configJson()),
                    json.place(Policies.run(each.run.policy()))));
        }
        return INSERT.of(rows, json.texts());
    }

    /** Releases external ids of ended runs; an open run keeps its own, and the insertion is refused. */
    static final RowSetStatement<NewRun> RELEASE = new RowSetStatement<>("keelson_external_id", """
            update orchestration_runs r set external_id = null
              from {rows}
             where r.workspace_id = u.workspace_id and r.external_id = u.external_id
               and (r.state_type = 'terminal') is true""",
            uuid("workspace_id", NewRun::workspaceId), text("external_id", NewRun::externalId));

    /** As {@link #RELEASE}, of archived runs. */
    static final RowSetStatement<NewRun> RELEASE_ARCHIVED = new RowSetStatement<>("keelson_external_id", """
            update archived_runs a set external_id = null
              from {rows}
             where a.workspace_id = u.workspace_id and a.external_id = u.external_id""",
            uuid("workspace_id", NewRun::workspaceId), text("external_id", NewRun::externalId));

    /**
     * The outcome of a run {@code r} without an output template: the summary of its only final task; of several their
     * titles and summaries, in plan order, 20 at most.
     */
    private static final String OUTCOME = """
            (select left(case count(*) when 1 then max(said)
                    else string_agg(concat(title, ': ', said), E'\\n' order by sequence_number) end, 2000)
               from (select t.title, t.sequence_number, case t.state when 'completed'
                             then coalesce(nullif(t.output_summary, 'null'), 'completed') else t.state end as said
                       from orchestration_tasks t
                      where t.run_id = u.id and t.attempt = u.attempt_number and not t.superseded
                        and t.group_id is null and left(t.key, 1) <> '.'
                        and not exists (select from orchestration_task_dependencies d
                             where d.depends_on_id = t.id
                               and not (select down.superseded from orchestration_tasks down where down.id = d.task_id))
                      order by t.sequence_number limit 20) last)""";

    /** Runs after the batch's tasks, from which it computes the outcome. A new run whose outcome is known is only inserted. */
    static final RowSetStatement<RunRow> UPDATE = RowSetStatement.ofEach("keelson_run_change", "id", """
            merge into orchestration_runs r using {rows} on r.id = u.id
             when matched then update
               set state = u.state, state_type = u.state_type, attempt_number = u.attempt_number,
                   effect_generation = u.effect_generation, failing = u.failing, agent_count = u.agent_count,
                   task_count = u.task_count, tasks_completed = u.tasks_completed, tasks_failed = u.tasks_failed,
                   tasks_skipped = u.tasks_skipped, steps_total = u.steps_total,
                   total_tokens = u.total_tokens, total_cost = u.total_cost,
                   started_at = u.started_at, completed_at = u.completed_at,
                   duration_ms = keelson_duration_ms(u.started_at, u.completed_at) - u.ended_ms,
                   cancelled_at = case when u.state = 'cancelled' then u.completed_at end,
                   error_code = u.error_code, error_message = u.error_message,
                   output = coalesce(u.output, r.output),
                   result_summary = case when u.output is not null then keelson_summary(u.output)
                       when r.output_template is null
                           and (u.gate = 'acceptance' or u.state in ('completed', 'skipped')) then %s
                       else r.result_summary end, version_id = u.version_id,
                   plan_version = u.plan_version, replans = u.replans, gate = u.gate, state_since = u.state_since,
                   active_ms = u.active_ms, active_since = u.active_since, quiet_since = u.quiet_since,
                   credits_charged_before = u.credits_charged_before, credits_refunded = u.credits_refunded,
                   credits_uncollected = u.credits_uncollected, hard_limit_usd = u.hard_limit_usd,
                   soft_limit_usd = u.soft_limit_usd, budget_warned = u.budget_warned,
                   turn_model = u.turn_model, ended_ms = u.ended_ms, begun_at = u.begun_at,
                   last_heartbeat_at = case when 'running' in (r.state, u.state) then {now}
                       else r.last_heartbeat_at end,
                   updated_at = {now}""".formatted(OUTCOME), Column.joined(List.of(
            uuid("id", RunRow::id), word("state", r -> r.state().wire()),
            word("state_type", r -> r.state().type().wire()), integer("attempt_number", RunRow::attempt),
            integer("effect_generation", RunRow::effectGeneration), flag("failing", RunRow::failing),
            integer("agent_count", r -> r.counts().agents()), integer("task_count", r -> r.counts().tasks()),
            integer("tasks_completed", r -> r.counts().tasksCompleted()),
            integer("tasks_failed", r -> r.counts().tasksFailed()),
            integer("tasks_skipped", r -> r.counts().tasksSkipped()),
            integer("steps_total", r -> r.counts().steps()),
            integer("total_tokens", r -> TextColumns.clamp(r.tokens().total())), money("total_cost", RunRow::cost),
            time("started_at", RunRow::startedAt), time("completed_at", RunRow::completedAt),
            text("error_code", 100, RunRow::errorCode), text("error_message", RunRow::errorMessage),
            json("output", RunRow::output), integer("version_id", RunRow::version)), KEPT));

    private static final List<Column<NewPlan>> PLAN = List.of(uuid("run_id", p -> p.run().id()),
            integer("version", NewPlan::version), json("plan", NewPlan::json));

    /** Keeps a plan that is about to be replaced. */
    static final RowSetStatement<NewPlan> KEEP_PLAN = new RowSetStatement<>("keelson_plan", """
            insert into run_plans (run_id, version, workspace_id, plan, replaced_at)
            select r.id, u.version - 1, r.workspace_id, r.plan, {now}
              from {rows} join orchestration_runs r on r.id = u.run_id
             where u.version > 1""", PLAN);

    /** Replaces a stored plan. */
    static final RowSetStatement<NewPlan> UPDATE_PLAN = RowSetStatement.ofAll("keelson_plan", """
            update orchestration_runs r set plan = u.plan from {rows} where r.id = u.run_id""", PLAN);

    private static final List<Column<RunRow>> MOVED = List.of(uuid("run_id", RunRow::id),
            integer("version_id", RunRow::version), bigint("last_seq", RunRow::seq),
            integer("steps_completed", r -> r.counts().stepsCompleted()));

    private static final List<Column<RunRow>> HEAD = head(run -> true);

    private static final String NEXT_VERSION = """
            version_id = case h.version_id when u.version_id - 1 then u.version_id
                       else keelson_raise('KE001', 'another version of a run')::integer end""";

    /**
     * The time of the decision, if the database's time is near it. A node that was suspended thinks that no time has
     * passed: its commit fails as one whose view is not current.
     */
    private static final String IN_TIME = """
            case when {clock} - {now} between interval '-5 seconds' and interval '5 seconds' then {now}
                    else keelson_raise('KE001', 'decided at another time')::timestamptz end""";

    /**
     * Columns that change with every commit, in a row of its own that is quick to lock and to update. Raises an error
     * if the node's time is off by more than 5 seconds.
     */
    static final RowSetStatement<RunRow> INSERT_HEAD = new RowSetStatement<>("keelson_run_head", """
            insert into run_heads (run_id, version_id, last_seq, steps_completed, total_tokens, usage,
                total_cost, credits_left, credits_charged, credits_remainder, updated_at)
            select run_id, version_id, last_seq, steps_completed, total_tokens, usage, total_cost,
                credits_left, credits_charged, credits_remainder, %s from {rows}""".formatted(IN_TIME), HEAD);

    /** Updates a run's head. Tokens and credits are null where the stored values are current. */
    static final RowSetStatement<RunRow> UPDATE_HEAD = RowSetStatement.ofEach("keelson_run_head", "run_id",
            """
            merge into run_heads h using {rows} on h.run_id = u.run_id
             when matched then update
               set %s, last_seq = u.last_seq, steps_completed = u.steps_completed,
                   total_tokens = coalesce(u.total_tokens, h.total_tokens),
                   usage = coalesce(u.usage, h.usage), total_cost = coalesce(u.total_cost, h.total_cost),
                   credits_left = coalesce(u.credits_left, h.credits_left),
                   credits_charged = coalesce(u.credits_charged, h.credits_charged),
                   credits_remainder = coalesce(u.credits_remainder, h.credits_remainder), updated_at = %s"""
                    .formatted(NEXT_VERSION, IN_TIME),
            head(RunRow::spent));

    /** Updates heads whose tokens and credits have not changed. */
    static final RowSetStatement<RunRow> MOVE_HEAD = RowSetStatement.ofEach("keelson_run_head_moved", "run_id",
            """
            merge into run_heads h using {rows} on h.run_id = u.run_id
             when matched then update
               set %s, last_seq = u.last_seq, steps_completed = u.steps_completed, updated_at = %s"""
                    .formatted(NEXT_VERSION, IN_TIME),
            MOVED);

    private static final String LOAD = """
            select r.id, workspace_id, title, priority, policy, output_template, origin ->> 'traceparent' as traceparent, state,
                attempt_number, effect_generation, h.version_id, h.last_seq, failing, agent_count, task_count, tasks_completed,
                tasks_failed, tasks_skipped, steps_total, h.steps_completed, h.usage, h.total_cost,
                h.credits_left, h.credits_charged, h.credits_remainder, credits_charged_before, credits_refunded, credits_uncollected,
                hard_limit_usd, soft_limit_usd, budget_warned, turn_model, ended_ms, begun_at, started_at, completed_at, error_code, error_message, plan_version, replans, gate, state_since, active_ms,
                active_since, quiet_since,
                exists (select from proposals p where p.run_id = r.id and p.state = 'pending') as proposing,
                case when state in ('created', 'pending', 'planning', 'awaiting_approval', 'retrying', 'failed')
                    or policy -> 'failures' ->> 'run' = 'RETRY'
                    then plan end as plan,
                exists (select from run_signals s where s.run_id = r.id) as signalled,
                exists (select from call_waits w where w.run_id = r.id) as calling,
                exists (select from gateway_requests g where g.run_id = r.id and g.state = 'open') as requesting,
                exists (select from run_parents p where p.run_id = r.id) as started_by_another,
                exists (select from run_children c where c.run_id = r.id) as starts_others,
                exists (select from task_budgets b where b.run_id = r.id) as budgets_tasks,
                exists (select from run_tool_versions v where v.run_id = r.id) as pinned,
                exists (select from run_undos u where u.run_id = r.id) as undone,
                exists (select from approval_votes a where a.run_id = r.id) as voted,
                array(select moment from engine_outages o cross join lateral (values (from_at), (to_at)) as m (moment)
                       where o.to_at > r.created_at order by moment) as outages
              from orchestration_runs r join run_heads h on h.run_id = r.id
             where r.id = any (?) and r.deleted_at is null
             order by r.id""";

    /** Reads the time when a row's lock is held; the last row's is the latest. One row more when there is no run. */
    private static final String LOCK = """
            with locked as (
                select run_id, version_id from run_heads
                 where run_id = any (?)
                 order by run_id
                   for no key update)
            select locked.run_id as id, locked.version_id, coalesce(?::timestamptz, clock_timestamp()) as now,
                (select max(to_at) from engine_outages) as outage
              from (values (0)) as once left join locked on true""";

    private static final String READ = "select " + DbClock.SQL
            + " as now, (select max(to_at) from engine_outages) as outage";

    private static final String VERSIONS = "select run_id, version_id from run_heads where run_id = any (?)";

    private static final String ENDED = """
            select id, state from orchestration_runs where id = any (?) and state_type = 'terminal'""";

    private RunsTable() {}

    /** @param spent whether the columns of tokens and credits have values; they are null otherwise */
    private static List<Column<RunRow>> head(Predicate<RunRow> spent) {
        return Column.joined(MOVED, List.of(bigint("total_tokens", r -> spent.test(r) ? r.tokens().total() : null),
                json("usage", r -> spent.test(r) ? UsageText.of(r.tokens()) : null),
                money("total_cost", r -> spent.test(r) ? r.cost() : null),
                money("credits_left", r -> spent.test(r) ? r.reserved().subtract(r.charged()) : null),
                money("credits_charged", r -> spent.test(r) ? r.charged() : null),
                money("credits_remainder", r -> spent.test(r) ? r.remainder() : null)));
    }

    /** One statement for all heads of a commit. */
    static Part<RunRow> updateHeads(List<RunRow> runs) {
        return (runs.stream().anyMatch(RunRow::spent) ? UPDATE_HEAD : MOVE_HEAD).of(runs);
    }

    static Reading read(Connection c, DbClock clock) throws SQLException {
        c.setAutoCommit(true); // the driver would send a BEGIN in a message of its own
        try (PreparedStatement statement = c.prepareStatement(READ)) {
            clock.bind(statement, 1);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return new Reading(Objects.requireNonNull(Rows.optionalTime(row, "now")),
                        Rows.optionalTime(row, "outage"));
            }
        } finally {
            if (!c.isClosed()) {
                c.setAutoCommit(false);
            }
        }
    }

    static Locked lock(Connection c, Collection<UUID> ids, DbClock clock) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(LOCK)) {
            BinaryParameter.bindIds(statement, 1, ids);
            clock.bind(statement, 2);
            try (ResultSet rows = statement.executeQuery()) {
                Map<UUID, Integer> versions = new LinkedHashMap<>();
                @Nullable Instant now = null;
                @Nullable Instant outage = null;
                while (rows.next()) {
                    now = Rows.optionalTime(rows, "now");
                    outage = Rows.optionalTime(rows, "outage");
                    UUID id = ViewLoader.uuidOrNull(rows, "id");
                    if (id != null) {
                        versions.put(id, rows.getInt("version_id"));
                    }
                }
                return new Locked(versions, Objects.requireNonNull(now), outage);
            }
        }
    }

    static void prove(Connection c, Collection<RunView> views) throws SQLException {
        if (views.isEmpty()) {
            return;
        }
        Map<UUID, Integer> versions = new HashMap<>();
        ViewLoader.each(c, VERSIONS, views.stream().map(view -> view.run().id()).toList(),
                row -> versions.put(ViewLoader.uuid(row, "run_id"), row.getInt("version_id")));
        long current = views.stream()
                .filter(view -> Integer.valueOf(view.run().version()).equals(versions.get(view.run().id()))).count();
        if (current < views.size()) {
            throw new StaleViewException("run_heads", views.size(), (int) current);
        }
    }

    static void load(Connection c, Collection<UUID> ids, Function<String, Plan> plans, ViewLoader loader)
            throws SQLException {
        ViewLoader.each(c, LOAD, ids, row -> {
            String plan = row.getString("plan");
            RunRow run = restored(row);
            RunView view = new RunView(run, plan == null ? null : plans.apply(plan));
            loader.views.put(run.id(), view);
            if (row.getBoolean("started_by_another")) {
                loader.started.add(run.id());
            }
            if (row.getBoolean("starts_others")) {
                loader.starting.add(run.id());
            }
            if (row.getBoolean("budgets_tasks")) {
                loader.budgeted.add(run.id());
            }
            if (row.getBoolean("pinned")) {
                loader.pinned.add(run.id());
            }
            if (row.getBoolean("voted")) {
                loader.voted.add(run.id());
            }
            if (row.getBoolean("undone")) {
                loader.undone.add(run.id());
            }
            if (row.getBoolean("calling")) {
                loader.calling.add(run.id());
            }
            if (row.getBoolean("requesting")) {
                loader.requesting.add(run.id());
            }
            if (row.getBoolean("signalled")) {
                loader.signalled.add(run.id());
            }
            outages(row).forEach(view::add);
            if (row.getBoolean("proposing")) {
                loader.proposing.add(run.id());
            }
        });
    }

    static Map<UUID, RunState> ended(Connection c, Collection<UUID> ids) throws SQLException {
        Map<UUID, RunState> states = new LinkedHashMap<>();
        ViewLoader.each(c, ENDED, ids,
                row -> states.put(ViewLoader.uuid(row, "id"), RunState.of(row.getString("state"))));
        return states;
    }

    private static List<EngineOutage> outages(ResultSet row) throws SQLException {
        List<Instant> moments = ViewLoader.times(row, "outages");
        List<EngineOutage> outages = new ArrayList<>();
        for (int i = 0; i < moments.size(); i += 2) {
            outages.add(new EngineOutage(moments.get(i), moments.get(i + 1)));
        }
        return outages;
    }

    private static RunRow restored(ResultSet row) throws SQLException {
        RunRow run =
                new RunRow(ViewLoader.uuid(row, "id"), ViewLoader.uuid(row, "workspace_id"), row.getString("title"),
                        row.getInt("priority"), Policies.run(row.getString("policy")), row.getString("output_template"))
                        .traced(TraceParent.parse(row.getString("traceparent")));
        RunRow.Counts counts = new RunRow.Counts(row.getInt("agent_count"), row.getInt("task_count"),
                row.getInt("tasks_completed"), row.getInt("tasks_failed"), row.getInt("tasks_skipped"),
                row.getInt("steps_total"), row.getInt("steps_completed"));
        run.restore(RunState.of(row.getString("state")), row.getInt("attempt_number"), row.getInt("effect_generation"),
                row.getInt("version_id"), row.getLong("last_seq"), row.getBoolean("failing"), counts,
                UsageText.read(row.getString("usage")), ViewLoader.cost(row, "total_cost"),
                Rows.optionalTime(row, "started_at"), Rows.optionalTime(row, "completed_at"),
                row.getString("error_code"), row.getString("error_message"));
        BigDecimal charged = row.getBigDecimal("credits_charged");
        run.restoreCredits(row.getBigDecimal("credits_left").add(charged), charged,
                ViewLoader.cost(row, "credits_remainder"), ViewLoader.cost(row, "credits_uncollected"),
                row.getBigDecimal("credits_charged_before"),
                row.getBigDecimal("credits_refunded"), row.getBigDecimal("hard_limit_usd"),
                row.getBigDecimal("soft_limit_usd"), row.getBoolean("budget_warned"),
                row.getString("turn_model"));
        return run.restorePolicy(row.getInt("plan_version"), row.getInt("replans"), Gate.of(row.getString("gate")),
                Rows.optionalTime(row, "state_since"), Duration.ofMillis(row.getLong("active_ms")),
                Rows.optionalTime(row, "active_since"), Rows.optionalTime(row, "quiet_since"))
                .restoreAttempt(Duration.ofMillis(row.getLong("ended_ms")), Rows.optionalTime(row, "begun_at"));
    }
}
