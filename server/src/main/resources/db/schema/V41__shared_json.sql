-- Completed steps of a task name their JSON values by places in an array of the task's different ones, which the database parses once
-- (docs/internals/time-of-a-run.md).

drop type if exists keelson_steps_completed, task_step_completed, keelson_steps_completed_2, task_step_completed_2;
create type task_step_completed_2 as (id uuid, task_attempt int4, name text, kind text, tool text, "position" int4, turn int4,
    lane int4, retry jsonb, timeout_ms int8, tokens int8, cost numeric, output_hash int8,
    model text, input int4, output int4, result_input int4, usage int4);
create type keelson_steps_completed_2 as (run_id uuid, task_id uuid, workspace_id uuid, attempt_of_run int4, started_at timestamptz,
    completed_at timestamptz, completed_by text, json jsonb[], steps task_step_completed_2[]);

-- Tokens of a sum whose parts are unknown count as output. The rows of their steps have no parts.
comment on column task_steps.usage is 'of that result: the parts of the tokens; null when there are none, or all are output without reasoning';

create or replace view work_results with (security_invoker = true) as
select step_id, epoch, run_id, outcome, attempt, started_at, input, output_hash, error_code, error_class, error_message, system,
    model, tokens, usage, cost, holder, recorded_at
  from step_results
union all
select id, result_epoch, run_id, 'completed'::varchar(20), attempt, started_at, result_input, output_hash, null, null, null, null, model,
    tokens, case when usage is null and tokens > 0
        then jsonb_build_object('input', 0, 'cache_read', 0, 'cache_write', 0, 'output', tokens, 'reasoning', 0)
        else usage end, cost, completed_by, completed_at
  from task_steps
 where completed_by is not null;
