package io.keelson.server.engine.store.read;

/** Input and result of each lease of a step. */
final class StepAttempts {

    /**
     * One row per lease: with its result, lost with its worker, or in progress. Results older than the column of inputs
     * have none where the plan's input has expressions.
     */
    static final String SQL = """
            with step as materialized (
                select s.*, case when s.input::text like '%%${%%' then null else s.input end as literal
                  from orchestration_steps s
                 where s.workspace_id = ? and s.id = ?%s)
            select w.attempt, w.epoch as lease_epoch, w.outcome, w.holder as worker,
                coalesce(w.input, s.literal) as input,
                case when w.outcome <> 'failed' then s.output end as output,
                w.error_code, w.error_class, w.error_message, w.tokens, w.usage, trim_scale(w.cost) as cost, w.started_at,
                w.recorded_at as completed_at
              from step s join work_results w on w.step_id = s.id
            union all
            select null, (e.payload ->> 'lease_epoch')::int, 'lost', e.payload ->> 'worker', s.literal, null,
                null, null, null, 0, null, 0, null, e.created_at
              from step s join orchestration_events_kept e on e.run_id = s.run_id and e.step_id = s.id
             where e.event_type = 'step_lease_expired' and not exists (
                select from work_results w where w.step_id = s.id and w.epoch = (e.payload ->> 'lease_epoch')::int)
            union all
            select s.attempt, s.lease_epoch, 'running', q.holder, s.literal, null, null, null, null, 0, null, 0,
                s.started_at, null
              from step s
              join work_queue q on q.task_id = s.task_id and q.lane = s.lane
             where s.state = 'running' and q.holder is not null
             order by lease_epoch
            offset ? limit ?""".formatted(ReadSql.NOT_DELETED.formatted("s"));

    private StepAttempts() {}
}
