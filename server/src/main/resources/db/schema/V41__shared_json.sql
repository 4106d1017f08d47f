-- Completed steps of a task name their JSON values by places in an array of the task's different ones, which the database parses once
-- (docs/internals/time-of-a-run.md).

drop type if exists keelson_steps_completed, task_step_completed, keelson_steps_completed_2, task_step_completed_2;
create type task_step_completed_2 as (id uuid, task_attempt int4, name text, kind text, tool text, "position" int4, turn int4,
    lane int4, retry jsonb, timeout_ms int8, tokens int8, cost numeric, output_hash int8,
    model text, input int4, output int4, result_input int4, usage int4);
create type keelson_steps_completed_2 as (run_id uuid, task_id uuid, workspace_id uuid, attempt_of_run int4, started_at timestamptz,
    completed_at timestamptz, completed_by text, json jsonb[], steps task_step_completed_2[]);

-- Runs of a mission name their plan, configuration and policy likewise, in an array of the statement.
drop type if exists keelson_run_new_2, keelson_run_new_3;
create type keelson_run_new_3 as (id uuid, workspace_id uuid, title text, description text, goal text, inputs jsonb,
    tags jsonb, output_template text, priority int4, trigger text, agent_slug text, external_id text, created_by text,
    max_attempts int4, forked_from uuid, fork_task text, start_at timestamptz, origin jsonb, input_declarations jsonb,
    state text, state_type text, attempt_number int4, effect_generation int4, failing bool, agent_count int4,
    task_count int4, tasks_completed int4, tasks_failed int4, tasks_skipped int4, steps_total int4, total_tokens int4,
    total_cost numeric, started_at timestamptz, completed_at timestamptz, error_code text, error_message text, output
    jsonb, version_id int4, plan_version int4, replans int4, gate text, state_since timestamptz, active_ms int8,
    active_since timestamptz, quiet_since timestamptz, credits_charged_before numeric, credits_refunded numeric,
    credits_uncollected numeric, hard_limit_usd numeric, soft_limit_usd numeric, budget_warned bool, turn_model text,
    ended_ms int8, begun_at timestamptz, result_summary text, plan int4, config int4, policy int4);

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
