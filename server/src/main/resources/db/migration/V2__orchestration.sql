-- PRD-101 §4.2, §5.2, §5.4, §6.3, §7: its columns first, then ours. Widened where the seed's type makes a real run
-- impossible: durations are BIGINT, money is NUMERIC(20,6). State and type of state can only stand in the pairs of the
-- lifecycle, and whoever is terminal has a time of completion. Rows that change often leave room on their pages, and no
-- index beyond those of §7.6 mentions a column that changes often, so that updates stay heap-only.

-- Never negative, should the clock have gone back.
create or replace function keelson_duration_ms(started timestamptz, completed timestamptz) returns bigint
language sql immutable as $$
    select case when started is not null and completed is not null
        then greatest(0, extract(epoch from completed - started) * 1000)::bigint end
$$;

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
    total_tokens integer not null default 0 check (total_tokens >= 0),
    total_cost numeric(20, 6) not null default 0 check (total_cost >= 0),
    task_count integer not null default 0 check (task_count >= 0),
    tasks_completed integer not null default 0 check (tasks_completed >= 0),
    tasks_failed integer not null default 0 check (tasks_failed >= 0),
    started_at timestamptz,
    completed_at timestamptz,
    duration_ms bigint check (duration_ms >= 0),
    version_id integer not null default 1,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),

    priority integer not null default 100,
    trigger varchar(50) not null default 'api',
    inputs jsonb not null default '{}',
    tags jsonb not null default '[]',
    agent_slug varchar(255),
    external_id varchar(255),
    policy jsonb not null default '{}',
    output_template text,
    output jsonb,
    attempt_number integer not null default 1 check (attempt_number >= 1),
    max_attempts integer not null default 3 check (max_attempts >= 1),
    effect_generation integer not null default 1 check (effect_generation >= 1),
    failing boolean not null default false,
    last_seq bigint not null default 0 check (last_seq >= 0),
    agent_count integer not null default 0 check (agent_count >= 0),
    tasks_skipped integer not null default 0 check (tasks_skipped >= 0),
    steps_total integer not null default 0 check (steps_total >= 0),
    steps_completed integer not null default 0 check (steps_completed >= 0),
    error_code varchar(100),
    last_heartbeat_at timestamptz,
    deleted_at timestamptz,

    constraint ck_orch_runs_state check ((state, state_type) in (
        ('created', 'pending'), ('pending', 'pending'), ('planning', 'pending'), ('awaiting_approval', 'pending'),
        ('running', 'running'), ('paused', 'paused'), ('budget_exceeded', 'paused'), ('escalated', 'paused'),
        ('resuming', 'running'), ('retrying', 'pending'), ('completed', 'terminal'), ('failed', 'terminal'),
        ('cancelled', 'terminal'), ('skipped', 'terminal'))),
    constraint ck_orch_runs_completed check ((state_type = 'terminal') = (completed_at is not null))
) with (fillfactor = 70);

create index if not exists ix_orch_runs_ws_created on orchestration_runs (workspace_id, created_at desc);
create index if not exists ix_orch_runs_active on orchestration_runs (workspace_id) where state_type <> 'terminal';
create index if not exists ix_orch_runs_created_by on orchestration_runs (created_by);
create unique index if not exists uq_orch_runs_external on orchestration_runs (workspace_id, external_id)
    where external_id is not null;

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
    verifier_score numeric(3, 2) check (verifier_score >= 0 and verifier_score <= 1),
    verified_by varchar(255),
    error_message text,
    attempt_number smallint not null default 1 check (attempt_number >= 1),
    continuation_count smallint not null default 0 check (continuation_count >= 0),
    tokens_used integer not null default 0 check (tokens_used >= 0),
    cost numeric(20, 6) not null default 0 check (cost >= 0),
    board_task_id integer references board_tasks (id) on delete set null,
    started_at timestamptz,
    completed_at timestamptz,
    duration_ms bigint check (duration_ms >= 0),
    version_id integer not null default 1,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),

    key varchar(220) not null default '',
    attempt integer not null default 1 check (attempt >= 1),
    run_agent_id uuid,
    group_id uuid,
    item_index integer check (item_index >= 0),
    item jsonb,
    when_expr text,
    for_each text,
    output_template text,
    output jsonb,
    parallel_steps boolean not null default false,
    step_specs jsonb,
    queued_at timestamptz,
    error_code varchar(100),
    carried_from uuid,

    constraint ck_orch_tasks_state check ((state, state_type) in (
        ('pending', 'pending'), ('queued', 'pending'), ('assigned', 'running'), ('running', 'running'),
        ('continuing', 'running'), ('verifying', 'paused'), ('awaiting_human', 'paused'),
        ('awaiting_retry', 'pending'), ('completed', 'terminal'), ('failed', 'terminal'),
        ('cancelled', 'terminal'), ('skipped', 'terminal'))),
    constraint ck_orch_tasks_completed check ((state_type = 'terminal') = (completed_at is not null)),
    constraint ck_orch_tasks_item check ((group_id is null) = (item_index is null))
) with (fillfactor = 75);

comment on column orchestration_tasks.attempt is 'the run attempt; attempt_number is the task''s own';
comment on column orchestration_tasks.step_specs is 'of a for_each task: what its children''s steps will be';

-- §7.6 has (run_id); attempt and key behind it let an expression find the tasks that it names without reading all others.
create index if not exists ix_orch_tasks_run on orchestration_tasks (run_id, attempt, key);
create index if not exists ix_orch_tasks_ws_state on orchestration_tasks (workspace_id, state);
create index if not exists ix_orch_tasks_agent on orchestration_tasks (agent_id) where agent_id is not null;
create index if not exists ix_orch_tasks_board on orchestration_tasks (board_task_id) where board_task_id is not null;

create table if not exists orchestration_task_dependencies (
    task_id uuid not null references orchestration_tasks (id) on delete cascade,
    depends_on_id uuid not null references orchestration_tasks (id) on delete cascade,
    dependency_type varchar(20) not null default 'data' check (dependency_type in ('data', 'ordering')),
    primary key (task_id, depends_on_id),
    constraint ck_orch_deps_self check (task_id <> depends_on_id)
);

create index if not exists ix_orch_deps_reverse on orchestration_task_dependencies (depends_on_id);

-- seq counts a run's events without gaps. xid is the writing transaction's: a feed over all runs reads in (xid, id)
-- order below pg_snapshot_xmin(pg_current_snapshot()), for ids alone become visible out of order.
create table if not exists orchestration_events (
    id bigserial primary key,
    run_id uuid not null references orchestration_runs (id) on delete cascade,
    task_id uuid references orchestration_tasks (id) on delete cascade,
    event_type varchar(50) not null,
    payload jsonb not null default '{}',
    actor_type varchar(20) not null default 'system',
    actor_id varchar(255),
    created_at timestamptz not null default now(),

    seq bigint not null check (seq >= 1),
    attempt integer not null default 1,
    step_id uuid,
    agent_id uuid,
    xid xid8 not null default pg_current_xact_id()
);

-- §7.6 has (run_id); with seq behind it the same tree also refuses a second event of one number and yields a run's
-- events in order, where two trees would cost every event twice.
create unique index if not exists ix_orch_events_run on orchestration_events (run_id, seq);
create index if not exists ix_orch_events_task on orchestration_events (task_id) where task_id is not null;
create index if not exists ix_orch_events_created on orchestration_events using brin (created_at);
create index if not exists ix_orch_events_type on orchestration_events (event_type);

create table if not exists orchestration_events_archive (
    id bigint primary key,
    run_id uuid not null,
    task_id uuid,
    event_type varchar(50) not null,
    payload jsonb not null default '{}',
    actor_type varchar(20) not null default 'system',
    actor_id varchar(255),
    created_at timestamptz not null,

    seq bigint not null,
    attempt integer not null,
    step_id uuid,
    agent_id uuid,
    xid xid8 not null
);

-- Events are never changed. A row trigger misses TRUNCATE, hence two.
create or replace function keelson_refuse_change() returns trigger language plpgsql as $$
begin
    raise exception '% is append-only: % refused', tg_table_name, tg_op using errcode = 'restrict_violation';
end $$;

create or replace trigger orchestration_events_no_change before update or delete on orchestration_events
    for each row execute function keelson_refuse_change();
create or replace trigger orchestration_events_no_truncate before truncate on orchestration_events
    for each statement execute function keelson_refuse_change();

alter table agent_reports add column if not exists orchestration_task_id uuid
    references orchestration_tasks (id) on delete set null;
create index if not exists ix_agent_reports_orch_task on agent_reports (orchestration_task_id)
    where orchestration_task_id is not null;

create unique index if not exists uq_board_tasks_orchestration_run on board_tasks (source_id)
    where source_type = 'orchestration';
create unique index if not exists uq_board_tasks_orchestration_task on board_tasks (source_id)
    where source_type = 'orchestration_task';
