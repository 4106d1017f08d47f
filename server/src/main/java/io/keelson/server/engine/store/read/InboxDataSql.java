package io.keelson.server.engine.store.read;

/**
 * The facts that a person needs for an answer, by kind of item: {@code subject_data} of {@link InboxSql#PAGE} with its
 * tables {@code p}, {@code r}, {@code h}, {@code e}, {@code t} and {@code s}.
 */
final class InboxDataSql {

    /** Omits larger values, which the links lead to. */
    private static final String BOUNDED = "case when pg_column_size(%1$s) <= 65536 then %1$s end";

    private static final String SPENT = "'total_cost', trim_scale(h.total_cost), 'total_tokens', h.total_tokens";

    /** A plan with its first 50 tasks; without their steps and checks where it is large. */
    private static final String PLAN = """
            case when jsonb_typeof(%1$s -> 'tasks') = 'array' then (%1$s - 'tasks')
                || jsonb_build_object('tasks', array(
                    select case when pg_column_size(%1$s) <= 65536 then task else task - 'steps' - 'verify' end
                        || jsonb_build_object('tools', jsonb_path_query_array(task, '$.steps[*].tool'))
                      from jsonb_array_elements(%1$s -> 'tasks') with ordinality as listed (task, place)
                     where place <= 50 order by place)) end""";

    /**
     * The checks of a task in all of its attempts, the last ten; each with the beginning of an output that it did not pass. Checks
     * with an output of their own judge that one.
     */
    private static final String CHECKS = """
            (select coalesce(jsonb_agg(done.shown order by done.task_attempt, done.position, done.turn), '[]') from (
                select v.task_attempt, v.position, v.turn, jsonb_build_object('attempt', v.task_attempt, 'check', v.tool, 'model', v.model,
                    'verdict', v.output -> 'verdict', 'score', v.output -> 'score', 'feedback', left(v.output ->> 'feedback', 2000),
                    'marks', case when pg_column_size(v.output -> 'marks') <= 8192 then v.output -> 'marks' end, 'output',
                    case when v.output ->> 'verdict' is distinct from 'passed'
                        then left(coalesce(v.resolved_input, v.result_input, v.input) ->> 'output', 2000) end) as shown
                  from orchestration_steps v
                 where v.task_id = case when %1$s.reused_from is null then %1$s.id else %1$s.reused_from end
                   and v.kind = 'verify' and v.state = 'completed'
                 order by v.task_attempt desc, v.position desc, v.turn desc limit 10) done)""";

    /** How the run's attempts before this one ended, the last five: people may have rejected a plan or a result. */
    private static final String EARLIER = """
            'earlier', (
                select coalesce(jsonb_agg(jsonb_build_object('attempt', b.attempt_number, 'error_code', b.error_code,
                        'message', b.error_message) order by b.attempt_number), '[]')
                  from (select a.* from run_attempts a
                         where a.run_id = r.id and a.attempt_number < r.attempt_number
                         order by a.attempt_number desc limit 5) b)""";

    /** The estimate by the workspace's prices, tokens included. */
    private static final String PLAN_APPROVAL = """
            jsonb_build_object('goal', r.goal, 'task_count', jsonb_array_length(r.plan -> 'tasks'), 'estimated_cost', (
                select (v.payload ->> 'estimated_cost')::numeric from orchestration_events_kept v
                 where v.run_id = r.id and v.event_type = 'run_plan_ready'
                 order by v.pack_seq desc, v.seq desc limit 1), 'plan', %s, %s)"""
            .formatted(PLAN.formatted("r.plan"), EARLIER);

    /** The outputs of the last tasks, five at most: the result of a run without an output of its own. */
    private static final String RESULTS = """
            (select coalesce(jsonb_agg(jsonb_build_object('task', y.key, 'title', y.title, 'state', y.state, 'output',
                        y.output_summary, 'output_ref', y.output_ref) order by y.sequence_number), '[]')
              from (select t.* from orchestration_tasks t
                     where t.run_id = r.id and t.attempt = r.attempt_number and not t.superseded and t.group_id is null
                       and t.key not like '.%'
                       and not exists (select from orchestration_task_dependencies d
                            where d.depends_on_id = t.id
                              and not (select down.superseded from orchestration_tasks down where down.id = d.task_id))
                     order by t.sequence_number limit 5) y)""";

    /** With the first 20 tasks that have criteria, checks or a second attempt. */
    private static final String RESULT =
            """
            jsonb_build_object('goal', r.goal, 'tasks_completed', r.tasks_completed,
                'tasks_failed', r.tasks_failed, 'artifacts', array(
                    select distinct f.name from artifacts f where f.run_id = r.id
                       and (f.attempt = r.attempt_number or f.step_id in (
                            select s.id from orchestration_tasks w join task_steps s on s.task_id = w.reused_from
                             where w.run_id = r.id and w.attempt = r.attempt_number))
                     order by f.name limit 50), 'verified', (
                    select coalesce(jsonb_agg(jsonb_build_object('task', x.key, 'title', x.title, 'state', x.state,
                        'attempt', x.attempt_number, 'success_criteria', x.success_criteria, 'score',
                        trim_scale(x.verifier_score), 'verified_by', x.verified_by, 'checks', %s)
                        order by x.sequence_number), '[]')
                      from (select w.* from orchestration_tasks w
                             where w.run_id = r.id and w.attempt = r.attempt_number and not w.superseded
                               and w.group_id is null and w.key not like '.%%'
                               and (w.success_criteria is not null or w.verified_by is not null or w.attempt_number > 1)
                             order by w.sequence_number limit 20) x), %s, %s)
                || case when pg_column_size(r.output) <= 65536 then jsonb_build_object('output', r.output)
                    else jsonb_build_object('output', null, 'summary', r.result_summary, 'results', case when r.output is null then %s end) end"""
                    .formatted(CHECKS.formatted("x"), SPENT, EARLIER, RESULTS);

    private static final String REVIEW = """
            jsonb_build_object('output', t.output_summary, 'success_criteria', t.success_criteria,
                'score', trim_scale(t.verifier_score), 'attempt', t.attempt_number, 'reason', (
                    select v.payload -> 'reason' from orchestration_events_kept v
                     where v.run_id = r.id and v.task_id = t.id and v.event_type = 'task_human_review_requested'
                     order by v.pack_seq desc, v.seq desc limit 1), 'checks', %s)
                || case when t.output_ref is null then '{}' else jsonb_build_object('output_ref', t.output_ref) end"""
            .formatted(CHECKS.formatted("t"));

    private static final String FAILURE =
            """
            jsonb_build_object('reason', e.reason, 'error_code', e.error_code, 'message', e.message,
                'error_class', case when s.id is null then t.error_class else s.error_class end,
                'task', t.key, 'task_title', t.title, 'step', s.name, 'tool', s.tool, 'attempt',
                case when s.id is null then t.attempt_number else s.attempt end, 'alike', (
                    select count(*) from timers x where x.run_id = e.run_id and x.kind = 'human' and x.cause = p.cause), %s)
                || (select jsonb_build_object('input', %s, 'input_missing', case when given.input is null and s.id is not null
                        then 'No resolved input was recorded for this attempt' end)
                      from (select %s as input offset 0) given)"""
                    .formatted(SPENT, BOUNDED.formatted("given.input"),
                            TaskSql.ATTEMPT_INPUT);

    /** The proposed plan as the planner gave it, and facts about the old one. */
    private static final String NEW_PLAN = """
            (select jsonb_build_object('goal', r.goal, 'reason', (
                    select v.payload -> 'reason' from orchestration_events_kept v
                     where v.run_id = r.id and v.event_type = 'run_replanning'
                     order by v.pack_seq desc, v.seq desc limit 1),
                'failed', (
                    select coalesce(jsonb_agg(jsonb_build_object('task', f.key, 'title', f.title, 'error_code',
                        f.error_code, 'message', f.error_message)), '[]') from (
                        select x.* from orchestration_tasks x
                         where x.run_id = r.id and x.attempt = r.attempt_number and not x.superseded
                           and x.state = 'failed' and x.key not like '.%%'
                         order by x.sequence_number, x.item_index nulls first limit 20) f),
                'task_count', jsonb_array_length(made.plan -> 'tasks'), 'plan', %s,
                'proposed', jsonb_path_query_array(made.plan, '$.tasks[*].id')
                    || jsonb_path_query_array(made.plan, '$.tasks[*].temp_id'),
                'previous', jsonb_path_query_array(r.plan, '$.tasks[*].temp_id'),
                'completed', array(
                    select x.key from orchestration_tasks x
                     where x.run_id = r.id and x.attempt = r.attempt_number and not x.superseded
                       and x.state = 'completed' and x.group_id is null and x.key not like '.%%'
                     order by x.sequence_number), %s)
               from (select %s as plan) made)""".formatted(PLAN.formatted("made.plan"), SPENT, """
            (select %s from orchestration_tasks t
              where t.run_id = r.id and t.attempt = r.attempt_number and t.task_type = 'planning'
              order by t.sequence_number desc, t.id desc limit 1)""".formatted(TaskSql.YIELD));

    private static final String BUDGET = """
            jsonb_build_object('goal', r.goal, 'charged', trim_scale(r.credits_charged_before + h.credits_charged),
                'hard_limit_usd', {limit}, 'task_budgets', {task budgets}, 'tasks_completed', r.tasks_completed, 'tasks_open', (
                    select count(*) from orchestration_tasks x
                     where x.run_id = r.id and x.attempt = r.attempt_number and not x.superseded
                       and x.state_type <> 'terminal' and x.group_id is null),
                'next', array(
                    select x.title from orchestration_tasks x
                     where x.run_id = r.id and x.attempt = r.attempt_number and not x.superseded
                       and x.state_type <> 'terminal' and x.group_id is null
                     order by x.sequence_number limit 10), {spent})""".replace("{spent}", SPENT)
            .replace("{task budgets}", ReadSql.TASK_BUDGETS);

    /** The run's limit. */
    static final String HARD_LIMIT =
            "trim_scale(coalesce(r.hard_limit_usd, (r.policy #>> '{budget,hard_limit}')::numeric))";

    static final String DATA = """
            case p.kind when 'plan_approval' then {plan}
                    when 'result_acceptance' then {result}
                    when 'task_review' then {review}
                    when 'budget' then {budget}
                    when 'escalation' then case e.kind when 'failure' then {failure} else {new plan} end end"""
            .replace("{plan}", PLAN_APPROVAL).replace("{result}", RESULT).replace("{review}", REVIEW)
            .replace("{budget}", BUDGET.replace("{limit}", HARD_LIMIT)).replace("{failure}", FAILURE)
            .replace("{new plan}", NEW_PLAN);

    private InboxDataSql() {}
}
