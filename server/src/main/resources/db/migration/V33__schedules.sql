-- Runs that are made at times. A schedule wants to be looked at from wake_at on: when its next time comes, or while times
-- of it are left to be acted upon.
create table if not exists schedules (
    id uuid primary key,
    workspace_id uuid not null references workspaces (id) on delete cascade,
    name varchar(200) not null,
    recipe_id uuid references workflow_recipes (recipe_id),
    inputs jsonb not null default '{}',
    mission jsonb,
    cron varchar(250) not null,
    time_zone varchar(60) not null,
    overlap varchar(20) not null check (overlap in ('allow', 'skip', 'queue', 'cancel_running')),
    catch_up varchar(20) not null check (catch_up in ('skip', 'latest', 'all')),
    catch_up_window_seconds integer not null check (catch_up_window_seconds > 0),
    jitter_seconds integer not null check (jitter_seconds >= 0),
    end_at timestamptz,
    max_runs integer check (max_runs > 0),
    runs_made integer not null default 0,
    times_missed integer not null default 0,
    paused boolean not null default false,
    next_run_at timestamptz,
    wake_at timestamptz,
    version integer not null default 1,
    created_by varchar(255) not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    unique (workspace_id, name),
    constraint ck_schedules_what check ((recipe_id is null) <> (mission is null))
) with (fillfactor = 80);

create index if not exists ix_schedules_wake on schedules (wake_at) where wake_at is not null;
create index if not exists ix_schedules_recipe on schedules (recipe_id) where recipe_id is not null;
select keelson_fence('schedules', 'workspace_id = (select keelson_workspace())');

-- What became of each time. Its key makes it one run, whoever acts on it and however often; the run's id stands here before
-- there is a run.
create table if not exists schedule_ticks (
    schedule_id uuid not null references schedules (id) on delete cascade,
    scheduled_for timestamptz not null,
    kind varchar(10) not null check (kind in ('cron', 'manual', 'backfill')),
    workspace_id uuid not null,
    run_id uuid not null,
    fire_at timestamptz not null,
    state varchar(10) not null check (state in ('due', 'queued', 'made', 'skipped', 'failed')),
    at_work boolean not null default false,
    error_code varchar(100),
    error_message text,
    decided_at timestamptz,
    primary key (schedule_id, scheduled_for, kind),
    constraint ck_schedule_ticks_open check ((decided_at is null) = (state in ('due', 'queued')))
);

comment on column schedule_ticks.at_work is 'its run has not been seen to have ended';

create index if not exists ix_schedule_ticks_open on schedule_ticks (schedule_id, fire_at) where decided_at is null;
create index if not exists ix_schedule_ticks_at_work on schedule_ticks (schedule_id) where at_work;
select keelson_fence('schedule_ticks', 'workspace_id = (select keelson_workspace())');

-- For the engine's one look at what is due: costs a look into an index, which is empty where there are no schedules.
create or replace function keelson_schedules_due(at timestamptz) returns boolean language sql stable as $$
    select (select min(wake_at) from schedules where wake_at is not null) <= at
$$;
