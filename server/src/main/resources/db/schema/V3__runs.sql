-- Runs: their attempts, agents at work, plans, signals, and runs of runs. Their tasks are in V4.
--
-- Runs, tasks and dependencies have the columns of PRD-101 first, then ours. A type is wider where
-- PRD-101's would make a real run impossible: durations are BIGINT, amounts NUMERIC(20,6) and costs NUMERIC(26,12) in credits.
-- What a commit touches is kept cheap, as measured in docs/adr/0011:
-- * Pages leave room (fillfactor) and no index mentions a column that changes often, so that updates stay heap-only.
-- * What every commit writes has domains instead of checks. Another table that commits touch has one check, short or a
--   function of plain columns: a statement reads a check's text each time, and a session a function's only once. `strpos`
--   in a list of pairs of a state's type and a state takes less time than comparisons one by one. Step counters that only
--   ever grow are not checked.
-- * Rows that one transaction writes together do not refer to each other: each reference is a query per row. Deleting
--   removes dependent rows by triggers on statements, which use indexes regardless of the planner's statistics.

-- What ended without having begun took no time; never negative, should the clock have gone back.
create or replace function keelson_duration_ms(started timestamptz, completed timestamptz) returns bigint
language sql immutable as $$
    select case when completed is not null
        then greatest(0, extract(epoch from completed - coalesce(started, completed)) * 1000)::bigint end
$$;

-- The first 2,000 characters of an output.
create or replace function keelson_summary(value jsonb) returns text language sql immutable as $$
    select left(value #>> '{}', 2000)
$$;

create or replace function keelson_run_valid(state varchar, state_type varchar, completed_at timestamptz,
    total_tokens integer, total_cost numeric, task_count integer, tasks_completed integer, tasks_failed integer,
    tasks_skipped integer, agent_count integer, steps_total integer, attempt_number integer, max_attempts integer,
    effect_generation integer, duration_ms bigint, plan_version integer, replans integer, active_ms bigint)
    returns boolean language plpgsql immutable as $$
begin
    return (completed_at is not null) = (state_type = 'terminal')
        and strpos(' running:running running:resuming terminal:completed terminal:failed terminal:cancelled'
            ' terminal:skipped pending:pending pending:created pending:planning pending:awaiting_approval'
            ' pending:ready pending:retrying paused:paused paused:budget_exceeded paused:escalated ',
            concat(' ', state_type, ':', state, ' ')) > 0
        and least(total_tokens, task_count, tasks_completed, tasks_failed, tasks_skipped, agent_count, steps_total,
            plan_version, replans) >= 0
        and least(attempt_number, max_attempts, effect_generation) >= 1
        and least(duration_ms, active_ms) >= 0 and total_cost >= 0;
end $$;

-- What never changes once a run is accepted (plan, config, inputs) is moved out of the row early (toast_tuple_target), so
-- that a change copies little.
create table if not exists orchestration_runs (
    id uuid primary key default gen_random_uuid(),
    workspace_id uuid not null references workspaces (id) on delete cascade,
    title varchar(500) not null,
    description text,
    goal text not null,
    state varchar(30) not null default 'pending',
    state_type varchar(10) not null default 'pending',
    plan jsonb,
    config jsonb not null default '{}',
    result_summary text,
    error_message text,
    created_by varchar(255) not null,
    coordinator_agent_id integer references agents (id) on delete set null,
    total_tokens integer not null default 0,
    total_cost numeric(26, 12) not null default 0,
    task_count integer not null default 0,
    tasks_completed integer not null default 0,
    tasks_failed integer not null default 0,
    started_at timestamptz,
    completed_at timestamptz,
    duration_ms bigint,
    version_id integer not null default 1,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),

    -- As it was asked for.
    priority integer not null default 100,
    trigger varchar(50) not null default 'api',
    inputs jsonb not null default '{}',
    input_declarations jsonb,
    tags jsonb not null default '[]',
    agent_slug varchar(255),
    external_id varchar(255),
    policy jsonb not null default '{}',
    output_template text,
    origin jsonb,
    start_at timestamptz,
    forked_from uuid,
    fork_task varchar(220),

    -- How far it is.
    output jsonb,
    error_code varchar(100),
    attempt_number integer not null default 1,
    max_attempts integer not null default 3,
    effect_generation integer not null default 1,
    failing boolean not null default false,
    agent_count integer not null default 0,
    tasks_skipped integer not null default 0,
    steps_total integer not null default 0,
    plan_version integer not null default 1,
    replans integer not null default 0,
    gate varchar(20) not null default 'none',

    -- Its times.
    state_since timestamptz,
    active_ms bigint not null default 0,
    active_since timestamptz,
    quiet_since timestamptz,
    last_heartbeat_at timestamptz,
    cancelled_at timestamptz,
    deleted_at timestamptz,

    -- Its money; what the open attempt has is with its head.
    credits_charged_before numeric(20, 6) not null default 0,
    credits_refunded numeric(20, 6) not null default 0,
    credits_uncollected numeric(26, 12) not null default 0,
    hard_limit_usd numeric(20, 6),
    soft_limit_usd numeric(20, 6),
    budget_warned boolean not null default false,
    turn_model text,
    ended_ms bigint not null default 0,
    begun_at timestamptz,

    constraint ck_orch_runs_valid check (keelson_run_valid(state, state_type, completed_at, total_tokens,
        total_cost, task_count, tasks_completed, tasks_failed, tasks_skipped, agent_count, steps_total, attempt_number,
        max_attempts, effect_generation, duration_ms, plan_version, replans, active_ms))
) with (fillfactor = 70, toast_tuple_target = 512);

comment on table orchestration_runs is
    'Mission-level execution records (PRD-101). One row per mission; its attempts are in run_attempts.';
comment on column orchestration_runs.result_summary is
    'the first 2,000 characters of the output; without an output template, of what the tasks yield on which no other depends';
comment on column orchestration_runs.coordinator_agent_id is
    'the agent of the roster that agent_slug names; null for the system coordinator';
comment on column orchestration_runs.total_tokens is 'as of the last change of the row; run_heads has the current number';
comment on column orchestration_runs.total_cost is 'credits, as of the last change of the row; run_heads has the current sum';
comment on column orchestration_runs.version_id is 'as of the last change of the row; run_heads has the current one';
comment on column orchestration_runs.origin is 'recipe_id, recipe_version, schedule_id, scheduled_for; null if all are absent';
comment on column orchestration_runs.start_at is 'when the run starts by itself; null: when a call starts it';
comment on column orchestration_runs.plan_version is '0 until its planner has made the first plan';
comment on column orchestration_runs.active_ms is 'time at work in this attempt, up to active_since';
comment on column orchestration_runs.last_heartbeat_at is 'last write of this row while the run was running, however long ago: a run that waits writes nothing. Of the API: the last heartbeat of the leases in work_queue, null without a lease';
comment on column orchestration_runs.quiet_since is 'since when no worker of it has sent a heartbeat, if that fails it';
comment on column orchestration_runs.begun_at is 'when it became running in its attempt; null before';
comment on column orchestration_runs.ended_ms is 'time for which it had ended before it was retried; no part of duration_ms';
comment on column orchestration_runs.cancelled_at is 'completed_at of a cancelled run; null in every other state';
comment on column orchestration_runs.credits_charged_before is 'by settled attempts';
comment on column orchestration_runs.credits_refunded is 'by settled attempts';
comment on column orchestration_runs.credits_uncollected is 'of the current attempt';
comment on column orchestration_runs.hard_limit_usd is 'instead of the config''s; null: that one';
comment on column orchestration_runs.soft_limit_usd is 'instead of the config''s; null: that one';

create index if not exists ix_orch_runs_ws_created on orchestration_runs (workspace_id, created_at desc);
-- PRD-101 has (workspace_id); id behind it lets a reader page through any number of open runs.
create index if not exists ix_orch_runs_active on orchestration_runs (workspace_id, id) where state_type <> 'terminal';
create index if not exists ix_orch_runs_created_by on orchestration_runs (created_by);
create index if not exists ix_orch_runs_coordinator on orchestration_runs (coordinator_agent_id)
    where coordinator_agent_id is not null;
create unique index if not exists uq_orch_runs_external on orchestration_runs (workspace_id, external_id)
    where external_id is not null;
-- Open runs that take their turn under a key. Neither the key nor the policy that it is in ever changes.
create index if not exists ix_orch_runs_concurrency
    on orchestration_runs (workspace_id, (policy #>> '{concurrency,key}'), id)
    where state_type <> 'terminal' and policy #>> '{concurrency,key}' is not null;
-- Runs that wait for a person because of their budget have no timer. This index and the next mention no column that
-- another one does not, so they cost the updates of those runs only that they hold.
create index if not exists ix_orch_runs_paused on orchestration_runs (workspace_id, id) where state_type = 'paused';
-- Few runs end otherwise than completed, and people look for those.
create index if not exists ix_orch_runs_ended_badly on orchestration_runs (workspace_id, created_at desc, id desc)
    where state_type = 'terminal' and state <> 'completed';

-- Runs are not deleted while their events are there: those are kept until they have been archived.
create or replace function keelson_keep_history() returns trigger language plpgsql as $$
begin
    if exists (select from run_event_packs p where tg_op = 'TRUNCATE' or p.run_id = old.id) then
        raise exception 'run_event_packs is append-only: % of % refused while their events are there', tg_op,
            tg_table_name using errcode = 'restrict_violation';
    end if;
    return old;
end $$;

create or replace trigger orchestration_runs_keep_history before delete on orchestration_runs
    for each row execute function keelson_keep_history();
create or replace trigger orchestration_runs_no_truncate before truncate on orchestration_runs
    for each statement execute function keelson_keep_history();

-- A run's head, attempts and agents go with it.
create or replace function keelson_drop_heads() returns trigger language plpgsql
    set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
    runs uuid[] := array(select id from gone);
begin
    delete from run_heads where run_id = any (runs);
    delete from run_attempts where run_id = any (runs);
    delete from run_agents where run_id = any (runs);
    return null;
end $$;

create or replace trigger orchestration_runs_drop_heads after delete on orchestration_runs
    referencing old table as gone for each statement execute function keelson_drop_heads();

-- Parts of tokens by their price: input, cache_read, cache_write and output, which sum up to all tokens; reasoning is a part of
-- output.
create or replace function keelson_usage_valid(usage jsonb, tokens bigint) returns boolean language plpgsql immutable as $$
declare
    used jsonb[] := array[usage -> 'input', usage -> 'cache_read', usage -> 'cache_write', usage -> 'output', usage -> 'reasoning'];
begin
    return coalesce(used[1]::bigint + used[2]::bigint + used[3]::bigint + used[4]::bigint = tokens
        and least(used[1]::bigint, used[2]::bigint, used[3]::bigint, used[5]::bigint) >= 0
        and used[5]::bigint <= used[4]::bigint, false);
end $$;

-- A narrow row, locked by the server that decides about the run, and the proof that its view is current. The run's own row
-- changes with its state and its tasks only.
create table if not exists run_heads (
    run_id uuid primary key,
    version_id integer not null,
    last_seq bigint not null,
    steps_completed integer not null,
    total_tokens bigint not null,
    usage jsonb,
    total_cost numeric(26, 12) not null,
    updated_at timestamptz not null,
    credits_left keelson_amount not null default 0,
    credits_charged keelson_amount not null default 0,
    credits_remainder keelson_remainder not null default 0
) with (fillfactor = 40, autovacuum_vacuum_scale_factor = 0.05);

comment on table run_heads is 'The part of a run that each of its commits changes: version, last event and sums.';
comment on column run_heads.version_id is 'rises with every commit of the run';
comment on column run_heads.last_seq is 'of its events';
comment on column run_heads.usage is 'the parts of total_tokens; null when it is 0';
comment on column run_heads.total_cost is 'credits, exact';
comment on column run_heads.credits_left is 'reserved for the open attempt and not charged yet; 1 credit is 1 USD';
comment on column run_heads.credits_charged is 'by the open attempt; reserved in the workspace''s balance until it ends';
comment on column run_heads.credits_remainder is
    'collected cost of all attempts less what they were charged: what rounding the sum once has left';

create table if not exists run_attempts (
    run_id uuid not null,
    attempt_number keelson_number not null,
    state varchar(30) not null,
    started_at timestamptz not null,
    completed_at timestamptz,
    error_code varchar(100),
    error_message text,
    failures integer not null default 0,
    credits_reserved numeric(20, 6) not null default 0,
    credits_charged keelson_amount not null default 0,
    credits_refunded keelson_amount not null default 0,
    uncollected keelson_cost not null default 0,
    settled_at timestamptz,
    primary key (run_id, attempt_number),
    constraint ck_run_attempts_credits check (settled_at is null or credits_charged + credits_refunded = credits_reserved)
);

comment on table run_attempts is 'Attempts of a run; never changed once ended.';
comment on column run_attempts.failures is 'how many tasks and steps had failed when it ended';
comment on column run_attempts.uncollected is 'credits that neither the run''s limit nor the balance had';
comment on column run_attempts.settled_at is 'from then on charged + refunded = reserved; before, the head has the figures';

create table if not exists run_agents (
    id uuid primary key,
    run_id uuid not null,
    workspace_id uuid not null,
    attempt keelson_number not null,
    number keelson_number not null,
    name varchar(255),
    state varchar(30) not null,
    state_type varchar(10) not null,
    attempt_number integer not null default 1,
    failing boolean not null default false,
    failure_ignored boolean not null default false,
    next_run_at timestamptz,
    begun_at timestamptz,
    started_at timestamptz,
    completed_at timestamptz,
    created_at timestamptz not null,
    unique (run_id, attempt, number),
    constraint ck_run_agents_state
        check (concat_ws(':', state_type, state, completed_at is null)::keelson_agent_state is not null)
) with (fillfactor = 75);

comment on table run_agents is 'Agents at work in a run, one row per attempt of the run.';
comment on column run_agents.attempt is 'the run attempt; attempt_number is the agent''s own';
comment on column run_agents.name is 'null: the run''s default agent';
comment on column run_agents.begun_at is 'when its current attempt began; started_at is when its first one did';

-- The plan in force is with its run.
create table if not exists run_plans (
    run_id uuid not null references orchestration_runs (id) on delete cascade,
    version integer not null check (version > 0),
    workspace_id uuid not null,
    plan jsonb not null,
    replaced_at timestamptz not null,
    primary key (run_id, version)
);

comment on table run_plans is 'Plans of a run that later ones have taken the places of.';

-- Runs that steps of other runs have started. Each side has a row of its own, written under its own run's version: what a
-- child knows of its parent, and what a parent knows of its children.
create table if not exists run_parents (
    run_id uuid primary key references orchestration_runs (id) on delete cascade,
    workspace_id uuid not null,
    parent_run_id uuid not null,
    parent_step_id uuid not null,
    depth integer not null check (depth >= 1),
    abandon boolean not null,
    allotment numeric(20,6) check (allotment >= 0),
    seen integer not null,
    held boolean not null,
    constraint uq_run_parents_step unique (parent_step_id)
);

comment on table run_parents is 'The step that has started a run, and what the run may cost by it.';
comment on column run_parents.abandon is 'true: the run continues when its parent no longer waits for it';
comment on column run_parents.allotment is 'credits that it may cost at most; null for no limit';
comment on column run_parents.seen is 'the parent''s version that it last received';
comment on column run_parents.held is 'it rests because its parent is paused';

create index if not exists ix_run_parents_parent on run_parents (parent_run_id);

create table if not exists run_children (
    step_id uuid primary key,
    workspace_id uuid not null,
    run_id uuid not null references orchestration_runs (id) on delete cascade,
    child_run_id uuid not null,
    task_key varchar(220) not null,
    allotment numeric(20,6) check (allotment >= 0),
    charged numeric(20,6) not null check (charged >= 0),
    tokens bigint not null check (tokens >= 0),
    ended boolean not null,
    constraint uq_run_children_child unique (child_run_id)
);

comment on table run_children is 'Runs that a step of a run has started, as the parent knows them.';
comment on column run_children.task_key is 'id in the plan of the task whose step has started it';
comment on column run_children.allotment is 'credits that it may cost at most; null for no limit';
comment on column run_children.charged is 'credits, with its own children; 0 until it has ended';
comment on column run_children.ended is 'it and its own children have ended';

create index if not exists ix_run_children_run on run_children (run_id);

create table if not exists task_budgets (
    run_id uuid not null references orchestration_runs (id) on delete cascade,
    task_key varchar(220) not null,
    workspace_id uuid not null,
    budget_usd numeric(20,6) not null check (budget_usd >= 0),
    charged numeric(26,12) not null check (charged >= 0),
    exceeded boolean not null,
    primary key (run_id, task_key)
);

comment on table task_budgets is 'Budgets of a run''s tasks, and their charges in all attempts.';
comment on column task_budgets.task_key is 'id in the plan; of a for_each, for all items together';
comment on column task_budgets.budget_usd is 'by the plan until a person raises it';
comment on column task_budgets.charged is 'collected cost of the task''s steps, exact, without the runs that they started';
comment on column task_budgets.exceeded is 'it has stopped the run, which has not continued since';

create table if not exists run_signals (
    id uuid primary key,
    workspace_id uuid not null,
    run_id uuid not null references orchestration_runs (id) on delete cascade,
    seq bigint not null,
    name varchar(100) not null,
    payload jsonb not null,
    sent_by varchar(255),
    received_at timestamptz not null,
    step_id uuid,
    taken_at timestamptz,
    constraint uq_run_signals_seq unique (run_id, seq),
    constraint ck_run_signals_taken check ((step_id is null) = (taken_at is null))
);

comment on table run_signals is 'Signals sent to a run, until a step takes them.';

-- A step takes one signal at most.
create unique index if not exists uq_run_signals_step on run_signals (step_id) where step_id is not null;

-- What ends a message to the database before its COMMIT is reached. They return a type of fixed length, or else the driver
-- would send each statement that names them in a message of its own.

-- A statement has touched another number of rows than it must.
create or replace function keelson_raise_stale(what text, expected integer, found bigint) returns integer
    language plpgsql as $$
begin
    raise exception '%: % rows to change, % found as expected', what, expected, found using errcode = 'KE001';
end $$;
