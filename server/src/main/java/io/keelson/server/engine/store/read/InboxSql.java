package io.keelson.server.engine.store.read;

import io.keelson.server.base.db.DbClock;

/**
 * The queries of {@link InboxReader} on the view {@code inbox_questions}. The workspace and the time are parameters of its subquery.
 */
final class InboxSql {

    /** Microseconds since 1970; items without a due time come last. */
    private static final String MICROS = "case when %1$s is null then 9223372036854775807 else "
            + "(extract(epoch from %1$s) * 1000000)::bigint end";

    private static final String ORDER = "due_at nulls last, since, subject";

    /**
     * {@code kind, subject, run_id, since, due_at, assignee, cause}; an item's own due time overrides the run's rule. A subquery, so
     * that conditions on it reach the indexes.
     */
    private static final String WAITING = """
            (select q.kind, q.subject, q.run_id, q.asked_at as since, a.assignee, q.cause,
                    case when a.due_at is not null then a.due_at else q.due_at end as due_at
               from inbox_questions q
               left join inbox_assignments a on a.subject = q.subject and a.since = q.asked_at
              where q.workspace_id = ? and (q.expires_at is null or q.expires_at > {now})) waiting""";

    /** The dead deliveries of a trigger; of many, their number is a lower bound. */
    private static final String DEAD = """
            (select json_build_object('trigger', t.name, 'trigger_id', t.id, 'count', count(*),
                'error_code', (array_agg(d.error_code order by d.decided_at desc))[1],
                'message', (array_agg(d.error_message order by d.decided_at desc))[1])
               from triggers t,
                    lateral (select error_code, error_message, decided_at from trigger_deliveries
                              where trigger_id = t.id and state = 'dead' and decided_at >= t.notice_since
                              order by decided_at desc limit 1000) d
              where t.notice = p.subject
              group by t.name, t.id)""";

    /** The approvals of a question, and their required number; null for a question that one person decides. */
    private static final String APPROVALS =
            """
            (select case when n.required > 1 then json_build_object('required', n.required, 'votes', (
                    select coalesce(json_agg(json_build_object('by', v.voter, 'at', v.voted_at, 'reason', v.reason, 'digest', v.digest)
                               order by v.voted_at, v.voter), '[]')
                      from approval_votes v
                     where v.run_id = p.run_id and v.subject = p.subject)) end
               from (select greatest((r.policy #>> '{humans,approvals}')::int, case when p.kind <> 'proposal' then (t.policy ->> 'approvals')::int end) as required) n)""";

    /** Due first, then oldest; a page with all facts. Of tickets with one cause the first one, unless each is wanted. */
    static final String PAGE = whole("""
            chosen as materialized (
                select waiting.*, case when ? then null else cause end as grouped from {waiting}
                 where (?::text is null or kind = ?) and (?::uuid is null or run_id = ?)
                   and (?::text is null or assignee = ?) and (? or assignee is null)
                   and (? or due_at < {now})),
            page as materialized (
                select * from (
                    select * from chosen where grouped is null
                    union all
                    (select distinct on (grouped) * from chosen where grouped is not null order by grouped, {order})) shown
                 where ?::uuid is null
                    or (case when due_at is null then 'infinity' else due_at end, since, subject) > (?::timestamptz, ?::timestamptz, ?::uuid)
                 order by {order}
                 limit ?)""");

    /** One item. */
    static final String ITEM =
            whole("page as materialized (select * from {waiting} where kind = ? and subject = ?)");

    /** The facts about the items of {@code page}. */
    private static String whole(String page) {
        return ("with " + page + """

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
                    'accepted', m.accepted, 'seen', m.seen) from mcp_tools m where m.change = p.subject)
                    when p.kind = 'dead_letter' then {dead} end as asked, e.kind as ticket_kind, e.severity, e.reason, e.error_code, e.message,
                case when p.kind = 'budget' then {limit} end as hard_limit_usd,
                coalesce(r.policy #>> '{undo,undoes}' is not null, false) as undo,
                case when p.kind in ('plan_approval', 'result_acceptance', 'budget', 'approval_step', 'call_approval', 'task_review',
                        'proposal') or e.kind = 'replan_approval' then {approvals} end as approvals,
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
             order by sort_due, sort_since, p.subject""").replace("{order}", ORDER).replace("{waiting}", WAITING)
                .replace("{data}", InboxDataSql.DATA).replace("{dead}", DEAD)
                .replace("{approvals}", APPROVALS).replace("{limit}", InboxDataSql.HARD_LIMIT)
                .replace("{due}", MICROS.formatted("p.due_at")).replace("{since}", MICROS.formatted("p.since"))
                .replace("{now}", DbClock.SQL);
    }

    /** By kind; tickets with one cause count once. */
    static final String STATS = """
            select kind, sum(case when cause is null then all_of else 1 end)::int as count,
                sum(case when cause is null then late else least(late, 1) end)::int as overdue,
                sum(case when cause is null then free else least(free, 1) end)::int as unassigned,
                min(oldest_at) as oldest_at, min(next_due_at) as next_due_at
              from (select kind, cause, count(*) as all_of, count(*) filter (where due_at < {now}) as late,
                        count(*) filter (where assignee is null) as free, min(since) as oldest_at, min(due_at) as next_due_at
                      from {waiting}
                     group by kind, cause) causes
             group by kind""".replace("{waiting}", WAITING).replace("{now}", DbClock.SQL);

    /** For an item, while it waits. */
    static final String ASSIGN = """
            insert into inbox_assignments as a (subject, workspace_id, run_id, since, assignee, due_at, assigned_by,
                assigned_at)
            select subject, ?, run_id, since, ?, ?::timestamptz, ?, {now} from {waiting} where kind = ? and subject = ?
            on conflict (subject) do update
               set since = excluded.since,
                   assignee = case when ? and a.since = excluded.since then a.assignee else excluded.assignee end,
                   due_at = case when ? and a.since = excluded.since then a.due_at else excluded.due_at end,
                   assigned_by = excluded.assigned_by, assigned_at = excluded.assigned_at"""
            .replace("{waiting}", WAITING).replace("{now}",
                    DbClock.SQL);

    private InboxSql() {}
}
