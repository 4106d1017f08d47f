package io.keelson.server.engine.store.read;

import io.keelson.server.base.db.DbClock;

/**
 * The queries of {@link InboxReader}. Items are derived from their causes: the timers of the kind {@code human}, runs stopped
 * for their budget, pending proposals, questions of foreign tools, and their changed descriptions. Six parameters come first: three
 * times the workspace, the time, and twice the workspace.
 */
final class InboxSql {

    /** Microseconds since 1970; items without a due time come last. */
    private static final String MICROS = "case when %1$s is null then 9223372036854775807 else "
            + "(extract(epoch from %1$s) * 1000000)::bigint end";

    private static final String ORDER = MICROS.formatted("due_at") + ", " + MICROS.formatted("since") + ", subject";

    /**
     * {@code kind, subject, run_id, since, due_at, assignee, cause}; an item's own due time overrides the run's rule. Tickets of a
     * run about the same failure have the same cause.
     */
    private static final String WAITING = """
            waiting as materialized (
                select i.kind, i.subject, i.run_id, i.since, a.assignee, coalesce(i.cause, i.subject::text) as cause,
                    case when a.due_at is not null then a.due_at else i.due_at end as due_at
                  from (
                    select q.kind, w.subject, w.run_id, q.since, greatest(q.since, case q.kind
                            when 'result_acceptance' then r.state_since end) + case
                            when r.policy #>> '{humans,timeout}' is null then interval '1 day'
                            else (r.policy #>> '{humans,timeout}')::interval end as due_at,
                            case when e.kind = 'failure' then {cause} end as cause
                      from timers w
                      join orchestration_runs r on r.id = w.run_id
                      left join orchestration_steps s on s.id = w.subject
                      left join orchestration_tasks t on t.id = w.subject
                      left join escalation_tickets e on e.id = w.subject
                     cross join lateral (
                        select case when s.kind = 'call' and s.tool = 'agent.ask' then 'question'
                                when s.kind = 'call' then 'call_approval' when s.id is not null then 'approval_step' when t.id is not null then 'task_review'
                                when e.id is not null then 'escalation'
                                when r.state = 'awaiting_approval' then 'plan_approval'
                                when r.state = 'running' and r.gate = 'acceptance' then 'result_acceptance'
                                end as kind,
                            case when s.id is not null then s.started_at when t.id is not null then t.state_since
                                when e.id is not null then e.opened_at
                                when r.state = 'awaiting_approval' then r.state_since
                                else coalesce((select max(done.completed_at) from orchestration_tasks done
                                       where done.run_id = r.id and not done.superseded
                                         and (done.attempt = r.attempt_number) is true), r.state_since) end as since) q
                     where w.workspace_id = ? and w.kind = 'human' and q.kind is not null
                    union all
                    select 'budget', r.id, r.id, r.state_since, null, null
                      from orchestration_runs r
                     where r.workspace_id = ? and r.state_type = 'paused' and r.state = 'budget_exceeded'
                    union all
                    select 'proposal', p.id, p.run_id, p.created_at, p.expires_at, null
                      from proposals p
                     where p.workspace_id = ? and p.state = 'pending'
                       and (select r.deleted_at from orchestration_runs r where r.id = p.run_id) is null
                       and (p.expires_at is null or p.expires_at > {now})
                    union all
                    select 'elicitation', w.step_id, w.run_id, w.since, null, null
                      from call_waits w
                     where w.workspace_id = ? and w.state = 'asked'
                       and exists (select from orchestration_steps s where s.id = w.step_id and s.state = 'running')
                    union all
                    select 'tool_change', m.change, null, m.changed_at, null, null
                      from mcp_tools m
                     where m.workspace_id = ? and m.change is not null) i
                  left join inbox_assignments a on a.subject = i.subject and a.since = i.since)""".replace("{now}",
            DbClock.SQL).replace("{cause}", InboxDataSql.CAUSE);

    /** Due first, then oldest; a page with all facts. */
    static final String PAGE = "with " + WAITING + """
            , chosen as (
                select *, row_number() over (partition by cause order by {order}) as of_cause from waiting
                 where (?::text is null or kind = ?) and (?::uuid is null or run_id = ?)
                   and (?::text is null or assignee = ?) and (? or assignee is null)
                   and (? or due_at < {now})
                   and (?::uuid is null or subject = ?)),
            page as materialized (
                select * from chosen
                 where (? or of_cause = 1)
                   and (?::uuid is null or ({order}) > (?::bigint, ?::bigint, ?::uuid))
                 order by {order}
                 limit ?)
            select p.kind, p.subject, p.run_id, r.title as run_name, r.state as run_state, p.since as created_at, p.due_at,
                case when p.due_at is null then false else p.due_at < {now} end as overdue, p.assignee,
                w.due_at as reminder_at, t.id as task_id, t.key as task_key, t.title as task_title,
                s.id as step_id, s.name as step_name, s.tool as step_tool,
                case when p.kind in ('approval_step', 'call_approval', 'question') then case when s.resolved_input is null then s.input
                    else s.resolved_input end end as input,
                case when p.kind in ('call_approval', 'question') then s.gate end as gate_reason,
                {data} as subject_data,
                case when p.kind = 'task_review' then t.attempt_number end as gate,
                case when p.kind = 'task_review' then t.error_message end as feedback,
                pr.title as proposal_title, pr.body as proposal_body, pr.data as proposal_data,
                case when p.kind = 'elicitation' then (select json_build_object('server', c.system, 'tool', c.tool,
                    'questions', c.questions, 'round', c.rounds) from call_waits c where c.step_id = p.subject)
                    when p.kind = 'tool_change' then (select json_build_object('server', m.server, 'tool', m.name,
                    'accepted', m.accepted, 'seen', m.seen) from mcp_tools m where m.change = p.subject) end as asked, e.kind as ticket_kind, e.severity, e.reason, e.error_code, e.message,
                case when p.kind = 'budget' then {limit} end as hard_limit_usd,
                {due} as sort_due, {since} as sort_since
              from page p
              left join orchestration_runs r on r.id = p.run_id
              left join run_heads h on h.run_id = p.run_id
              left join timers w on w.kind = 'human' and w.subject = p.subject
              left join escalation_tickets e on p.kind = 'escalation' and e.id = p.subject
              left join proposals pr on p.kind = 'proposal' and pr.id = p.subject
              left join orchestration_steps s on s.id = case when p.kind in
                   ('approval_step', 'call_approval', 'question', 'elicitation') then p.subject
                   when p.kind = 'proposal' then pr.step_id when p.kind = 'escalation' then e.step_id end
              left join orchestration_tasks t on t.id = case when p.kind = 'task_review' then p.subject
                   when p.kind in ('approval_step', 'call_approval', 'question', 'elicitation') then s.task_id
                   when p.kind = 'proposal' then pr.task_id when p.kind = 'escalation' then e.task_id end
             order by sort_due, sort_since, p.subject""".replace("{now}", DbClock.SQL).replace("{order}", ORDER)
            .replace("{data}", InboxDataSql.DATA).replace("{limit}", InboxDataSql.HARD_LIMIT)
            .replace("{due}", MICROS.formatted("p.due_at"))
            .replace("{since}", MICROS.formatted("p.since"));

    static final String STATS = "with " + WAITING + """

            select kind, count(distinct cause)::int as count,
                (count(distinct cause) filter (where due_at < {now}))::int as overdue,
                (count(distinct cause) filter (where assignee is null))::int as unassigned, min(since) as oldest_at,
                min(due_at) as next_due_at
              from waiting
             group by kind""".replace("{now}", DbClock.SQL);

    /** For an item, while it waits. */
    static final String ASSIGN = "with " + WAITING + """

            insert into inbox_assignments as a (subject, workspace_id, run_id, since, assignee, due_at, assigned_by,
                assigned_at)
            select subject, ?, run_id, since, ?, ?::timestamptz, ?, {now} from waiting where kind = ? and subject = ?
            on conflict (subject) do update
               set since = excluded.since,
                   assignee = case when ? and a.since = excluded.since then a.assignee else excluded.assignee end,
                   due_at = case when ? and a.since = excluded.since then a.due_at else excluded.due_at end,
                   assigned_by = excluded.assigned_by, assigned_at = excluded.assigned_at""".replace("{now}",
            DbClock.SQL);

    private InboxSql() {}
}
