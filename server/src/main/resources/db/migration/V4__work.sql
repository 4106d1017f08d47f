-- What the engine works from. These tables are small and change with every step, so nothing refers to them and they
-- refer to nothing: the transaction that writes a row here writes what it is about, too.

-- One row per lane of a task that is released: unclaimed, or under a lease. Claims, completions and ticks cost the same
-- whatever the history, for this table knows none.
create table if not exists work_queue (
    task_id uuid not null,
    lane integer not null,
    run_id uuid not null,
    workspace_id uuid not null,
    tool varchar(220) not null,
    priority integer not null,
    queued_at timestamptz not null,
    holder text,
    lease_ms bigint check (lease_ms > 0),
    lease_expires_at timestamptz,
    deadline_at timestamptz,
    primary key (task_id, lane),
    constraint ck_work_queue_lease check (
        (holder is null) = (lease_ms is null) and (holder is null) = (lease_expires_at is null)
        and (holder is not null or deadline_at is null))
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);

create index if not exists ix_work_queue_ready on work_queue (workspace_id, tool, priority, queued_at)
    where holder is null;
create index if not exists ix_work_queue_lease on work_queue (lease_expires_at) where holder is not null;
create index if not exists ix_work_queue_deadline on work_queue (deadline_at) where deadline_at is not null;
create index if not exists ix_work_queue_run on work_queue (run_id);

create table if not exists timers (
    kind varchar(30) not null,
    subject uuid not null,
    run_id uuid not null,
    due_at timestamptz not null,
    primary key (kind, subject)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);

create index if not exists ix_timers_due on timers (due_at);
create index if not exists ix_timers_run on timers (run_id);

create table if not exists workers (
    workspace_id uuid not null references workspaces (id) on delete cascade,
    id text not null,
    tools text[] not null default '{}',
    slots integer not null default 0,
    version text,
    draining boolean not null default false,
    first_seen_at timestamptz not null,
    last_seen_at timestamptz not null,
    primary key (workspace_id, id)
) with (fillfactor = 70);

create table if not exists engine_nodes (
    id text primary key,
    version text not null,
    started_at timestamptz not null,
    last_seen_at timestamptz not null
) with (fillfactor = 70);

create table if not exists step_logs (
    step_id uuid not null,
    lease_epoch integer not null,
    line integer not null,
    attempt integer not null,
    message text not null,
    at timestamptz not null,
    primary key (step_id, lease_epoch, line)
);

create table if not exists step_progress (
    step_id uuid primary key,
    lease_epoch integer not null,
    progress double precision check (progress between 0 and 1),
    message text,
    details jsonb,
    updated_at timestamptz not null
) with (fillfactor = 70);
