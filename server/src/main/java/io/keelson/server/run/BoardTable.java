package io.keelson.server.run;

import static io.keelson.server.run.Column.text;
import static io.keelson.server.run.Column.time;
import static io.keelson.server.run.Column.uuid;
import static io.keelson.server.run.Column.word;

import io.keelson.core.lifecycle.BoardStatus;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.State;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.run.RunRow;
import io.keelson.core.run.TaskRow;
import java.time.Instant;
import java.util.Arrays;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * {@code board_tasks} as far as runs write them (PRD-101 §7.2): one for a run, one below it for each of its tasks. They are
 * made by the statements that make the run and the tasks, and follow when a run changes its state or a task its column;
 * nothing else costs anything. Reading them, and people's own, is {@code server.board}'s.
 */
final class BoardTable {
    private static final int MOST = 2_000;

    /** Stands before the INSERT of runs, of whose rows it makes {@code u}. */
    static final String WITH_RUNS = """
            with u as (select * from {rows}),
            board as (
                insert into board_tasks (workspace_id, title, description, status, priority, review_mode,
                    created_by_type, created_by_id, tags, run_id, source_type, source_id, error_message, started_at,
                    completed_at, created_at, updated_at)
                select workspace_id, left('Mission: ' || title, 500), left(goal, 4000), %s, 'high', 'manual',
                    'orchestration', created_by, jsonb_build_array('mission', state), id, 'orchestration', id::text,
                    left(error_message, 2000), started_at, completed_at, {now}, {now}
                  from u)
            """.formatted(mapping(RunState.values(), BoardStatus::of));

    /**
     * Likewise for tasks. The ids are drawn first: a task's row refers to the board's. A cast within the condition would keep
     * the index from being used behind row-level security. What the engine itself does (its keys begin with a dot) is
     * nobody's task.
     */
    static final String WITH_TASKS = """
            with u as (
                select *, run_id::text as mission,
                    case when left(key, 1) <> '.' then nextval('board_tasks_id_seq') end as board_task_id
                  from {rows}),
            board as (
                insert into board_tasks (id, workspace_id, title, description, status, review_mode, assignee,
                    assigned_agent_id, created_by_type, created_by_id, parent_task_id, tags, run_id, source_type,
                    source_id, result, error_message, started_at, completed_at, created_at, updated_at)
                select u.board_task_id, u.workspace_id, u.title, left(u.description, 4000), %s,
                    case when u.success_criteria is null then 'auto' else 'manual' end, a.name,
                    case when u.agent_id is not null then keelson_agent(u.agent_id) end, 'orchestration', 'system',
                    (select b.id from board_tasks b where b.source_type = 'orchestration' and b.source_id = u.mission),
                    jsonb_build_array('mission_task', u.task_type), u.run_id, 'orchestration_task', u.id::text,
                    u.output_summary, left(u.error_message, 2000), u.started_at, u.completed_at, {now}, {now}
                  from u
                  left join run_agents a on a.id = u.run_agent_id
                 where u.board_task_id is not null)
            """.formatted(mapping(TaskState.values(), BoardStatus::of));

    /**
     * What a row has to say.
     *
     * @param task its id, null for a run
     * @param mission the run's id, null for a task
     * @param tag a run's state, null for a task
     * @param result null where it is the task's output
     */
    record Moved(@Nullable UUID task, @Nullable String mission, BoardStatus status, @Nullable String tag,
            @Nullable Instant startedAt,
            @Nullable Instant completedAt, @Nullable String result, @Nullable String error) {

        static Moved of(RunRow run) {
            return new Moved(null, run.id().toString(), BoardStatus.of(run.state()), run.state().wire(),
                    run.startedAt(), run.completedAt(), null, run.errorMessage());
        }

        static Moved of(TaskRow task) {
            String result = task.state() == TaskState.SKIPPED ? "skipped: "
                    + (task.errorMessage() == null ? "dependency failed" : task.errorMessage()) : null;
            String error = task.state() == TaskState.CANCELLED && task.errorMessage() == null ? "cancelled"
                    : task.errorMessage();
            return new Moved(task.id(), null, BoardStatus.of(task.state()), null, task.startedAt(),
                    task.completedAt(), result, error);
        }
    }

    /**
     * Those of an older server have no rows here, and lack nothing but these. A run's row is looked up by a subselect: a join
     * planned while the table was empty reads all of it for each batch. The ids are looked up first: with the look-up
     * in the condition, all tasks would be read behind row-level security.
     */
    static final SetStatement<Moved> UPDATE = new SetStatement<>("keelson_board_change", """
            with u as materialized (
                select u.*, t.output_summary, case when u.task_id is null
                    then (select m.id from board_tasks m
                           where m.source_type = 'orchestration' and m.source_id = u.mission)
                    else t.board_task_id end as board_task_id
                  from {rows}
                  left join orchestration_tasks t on t.id = u.task_id)
            update board_tasks b
               set status = u.status, started_at = u.started_at, completed_at = u.completed_at,
                   tags = case when u.tag is null then b.tags else jsonb_build_array('mission', u.tag) end,
                   result = coalesce(u.result, u.output_summary, b.result), error_message = u.error_message,
                   updated_at = {now}
              from u
             where b.id = u.board_task_id""",
            uuid("task_id", Moved::task), word("mission", Moved::mission),
            word("status", moved -> moved.status.wire()), word("tag", Moved::tag),
            time("started_at", Moved::startedAt), time("completed_at", Moved::completedAt),
            text("result", MOST, Moved::result), text("error_message", MOST, Moved::error));

    private BoardTable() {}

    /** The mapping as SQL over a column {@code state}. */
    private static <S extends State> String mapping(S[] states, Function<S, BoardStatus> status) {
        return Arrays.stream(states)
                .map(state -> "when '" + state.wire() + "' then '" + status.apply(state).wire() + "'")
                .collect(Collectors.joining(" ", "case u.state ", " end"));
    }
}
