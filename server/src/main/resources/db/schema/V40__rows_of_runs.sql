-- New steps of a task in one row, with what they have in common once. V9 drops all row types named keelson_ in any order when it is
-- applied again, so types within others have other names.
drop type if exists keelson_steps_planned, keelson_steps_completed, task_step_planned, task_step_completed;
create type task_step_planned as (id uuid, task_attempt int4, name text, kind text, tool text, "position" int4, turn int4,
    lane int4, input jsonb, retry jsonb, timeout_ms int8, started_at timestamptz);
create type keelson_steps_planned as (run_id uuid, task_id uuid, workspace_id uuid, attempt_of_run int4,
    steps task_step_planned[]);
create type task_step_completed as (id uuid, task_attempt int4, name text, kind text, tool text, "position" int4, turn int4,
    lane int4, input jsonb, retry jsonb, timeout_ms int8, tokens int8, cost numeric, output jsonb, result_input jsonb,
    output_hash int8, model text, usage jsonb);
create type keelson_steps_completed as (run_id uuid, task_id uuid, workspace_id uuid, attempt_of_run int4, started_at timestamptz,
    completed_at timestamptz, completed_by text, steps task_step_completed[]);

-- A run that is written once has its outcome from the beginning.
create type keelson_run_new_2 as (id uuid, workspace_id uuid, title text, description text, goal text, plan jsonb,
    config jsonb, policy jsonb, inputs jsonb, tags jsonb, output_template text, priority int4, trigger text,
    agent_slug text, external_id text, created_by text, max_attempts int4, forked_from uuid, fork_task text,
    start_at timestamptz, origin jsonb, input_declarations jsonb, state text, state_type text, attempt_number int4,
    effect_generation int4, failing bool, agent_count int4, task_count int4, tasks_completed int4, tasks_failed int4,
    tasks_skipped int4, steps_total int4, total_tokens int4, total_cost numeric, started_at timestamptz,
    completed_at timestamptz, error_code text, error_message text, output jsonb, version_id int4, plan_version int4,
    replans int4, gate text, state_since timestamptz, active_ms int8, active_since timestamptz,
    quiet_since timestamptz, credits_charged_before numeric, credits_refunded numeric, credits_uncollected numeric,
    hard_limit_usd numeric, soft_limit_usd numeric, budget_warned bool, turn_model text, ended_ms int8,
    begun_at timestamptz, result_summary text);

-- Nearly all steps have the same retry policy. The view has it, and their rows leave it out.
alter table task_steps alter column retry drop not null;
comment on column task_steps.retry is 'null: the policy that orchestration_steps shows';

create or replace view orchestration_steps with (security_invoker = true) as
select id, run_id, task_id, workspace_id, attempt_of_run, task_attempt, name, kind, tool, position, turn, lane, input,
    coalesce(retry, '{"max": "PT30S", "base": "PT0.1S", "factor": 2.0, "jitter": 0.1, "max_elapsed": null, "max_attempts": 3, "max_failures": 3}')
        as retry, timeout_ms,
    (case when begun_at is null then state else 'running' end)::varchar(30) as state,
    (case when begun_at is null then state_type else 'running' end)::varchar(10) as state_type,
    case when begun_at is null then attempt else 1 end as attempt, failures, granted_retries,
    case when begun_at is null then deliveries else 1 end as deliveries, failure_ignored,
    case when begun_at is null then lease_epoch else 1 end as lease_epoch, result_epoch, resolved_input, output, error_code,
    error_message, error_class, tokens, cost, next_run_at, coalesce(begun_at, started_at) as started_at, completed_at,
    created_at, completed_by, result_input, output_hash, model, call_effect, deferred_since, deferred_for,
    worst_case, gate, metered, kept_hold, call_result, called_by
  from (select s.*, case when s.state = 'pending' and s.lease_epoch = 0 then (
                select p.completed_at from task_steps p
                 where p.task_id = s.task_id and p.position between s.position - 1 and s.position and p.handed_to = s.id
                 limit 1)
            end as begun_at
          from task_steps s) s;

-- A body is parsed when it becomes json. To count its events, the check parsed it again.
alter domain keelson_events drop constraint if exists keelson_events_check;
alter domain keelson_events drop constraint if exists keelson_events_list;
alter domain keelson_events add constraint keelson_events_list check (left(value::text, 1) = '[' and value::text <> '[]') not valid;
