-- What a run is made of beside its tasks: attempts, agents at work, steps, their results and artifacts.

create table if not exists run_attempts (
    run_id uuid not null references orchestration_runs (id) on delete cascade,
    attempt_number integer not null check (attempt_number >= 1),
    state varchar(30) not null,
    started_at timestamptz not null,
    completed_at timestamptz,
    error_code varchar(100),
    error_message text,
    primary key (run_id, attempt_number)
);

create table if not exists run_agents (
    id uuid primary key,
    run_id uuid not null references orchestration_runs (id) on delete cascade,
    workspace_id uuid not null,
    attempt integer not null check (attempt >= 1),
    number integer not null check (number >= 1),
    name varchar(255),
    state varchar(30) not null,
    state_type varchar(10) not null,
    started_at timestamptz,
    completed_at timestamptz,
    created_at timestamptz not null,

    unique (run_id, attempt, number),
    constraint ck_run_agents_state check ((state, state_type) in (
        ('pending', 'pending'), ('running', 'running'), ('paused', 'paused'), ('completed', 'terminal'),
        ('failed', 'terminal'), ('cancelled', 'terminal'), ('skipped', 'terminal'))),
    constraint ck_run_agents_completed check ((state_type = 'terminal') = (completed_at is not null))
) with (fillfactor = 75);

comment on column run_agents.name is 'null: the run''s default agent';

create table if not exists orchestration_steps (
    id uuid primary key,
    run_id uuid not null references orchestration_runs (id) on delete cascade,
    task_id uuid not null references orchestration_tasks (id) on delete cascade,
    workspace_id uuid not null,
    attempt_of_run integer not null check (attempt_of_run >= 1),
    name varchar(220) not null,
    kind varchar(20) not null,
    tool varchar(220) not null,
    position integer not null check (position >= 1),
    turn integer not null default 1 check (turn >= 1),
    input jsonb not null,
    retry jsonb not null,
    timeout_ms bigint not null check (timeout_ms > 0),
    state varchar(30) not null,
    state_type varchar(10) not null,
    attempt integer not null default 0 check (attempt >= 0),
    failures integer not null default 0 check (failures >= 0),
    deliveries integer not null default 0 check (deliveries >= 0),
    lease_epoch integer not null default 0 check (lease_epoch >= 0),
    result_epoch integer not null default 0 check (result_epoch between 0 and lease_epoch),
    resolved_input jsonb,
    output jsonb,
    error_code varchar(100),
    error_message text,
    error_class varchar(30),
    tokens bigint not null default 0 check (tokens >= 0),
    cost numeric(20, 6) not null default 0 check (cost >= 0),
    next_run_at timestamptz,
    started_at timestamptz,
    completed_at timestamptz,
    created_at timestamptz not null,

    constraint ck_orch_steps_state check ((state, state_type) in (
        ('pending', 'pending'), ('running', 'running'), ('waiting', 'paused'), ('waiting_approval', 'paused'),
        ('awaiting_retry', 'pending'), ('completed', 'terminal'), ('failed', 'terminal'),
        ('cancelled', 'terminal'), ('skipped', 'terminal'))),
    constraint ck_orch_steps_completed check ((state_type = 'terminal') = (completed_at is not null))
) with (fillfactor = 70);

create index if not exists ix_orch_steps_task on orchestration_steps (task_id);
create index if not exists ix_orch_steps_run on orchestration_steps (run_id);

-- At most one result per lease, whoever reports it and however often.
create table if not exists work_results (
    step_id uuid not null references orchestration_steps (id) on delete cascade,
    epoch integer not null check (epoch >= 1),
    run_id uuid not null,
    outcome varchar(20) not null check (outcome in ('completed', 'continued', 'failed')),
    error_code varchar(100),
    tokens bigint not null check (tokens >= 0),
    cost numeric(20, 6) not null check (cost >= 0),
    holder text,
    recorded_at timestamptz not null,
    primary key (step_id, epoch)
);

create table if not exists artifacts (
    id uuid primary key,
    run_id uuid not null references orchestration_runs (id) on delete cascade,
    workspace_id uuid not null,
    attempt integer not null check (attempt >= 1),
    step_id uuid not null,
    name text not null,
    content_type text not null,
    size_bytes bigint not null check (size_bytes >= 0),
    sha256 char(64) not null,
    storage_key text not null,
    created_at timestamptz not null,
    unique (run_id, attempt, name)
);
