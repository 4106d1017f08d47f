package io.keelson.server.engine.store.read;

/** Input and result of each lease of a step. */
final class StepAttempts {

    /**
     * One row per lease: with its result, lost with its worker, released, or in progress. A stored result {@code lost} says that its
     * lease ended without a report; only an expired one was lost. Results older than the column of inputs have none where the
     * plan's input has expressions.
     */
    static final String SQL = """
            with step as materialized (
                select s.*, case when s.input::text like '%%${%%' then null else s.input end as literal
                  from orchestration_steps s
                 where s.workspace_id = ? and s.id = ?%s),
            leases as materialized (
                select e.event_type, (e.payload ->> 'lease_epoch')::int as epoch, e.payload ->> 'worker' as worker,
                    e.created_at as at
                  from step s join orchestration_events_kept e on e.run_id = s.run_id and e.step_id = s.id
                 where e.event_type in ('step_started', 'step_reclaimed', 'step_lease_expired')),
            begun as (select * from leases where event_type <> 'step_lease_expired'),
            expired as (select * from leases where event_type = 'step_lease_expired')
            select w.attempt, w.epoch as lease_epoch,
                case when w.outcome = 'lost' and not exists (
                    select from expired x where x.epoch = w.epoch) then 'released'
                    else w.outcome end as outcome, w.holder as worker, coalesce(w.input, s.literal) as input,
                case when w.outcome in ('completed', 'continued') then s.output end as output,
                w.error_code, w.error_class, w.error_message, w.tokens, w.usage, trim_scale(w.cost) as cost,
                coalesce((select b.at from begun b where b.epoch = w.epoch), w.started_at) as started_at,
                w.recorded_at as completed_at
              from step s join work_results w on w.step_id = s.id
            union all
            select null, x.epoch, 'lost', x.worker, s.literal, null, null, null, null, 0, null, 0,
                (select b.at from begun b where b.epoch = x.epoch), x.at
              from step s cross join expired x
             where not exists (select from work_results w where w.step_id = s.id and w.epoch = x.epoch)
            union all
            select s.attempt, s.lease_epoch, 'running', q.holder, s.literal, null, null, null, null, 0, null, 0,
                coalesce((select b.at from begun b where b.epoch = s.lease_epoch), s.started_at), null
              from step s
              join work_queue q on q.task_id = s.task_id and q.lane = s.lane
             where s.state = 'running' and q.holder is not null
             order by lease_epoch
            offset ? limit ?""".formatted(ReadSql.NOT_DELETED.formatted("s"));

    private StepAttempts() {}
}
