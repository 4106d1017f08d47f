package io.keelson.server.engine.store;

import static io.keelson.server.engine.store.sql.Column.flag;
import static io.keelson.server.engine.store.sql.Column.integer;
import static io.keelson.server.engine.store.sql.Column.json;
import static io.keelson.server.engine.store.sql.Column.money;
import static io.keelson.server.engine.store.sql.Column.text;
import static io.keelson.server.engine.store.sql.Column.time;
import static io.keelson.server.engine.store.sql.Column.uuid;
import static io.keelson.server.engine.store.sql.Column.word;

import io.keelson.core.decide.AgentRow;
import io.keelson.core.decide.ChangeSet.Owner;
import io.keelson.core.decide.TaskRow;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.AgentTerms;
import io.keelson.core.plan.Dependency;
import io.keelson.core.plan.TaskSpec;
import io.keelson.core.plan.TaskType;
import io.keelson.core.plan.TriggerRule;
import io.keelson.server.base.db.Rows;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.sql.Column;
import io.keelson.server.engine.store.sql.RowSetStatement;
import io.keelson.server.engine.store.sql.TaskUsage;
import io.keelson.server.engine.store.sql.TextColumns;
import io.keelson.server.engine.store.sql.ViewLoader;
import java.sql.Array;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** {@code orchestration_tasks}. */
final class TasksTable {
    static final int SUMMARY = 2_000;

    /** True for a run whose tasks may restart with other rows. */
    static final String RESPAWNS = "(r.policy -> 'failures' ->> 'agent' = 'RETRY') is true";

    /**
     * A task and the output that this batch gave it.
     *
     * @param output JSON text that the task's template made; null when its last step's output serves
     * @param summary null when unknown
     */
    record Changed(TaskRow row, @Nullable String output, @Nullable String summary) {

        /** The API path of the whole output if the summary is only its beginning; else null. */
        private @Nullable String outputRef() {
            return summary != null && summary.length() > SUMMARY ? row.outputRef() : null;
        }
    }

    record New(Owner owner, Changed task) {
        TaskRow row() {
            return task.row;
        }

        /**
         * The outcome of a run with this task alone, as {@link RunsTable#UPDATE} computes it. Empty for a task of the engine and for a
         * reused result.
         */
        Optional<String> outcome() {
            TaskRow row = task.row;
            if (row.key().startsWith(".") || row.group() != null || row.superseded() || row.reusedFrom() != null
                    || owner.attempt() != owner.run().attempt()) {
                return Optional.empty();
            }
            return Optional
                    .of(row.state() == TaskState.COMPLETED ? OutputSummary.ofRun(task.summary) : row.state().wire());
        }
    }

    /** Written at {@code {policy}} into each statement. */
    private static final List<Column<TaskRow>> POLICY =
            TaskRow.POLICY.stream().<Column<TaskRow>>map(Column::stored).toList();

    static final RowSetStatement<New> INSERT = new RowSetStatement<>("keelson_task_new", """
            insert into orchestration_tasks (id, run_id, workspace_id, attempt, run_agent_id, key, sequence_number,
                title, description, task_type, success_criteria, trigger_rule, when_expr, for_each, output_template,
                parallel_steps, step_specs, policy, group_id, item_index, item, state, state_type, attempt_number,
                continuation_count, tokens_used, cost, queued_at, started_at, completed_at, duration_ms, error_code,
                error_message, reused_from, output, output_summary, output_ref, agent_id, agent_type, model_override,
                tools_requested, {policy},
                board_task_id, cancelled_at, created_at, updated_at)
            select id, run_id, workspace_id, attempt, run_agent_id, key, sequence_number, title, description, task_type,
                success_criteria, trigger_rule, when_expr, for_each, output_template, parallel_steps, step_specs, policy,
                group_id, item_index, item, state, state_type, attempt_number, continuation_count, tokens_used, cost,
                queued_at, started_at, completed_at, keelson_duration_ms(started_at, completed_at), error_code,
                error_message, reused_from, output,
                case when reused_from is null then output_summary
                    else (select c.output_summary from orchestration_tasks c where c.id = u.reused_from) end,
                case when reused_from is null then output_ref
                    else (select c.output_ref from orchestration_tasks c where c.id = u.reused_from) end,
                case when agent_id is not null then keelson_agent(agent_id) end, agent_type, model_override,
                tools_requested, {policy},
                (select b.id from board_tasks b where b.source_type = 'orchestration_task' and b.source_id = u.on_board),
                case when state = 'cancelled' then completed_at end, {now}, {now}
              from {rows}""".replace("{policy}", Column.names("", POLICY)), Column.joined(List.of(
            uuid("id", n -> n.row().id()), uuid("run_id", n -> n.owner.run().id()),
            uuid("workspace_id", n -> n.owner.run().workspaceId()), integer("attempt", n -> n.owner.attempt()),
            uuid("run_agent_id", n -> n.row().agent().id()), text("key", n -> n.row().key()),
            integer("sequence_number", n -> n.row().sequence()), text("title", 500, n -> n.row().spec().title()),
            text("description", n -> n.row().spec().description()),
            text("task_type", n -> n.row().spec().taskType().wire()),
            text("success_criteria", n -> n.row().spec().successCriteria()),
            word("trigger_rule", n -> n.row().spec().triggerRule().wire()),
            text("when_expr", n -> isPlanned(n.row()) ? n.row().spec().when() : null),
            text("for_each", n -> n.row().group() == null ? n.row().spec().forEach() : null),
            text("output_template", n -> n.row().spec().output()),
            flag("parallel_steps", n -> n.row().spec().parallelSteps()),
            json("step_specs",
                    n -> n.row().isGroup() || n.row().isMember() ? StepSpecs.write(n.row().spec().steps()) : null),
            json("policy", n -> isPlanned(n.row()) ? Policies.task(n.row().spec().policy()) : null),
            uuid("group_id", n -> idOf(n.row().group())),
            integer("item_index", n -> n.row().group() == null ? null : n.row().itemIndex()),
            json("item", n -> n.row().item()), word("state", n -> n.row().state().wire()),
            word("state_type", n -> n.row().state().type().wire()), integer("attempt_number", n -> n.row().attempt()),
            integer("continuation_count", n -> n.row().continuations()),
            integer("tokens_used", n -> TextColumns.clamp(n.row().tokens())), money("cost", n -> n.row().cost()),
            time("queued_at", n -> n.row().queuedAt()), time("started_at", n -> n.row().startedAt()),
            time("completed_at", n -> n.row().completedAt()), text("error_code", 100, n -> n.row().errorCode()),
            text("error_message", n -> n.row().errorMessage()), uuid("reused_from", n -> n.row().reusedFrom()),
            json("output", n -> n.task.output),
            text("output_summary", SUMMARY, n -> n.task.summary), text("output_ref", n -> n.task.outputRef()),
            integer("agent_id", n -> of(n, AgentTerms::id)), text("agent_type", 20, n -> of(n, AgentTerms::type)),
            text("model_override", 255, n -> of(n, AgentTerms::model)),
            json("tools_requested", n -> of(n, terms -> Json.MAPPER.writeValueAsString(terms.tools())))),
            POLICY.stream().map(column -> column.of(New::row)).toList(),
            List.of(word("on_board", n -> onBoard(n.row()) ? n.row().id().toString() : null))));

    /** True for a task of the plan. Others have the spec of their group. */
    private static boolean isPlanned(TaskRow task) {
        return task.group() == null || task.isMember();
    }

    /** True for tasks on the board, which have reports: not the engine's own tasks, and not the rounds of a task. */
    static boolean onBoard(TaskRow task) {
        return !task.key().startsWith(".") && (task.group() == null || !task.group().isLoop());
    }

    /** A value of the task's agent; null for a task without an agent. */
    static <T> @Nullable T of(New task, Function<AgentTerms, @Nullable T> what) {
        AgentTerms terms = task.row().spec().policy().agent();
        return terms == null ? null : what.apply(terms);
    }

    /** A value of the agent that a rung of the ladder has given the task to; null before the first. */
    private static <T> @Nullable T climbed(Changed task, Function<AgentTerms, @Nullable T> what) {
        AgentTerms terms = task.row.climbed();
        return terms == null ? null : what.apply(terms);
    }

    static final RowSetStatement<Changed> UPDATE = RowSetStatement.ofEach("keelson_task_change", "id",
            """
            merge into orchestration_tasks t using {rows} on t.id = u.id
             when matched then update
               set state = u.state, state_type = u.state_type, attempt_number = u.attempt_number,
                   continuation_count = u.continuation_count, tokens_used = u.tokens_used, cost = u.cost,
                   queued_at = u.queued_at, started_at = u.started_at, completed_at = u.completed_at,
                   duration_ms = keelson_duration_ms(u.started_at, u.completed_at),
                   cancelled_at = case when u.state = 'cancelled' then u.completed_at end, error_code = u.error_code,
                   error_message = u.error_message, output = coalesce(u.output, t.output),
                   output_summary = coalesce(u.output_summary, t.output_summary),
                   output_ref = case when u.output_summary is null then t.output_ref else u.output_ref end,
                   {policy},
                   agent_id = case when u.agent_id is null then t.agent_id else keelson_agent(u.agent_id) end,
                   agent_type = coalesce(u.agent_type, t.agent_type),
                   model_override = coalesce(u.model_override, t.model_override), version_id = t.version_id + 1, updated_at = {now}"""
                    .replace("{policy}", Column.assignments(POLICY)),
            Column.joined(List.of(
                    uuid("id", t -> t.row.id()), word("state", t -> t.row.state().wire()),
                    word("state_type", t -> t.row.state().type().wire()),
                    integer("attempt_number", t -> t.row.attempt()),
                    integer("continuation_count", t -> t.row.continuations()),
                    integer("tokens_used", t -> TextColumns.clamp(t.row.tokens())), money("cost", t -> t.row.cost()),
                    time("queued_at", t -> t.row.queuedAt()), time("started_at", t -> t.row.startedAt()),
                    time("completed_at", t -> t.row.completedAt()), text("error_code", 100, t -> t.row.errorCode()),
                    text("error_message", t -> t.row.errorMessage()), json("output", Changed::output),
                    text("output_summary", SUMMARY, Changed::summary), text("output_ref", Changed::outputRef)),
                    POLICY.stream().map(column -> column.of(Changed::row)).toList(),
                    List.of(integer("agent_id", t -> climbed(t, AgentTerms::id)),
                            text("agent_type", 20, t -> climbed(t, AgentTerms::type)),
                            text("model_override", 255, t -> climbed(t, AgentTerms::model)))));

    /**
     * Superseded rows are not part of the view. Texts that no decision reads are omitted, except of groups, whose
     * children get them, of members of rounds, whose next round gets them, and of tasks that may restart.
     */
    private static final String LOAD = """
            select t.id, t.run_id, t.run_agent_id, t.key, t.sequence_number, t.task_type, t.trigger_rule, t.when_expr,
                t.for_each, t.output_template, t.parallel_steps, t.step_specs, t.group_id, t.item_index, t.item,
                t.state, t.attempt_number, t.continuation_count, %2$s as tokens_used, %3$s as cost, t.queued_at,
                t.started_at, t.completed_at, t.error_code, t.error_message, t.reused_from, t.policy, %4$s,
                case when t.step_specs is not null or %1$s then t.title else '' end as title,
                case when t.step_specs is not null or %1$s then t.description end as description,
                case when t.step_specs is not null or %1$s then t.success_criteria end as success_criteria,
                case when t.step_specs is not null and t.group_id is not null or %1$s then array(
                    select d.dependency_type || ' ' || up.key from orchestration_task_dependencies d
                     cross join lateral (select * from orchestration_tasks where id = d.depends_on_id limit 1) up
                     where d.task_id = t.id and not up.superseded order by up.sequence_number) end as depends_on
              from orchestration_tasks t
              join orchestration_runs r on r.id = t.run_id and r.attempt_number = t.attempt
             where t.run_id = any (?) and not t.superseded
             order by t.run_id, t.sequence_number, t.item_index nulls first, t.id""".formatted(RESPAWNS,
            TaskUsage.TOKENS,
            TaskUsage.COST, Column.names("t.", POLICY));

    private TasksTable() {}

    private static @Nullable UUID idOf(@Nullable TaskRow task) {
        return task == null ? null : task.id();
    }

    static void load(Connection c, Collection<UUID> runIds, ViewLoader loader) throws SQLException {
        StepSpecs specs = new StepSpecs();
        ViewLoader.each(c, LOAD, runIds, row -> {
            UUID groupId = ViewLoader.uuidOrNull(row, "group_id");
            TaskRow group = groupId == null ? null : Objects.requireNonNull(loader.tasks.get(groupId));
            AgentRow agent = Objects.requireNonNull(loader.agents.get(ViewLoader.uuid(row, "run_agent_id")));
            TaskSpec spec = group == null || row.getString("step_specs") != null ? spec(row, agent, group, specs)
                    : group.spec();
            TaskRow task = new TaskRow(ViewLoader.uuid(row, "id"), row.getString("key"), row.getInt("sequence_number"),
                    spec, agent, group,
                    group == null ? -1 : row.getInt("item_index"), row.getString("item"));
            restore(row, task);
            loader.tasks.put(task.id(), task);
            loader.view(row).add(task);
        });
    }

    private static TaskSpec spec(ResultSet row, AgentRow agent, @Nullable TaskRow group, StepSpecs specs)
            throws SQLException {
        String steps = row.getString("step_specs");
        return new TaskSpec(plannedId(group, row.getString("key")), row.getString("title"),
                row.getString("description"),
                TaskType.of(row.getString("task_type")), agent.name(), upstreams(row, group),
                TriggerRule.valueOf(row.getString("trigger_rule").toUpperCase(Locale.ROOT)),
                row.getString("when_expr"), row.getString("for_each"), row.getString("output_template"),
                row.getBoolean("parallel_steps"), steps == null ? List.of() : specs.read(steps),
                row.getString("success_criteria"), Policies.task(row.getString("policy")));
    }

    private static String plannedId(@Nullable TaskRow group, String key) {
        return group == null ? key : group.plannedId(key);
    }

    private static List<Dependency> upstreams(ResultSet row, @Nullable TaskRow group) throws SQLException {
        Array upstreams = row.getArray("depends_on");
        return upstreams == null ? List.of() : Stream.of((Object[]) upstreams.getArray()).map(each -> {
            String[] parts = each.toString().split(" ", 2);
            return new Dependency(plannedId(group, parts[1]), parts[0].equals(DependenciesTable.DATA));
        }).toList();
    }

    private static void restore(ResultSet row, TaskRow task) throws SQLException {
        task.restore(TaskState.of(row.getString("state")), row.getInt("attempt_number"),
                row.getInt("continuation_count"), row.getLong("tokens_used"), ViewLoader.cost(row, "cost"),
                Rows.optionalTime(row, "queued_at"), Rows.optionalTime(row, "started_at"),
                Rows.optionalTime(row, "completed_at"),
                row.getString("error_code"), row.getString("error_message"), ViewLoader.uuidOrNull(row, "reused_from"));
        ViewLoader.restore(row, TaskRow.POLICY, task);
    }
}
