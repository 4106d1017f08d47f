package io.keelson.server.run;

import static io.keelson.server.run.Column.flag;
import static io.keelson.server.run.Column.integer;
import static io.keelson.server.run.Column.json;
import static io.keelson.server.run.Column.money;
import static io.keelson.server.run.Column.text;
import static io.keelson.server.run.Column.time;
import static io.keelson.server.run.Column.uuid;
import static io.keelson.server.run.Column.word;

import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.TaskSpec;
import io.keelson.core.plan.TriggerRule;
import io.keelson.core.run.AgentRow;
import io.keelson.core.run.Changes.Owner;
import io.keelson.core.run.TaskRow;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** {@code orchestration_tasks}. */
final class TasksTable {
    private static final int SUMMARY = 2_000;

    /**
     * A task and its output as far as this batch made it.
     *
     * @param output JSON text that the task's template made; null when its last step's output serves
     * @param summary null when nothing is known of it
     */
    record Changed(TaskRow row, @Nullable String output, @Nullable String summary) {}

    record New(Owner owner, Changed task) {
        private TaskRow row() {
            return task.row;
        }
    }

    static final SetStatement<New> INSERT = new SetStatement<>("keelson_task_new", """
            insert into orchestration_tasks (id, run_id, workspace_id, attempt, run_agent_id, key, sequence_number,
                title, description, task_type, success_criteria, trigger_rule, when_expr, for_each, output_template,
                parallel_steps, step_specs, group_id, item_index, item, state, state_type, attempt_number,
                continuation_count, tokens_used, cost, queued_at, started_at, completed_at, duration_ms, error_code,
                error_message, carried_from, output, output_summary, created_at, updated_at)
            select id, run_id, workspace_id, attempt, run_agent_id, key, sequence_number, title, description, task_type,
                success_criteria, trigger_rule, when_expr, for_each, output_template, parallel_steps, step_specs,
                group_id, item_index, item, state, state_type, attempt_number, continuation_count, tokens_used, cost,
                queued_at, started_at, completed_at, keelson_duration_ms(started_at, completed_at), error_code,
                error_message, carried_from, output, output_summary, {now}, {now}
              from {rows}""",
            uuid("id", n -> n.row().id()), uuid("run_id", n -> n.owner.run().id()),
            uuid("workspace_id", n -> n.owner.run().workspaceId()), integer("attempt", n -> n.owner.attempt()),
            uuid("run_agent_id", n -> n.row().agent().id()), text("key", n -> n.row().key()),
            integer("sequence_number", n -> n.row().sequence()), text("title", 500, n -> n.row().spec().title()),
            text("description", n -> n.row().spec().description()), text("task_type", n -> n.row().spec().taskType()),
            text("success_criteria", n -> n.row().spec().successCriteria()),
            word("trigger_rule", n -> n.row().spec().triggerRule().wire()),
            text("when_expr", n -> n.row().group() == null ? n.row().spec().when() : null),
            text("for_each", n -> n.row().group() == null ? n.row().spec().forEach() : null),
            text("output_template", n -> n.row().spec().output()),
            flag("parallel_steps", n -> n.row().spec().parallelSteps()),
            json("step_specs", n -> n.row().isGroup() ? StepSpecs.write(n.row().spec().steps()) : null),
            uuid("group_id", n -> idOf(n.row().group())),
            integer("item_index", n -> n.row().group() == null ? null : n.row().itemIndex()),
            json("item", n -> n.row().item()), word("state", n -> n.row().state().wire()),
            word("state_type", n -> n.row().state().type().wire()), integer("attempt_number", n -> n.row().attempt()),
            integer("continuation_count", n -> n.row().continuations()),
            integer("tokens_used", n -> Texts.clamp(n.row().tokens())), money("cost", n -> n.row().cost()),
            time("queued_at", n -> n.row().queuedAt()), time("started_at", n -> n.row().startedAt()),
            time("completed_at", n -> n.row().completedAt()), text("error_code", 100, n -> n.row().errorCode()),
            text("error_message", n -> n.row().errorMessage()), uuid("carried_from", n -> n.row().carriedFrom()),
            json("output", n -> n.task.output),
            text("output_summary", SUMMARY, n -> n.task.summary));

    static final SetStatement<Changed> UPDATE = new SetStatement<>("keelson_task_change", """
            update orchestration_tasks t
               set state = u.state, state_type = u.state_type, attempt_number = u.attempt_number,
                   continuation_count = u.continuation_count, tokens_used = u.tokens_used, cost = u.cost,
                   queued_at = u.queued_at, started_at = u.started_at, completed_at = u.completed_at,
                   duration_ms = keelson_duration_ms(u.started_at, u.completed_at), error_code = u.error_code,
                   error_message = u.error_message, output = coalesce(u.output, t.output),
                   output_summary = coalesce(u.output_summary, t.output_summary), version_id = t.version_id + 1, updated_at = {now}
              from {rows}
             where t.id = u.id""",
            uuid("id", t -> t.row.id()), word("state", t -> t.row.state().wire()),
            word("state_type", t -> t.row.state().type().wire()), integer("attempt_number", t -> t.row.attempt()),
            integer("continuation_count", t -> t.row.continuations()),
            integer("tokens_used", t -> Texts.clamp(t.row.tokens())), money("cost", t -> t.row.cost()),
            time("queued_at", t -> t.row.queuedAt()), time("started_at", t -> t.row.startedAt()),
            time("completed_at", t -> t.row.completedAt()), text("error_code", 100, t -> t.row.errorCode()),
            text("error_message", t -> t.row.errorMessage()), json("output", Changed::output),
            text("output_summary", SUMMARY, Changed::summary));

    /** Texts that no decision reads are left out, but for groups: their children will have them. */
    private static final String LOAD = """
            select t.id, t.run_id, t.run_agent_id, t.key, t.sequence_number, t.task_type, t.trigger_rule, t.when_expr,
                t.for_each, t.output_template, t.parallel_steps, t.step_specs, t.group_id, t.item_index, t.item,
                t.state, t.attempt_number, t.continuation_count, t.tokens_used, t.cost, t.queued_at, t.started_at,
                t.completed_at, t.error_code, t.error_message, t.carried_from,
                case when t.for_each is not null then t.title else '' end as title,
                case when t.for_each is not null then t.description end as description,
                case when t.for_each is not null then t.success_criteria end as success_criteria
              from orchestration_tasks t
              join orchestration_runs r on r.id = t.run_id and r.attempt_number = t.attempt
             where t.run_id = any (?)
             order by t.run_id, t.sequence_number, t.item_index nulls first""";

    private TasksTable() {}

    private static @Nullable UUID idOf(@Nullable TaskRow task) {
        return task == null ? null : task.id();
    }

    static void load(Connection c, Collection<UUID> runIds, Loading loading) throws SQLException {
        StepSpecs specs = new StepSpecs();
        Loading.each(c, LOAD, runIds, row -> {
            UUID groupId = Loading.uuidOrNull(row, "group_id");
            TaskRow group = groupId == null ? null : Objects.requireNonNull(loading.tasks.get(groupId));
            AgentRow agent = Objects.requireNonNull(loading.agents.get(Loading.uuid(row, "run_agent_id")));
            TaskRow task = new TaskRow(Loading.uuid(row, "id"), row.getString("key"), row.getInt("sequence_number"),
                    group == null ? spec(row, specs) : group.spec(), agent, group,
                    group == null ? -1 : row.getInt("item_index"), row.getString("item"));
            restore(row, task);
            loading.tasks.put(task.id(), task);
            loading.view(row).add(task);
        });
    }

    private static TaskSpec spec(ResultSet row, StepSpecs specs) throws SQLException {
        String steps = row.getString("step_specs");
        return new TaskSpec(row.getString("key"), row.getString("title"), row.getString("description"),
                row.getString("task_type"), null, List.of(),
                TriggerRule.valueOf(row.getString("trigger_rule").toUpperCase(Locale.ROOT)),
                row.getString("when_expr"), row.getString("for_each"), row.getString("output_template"),
                row.getBoolean("parallel_steps"), steps == null ? List.of() : specs.read(steps),
                row.getString("success_criteria"));
    }

    private static void restore(ResultSet row, TaskRow task) throws SQLException {
        task.restore(TaskState.of(row.getString("state")), row.getInt("attempt_number"),
                row.getInt("continuation_count"), row.getLong("tokens_used"), row.getBigDecimal("cost"),
                Loading.time(row, "queued_at"), Loading.time(row, "started_at"), Loading.time(row, "completed_at"),
                row.getString("error_code"), row.getString("error_message"), Loading.uuidOrNull(row, "carried_from"));
    }
}
