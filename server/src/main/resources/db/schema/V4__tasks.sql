-- Tasks, their dependencies, steps and results. What V3 says at its beginning is true for them, too.

create or replace function keelson_task_valid(state varchar, state_type varchar, completed_at timestamptz,
    attempt_number integer, continuation_count integer, tokens_used integer, attempt integer, group_id uuid,
    item_index integer, duration_ms bigint, failures integer, granted_retries integer, effect_generation integer, cost numeric,
    verifier_score numeric)
    returns boolean language plpgsql immutable as $$
begin
    return (completed_at is not null) = (state_type = 'terminal')
        and strpos(' running:running running:assigned running:continuing terminal:completed terminal:failed'
            ' terminal:cancelled terminal:skipped pending:pending pending:queued pending:awaiting_retry'
            ' paused:verifying paused:awaiting_human ', concat(' ', state_type, ':', state, ' ')) > 0
        and (group_id is null) = (item_index is null)
        and least(continuation_count, tokens_used, item_index, failures, granted_retries) >= 0
        and least(attempt_number, attempt, effect_generation) >= 1
        and coalesce(duration_ms, 0) >= 0 and cost >= 0 and coalesce(verifier_score, 0) between 0 and 1;
end $$;

create table if not exists orchestration_tasks (
    id uuid primary key default gen_random_uuid(),
    run_id uuid not null references orchestration_runs (id) on delete cascade,
    workspace_id uuid not null references workspaces (id) on delete cascade,
    sequence_number smallint not null,
    title varchar(500) not null,
    description text,
    task_type varchar(30) not null,
    state varchar(30) not null default 'pending',
    state_type varchar(10) not null default 'pending',
    trigger_rule varchar(30) not null default 'all_success',
    agent_id integer references agents (id) on delete set null,
    agent_type varchar(20),
    model_override varchar(255),
    tools_requested jsonb,
    success_criteria text,
    output_summary varchar(2000),
    output_ref varchar(500),
    verifier_score numeric(3, 2),
    verified_by varchar(255),
    error_message text,
    attempt_number smallint not null default 1,
    continuation_count smallint not null default 0,
    tokens_used integer not null default 0,
    cost numeric(26, 12) not null default 0,
    board_task_id bigint references board_tasks (id) on delete set null,
    started_at timestamptz,
    completed_at timestamptz,
    duration_ms bigint,
    version_id integer not null default 1,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),

    -- As it was planned.
    key varchar(220) not null default '',
    attempt integer not null default 1,
    run_agent_id uuid,
    when_expr text,
    for_each text,
    group_id uuid,
    item_index integer,
    item jsonb,
    step_specs jsonb,
    parallel_steps boolean not null default false,
    output_template text,
    policy jsonb,
    reused_from uuid,

    -- How far it is.
    output jsonb,
    error_code varchar(100),
    error_class varchar(30),
    failures integer not null default 0,
    granted_retries integer not null default 0,
    effect_generation integer not null default 1,
    failure_ignored boolean not null default false,
    superseded boolean not null default false,
    queued_at timestamptz,
    next_run_at timestamptz,
    state_since timestamptz,
    begun_at timestamptz,
    cancelled_at timestamptz,

    constraint ck_orch_tasks_valid check (keelson_task_valid(state, state_type, completed_at, attempt_number,
        continuation_count, tokens_used, attempt, group_id, item_index, duration_ms, failures, granted_retries,
        effect_generation, cost, verifier_score))
) with (fillfactor = 75);

comment on table orchestration_tasks is 'Task-level execution records within a mission (PRD-101).';
comment on column orchestration_tasks.output_summary is 'the first 2,000 characters of the output';
comment on column orchestration_tasks.output_ref is
    'the path of the API that answers the whole output; null where output_summary is all of it';
comment on column orchestration_tasks.cost is 'credits';
comment on column orchestration_tasks.key is 'its id in the plan';
comment on column orchestration_tasks.attempt is 'the run attempt; attempt_number is the task''s own';
comment on column orchestration_tasks.group_id is 'of an item of a for_each task: that task';
comment on column orchestration_tasks.step_specs is 'of a for_each task: what its children''s steps will be';
comment on column orchestration_tasks.policy is 'null: the default';
comment on column orchestration_tasks.reused_from is 'the task of an earlier attempt or run whose result it has';
comment on column orchestration_tasks.granted_retries is 'attempts before a person granted new retries; they count against no retry budget';
comment on column orchestration_tasks.superseded is 'another row has taken its place, or no plan needs it any more';
comment on column orchestration_tasks.begun_at is 'when the work of its current attempt began';
comment on column orchestration_tasks.cancelled_at is 'completed_at of a cancelled task; null in every other state';

-- PRD-101 has (run_id); attempt and key behind it let an expression find the tasks that it names without reading all
-- others. It has (agent_id), too; type and id behind it find the latest tasks of an agent. Its index by state is left out: with it no change of a task would be heap-only.
create index if not exists ix_orch_tasks_run on orchestration_tasks (run_id, attempt, key);
create index if not exists ix_orch_tasks_agent on orchestration_tasks (agent_id, task_type, id)
    where agent_id is not null;
create index if not exists ix_orch_tasks_board on orchestration_tasks (board_task_id) where board_task_id is not null;

-- A task's steps go with it, and with them their results, logs and progress.
create or replace function keelson_drop_steps() returns trigger language plpgsql
    set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
    steps uuid[] := array(select s.id from gone join task_steps s on s.task_id = gone.id);
begin
    delete from step_results where step_id = any (steps);
    delete from step_logs where step_id = any (steps);
    delete from step_progress where step_id = any (steps);
    delete from task_steps where id = any (steps);
    return null;
end $$;

create or replace trigger orchestration_tasks_drop_steps after delete on orchestration_tasks
    referencing old table as gone for each statement execute function keelson_drop_steps();

-- The column of PRD-101 in a table that may have been there before; so may the column, without a reference to
-- Keelson's tasks. What it names in rows of the platform is not looked at.
alter table agent_reports add column if not exists orchestration_task_id uuid
    references orchestration_tasks (id) on delete set null;
do $$ begin
    if not exists (select from pg_constraint where contype = 'f' and conrelid = 'agent_reports'::regclass
            and confrelid = 'orchestration_tasks'::regclass) then
        alter table agent_reports add constraint agent_reports_orchestration_task_id_fkey
            foreign key (orchestration_task_id) references orchestration_tasks (id) on delete set null not valid;
    end if;
end $$;

create table if not exists orchestration_task_dependencies (
    task_id uuid not null references orchestration_tasks (id) on delete cascade,
    depends_on_id uuid not null references orchestration_tasks (id) on delete cascade,
    dependency_type varchar(20) not null default 'data',
    created_at timestamptz not null default now(),
    primary key (task_id, depends_on_id),
    constraint ck_orch_deps_self check (task_id <> depends_on_id),
    -- an array constant: `in (…)` is stored as an array that each statement makes
    constraint orchestration_task_dependencies_dependency_type_check
        check (dependency_type::text = any ('{data,ordering}'::text[]))
);

comment on table orchestration_task_dependencies is
    'DAG edges between orchestration tasks. Join table for dependency resolution (PRD-101).';

create index if not exists ix_orch_deps_reverse on orchestration_task_dependencies (depends_on_id);

create or replace function keelson_step_valid(state varchar, state_type varchar, completed_at timestamptz,
    result_epoch integer, lease_epoch integer, tokens bigint, cost numeric, completed_by text, handed_to uuid)
    returns boolean language plpgsql immutable as $$
begin
    return (completed_at is not null) = (state_type = 'terminal')
        and strpos(' running:running terminal:completed terminal:failed terminal:cancelled terminal:skipped'
            ' pending:pending pending:awaiting_retry paused:waiting paused:waiting_approval ',
            concat(' ', state_type, ':', state, ' ')) > 0
        and result_epoch between 0 and lease_epoch and tokens >= 0 and cost >= 0
        and (completed_by is null or state = 'completed' and result_epoch >= 1)
        and (handed_to is null or state = 'completed');
end $$;

-- Readers use the view orchestration_steps. A run's steps are found by its tasks: a tree by run would cost every step an entry.
create table if not exists task_steps (
    id uuid primary key,
    run_id uuid not null,
    task_id uuid not null,
    workspace_id uuid not null,
    attempt_of_run integer not null,
    task_attempt integer not null default 1,
    name varchar(220) not null,
    kind varchar(20) not null,
    tool varchar(220) not null,
    position integer not null,
    turn integer not null default 1,
    lane integer not null default 0,
    input jsonb not null,
    retry jsonb not null,
    timeout_ms bigint not null,
    state varchar(30) not null,
    state_type varchar(10) not null,
    attempt integer not null default 0,
    failures integer not null default 0,
    granted_retries integer not null default 0,
    deliveries integer not null default 0,
    failure_ignored boolean not null default false,
    lease_epoch integer not null default 0,
    result_epoch integer not null default 0,
    resolved_input jsonb,
    output jsonb,
    error_code varchar(100),
    error_message text,
    error_class varchar(30),
    tokens bigint not null default 0,
    cost numeric(26, 12) not null default 0,
    next_run_at timestamptz,
    started_at timestamptz,
    completed_at timestamptz,
    created_at timestamptz not null,

    -- The result that completed it, with result_epoch, tokens and cost; see work_results.
    completed_by text,
    result_input jsonb,
    output_hash bigint,
    model text,
    usage jsonb,

    handed_to uuid,
    call_effect text,
    deferred_since timestamptz,
    deferred_for text,
    worst_case jsonb,
    gate text,
    metered jsonb,
    kept_hold jsonb,
    call_result bigint,
    called_by uuid,

    constraint ck_orch_steps_valid check (keelson_step_valid(state, state_type, completed_at, result_epoch,
        lease_epoch, tokens, cost, completed_by, handed_to)),
    constraint ck_orch_steps_usage check (usage is null or completed_by is not null and keelson_usage_valid(usage, tokens))
) with (fillfactor = 70);

comment on table task_steps is 'Rows of steps; orchestration_steps has their states.';
comment on column task_steps.task_attempt is 'the last attempt of its task that it belongs to: turns of an agent may be taken over';
comment on column task_steps.position is 'in its task, from 1';
comment on column task_steps.turn is '1, or more for a further turn of an agent at the same position';
comment on column task_steps.lane is '0 for steps that follow one another, otherwise its own: it may run beside others of its task';
comment on column task_steps.lease_epoch is 'rises with each claim; a result under an older one is refused';
comment on column task_steps.result_epoch is 'the lease epoch whose result was taken last; 0 if absent';
comment on column task_steps.resolved_input is 'the input with the values of its expressions';
comment on column task_steps.cost is 'credits';
comment on column task_steps.completed_by is
    'the holder of the lease whose result completed it; null where step_results has that result, or no lease had one';
comment on column task_steps.result_input is 'input of that result, see work_results';
comment on column task_steps.output_hash is 'of that result, see work_results';
comment on column task_steps.model is 'of that result: the model that used the tokens';
comment on column task_steps.usage is 'of that result: the parts of the tokens; null when there are none';
comment on column task_steps.handed_to is
    'the next step, if it began at its first try in the commit that completed this one';
comment on column task_steps.call_effect is
    'of a call of an agent: the tool, the digest of its input and the number of the equal call, as in its effect key';

comment on column task_steps.deferred_since is 'the first deferral of its attempt; next_run_at is the end of the last one';
comment on column task_steps.deferred_for is 'the system that was busy at the last deferral of its attempt, such as model:NAME';
comment on column task_steps.worst_case is
    'model, max_input_tokens and max_output_tokens of one execution, computed by the server or of the plan; null when they are unknown';

comment on column task_steps.gate is
    'of a call of an agent: why a person answers it, may have to or has answered it, then the detail; an answered one has a start';

comment on column task_steps.metered is
    'epoch of a lease, and the tokens and credits that its heartbeats reported in all; null if absent';
comment on column task_steps.kept_hold is
    'credits that stay held for an answer of a model that the next execution fetches; null if absent';
comment on column task_steps.call_result is
    'of a completed call of an agent: a hash of its output, by which equal results in a row are found';

comment on column task_steps.called_by is
    'of a call of a tool by the program of a step: that step';

create index if not exists ix_orch_steps_task on task_steps (task_id, position);

-- A step that another step names in handed_to began at that step's end, at epoch 1. Its own row is not written then and stays
-- pending at epoch 0; each later write of it has an epoch of 1 or more.
create or replace view orchestration_steps with (security_invoker = true) as
select id, run_id, task_id, workspace_id, attempt_of_run, task_attempt, name, kind, tool, position, turn, lane, input, retry, timeout_ms,
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

comment on view orchestration_steps is 'Steps of tasks: what a worker claims under a lease and a lease epoch.';

create or replace function keelson_result_valid(epoch integer, outcome varchar, tokens bigint, cost numeric)
    returns boolean language plpgsql immutable as $$
begin
    return epoch >= 1 and tokens >= 0 and cost >= 0 and outcome in ('completed', 'continued', 'failed', 'lost');
end $$;

-- Results that the row of their step does not hold: those of failed and continued leases, those whose tokens cost nothing, and
-- completed ones of steps whose cost is of several leases. At most one result per lease, however often it is reported: by its
-- key, and by the trigger for the result in the step's row.
create table if not exists step_results (
    step_id uuid not null,
    epoch integer not null,
    run_id uuid not null,
    outcome varchar(20) not null,
    attempt integer,
    started_at timestamptz,
    input jsonb,
    output_hash bigint,
    error_code varchar(100),
    error_class text,
    error_message text,
    system text,
    model text,
    tokens bigint not null,
    usage jsonb,
    cost numeric(26, 12) not null,
    holder text,
    recorded_at timestamptz not null,
    primary key (step_id, epoch),
    constraint ck_step_results_valid check (keelson_result_valid(epoch, outcome, tokens, cost)),
    constraint ck_step_results_usage check (case when usage is null then tokens = 0
        else keelson_usage_valid(usage, tokens) end)
);

comment on table step_results is 'Results of leases that the row of their step does not hold.';

create or replace function keelson_one_result() returns trigger language plpgsql as $$
declare
    held record;
begin
    select result_epoch, completed_by into held from task_steps where id = new.step_id for share;
    if held.completed_by is not null and held.result_epoch = new.epoch then
        raise exception 'lease % of step % has a result', new.epoch, new.step_id
            using errcode = 'unique_violation', constraint = 'step_results_pkey';
    end if;
    return null;
end $$;

create or replace trigger step_results_one after insert or update on step_results
    for each row execute function keelson_one_result();

create or replace view work_results with (security_invoker = true) as
select step_id, epoch, run_id, outcome, attempt, started_at, input, output_hash, error_code, error_class, error_message, system,
    model, tokens, usage, cost, holder, recorded_at
  from step_results
union all
select id, result_epoch, run_id, 'completed'::varchar(20), attempt, started_at, result_input, output_hash, null, null, null, null, model,
    tokens, usage, cost, completed_by, completed_at
  from task_steps
 where completed_by is not null;

comment on view work_results is 'Result of each lease of a step; at most one row per lease.';
comment on column work_results.epoch is 'the lease epoch of its step';
comment on column work_results.input is
    'resolved input, secrets redacted, cut above 64 KiB; null when the plan''s input has no expressions';
comment on column work_results.output_hash is
    'of the output as reported, before secrets were redacted; null for reported failures and for results of the server itself';
comment on column work_results.system is
    'of a failure: the system outside of Keelson that was out of order, such as model:NAME; null where none is known to have been';
comment on column work_results.usage is 'the parts of the tokens; null when there are none';
comment on column work_results.cost is 'credits';

create index if not exists ix_step_results_free on step_results (recorded_at) where tokens > 0 and cost = 0;

-- Tokens that cost nothing, so that reports of usage name their models: what costs something is in the ledger.
create or replace view free_usage with (security_invoker = true) as
select s.workspace_id, w.run_id, w.step_id, a.name as agent, w.model, s.tool, w.tokens, w.usage, w.recorded_at,
    case when s.kind = 'verify' or s.tool = 'model.judge' then 'verification'
        when s.tool = 'model.plan' or a.name = '.engine' and t.task_type = 'planning' then 'planning' else 'work' end as purpose
  from step_results w
  join task_steps s on s.id = w.step_id
  join orchestration_tasks t on t.id = s.task_id
  left join run_agents a on a.id = t.run_agent_id
 where w.tokens > 0 and w.cost = 0;

-- For reports of money, which know runs and steps by their ids.
create or replace view run_origins with (security_invoker = true) as
select id as run_id, title as name, origin ->> 'recipe_id' as recipe, origin ->> 'schedule_id' as schedule
  from orchestration_runs;

comment on view run_origins is 'The name of each run, and the ids of the recipe and the schedule that it is of.';

create or replace view step_tasks with (security_invoker = true) as
select s.id as step_id, t.key as task from task_steps s join orchestration_tasks t on t.id = s.task_id;

comment on view step_tasks is 'The key of each step''s task.';

comment on view free_usage is 'Results with tokens and without a cost, with their agent, model, tool and purpose.';
