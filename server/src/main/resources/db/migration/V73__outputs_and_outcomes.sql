-- Where a task's whole output is read when its summary has only the beginning of it, the outcome of every completed run,
-- and the row types of the statements that write the former.
create or replace function keelson_summary(value jsonb) returns text language sql immutable as $$
    select left(value #>> '{}', 2000)
$$;

comment on column orchestration_tasks.output_summary is 'the first 2,000 characters of the output';
comment on column orchestration_tasks.output_ref is
    'the path of the API that answers the whole output; null where output_summary is all of it';
comment on column orchestration_runs.result_summary is
    'the first 2,000 characters of the output; without an output template, of what the tasks yield on which no other depends';
comment on column orchestration_runs.coordinator_agent_id is
    'the agent of the roster that agent_slug names; null for the system coordinator';

drop type if exists keelson_task_change_v3;
create type keelson_task_change_v3 as (id uuid, state text, state_type text, attempt_number int4,
    continuation_count int4, tokens_used int4, cost numeric, queued_at timestamptz, started_at timestamptz,
    completed_at timestamptz, error_code text, error_message text, output jsonb, output_summary text, output_ref text,
    failures int4, forgiven int4, effect_generation int4, passed_over bool, superseded bool, next_run_at timestamptz,
    state_since timestamptz, begun_at timestamptz, error_class text, verifier_score numeric, verified_by text);
drop type if exists keelson_task_new_v5;
create type keelson_task_new_v5 as (id uuid, run_id uuid, workspace_id uuid, attempt int4, run_agent_id uuid,
    key text, sequence_number int4, title text, description text, task_type text, success_criteria text,
    trigger_rule text, when_expr text, for_each text, output_template text, parallel_steps bool, step_specs jsonb,
    policy jsonb, group_id uuid, item_index int4, item jsonb, state text, state_type text, attempt_number int4,
    continuation_count int4, tokens_used int4, cost numeric, queued_at timestamptz, started_at timestamptz,
    completed_at timestamptz, error_code text, error_message text, carried_from uuid, output jsonb,
    output_summary text, output_ref text, agent_id int4, agent_type text, model_override text, tools_requested jsonb,
    failures int4, forgiven int4, effect_generation int4, passed_over bool, superseded bool, next_run_at timestamptz,
    state_since timestamptz, begun_at timestamptz, error_class text, verifier_score numeric, verified_by text,
    on_board text);
drop type if exists keelson_board_run_v3;
create type keelson_board_run_v3 as (workspace_id uuid, title text, description text, status text, priority text,
    created_by text, agent_slug text, tags jsonb, planning_data jsonb, run_id uuid, mission text, error_message text,
    started_at timestamptz, completed_at timestamptz);

-- A summary of full length may be all of the output: the reference holds all the same.
update orchestration_tasks set output_ref = '/api/v1/tasks/' || id || '/output'
 where output_ref is null and length(output_summary) >= 1999;
