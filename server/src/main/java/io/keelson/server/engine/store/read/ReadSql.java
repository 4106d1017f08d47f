package io.keelson.server.engine.store.read;

import io.keelson.server.base.db.Sql;
import java.util.Collections;

/**
 * The queries of {@link RunReader}; queries of tasks and steps are in {@link TaskSql}. A column's label is the
 * document's member; every query filters by workspace. If it also filters by a run's id, the workspace is in
 * {@code is true}, which no index serves: a plan made on empty tables would otherwise always scan all runs of the
 * workspace.
 */
final class ReadSql {
    /** Failures of the current attempt: tasks, and after its end also steps whose tasks continued without them. */
    private static final String FAILURES = """
            case r.state_type when 'terminal' then coalesce((select a.failures from run_attempts a
                        where a.run_id = r.id and a.attempt_number = r.attempt_number), 0)
                    else r.tasks_failed end""";

    /** The budgets of the tasks of a run {@code r}, with their use: charges, and what child runs may cost. */
    static final String TASK_BUDGETS = """
            (select coalesce(jsonb_agg(jsonb_build_object('task', b.task_key, 'budget_usd', trim_scale(b.budget_usd),
                    'used', trim_scale(b.charged + coalesce((
                        select sum(case when k.ended or k.charged > 0 or k.allotment is null then k.charged
                            else k.allotment end)
                          from run_children k where k.run_id = b.run_id and k.task_key = b.task_key), 0)),
                    'exceeded', b.exceeded) order by b.task_key), '[]')
               from task_budgets b where b.run_id = r.id)""";

    /** Skips subqueries that an ended run, or a first attempt, cannot need. */
    private static final String RUN_COLUMNS = """
            r.id, r.workspace_id, r.title as name, r.description, r.goal, r.state, r.state as status, r.state_type,
                r.priority, r.trigger, %1$s r.config, r.tags, r.agent_slug, r.external_id, r.attempt_number,
                r.max_attempts, r.plan_version, r.replans, r.gate, r.forked_from, r.fork_task,
                parent.parent_run_id, parent.parent_step_id,
                (select count(*) from run_children k where k.run_id = r.id)::int as child_count,
                case when r.state_type = 'terminal' or parent.parent_run_id is not null then (
                    select jsonb_build_object('state', u.state, 'run_id', u.undo_run_id, 'tasks', u.tasks, 'undone', u.undone,
                            'by_hand', u.by_hand, 'not_done', u.not_done, 'not_undone', u.not_undone,
                            'waits_for_humans', case u.state when 'running' then (select count(*) from timers w
                                where w.run_id = u.undo_run_id and w.kind = 'human') else 0 end,
                            'requested_by', u.requested_by, 'reason', u.reason, 'requested_at', u.requested_at,
                            'error_code', u.error_code, 'error_message', u.error_message)
                      from run_undos u where u.run_id = r.id) end as undo,
                r.policy #>> '{undo,undoes}' as undoes, r.start_at,
                r.origin ->> 'recipe_id' as recipe_id, (r.origin ->> 'recipe_version')::int as recipe_version,
                r.origin ->> 'schedule_id' as schedule_id, r.origin ->> 'scheduled_for' as scheduled_for,
                (select count(*) from escalation_tickets e
                  where e.run_id = r.id and e.resolution is null)::int as open_escalations,
                case r.state when 'escalated' then (select e.id from escalation_tickets e
                  where e.run_id = r.id and e.resolution is null order by e.opened_at desc, e.id desc limit 1) end
                    as escalation_ticket_id,
                case r.state_type when 'terminal' then 0
                    else (select count(*) from timers w where w.run_id = r.id and w.kind = 'human') end::int
                    as waits_for_humans,
                r.task_count,
                r.tasks_completed, r.tasks_failed, r.tasks_skipped,
                {failures} as failures,
                r.steps_total,
                h.steps_completed, r.agent_count,
                array(select distinct a.name from run_agents a
                       where a.run_id = r.id and a.attempt = r.attempt_number and left(a.name, 1) <> '.'
                       order by a.name limit 10)::text[] as agent_names,
                trim_scale(r.credits_charged_before + r.credits_refunded + h.credits_left + h.credits_charged) as credits_reserved,
                trim_scale(r.credits_charged_before + h.credits_charged) as credits_charged,
                trim_scale(r.credits_refunded) as credits_refunded,
                trim_scale(r.credits_uncollected + case r.attempt_number when 1 then 0
                    else (select coalesce(sum(a.uncollected), 0) from run_attempts a
                        where a.run_id = r.id and a.attempt_number < r.attempt_number) end) as credits_uncollected,
                trim_scale(coalesce(r.hard_limit_usd, (r.policy #>> '{budget,hard_limit}')::numeric)) as hard_limit_usd,
                trim_scale(coalesce(r.soft_limit_usd, (r.policy #>> '{budget,soft_limit}')::numeric)) as soft_limit_usd,
                {task budgets} as task_budgets,
                h.total_tokens, h.usage,
                trim_scale(h.total_cost) as total_cost, r.result_summary, r.error_code, r.error_message,
                r.coordinator_agent_id, r.created_by, r.created_at, h.updated_at, r.started_at, r.completed_at,
                r.cancelled_at, r.duration_ms, r.ended_ms,
                case when r.active_since is null then r.active_ms end as active_ms,
                case when r.state_type <> 'terminal' then (
                    select greatest(max(q.lease_expires_at - q.lease_ms * interval '1 millisecond'),
                            case r.state when 'running' then h.updated_at end)
                      from work_queue q
                     where q.run_id = r.id and q.lease_expires_at > timestamptz 'epoch'
                    having count(*) > 0) end as last_heartbeat_at,
                h.version_id""".replace("{failures}", FAILURES).replace("{task budgets}", TASK_BUDGETS);

    /** The tables of {@link #RUN_COLUMNS}. Looks the parent up, regardless of a plan made on empty tables. */
    private static final String RUN_TABLES = """
            orchestration_runs r join run_heads h on h.run_id = r.id
              left join lateral (select p.parent_run_id, p.parent_step_id from run_parents p where p.run_id = r.id limit 1)
                parent on true""";

    static final String RUN = """
            select %s
              from %s
             where (r.workspace_id = ?) is true and r.id = ? and r.deleted_at is null""".formatted(
            RUN_COLUMNS.formatted("r.plan, r.inputs, r.output,"), RUN_TABLES);

    /** The number of runs that {@link #SOME_RUNS} reads. */
    static final int SOME = 16;

    /**
     * Reads {@link #SOME} runs by ids, which may be null, in the workspace that follows them. Looks up each run: a plan
     * for a condition on all ids reads all runs if it was made on empty tables, or is made again for each list of ids.
     */
    static final String SOME_RUNS = """
            select run.*
              from (values %s) as wanted (id)
             cross join lateral (%s limit 1) run""".formatted(
            String.join(", ", Collections.nCopies(SOME, "(?::uuid)")), RUN.replace("r.id = ?", "r.id = wanted.id"));

    /** Reads a run without plan, inputs and output. */
    static final String RUN_WITHOUT_VALUES = """
            select %s
              from %s
             where (r.workspace_id = ?) is true and r.id = ? and r.deleted_at is null""".formatted(
            RUN_COLUMNS.formatted(""), RUN_TABLES);

    /** Reads a run with sizes and beginnings of inputs and output. */
    static final String LIGHT_RUN = """
            select %s
              from %s
             where (r.workspace_id = ?) is true and r.id = ? and r.deleted_at is null""".formatted(
            RUN_COLUMNS.formatted(
                    ValueSql.light("r.inputs", "inputs") + ", " + ValueSql.light("r.output", "output") + ","),
            RUN_TABLES);

    static final String STATE = """
            select r.state from orchestration_runs r
             where (r.workspace_id = ?) is true and r.id = ? and r.deleted_at is null""";

    /**
     * Condition on an open task {@code t}: its output waits or will wait for a person, or one of its own or its items'
     * steps does.
     */
    private static final String APPROVAL_IS_DUE = """
            t.state_type <> 'terminal' and (t.state = 'awaiting_human' or t.policy ->> 'review' = 'true'
                or exists (select from jsonb_array_elements(t.step_specs) spec where lower(spec ->> 'kind') = 'approval')
                or exists (select from orchestration_steps s
                            where s.task_id = t.id and s.kind = 'approval' and s.state <> 'completed'))""";

    static final String ASKS_FOR_APPROVAL = """
            select t.id from orchestration_tasks t
             where (t.workspace_id = ?) is true and t.id = ? and %s""".formatted(APPROVAL_IS_DUE);

    static final String AGENT_ASKS_FOR_APPROVAL = """
            select t.id from orchestration_runs r
              join run_agents a on a.run_id = r.id and a.attempt = r.attempt_number and a.number = ?
              join orchestration_tasks t on t.run_id = r.id and t.attempt = r.attempt_number and t.run_agent_id = a.id
               and not t.superseded
             where (r.workspace_id = ?) is true and r.id = ? and %s
             limit 1""".formatted(APPROVAL_IS_DUE);

    static final String APPROVERS = """
            select coalesce((r.policy #>> '{humans,approvals}')::int, 1) as people,
                coalesce(r.policy #>> '{humans,four_eyes}' = 'true', false) as four_eyes,
                coalesce((r.config ->> 'approvals')::int, 1) as mission_people,
                coalesce(r.config ->> 'four_eyes' = 'true', false) as mission_four_eyes
              from orchestration_runs r where (r.workspace_id = ?) is true and r.id = ?""";

    static final String REQUIRES_SEVERAL = """
            select r.id from orchestration_runs r
             where (r.workspace_id = ?) is true and r.id = ?
               and (r.policy #>> '{humans,approvals}' <> '1'
                    or exists (select from orchestration_tasks t
                                where t.run_id = r.id and t.attempt = r.attempt_number and not t.superseded
                                  and t.state_type <> 'terminal' and t.policy ->> 'approvals' <> '1'))""";

    static final String REPLAN_SKIPS_APPROVAL = """
            select t.id from orchestration_runs r
              join orchestration_tasks t on t.run_id = r.id and t.attempt = r.attempt_number and not t.superseded
             where (r.workspace_id = ?) is true and r.id = ?
               and (r.policy #>> '{failures,approve_replans}') is distinct from 'true' and %s
             limit 1""".formatted(APPROVAL_IS_DUE);

    /** Only of open runs, which have an index; an agent's past may be long. */
    static final String OPEN_TASKS_OF_AGENTS = """
            select t.agent_id, count(*)::int as open
              from (select id, attempt_number from orchestration_runs
                     where workspace_id = ? and state_type <> 'terminal' order by id desc limit 2000) r
              join orchestration_tasks t on t.run_id = r.id and t.attempt = r.attempt_number and not t.superseded
             where t.agent_id is not null and t.state_type <> 'terminal'
             group by t.agent_id""";

    /** By agent and type of task: its latest ended tasks by their ids, and how many of them were completed. */
    static final String HISTORY_OF_AGENTS = """
            select a.id as agent_id, y.task_type, (100 * h.completed / h.ended)::int as percent
              from unnest(?::int[]) as a (id)
             cross join unnest(?::text[]) as y (task_type)
             cross join lateral (
                select count(*) as ended, count(*) filter (where latest.state = 'completed') as completed
                  from (select t.state from orchestration_tasks t
                         where (t.workspace_id = ?) is true and t.agent_id = a.id and t.task_type = y.task_type
                           and t.state in ('completed', 'failed')
                         order by t.id desc limit ?) latest) h
             where h.ended > 0""";

    static final String OPEN_WITH_TAG = """
            select id from orchestration_runs
             where workspace_id = ? and state_type <> 'terminal' and tags @> jsonb_build_array(?::text)
               and deleted_at is null
             order by created_at limit ?""";

    static final String HAS_SIGNAL = "select id from run_signals where run_id = ? and id = ?";

    /** The parts of ended runs that events about their ends have; without outputs above 64 KiB. */
    static final String ENDS = """
            select r.id, r.title as name, r.tags, r.external_id, r.trigger, r.error_code, r.error_message,
                r.origin ->> 'recipe_id' as recipe_id, coalesce((r.origin ->> 'trigger_depth')::int, 0) as depth,
                exists (select from run_parents p where p.run_id = r.id) as child,
                case when octet_length(r.output::text) <= 65536 then r.output end as output
              from orchestration_runs r
             where r.workspace_id = ? and r.id = any (?::uuid[]) and r.deleted_at is null""";

    static final String BY_EXTERNAL_ID = """
            select r.id
              from (select ?::uuid as workspace_id, ?::text as external_id) wanted
             cross join lateral (
                select id from orchestration_runs o
                 where o.workspace_id = wanted.workspace_id and o.external_id = wanted.external_id
                union all
                select id from archived_runs a
                 where a.workspace_id = wanted.workspace_id and a.external_id = wanted.external_id) r
             limit 1""";

    /**
     * Whether the run is visible for clients. Not a join, which a plan made on empty tables would begin with all runs.
     */
    static final String NOT_DELETED = """

               and (select r.deleted_at from orchestration_runs r where r.id = %s.run_id) is null""";

    /** With the conditions of a {@link RunSelection}; without large columns: plan, inputs and output. */
    static final String RUNS = """
            select %s
              from %s
             where r.workspace_id = ? and r.deleted_at is null{filter}
               and (?::timestamptz is null or (r.created_at, r.id) < (?::timestamptz, ?::uuid))
             order by r.created_at desc, r.id desc
             limit ?""".formatted(RUN_COLUMNS.formatted(""), RUN_TABLES);

    /** Sorted by {order}: of at most the 50,000 newest that match. */
    static final String SORTED_RUNS = """
            select %s
              from %s
              join (select n.id, row_number() over (order by {order}, n.created_at desc, n.id desc) as place
                      from (select r.* from orchestration_runs r
                             where r.workspace_id = ? and r.deleted_at is null{filter}
                             order by r.created_at desc, r.id desc
                             limit 50000) n
                      join run_heads k on k.run_id = n.id
                     order by place
                    offset ? limit ?) p on p.id = r.id
             order by p.place""".formatted(RUN_COLUMNS.formatted(""), RUN_TABLES);

    /**
     * The facts that decide the run lifecycle contract's error: whether an agent's turn ended with it, and whether its
     * class is retried.
     *
     * @param of the run {@code r} itself or one of its attempts, each with its state, attempt_number and error_code
     */
    static String failure(String of) {
        return """
                select bool_or(s.kind = 'turn') is true as error_of_turn,
                        bool_or(coalesce(s.error_class, t.error_class) in ('infrastructure', 'quality')) is true
                            as error_retried
                      from orchestration_tasks t
                      left join orchestration_steps s on s.task_id = t.id and s.error_code = %1$s.error_code
                     where %1$s.state = 'failed' and t.run_id = r.id and t.attempt = %1$s.attempt_number
                       and (t.error_code = %1$s.error_code or s.error_code is not null)""".formatted(of);
    }

    static final String STATUS = """
            select r.id as run_id, r.agent_slug, r.state, r.trigger, r.started_at, r.completed_at as finished_at,
                (select s.name from orchestration_steps s where s.id = (
                    select e.step_id from orchestration_events_kept e
                     where e.run_id = r.id and e.step_id is not null
                       and e.event_type not in ('step_cancelled', 'step_skipped')
                     order by e.pack_seq desc, e.seq desc limit 1)) as current_step,
                r.steps_total, h.steps_completed,
                array(select 'prop_' || p.id from proposals p where p.run_id = r.id order by p.id)::text[]
                    as proposals_created, r.error_code, r.error_message, f.error_of_turn, f.error_retried,
                %s as failures, r.attempt_number, r.begun_at is not null as begun, h.last_seq
              from orchestration_runs r join run_heads h on h.run_id = r.id
             cross join lateral (%s) f
             where (r.workspace_id = ?) is true and r.id = ? and r.deleted_at is null"""
            .formatted(FAILURES, failure("r"));

    static final String LAST_EVENT = """
            select h.last_seq
              from orchestration_runs r join run_heads h on h.run_id = r.id
             where (r.workspace_id = ?) is true and r.id = ? and r.deleted_at is null""";

    static final String STATES = """
            select r.id as run_id, r.attempt_number, r.state, r.begun_at is not null as begun, r.error_code, f.error_of_turn, f.error_retried, r.gate,
                exists (select from work_queue q where q.run_id = r.id) as dispatched,
                (select coalesce(jsonb_agg(g), '[]') from (
                    select t.state, t.attempt_number > 1 or t.started_at is not null as tried, o.open, o.dispatched, count(*) as count
                      from orchestration_tasks t
                     cross join lateral (
                        select coalesce(jsonb_agg(distinct s.state), '[]') as open,
                            exists (select from work_queue q where q.task_id = t.id) as dispatched
                          from orchestration_steps s
                         where t.state in ('running', 'verifying') and s.task_id = t.id
                           and s.task_attempt >= t.attempt_number
                           and s.state in ('running', 'waiting', 'awaiting_retry', 'waiting_approval')) o
                     where t.run_id = r.id and t.attempt = r.attempt_number and not t.superseded
                     group by t.state, t.attempt_number > 1 or t.started_at is not null, o.open, o.dispatched) g) as tasks,
                (select coalesce(jsonb_agg(g), '[]') from (
                    select s.state, count(*) as count
                      from orchestration_tasks t join orchestration_steps s on s.task_id = t.id
                     where t.run_id = r.id and t.attempt = r.attempt_number and not t.superseded
                       and s.task_attempt >= t.attempt_number
                     group by s.state) g) as steps
              from orchestration_runs r
             cross join lateral (%s) f
             where (r.workspace_id = ?) is true and r.id = ? and r.deleted_at is null""".formatted(failure("r"));

    /**
     * Open signal steps with their inputs, and keys of tasks of which further steps will be made: a task that has failed begins
     * again with new steps, a fan-out has none before its items are known, and another round has its own. One statement, so that no step is missed that is
     * made in between.
     */
    static final String SIGNAL_WAITS = """
            select s.id, case when s.resolved_input is null then s.input else s.resolved_input end as input, null as key
              from orchestration_steps s
             where (s.workspace_id = ?) is true and s.run_id = ? and s.kind = 'signal'
               and s.state_type <> 'terminal'
            union all
            select null, null, concat(split_part(t.key, '[', 1), '.' || nullif(split_part(t.key, '].', 2), ''))
              from orchestration_runs r
              join orchestration_tasks t on t.run_id = r.id and t.attempt = r.attempt_number
             where (r.workspace_id = ?) is true and r.id = ? and not t.superseded
               and (t.state = 'awaiting_retry'
                    or t.step_specs is not null and (t.state = 'pending'
                        or exists (select from orchestration_tasks g where g.id = t.group_id and g.state = 'running')
                        or t.state = 'running' and t.policy -> 'repeat' ->> 'until' is not null))""";

    static final String EVENTS = """
            select e.id, e.seq, e.run_id, e.attempt, e.agent_id, e.task_id, e.step_id, e.event_type, e.payload,
                e.actor_type, e.actor_id, e.created_at
              from orchestration_runs r join orchestration_events_kept e on e.run_id = r.id
             where (r.workspace_id = ?) is true and r.id = ? and e.pack_seq > ? - 100 and e.seq > ?
             order by e.pack_seq, e.seq
             limit ?""";

    /**
     * Reads events with {@code step}: the ordinal of the step's completion in its attempt. Counts the run's earlier
     * events, so read many at once.
     */
    static final String EVENTS_WITH_STEPS = """
            with page as materialized (%s),
            before as materialized (
                select f.attempt, (
                    select count(*) from orchestration_events_kept b
                     where b.run_id = f.run_id and b.pack_seq < f.seq and b.seq < f.seq and b.attempt = f.attempt
                       and b.step_id is not null and b.payload ->> 'to' = 'completed') as steps
                  from (select run_id, attempt, min(seq) as seq from page group by run_id, attempt
                        having bool_or(event_type = 'step_completed')) f)
            select p.*, case when p.event_type = 'step_completed' then b.steps
                    + count(*) filter (where p.step_id is not null and p.payload ->> 'to' = 'completed')
                        over (partition by p.attempt order by p.seq) end as step
              from page p left join before b on b.attempt = p.attempt
             order by p.seq""".formatted(EVENTS);

    static final String PROGRESS = """
            select h.run_id, h.last_seq, r.state_type = 'terminal' as ended
              from run_heads h join orchestration_runs r on r.id = h.run_id
             where h.run_id = any (?)""";

    static final String PROGRESS_OF = """
            select h.last_seq, r.state_type = 'terminal' as ended
              from orchestration_runs r join run_heads h on h.run_id = r.id
             where (r.workspace_id = ?) is true and r.id = ? and r.deleted_at is null""";

    static final String ATTEMPTS = """
            select a.attempt_number, a.state, a.started_at, a.completed_at, a.error_code, a.error_message, a.failures,
                trim_scale(case when open then h.credits_left + h.credits_charged else a.credits_reserved end) as credits_reserved,
                trim_scale(case when open then h.credits_charged else a.credits_charged end) as credits_charged,
                trim_scale(a.credits_refunded) as credits_refunded,
                trim_scale(case when open then r.credits_uncollected else a.uncollected end) as credits_uncollected
              from orchestration_runs r join run_heads h on h.run_id = r.id join run_attempts a on a.run_id = r.id
             cross join lateral (select a.settled_at is null and a.attempt_number = r.attempt_number as open) account
             where (r.workspace_id = ?) is true and r.id = ?
             order by a.attempt_number""";

    static final String PLANS = """
            with run as (select * from orchestration_runs r where (r.workspace_id = ?) is true and r.id = ?)
            select p.version, p.plan, false as in_force, p.replaced_at
              from run join run_plans p on p.run_id = run.id
            union all
            select plan_version, plan || jsonb_build_object('version', plan_version), true, null
              from run where plan_version > 0
             order by version
            offset ? limit ?""";

    static final String PLAN = """
            with run as (select * from orchestration_runs r where (r.workspace_id = ?) is true and r.id = ?),
                wanted as (select ?::integer as version)
            select p.plan from run cross join wanted join run_plans p on p.run_id = run.id and p.version = wanted.version
            union all
            select run.plan from run join wanted on wanted.version = run.plan_version""";

    static final String AGENTS = """
            select a.id, a.number, a.name, a.attempt, a.attempt_number, a.state, a.state_type, a.failing,
                a.failure_ignored, coalesce(n.tasks, 0)::int as task_count, a.next_run_at, a.started_at, a.completed_at,
                n.tasks_ended_at
              from orchestration_runs r join run_agents a on a.run_id = r.id
              left join (select run_agent_id, run_id, count(*) as tasks, case when bool_and(state_type = 'terminal')
                                then max(coalesce(completed_at, cancelled_at)) end as tasks_ended_at
                           from orchestration_tasks where not superseded
                          group by run_id, run_agent_id) n on n.run_id = r.id and n.run_agent_id = a.id
             where (r.workspace_id = ?) is true and r.id = ?
             order by a.attempt, a.number""";

    static final String ARTIFACTS = """
            select a.id, a.run_id, case when a.task_id is null then s.task_id else a.task_id end as task_id, a.step_id,
                a.attempt, a.name, a.content_type, a.size_bytes, a.sha256, a.created_at, a.expires_at, a.deleted_at
              from artifacts a left join orchestration_steps s on s.id = a.step_id
             where a.workspace_id = ? and a.run_id = ?
             order by a.created_at, a.id""";

    static final String ARTIFACT = """
            select name, content_type, size_bytes, sha256, storage_key from artifacts
             where workspace_id = ? and run_id = ? and id = ?""";

    static final String LOGS = """
            select l.lease_epoch * 1000000::bigint + l.line as seq, l.attempt, l.message, l.at as created_at
              from orchestration_steps s join step_logs l on l.step_id = s.id
             where s.workspace_id = ? and s.id = ?%s and l.lease_epoch * 1000000::bigint + l.line > ?
             order by l.lease_epoch, l.line
             limit ?""".formatted(NOT_DELETED.formatted("s"));

    static final Sql QUEUE = Sql.of("""
            select tool, (count(*) filter (where holder is null))::int as waiting,
                (count(*) filter (where holder is not null))::int as leased,
                min(queued_at) filter (where holder is null) as oldest_at
              from work_queue
             where workspace_id = :workspace
             group by tool
             order by 2 desc, tool
             limit 500""");

    static final Sql WORKERS = Sql.of("""
            select id, tools, slots, version, draining, first_seen_at, last_seen_at from workers
             where workspace_id = :workspace
             order by id""");

    private static final String ESCALATIONS = """
            select e.id, e.run_id, r.title as run_name, e.attempt, e.kind, e.task_id, t.key as task_key, e.step_id,
                s.name as step_name, e.severity, e.reason, e.error_code, e.message, e.state, e.resolution,
                e.resolved_by, e.comment as resolution_reason, e.opened_at, e.resolved_at,
                coalesce(r.policy #>> '{undo,undoes}' is not null, false) as undo
              from escalation_tickets e
              join orchestration_runs r on r.id = e.run_id
              left join orchestration_tasks t on t.id = e.task_id
              left join orchestration_steps s on s.id = e.step_id
             where e.workspace_id = ? and r.deleted_at is null""";

    static final String ESCALATION = ESCALATIONS + " and e.id = ?";

    static final String ESCALATION_LIST = ESCALATIONS + """

               and (?::uuid is null or e.run_id = ?) and (?::text is null or e.state = ?)
               and (?::uuid is null or (e.opened_at, e.id) < (
                   select last.opened_at, last.id from escalation_tickets last
                    where last.workspace_id = e.workspace_id and last.id = ?))
             order by e.opened_at desc, e.id desc
             limit ?""";

    /** A run as submitted, with its current plan. */
    static final String MISSION = """
            select r.title as name, r.description, r.goal, r.plan, r.config, r.inputs, r.tags,
                r.output_template::jsonb as output, r.priority, r.agent_slug, r.input_declarations, r.origin, r.state,
                trim_scale(r.total_cost) as total_cost, r.total_tokens, r.duration_ms, r.completed_at
              from orchestration_runs r
             where (r.workspace_id = ?) is true and r.id = ? and r.deleted_at is null""";

    /** Completed tasks of the current attempt, each with the task that holds its output. */
    static final String COMPLETED = """
            select t.key, coalesce(t.reused_from, t.id) as id
              from orchestration_runs r
              join orchestration_tasks t on t.run_id = r.id and t.attempt = r.attempt_number
             where (r.workspace_id = ?) is true and r.id = ? and t.group_id is null and t.state = 'completed'
               and not t.superseded
             order by t.sequence_number, t.id""";

    static final String OPEN_COUNT = """
            select count(*)::int as count from (
                select from orchestration_runs where workspace_id = ? and state_type <> 'terminal' limit ?) o""";

    /** When the oldest run that fills the last minute's limit leaves it; index and offset bound the read. */
    static final String MOST_RECENT = """
            select ceil(extract(epoch from created_at + interval '1 minute' - clock_timestamp()) * 1000)::bigint as wait_ms
              from orchestration_runs
             where workspace_id = ?
             order by created_at desc
            offset ? limit 1""";

    static final String STORED =
            """
            select coalesce(sum(f.size_bytes), 0)::bigint as bytes
              from (select ?::uuid as workspace_id) w
             cross join lateral (
                select size_bytes from artifacts a where a.workspace_id = w.workspace_id and a.deleted_at is null
                union all
                select size_bytes from archived_files r where r.workspace_id = w.workspace_id and r.expires_at is not null) f""";

    static final Sql USE = Sql.of("""
            select (select count(*) from orchestration_runs where workspace_id = :workspace and state_type <> 'terminal')
                    as open_runs,
                (select count(*) from work_queue where workspace_id = :workspace and holder is not null) as steps,
                (select count(*) from orchestration_runs
                  where workspace_id = :workspace and created_at > clock_timestamp() - interval '1 minute') as runs_last_minute,
                (select coalesce(sum(size_bytes), 0)::bigint from artifacts
                  where workspace_id = :workspace and deleted_at is null)
                    + (select coalesce(sum(size_bytes), 0)::bigint from archived_files
                        where workspace_id = :workspace and expires_at is not null) as storage_bytes,
                keelson_month_use(:workspace, clock_timestamp()) as usd_this_month""");

    static final String OPEN = """
            select id from orchestration_runs
             where workspace_id = ? and state_type <> 'terminal' and (?::uuid is null or id > ?)
             order by id
             limit ?""";

    private ReadSql() {}
}
