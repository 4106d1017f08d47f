-- What the failure policy, verification, humans and the watch over time keep. A plain run writes little of it: most of
-- these columns stay null or as they were made.

alter table orchestration_runs
    add column if not exists plan_version integer not null default 1,
    add column if not exists replans integer not null default 0,
    add column if not exists gate varchar(20) not null default 'none',
    add column if not exists state_since timestamptz,
    add column if not exists active_ms bigint not null default 0,
    add column if not exists active_since timestamptz,
    add column if not exists quiet_since timestamptz,
    add column if not exists forked_from uuid,
    add column if not exists fork_task varchar(220);

comment on column orchestration_runs.active_ms is 'time at work in this attempt, up to active_since';
comment on column orchestration_runs.quiet_since is 'since when no worker of it has been heard of, where that fails it';

alter table run_agents
    add column if not exists attempt_number integer not null default 1,
    add column if not exists failing boolean not null default false,
    add column if not exists passed_over boolean not null default false,
    add column if not exists next_run_at timestamptz,
    add column if not exists begun_at timestamptz;

comment on column run_agents.attempt is 'the run attempt; attempt_number is the agent''s own';

alter table orchestration_tasks
    add column if not exists failures integer not null default 0,
    add column if not exists forgiven integer not null default 0,
    add column if not exists effect_generation integer not null default 1,
    add column if not exists passed_over boolean not null default false,
    add column if not exists superseded boolean not null default false,
    add column if not exists next_run_at timestamptz,
    add column if not exists state_since timestamptz,
    add column if not exists begun_at timestamptz,
    add column if not exists error_class varchar(30),
    add column if not exists policy jsonb;

comment on column orchestration_tasks.superseded is 'another row has taken its place, or no plan needs it any more';
comment on column orchestration_tasks.begun_at is 'when the work of its current attempt began';
comment on column orchestration_tasks.policy is 'null: the default';

alter table orchestration_steps
    add column if not exists task_attempt integer not null default 1,
    add column if not exists forgiven integer not null default 0,
    add column if not exists passed_over boolean not null default false;

comment on column orchestration_steps.task_attempt is 'the attempt of its task that it belongs to';

-- Rows that are there have the defaults, so that nothing is gained by reading them all.
alter table orchestration_runs
    drop constraint if exists ck_orch_runs_possible,
    add constraint ck_orch_runs_possible check (keelson_run_possible(state, state_type, completed_at,
        least(total_tokens, task_count, tasks_completed, tasks_failed, tasks_skipped, agent_count, steps_total,
            attempt_number - 1, max_attempts - 1, effect_generation - 1, duration_ms, plan_version - 1, replans,
            active_ms), total_cost)) not valid;

alter table orchestration_tasks
    drop constraint if exists ck_orch_tasks_possible,
    add constraint ck_orch_tasks_possible check (keelson_task_possible(state, state_type, completed_at,
        least(attempt_number - 1, continuation_count, tokens_used, attempt - 1, item_index, duration_ms, failures,
            forgiven, effect_generation - 1), cost)) not valid;

alter table orchestration_steps
    drop constraint if exists ck_orch_steps_possible,
    add constraint ck_orch_steps_possible check (keelson_step_possible(state, state_type, completed_at,
        least(attempt, failures, deliveries, result_epoch, lease_epoch - result_epoch, attempt_of_run - 1,
            position - 1, turn - 1, tokens, timeout_ms - 1, task_attempt - 1, forgiven), cost)) not valid;

-- Time counts for what is under way from now on as if it had always been counted.
update orchestration_runs
   set state_since = updated_at, active_since = case when state = 'running' then started_at end
 where state_type <> 'terminal' and state_since is null;
update run_agents set begun_at = started_at where state_type <> 'terminal' and begun_at is null;
update orchestration_tasks set state_since = updated_at, begun_at = started_at
 where state_type <> 'terminal' and state_since is null;
insert into timers (kind, subject, run_id, due_at)
select 'watch', id, id, now() + interval '2 minutes' from orchestration_runs
 where state_type <> 'terminal' and state <> 'created'
on conflict do nothing;

-- Questions to humans that hold a run up.
create table if not exists escalation_tickets (
    id uuid primary key,
    workspace_id uuid not null,
    run_id uuid not null references orchestration_runs (id) on delete cascade,
    attempt integer not null check (attempt >= 1),
    kind varchar(30) not null check (kind in ('failure', 'replan_approval')),
    task_id uuid,
    step_id uuid,
    severity varchar(20) not null check (severity in ('warning', 'error', 'critical')),
    reason varchar(100) not null,
    error_code varchar(100),
    message text not null,
    state varchar(20) not null generated always as (case when resolution is null then 'open' else 'resolved' end)
        stored,
    resolution varchar(20) check (resolution in ('resume', 'skip', 'fail', 'cancel', 'void')),
    resolved_by varchar(255),
    comment text,
    opened_at timestamptz not null,
    resolved_at timestamptz,
    constraint ck_escalation_tickets_resolved check ((resolution is null) = (resolved_at is null))
);

create index if not exists ix_escalation_tickets_open on escalation_tickets (workspace_id, opened_at, id)
    where resolution is null;
create index if not exists ix_escalation_tickets_run on escalation_tickets (run_id);

-- Times without any engine node; they count for nobody's timeout. Who finds one that somebody else has noted already
-- comes to the same beginning.
create table if not exists engine_outages (
    from_at timestamptz primary key,
    to_at timestamptz not null,
    constraint ck_engine_outages_order check (to_at > from_at)
);

create index if not exists ix_engine_outages_to on engine_outages (to_at);

-- A node that has said goodbye: kept for a while, for it tells until when there was one.
alter table engine_nodes add column if not exists left_at timestamptz;

drop type if exists keelson_agent_change_v2;
create type keelson_agent_change_v2 as (id uuid, state text, state_type text, started_at timestamptz,
    completed_at timestamptz, attempt_number int4, failing bool, passed_over bool, next_run_at timestamptz,
    begun_at timestamptz);

drop type if exists keelson_agent_new_v2;
create type keelson_agent_new_v2 as (id uuid, run_id uuid, workspace_id uuid, attempt int4, number int4, name text,
    state text, state_type text, started_at timestamptz, completed_at timestamptz, attempt_number int4, failing bool,
    passed_over bool, next_run_at timestamptz, begun_at timestamptz);

drop type if exists keelson_plan;
create type keelson_plan as (run_id uuid, plan jsonb);

drop type if exists keelson_run_change_v2;
create type keelson_run_change_v2 as (id uuid, state text, state_type text, attempt_number int4,
    effect_generation int4, failing bool, agent_count int4, task_count int4, tasks_completed int4, tasks_failed int4,
    tasks_skipped int4, steps_total int4, total_tokens int4, total_cost numeric, started_at timestamptz,
    completed_at timestamptz, error_code text, error_message text, output jsonb, version_id int4, plan_version int4,
    replans int4, gate text, state_since timestamptz, active_ms int8, active_since timestamptz,
    quiet_since timestamptz);

drop type if exists keelson_run_new_v2;
create type keelson_run_new_v2 as (id uuid, workspace_id uuid, title text, description text, goal text, plan jsonb,
    config jsonb, policy jsonb, inputs jsonb, tags jsonb, output_template text, priority int4, trigger text,
    agent_slug text, external_id text, created_by text, max_attempts int4, forked_from uuid, fork_task text,
    state text, state_type text, attempt_number int4, effect_generation int4, failing bool, agent_count int4,
    task_count int4, tasks_completed int4, tasks_failed int4, tasks_skipped int4, steps_total int4, total_tokens int4,
    total_cost numeric, started_at timestamptz, completed_at timestamptz, error_code text, error_message text,
    output jsonb, version_id int4, plan_version int4, replans int4, gate text, state_since timestamptz,
    active_ms int8, active_since timestamptz, quiet_since timestamptz);

drop type if exists keelson_step_change_v2;
create type keelson_step_change_v2 as (id uuid, state text, state_type text, attempt int4, failures int4,
    deliveries int4, lease_epoch int4, result_epoch int4, error_code text, error_message text, error_class text,
    tokens int8, cost numeric, next_run_at timestamptz, started_at timestamptz, completed_at timestamptz,
    output jsonb, resolved_input jsonb, forgiven int4, passed_over bool);

drop type if exists keelson_step_new_v2;
create type keelson_step_new_v2 as (id uuid, run_id uuid, task_id uuid, workspace_id uuid, attempt_of_run int4,
    task_attempt int4, name text, kind text, tool text, "position" int4, turn int4, input jsonb, retry jsonb,
    timeout_ms int8, state text, state_type text, attempt int4, failures int4, deliveries int4, lease_epoch int4,
    result_epoch int4, error_code text, error_message text, error_class text, tokens int8, cost numeric,
    next_run_at timestamptz, started_at timestamptz, completed_at timestamptz, output jsonb, resolved_input jsonb,
    forgiven int4, passed_over bool);

drop type if exists keelson_task_change_v2;
create type keelson_task_change_v2 as (id uuid, state text, state_type text, attempt_number int4,
    continuation_count int4, tokens_used int4, cost numeric, queued_at timestamptz, started_at timestamptz,
    completed_at timestamptz, error_code text, error_message text, output jsonb, output_summary text, failures int4,
    forgiven int4, effect_generation int4, passed_over bool, superseded bool, next_run_at timestamptz,
    state_since timestamptz, begun_at timestamptz, error_class text, verifier_score numeric, verified_by text);

drop type if exists keelson_task_new_v2;
create type keelson_task_new_v2 as (id uuid, run_id uuid, workspace_id uuid, attempt int4, run_agent_id uuid,
    key text, sequence_number int4, title text, description text, task_type text, success_criteria text,
    trigger_rule text, when_expr text, for_each text, output_template text, parallel_steps bool, step_specs jsonb,
    policy jsonb, group_id uuid, item_index int4, item jsonb, state text, state_type text, attempt_number int4,
    continuation_count int4, tokens_used int4, cost numeric, queued_at timestamptz, started_at timestamptz,
    completed_at timestamptz, error_code text, error_message text, carried_from uuid, output jsonb,
    output_summary text, failures int4, forgiven int4, effect_generation int4, passed_over bool, superseded bool,
    next_run_at timestamptz, state_since timestamptz, begun_at timestamptz, error_class text, verifier_score numeric,
    verified_by text);

drop type if exists keelson_ticket_change;
create type keelson_ticket_change as (id uuid, severity text, resolution text, resolved_by text, comment text,
    resolved_at timestamptz);

drop type if exists keelson_ticket_new;
create type keelson_ticket_new as (id uuid, workspace_id uuid, run_id uuid, attempt int4, kind text, task_id uuid,
    step_id uuid, severity text, reason text, error_code text, message text, resolution text, resolved_by text,
    comment text, opened_at timestamptz, resolved_at timestamptz);
