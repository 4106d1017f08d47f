package io.keelson.server.engine.store;

import static io.keelson.server.engine.store.sql.Column.integer;
import static io.keelson.server.engine.store.sql.Column.json;
import static io.keelson.server.engine.store.sql.Column.text;
import static io.keelson.server.engine.store.sql.Column.time;
import static io.keelson.server.engine.store.sql.Column.uuid;
import static io.keelson.server.engine.store.sql.Column.word;

import com.github.benmanes.caffeine.cache.LoadingCache;
import io.keelson.core.decide.RunRow;
import io.keelson.core.decide.TaskRow;
import io.keelson.core.lifecycle.BoardStatus;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.AgentTerms;
import io.keelson.core.run.TaskPayload;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.RunsTable.Accepted;
import io.keelson.server.engine.store.sql.RowSetStatement;
import io.keelson.server.engine.store.sql.TextColumns;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * {@code board_tasks}, as far as runs write them: one for a run, and one below it for each of its tasks.
 * They are created with the run and its tasks, and updated when a run's state, its current task or a task's column changes. Values that
 * are not in other tables are computed here, because an expression or a join costs a statement more than a value.
 * {@code server.outlet.board} reads them, and manages people's own.
 */
final class BoardTable {
    private static final int MAX_ROWS = 2_000;
    private static final LoadingCache<String, String> TAGS =
            TextColumns.cached(type -> Json.MAPPER.writeValueAsString(List.of("mission_task", type)));

    static final RowSetStatement<Accepted> INSERT_RUN = new RowSetStatement<>("keelson_board_run", """
            insert into board_tasks (workspace_id, title, description, status, priority, review_mode, created_by_type,
                created_by_id, assigned_agent_id, tags, planning_data, run_id, source_type, source_id, error_message,
                started_at, completed_at, created_at, updated_at)
            select workspace_id, title, description, status, priority, 'manual', 'orchestration', created_by,
                case when agent_slug is not null then (select a.id from agents a
                    where a.workspace_id = u.workspace_id and a.slug = u.agent_slug) end, tags, planning_data, run_id, 'orchestration', mission, error_message, started_at, completed_at, {now}, {now}
              from {rows}""",
            uuid("workspace_id", a -> a.run().workspaceId()), text("title", 500, a -> "Mission: " + a.run().name()),
            text("description", a -> a.run().goal()),
            word("status", a -> BoardStatus.of(a.row().state()).wire()),
            word("priority", a -> PlanningData.priority(a.run().configJson())),
            text("created_by", 255, a -> a.run().createdBy()), text("agent_slug", 255, a -> a.run().agentSlug()),
            json("tags", a -> tags(a.row())),
            json("planning_data", a -> PlanningData.of(a.row(), PlanningData.strategy(a.run().planJson()))),
            uuid("run_id", a -> a.run().id()),
            word("mission", a -> a.run().id().toString()), text("error_message", MAX_ROWS, a -> error(a.row())),
            time("started_at", a -> a.row().startedAt()), time("completed_at", a -> a.row().completedAt()));

    /**
     * Runs before the tasks, which refer to these rows; without the engine's own tasks. The run's row is looked up by a
     * text parameter: a cast within the condition would prevent the use of the index behind row-level security.
     */
    static final RowSetStatement<TasksTable.New> INSERT_TASK = new RowSetStatement<>("keelson_board_task", """
            insert into board_tasks (workspace_id, title, description, status, priority, review_mode, assignee, assigned_agent_id,
                created_by_type, created_by_id, parent_task_id, tags, planning_data, run_id, source_type,
                source_id, result, error_message, started_at, completed_at, created_at, updated_at)
            select workspace_id, title, description, status, 'medium', review_mode, assignee,
                case when agent_id is not null then keelson_agent(agent_id) end, 'orchestration', 'system',
                (select b.id from board_tasks b where b.source_type = 'orchestration' and b.source_id = u.mission),
                tags, planning_data, run_id, 'orchestration_task', subject, result, error_message, started_at, completed_at,
                {now}, {now}
              from {rows}""",
            uuid("workspace_id", n -> n.owner().run().workspaceId()), text("title", 500, n -> n.row().spec().title()),
            text("description", n -> n.row().spec().description()),
            word("status", n -> BoardStatus.of(n.row().state()).wire()),
            word("review_mode", n -> n.row().spec().successCriteria() == null ? "auto" : "manual"),
            text("assignee", 255, n -> n.row().agent().name()),
            integer("agent_id", n -> TasksTable.of(n, AgentTerms::id)),
            json("tags", n -> TAGS.get(n.row().spec().taskType().wire())),
            json("planning_data", n -> PlanningData.of(n.owner().run().id(), n.row())),
            uuid("run_id", n -> n.owner().run().id()), word("mission", n -> n.owner().run().id().toString()),
            word("subject", n -> n.row().id().toString()), text("result", MAX_ROWS, n -> n.task().summary()),
            text("error_message", MAX_ROWS, n -> n.row().errorMessage()), time("started_at", n -> n.row().startedAt()),
            time("completed_at", n -> n.row().completedAt()));

    /**
     * Runs of an older server have no rows here. The ids are looked up first: a join planned on an empty board, or a
     * look-up in the condition behind row-level security, reads the whole board for each batch.
     */
    static final RowSetStatement<Change> UPDATE = new RowSetStatement<>("keelson_board_change", """
            with u as materialized (
                select u.*, t.output_summary, coalesce(t.board_task_id, (select m.id from board_tasks m
                        where m.source_type = 'orchestration' and m.source_id = u.mission)) as board_task_id
                  from {rows} left join orchestration_tasks t on t.id = u.task_id)
            update board_tasks b
               set status = u.status, started_at = u.started_at, completed_at = u.completed_at,
                   tags = coalesce(u.tags, b.tags), result = coalesce(u.result, u.output_summary, b.result),
                   error_message = u.error_message,
                   planning_data = case when u.planning_data is null then b.planning_data
                       else coalesce(b.planning_data, '{}') || u.planning_data end,
                   updated_at = {now}
              from u
             where b.id = u.board_task_id""",
            word("mission", Change::mission), uuid("task_id", Change::taskId), word("status", c -> c.status.wire()),
            time("started_at", Change::startedAt), time("completed_at", Change::completedAt),
            json("tags", Change::tags), text("result", MAX_ROWS, Change::result),
            text("error_message", MAX_ROWS, Change::error), json("planning_data", Change::planningData));

    /**
     * A change of a run's or a task's row.
     *
     * @param mission the id of the run; null for a task's row
     * @param taskId null for a run's row
     * @param tags null to keep the stored ones
     * @param result null to take the task's output, if it has one
     * @param planningData members to replace; null if absent
     */
    record Change(@Nullable String mission, @Nullable UUID taskId, BoardStatus status, @Nullable Instant startedAt,
            @Nullable Instant completedAt, @Nullable String tags, @Nullable String result, @Nullable String error,
            @Nullable String planningData) {

        static Change of(RunRow run) {
            return new Change(run.id().toString(), null, BoardStatus.of(run.state()), run.startedAt(),
                    run.completedAt(), BoardTable.tags(run), null, BoardTable.error(run), PlanningData.of(run, null));
        }

        /** @param skipped why it was skipped; null when it was not */
        static Change of(TaskRow task, TaskPayload.@Nullable Skipped skipped) {
            return new Change(null, task.id(), BoardStatus.of(task.state()), task.startedAt(), task.completedAt(),
                    null, BoardTable.result(task, skipped), BoardTable.error(task), PlanningData.tries(task));
        }
    }

    private BoardTable() {}

    private static String tags(RunRow run) {
        return "[\"mission\", \"" + run.state().wire() + "\"]";
    }

    /** Why the task was skipped; null where the result is the task's output. */
    private static @Nullable String result(TaskRow task, TaskPayload.@Nullable Skipped skipped) {
        if (task.state() != TaskState.SKIPPED) {
            return null;
        }
        if (task.failureIgnored()) {
            return "failed, and the run continued without it: " + task.errorMessage();
        }
        if (task.errorMessage() != null || skipped == null) {
            return "skipped" + (task.errorMessage() == null ? "" : ": " + task.errorMessage());
        }
        if (!skipped.reason().equals("trigger_rule")) {
            return "skipped: " + skipped.skippedBecause();
        }
        return task.upstreams().stream().filter(up -> up.state() != TaskState.COMPLETED)
                .map(up -> "'" + up.key() + "' " + up.state().wire())
                .collect(Collectors.joining(", ", "skipped: dependency failed (" + skipped.skippedBecause() + ": ",
                        ")"));
    }

    private static @Nullable String error(RunRow run) {
        boolean went = run.state() == RunState.COMPLETED || run.state() == RunState.SKIPPED;
        return went && run.failures() > 0 ? "completed with failures: " + run.failures() : run.errorMessage();
    }

    private static @Nullable String error(TaskRow task) {
        return task.state() == TaskState.CANCELLED && task.errorMessage() == null ? "cancelled" : task.errorMessage();
    }
}
