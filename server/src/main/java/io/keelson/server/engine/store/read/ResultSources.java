package io.keelson.server.engine.store.read;

import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.Reuse;
import io.keelson.core.plan.TaskPolicy;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.base.db.Sql;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.sql.ViewLoader;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Reads steps that take over results, and the steps that compute these results. */
public final class ResultSources {
    /** Ends of runs by a person's rejection. */
    private static final Set<String> REJECTIONS =
            Set.of("PLAN_REJECTED", "APPROVAL_REJECTED", "OUTPUT_REJECTED", "RESULT_REJECTED");

    /** Items and rounds of a task have its policy. */
    private static final Sql READER = Sql.of("""
            select s.run_id, s.workspace_id, s.task_id, s.name, s.kind = 'turn' as turn, s.tool, s.input,
                s.task_attempt > 1 or s.attempt_of_run > 1 as again,
                coalesce(t.policy, (select g.policy from orchestration_tasks g where g.id = t.group_id)) as policy
              from orchestration_steps s join orchestration_tasks t on t.id = s.task_id where s.id = :step""");

    private static final Sql SOURCE = Sql.of("""
            select s.run_id, s.task_id, s.state, t.state as task_state,
                t.superseded or s.task_attempt < t.attempt_number as replaced,
                r.deleted_at is not null as deleted, r.error_code,
                s.completed_at + :age::bigint * interval '1 second' <= {now} as too_old,
                exists (select from artifacts a where a.step_id = s.id) as files,
                case when s.kind = 'turn' then %s else s.output end as output
              from orchestration_steps s
              join orchestration_tasks t on t.id = s.task_id
              join orchestration_runs r on r.id = s.run_id
             where s.id = :step""".formatted(TaskSql.YIELD));

    /**
     * A path of waits from a task to a step's own task, or to a task whose step has started the run of that step. A task waits for the source
     * of its waiting step, and for the tasks of runs that its steps have started.
     */
    private static final Sql WAITS = Sql.of("""
            with recursive up (run_id, step_id) as (
                select k.run_id, k.step_id from run_children k where k.child_run_id = :run
                union all
                select k.run_id, k.step_id from up join run_children k on k.child_run_id = up.run_id),
            goals (task_id) as (
                select :own::uuid
                union all
                select s.task_id from up join orchestration_steps s on s.id = up.step_id where s.completed_at is null),
            waits (task_id) as (
                select :task::uuid
                union
                select next.task_id from waits w cross join lateral (
                    select split_part(s.deferred_for, '/', 2)::uuid as task_id from orchestration_steps s
                     where s.task_id = w.task_id and s.completed_at is null and s.deferred_for like 'result:%'
                    union all
                    select c.task_id from orchestration_steps s
                      join run_children k on k.step_id = s.id
                      join orchestration_steps c on c.run_id = k.child_run_id
                     where s.task_id = w.task_id and s.kind = 'run' and s.completed_at is null
                       and c.completed_at is null and (c.kind = 'run' or c.deferred_for like 'result:%')) next)
            select from waits join goals using (task_id)""");

    /**
     * A step that may take over a result.
     *
     * @param turn whether it is the first turn of an agent's task, whose output is the result
     * @param input JSON text, expressions unresolved
     * @param again whether it computes in any case: its task or run is tried again
     * @param rule null for a step without one
     */
    public record Reader(UUID run, UUID workspace, UUID task, boolean turn, String tool, String input, boolean again,
            Reuse.@Nullable Rule rule) {}

    /** The possible uses of a step's result. */
    public enum State {
        /** The step or its task has not ended. */
        COMPUTING,
        /** Completed with its task, and young enough. */
        READY,
        /** Completed with artifacts, which belong to their run. */
        FILES,
        /** No result: failed, rejected, too old, replaced or deleted. */
        NONE
    }

    /**
     * A step that computes or has computed a result.
     *
     * @param task of the step
     * @param output JSON text; null while there is none
     */
    public record Source(UUID run, UUID task, State state, @Nullable String output) {}

    private final DbClock clock;

    public ResultSources(DbClock clock) {
        this.clock = clock;
    }

    /** The step that may take over a result. */
    public Reader reader(Connection c, UUID step) throws SQLException {
        return READER.on(c).set("step", step).one(row -> {
            String policy = row.getString("policy");
            Reuse reuse = policy == null ? null : Json.MAPPER.readValue(policy, TaskPolicy.class).reuse();
            return new Reader(ViewLoader.uuid(row, "run_id"), ViewLoader.uuid(row, "workspace_id"),
                    ViewLoader.uuid(row, "task_id"), row.getBoolean("turn"), row.getString("tool"),
                    row.getString("input"),
                    row.getBoolean("again"), reuse == null ? null : reuse.steps().get(row.getString("name")));
        });
    }

    /**
     * Whether a task cannot end before the step: it has the step, or waits for its run, or for its task in a circle. Lookups at the same time
     * do not find the waits of each other; the next lookups find the circle.
     */
    public boolean waitsFor(Connection c, UUID task, Reader reader) throws SQLException {
        return task.equals(reader.task())
                || WAITS.on(c).set("run", reader.run()).set("own", reader.task()).set("task", task).exists();
    }

    /**
     * The step that computes a result, or has; empty if its run is deleted or archived.
     *
     * @param maxAgeSeconds maximum time since its completion
     */
    public Optional<Source> source(Connection c, UUID step, long maxAgeSeconds) throws SQLException {
        return SOURCE.on(c).set("step", step).set("age", maxAgeSeconds).at(clock).first(row -> {
            StepState state = StepState.of(row.getString("state"));
            TaskState task = TaskState.of(row.getString("task_state"));
            String output = row.getString("output");
            State found;
            if (row.getBoolean("replaced") || row.getBoolean("deleted") || row.getBoolean("too_old")
                    || REJECTIONS.contains(String.valueOf(row.getString("error_code")))
                    || state.terminal() && state != StepState.COMPLETED
                    || task.terminal() && task != TaskState.COMPLETED) {
                found = State.NONE;
            } else if (state != StepState.COMPLETED || task != TaskState.COMPLETED) {
                found = State.COMPUTING;
            } else {
                found = row.getBoolean("files") ? State.FILES : output == null ? State.NONE : State.READY;
            }
            return new Source(ViewLoader.uuid(row, "run_id"), ViewLoader.uuid(row, "task_id"), found, output);
        });
    }
}
