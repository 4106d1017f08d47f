-- Agents that tasks can be given to, and what the tasks keep of those that they were given to.
alter table agents add column if not exists description text;
alter table agents add column if not exists model varchar(200);
alter table agents add column if not exists instructions text;
alter table agents add column if not exists tools jsonb not null default '[]';
alter table agents add column if not exists capabilities jsonb not null default '[]';
alter table agents add column if not exists limits jsonb not null default '{}';
alter table agents add column if not exists created_by varchar(255);
alter table agents add column if not exists updated_at timestamptz not null default now();

drop type if exists keelson_task_new_v3;
create type keelson_task_new_v3 as (id uuid, run_id uuid, workspace_id uuid, attempt int4, run_agent_id uuid,
    key text, sequence_number int4, title text, description text, task_type text, success_criteria text,
    trigger_rule text, when_expr text, for_each text, output_template text, parallel_steps bool, step_specs jsonb,
    policy jsonb, group_id uuid, item_index int4, item jsonb, state text, state_type text, attempt_number int4,
    continuation_count int4, tokens_used int4, cost numeric, queued_at timestamptz, started_at timestamptz,
    completed_at timestamptz, error_code text, error_message text, carried_from uuid, output jsonb,
    output_summary text, agent_id int4, agent_type text, model_override text, tools_requested jsonb, failures int4,
    forgiven int4, effect_generation int4, passed_over bool, superseded bool, next_run_at timestamptz,
    state_since timestamptz, begun_at timestamptz, error_class text, verifier_score numeric, verified_by text);

-- An agent that is gone is no reason to refuse a task that was given to it.
create or replace function keelson_agent(wanted int4) returns int4 language sql stable as $$
    select id from agents where id = wanted
$$;
