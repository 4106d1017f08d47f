package io.keelson.server.engine.store.read;

import io.keelson.server.engine.store.sql.TaskUsage;

/** Queries of tasks and steps, which {@link RunReader} executes, and the expressions that other queries need for a task's output. */
final class TaskSql {
    /** The output of the last completed step of a task's current attempt, without verifiers and calls of programs. */
    static String lastOutput(String task) {
        return """
                (select s.output from orchestration_steps s
                  where s.task_id = %1$s.id and s.task_attempt = %1$s.attempt_number and s.state = 'completed'
                    and s.kind <> 'verify' and s.called_by is null
                  order by s.position desc, s.turn desc limit 1)""".formatted(task);
    }

    /**
     * The output of a completed task {@code t}: its template's, else its last step's. A {@code coalesce} of columns
     * would use no index behind row-level security.
     */
    static final String YIELD = """
            case when t.state = 'completed' then (select coalesce(source.output, %s)
                  from orchestration_tasks source
                 where source.id = case when t.reused_from is null then t.id else t.reused_from end) end"""
            .formatted(lastOutput("source"));

    /** The source of a result that step {@code s} has taken over; null for any other step. */
    private static final String SOURCE = """
            case when s.state = 'completed' and s.attempt = 0 and s.deferred_for like 'result:%%' then jsonb_build_object(
                    'run_id', split_part(substr(s.deferred_for, 8), '/', 1), 'task_id', split_part(s.deferred_for, '/', 2),
                    'step_id', split_part(s.deferred_for, '/', 3)) end""";

    private static final String TASK_COLUMNS = """
            t.id, t.run_id, t.workspace_id, t.key, t.attempt, t.sequence_number, t.title, t.description, t.task_type,
                t.state, t.state_type, case when t.state_type <> 'terminal' and (
                    select owner.state_type from orchestration_runs owner where owner.id = t.run_id) = 'paused' then 'paused'
                    else t.state end as effective_state, t.trigger_rule, t.agent_id, t.agent_type, a.name as agent_name,
                t.model_override, t.tools_requested, t.success_criteria, t.output_summary, t.output_ref,
                %%s,
                array(select up.key from orchestration_task_dependencies d
                    join orchestration_tasks up on up.id = d.depends_on_id
                   where d.task_id = t.id and (t.superseded or not up.superseded)
                   order by up.sequence_number)::text[] as depends_on,
                t.group_id, t.item_index, %%s, case when t.item is null and t.group_id is not null then t.item_index
                    when t.policy -> 'repeat' ->> 'until' is not null then (
                        select coalesce(max(c.item_index), 0) from orchestration_tasks c
                         where c.run_id = t.run_id and c.attempt = t.attempt and c.group_id = t.id) end as round,
                (t.policy -> 'repeat' ->> 'max')::int as max_rounds, t.policy -> 'flow' as flow,
                t.reused_from, case when t.state = 'completed' and (t.policy -> 'reuse' ->> 'steps' is not null
                    or t.group_id is not null) then (select %s from orchestration_steps s
                    where s.task_id = t.id and s.task_attempt = t.attempt_number and s.state = 'completed'
                      and s.kind <> 'verify' and s.called_by is null
                    order by s.position desc, s.turn desc limit 1) end as result_from,
                trim_scale(t.verifier_score) as verifier_score,
                t.verified_by, t.error_code, t.error_message, t.error_class, t.attempt_number, t.failures,
                t.continuation_count, (select count(*) from orchestration_steps s
                    where s.task_id = t.id and s.task_attempt >= t.attempt_number)::int as step_count,
                t.failure_ignored, t.superseded, t.next_run_at,
                case t.state when 'awaiting_human' then t.attempt_number end as gate,
                case when t.state in ('awaiting_retry', 'running', 'verifying') then (
                    select e.id from escalation_tickets e
                     where e.run_id = t.run_id and e.task_id = t.id and e.resolution is null limit 1) end as ticket_id,
                %s as tokens_used, trim_scale(%s) as cost, t.board_task_id, t.queued_at, t.started_at, t.completed_at,
                t.cancelled_at, t.duration_ms, t.version_id, t.created_at, t.updated_at""".formatted(
            SOURCE, TaskUsage.TOKENS, TaskUsage.COST);

    private static final String TASK_ROWS = """
            select %s
              from orchestration_runs r
              join orchestration_tasks t on t.run_id = r.id
              left join run_agents a on a.id = t.run_agent_id
             cross join lateral (select %s as yield offset 0) o
             where (r.workspace_id = ?) is true and r.id = ? and t.attempt = coalesce(?::int, r.attempt_number)
               and (? or not t.superseded)
               and (?::uuid is null or (t.sequence_number, coalesce(t.item_index, -1), t.id) > (
                   select last.sequence_number, coalesce(last.item_index, -1), last.id from orchestration_tasks last
                    where last.run_id = r.id and last.id = ?))
             order by t.sequence_number, coalesce(t.item_index, -1), t.id
             limit ?""";

    static final String TASKS = TASK_ROWS.formatted(TASK_COLUMNS.formatted(ValueSql.listed("o.yield", "output")
            + ", array_remove(array[" + ValueSql.leftOut("o.yield", "output") + "], null)::text[] as omitted",
            "t.item"), YIELD);

    private static final String LIGHT_TASK_COLUMNS = TASK_COLUMNS.formatted(
            ValueSql.light("o.yield", "output") + ", " + ValueSql.omitted("o.yield", "t.item"),
            ValueSql.light("t.item", "item"));

    static final String LIGHT_TASKS = TASK_ROWS.formatted(LIGHT_TASK_COLUMNS, YIELD);

    private static final String ONE_TASK = """

              from orchestration_tasks t left join run_agents a on a.id = t.run_agent_id
             cross join lateral (select %s as yield offset 0) o
             where t.workspace_id = ? and t.id = ?""".formatted(YIELD) + ReadSql.NOT_DELETED.formatted("t");

    static final String TASK = "select " + TASK_COLUMNS.formatted("o.yield as output", "t.item") + ONE_TASK;

    static final String LIGHT_TASK = "select " + LIGHT_TASK_COLUMNS + ONE_TASK;

    /** The dependencies between the tasks of a run's attempt that holds the task. */
    static final String DEPENDENCIES = """
            select d.depends_on_id, d.task_id
              from orchestration_tasks one
              join orchestration_tasks t on t.run_id = one.run_id and t.attempt = one.attempt and not t.superseded
              join orchestration_task_dependencies d on d.task_id = t.id
             where one.workspace_id = ? and one.id = ?""";

    static final String TASK_NAMES = """
            select t.id, t.key, t.title, t.state, t.state_type from orchestration_tasks t
             where t.workspace_id = ? and t.id = any (?) and not t.superseded
             order by t.sequence_number, t.id""";

    /** The rounds of a task or of a group: folded ones, then rounds that have tasks. */
    static final String ROUNDS = """
            select x.round, x.task_id, x.folded, x.state, x.attempts, x.tokens_used, trim_scale(x.cost) as cost, %s,
                array_remove(array[%s], null)::text[] as omitted, x.error_code, x.error_message, x.started_at,
                x.completed_at, x.tasks
              from (
                select m.round, (array_agg(m.task_id))[1] as task_id, bool_or(m.folded) as folded,
                    case when bool_or(m.state = 'failed') then 'failed' when bool_or(m.state = 'cancelled') then 'cancelled'
                        when count(m.completed_at) < count(*) then case when count(*) = 1 then min(m.state)
                            when bool_and(m.state = 'pending') then 'pending' else 'running' end
                        when bool_or(m.state = 'completed') then 'completed' else min(m.state) end as state,
                    max(m.attempts) as attempts, sum(m.tokens_used)::bigint as tokens_used, sum(m.cost) as cost,
                    case when bool_or(m.member <> '') then jsonb_object_agg(m.member, m.output)
                        else (array_agg(m.output))[1] end as output,
                    min(m.error_code) as error_code, min(m.error_message) as error_message, min(m.started_at) as started_at,
                    case when count(m.completed_at) = count(*) then max(m.completed_at) end as completed_at,
                    case when bool_or(m.member <> '') then jsonb_agg(jsonb_build_object('name', m.member, 'task_id',
                        m.task_id, 'state', m.state) order by m.member) end as tasks
                  from (
                    select r.round, r.member, r.task_id, true as folded, r.state, r.attempts, r.tokens as tokens_used,
                        r.cost, r.output, r.error_code, r.error_message, r.started_at, r.completed_at
                      from task_rounds r where r.workspace_id = ? and r.loop_id = ?
                    union all
                    select t.item_index, split_part(t.key, '].', 2), t.id, false, t.state, t.attempt_number, %s, %s,
                        o.yield, t.error_code, t.error_message, t.started_at, t.completed_at
                      from orchestration_tasks g
                      join orchestration_tasks t on t.run_id = g.run_id and t.attempt = g.attempt and t.group_id = g.id
                     cross join lateral (select %s as yield offset 0) o
                     where g.workspace_id = ? and g.id = ? and g.policy -> 'repeat' ->> 'until' is not null) m
                 group by m.round) x
             order by x.round
            offset ? limit ?""".formatted(ValueSql.listed("x.output", "output"), ValueSql.leftOut("x.output", "output"),
            TaskUsage.TOKENS, TaskUsage.COST, YIELD);

    /** The output so far of a task in any state, in its current attempt. */
    static final String OUTPUT = """
            select (select coalesce(source.output, %s) from orchestration_tasks source
                     where source.id = case when t.reused_from is null then t.id else t.reused_from end) as output
              from orchestration_tasks t
             where t.workspace_id = ? and t.id = ?""".formatted(lastOutput("source"))
            + ReadSql.NOT_DELETED.formatted("t");

    static final String STEP_COLUMNS = """
            s.id, s.run_id, s.task_id, t.key as task_key,
                t.superseded or s.task_attempt < t.attempt_number as superseded,
                s.name || case when s.turn > 1 then '#' || s.turn else '' end as name, s.kind, s.tool, s.position,
                s.turn, s.state, s.state_type, s.attempt, (s.retry ->> 'max_attempts')::int as max_attempts,
                s.failures, s.failure_ignored, s.task_attempt, s.lease_epoch, s.called_by,
                <source> as result_from, %s, s.error_code,
                s.error_message, s.error_class, s.tokens, trim_scale(s.cost) as cost, p.progress,
                p.message as progress_message, s.next_run_at, s.started_at, s.completed_at, s.created_at"""
            .replace("<source>", SOURCE);

    /**
     * The input of the step's last attempt: as recorded, or the plan's where that has no expressions. Null where no resolved
     * input was recorded, such as after an expression that failed, or after a worker that did not report.
     */
    static final String ATTEMPT_INPUT = """
            coalesce(s.resolved_input, s.result_input, (
                select w.input from work_results w
                 where w.step_id = s.id and w.attempt = s.attempt and w.input is not null
                 order by w.epoch desc limit 1), case when strpos(s.input::text, '${') = 0 then s.input end)""";

    private static final String STEP_VALUES = """
            case when s.state in ('failed', 'awaiting_retry') then %s else coalesce(s.resolved_input, s.result_input, s.input)
                end as input, s.output"""
            .formatted(ATTEMPT_INPUT);

    static final String LISTED_STEP_VALUES =
            ValueSql.listed("v.input", "input") + ", " + ValueSql.listed("v.output", "output")
                    + ", array_remove(array[" + ValueSql.leftOut("v.input", "input") + ", "
                    + ValueSql.leftOut("v.output", "output")
                    + "], null)::text[] as omitted";

    /** Reads each value once. */
    static final String STEP_VALUE_TABLE = "cross join lateral (select " + STEP_VALUES + " offset 0) v";

    private static final String LIGHT_STEP_VALUES =
            ValueSql.light("v.input", "input") + ", " + ValueSql.light("v.output", "output") + ", "
                    + ValueSql.omitted("v.input", "v.output");

    private static final String STEP_ROWS = """
            select %s
              from orchestration_runs r
              join orchestration_tasks t on t.run_id = r.id
              join orchestration_steps s on s.task_id = t.id
              left join step_progress p on p.step_id = s.id
              %s
             where (r.workspace_id = ?) is true and r.id = ? and t.attempt = coalesce(?::int, r.attempt_number)
               and (? or not t.superseded and s.task_attempt >= t.attempt_number)
               and (?::uuid is null or (
                   t.sequence_number, coalesce(t.item_index, -1), t.id, s.task_attempt, s.position, s.turn) > (
                   select task.sequence_number, coalesce(task.item_index, -1), task.id, last.task_attempt,
                       last.position, last.turn
                     from orchestration_steps last join orchestration_tasks task on task.id = last.task_id
                    where last.run_id = r.id and last.id = ?))
             order by t.sequence_number, coalesce(t.item_index, -1), t.id, s.task_attempt, s.position, s.turn
             limit ?""";

    static final String STEPS = STEP_ROWS.formatted(STEP_COLUMNS.formatted(LISTED_STEP_VALUES), STEP_VALUE_TABLE);

    static final String LIGHT_STEPS = STEP_ROWS.formatted(STEP_COLUMNS.formatted(LIGHT_STEP_VALUES), STEP_VALUE_TABLE);

    /** The steps of one task, also of its earlier attempts. */
    private static final String STEPS_OF_TASK = """
            select %s
              from orchestration_tasks t
              join orchestration_steps s on s.task_id = t.id
              left join step_progress p on p.step_id = s.id
              %s
             where (t.workspace_id = ?) is true and t.id = ? and (? or s.task_attempt >= t.attempt_number)
             order by s.task_attempt, s.position, s.turn
            offset ? limit ?""";

    static final String TASK_STEPS =
            STEPS_OF_TASK.formatted(STEP_COLUMNS.formatted(LISTED_STEP_VALUES), STEP_VALUE_TABLE);

    static final String LIGHT_TASK_STEPS =
            STEPS_OF_TASK.formatted(STEP_COLUMNS.formatted(LIGHT_STEP_VALUES), STEP_VALUE_TABLE);

    private static final String ONE_STEP = """

              from orchestration_steps s
              join orchestration_tasks t on t.id = s.task_id
              left join step_progress p on p.step_id = s.id
              %s
             where s.workspace_id = ? and s.id = ?""".formatted(STEP_VALUE_TABLE) + ReadSql.NOT_DELETED.formatted("s");

    static final String STEP = "select " + STEP_COLUMNS.formatted("v.input, v.output") + ONE_STEP;

    static final String LIGHT_STEP = "select " + STEP_COLUMNS.formatted(LIGHT_STEP_VALUES) + ONE_STEP;

    private TaskSql() {}
}
