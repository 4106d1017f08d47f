-- What servers and workers work from: the queue, timers, workers, nodes, logs, artifacts, bulk jobs. The first ones are
-- small and change with every step, so they refer to nothing: the transaction that writes a row writes what it is about.

create or replace function keelson_lease_valid(holder text, lease_ms bigint, lease_expires_at timestamptz,
    deadline_at timestamptz) returns boolean language plpgsql immutable as $$
begin
    return case when holder is null then lease_ms is null and lease_expires_at is null and deadline_at is null
        else coalesce(lease_ms, 0) > 0 and lease_expires_at is not null end;
end $$;

-- One row per lane of a task that is released: unclaimed, or under a lease. Claims, completions and ticks cost the same
-- with any history, for this table knows none (docs/adr/0004).
create table if not exists work_queue (
    task_id uuid not null,
    lane integer not null,
    run_id uuid not null,
    workspace_id uuid not null,
    tool varchar(220) not null,
    model varchar(255) not null default '',
    priority integer not null,
    queued_at timestamptz not null,
    holder text,
    lease_ms bigint,
    lease_expires_at timestamptz,
    deadline_at timestamptz,
    held_credits numeric(26, 12),
    max_output_tokens bigint,
    requested boolean not null default false,
    primary key (task_id, lane),
    constraint ck_work_queue_lease check (keelson_lease_valid(holder, lease_ms, lease_expires_at, deadline_at))
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);

comment on table work_queue is 'Steps that are ready or held by a worker; a row is the lease.';
comment on column work_queue.lane is 'of its task''s work: one for steps in order, one each for parallel steps';
comment on column work_queue.model is 'that the step names, as far as known before it is claimed; empty if absent';
comment on column work_queue.holder is 'the worker that has claimed it; null if absent';
comment on column work_queue.lease_expires_at is
    'the end of the lease; 1970 once a server has found it expired: no heartbeat extends it any more';
comment on column work_queue.held_credits is 'credits that the run holds for the worst case of the step; null if absent';
comment on column work_queue.max_output_tokens is 'tokens of output that the held credits pay; null without them';
comment on column work_queue.requested is 'whether a request to a model may have been sent under the held credits';

-- A range is a workspace's tool and model, so that those at their limit are skipped without being read.
create index if not exists ix_work_queue_turn on work_queue (workspace_id, tool, model, priority, queued_at)
    where holder is null;
create index if not exists ix_work_queue_lease on work_queue (lease_expires_at) where holder is not null;
create index if not exists ix_work_queue_deadline on work_queue (deadline_at) where deadline_at is not null;
create index if not exists ix_work_queue_run on work_queue (run_id);

create table if not exists timers (
    kind varchar(30) not null,
    subject uuid not null,
    run_id uuid not null,
    due_at timestamptz not null,
    workspace_id uuid,
    question varchar(20),
    asked_at timestamptz,
    answer_by timestamptz,
    cause text,
    primary key (kind, subject),
    constraint ck_timers_question check (num_nonnulls(workspace_id, question, asked_at, answer_by)
        = case when kind = 'human' then 4 else 0 end)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);

comment on table timers is 'Due times of retries, timeouts, reminders and evaluations.';
comment on column timers.subject is 'the run, task, step or ticket that it is about';
comment on column timers.workspace_id is 'of kind human only, as the columns behind it: people read often what waits for them';
comment on column timers.question is 'kind of the inbox item';
comment on column timers.asked_at is 'tells the question from an earlier one about the same subject';
comment on column timers.answer_by is 'the due time of the answer by the run''s rule; due_at is the time of the next reminder';
comment on column timers.cause is 'equal for tickets about one failure; null for others';

create index if not exists ix_timers_due on timers (due_at);
create index if not exists ix_timers_run on timers (run_id);
create index if not exists ix_timers_human on timers (workspace_id, run_id) where kind = 'human';

create table if not exists workers (
    workspace_id uuid not null references workspaces (id) on delete cascade,
    id text not null,
    tools text[] not null default '{}',
    slots integer not null default 0,
    version text,
    draining boolean not null default false,
    first_seen_at timestamptz not null,
    last_seen_at timestamptz not null,
    tool_specs jsonb not null default '[]',
    primary key (workspace_id, id)
) with (fillfactor = 70);

comment on column workers.tool_specs is 'what it has announced of its tools: name, description, input_schema, effects';
comment on table workers is 'Remote workers that have asked for work, and the tools that they serve.';

create table if not exists engine_nodes (
    id text primary key,
    version text not null,
    started_at timestamptz not null,
    last_seen_at timestamptz not null,
    left_at timestamptz,
    secret_keys text[] not null default '{}'
) with (fillfactor = 70);

comment on table engine_nodes is 'Servers at work on this database, and their last sign of life.';
comment on column engine_nodes.secret_keys is 'names of the keys that it opens secrets with, first the one that it seals with';
comment on column engine_nodes.left_at is 'when it said goodbye; kept for a while, as it shows until when there was a node';

-- Two servers that note the same time find the same beginning.
create table if not exists engine_outages (
    from_at timestamptz primary key,
    to_at timestamptz not null,
    constraint ck_engine_outages_order check (to_at > from_at)
);

comment on table engine_outages is 'Times in which no server was at work; they count for no timeout.';

create index if not exists ix_engine_outages_to on engine_outages (to_at);

-- While a row is not accepted, no server claims work.
create table if not exists database_losses (
    id uuid primary key,
    found_at timestamptz not null,
    found_by text not null,
    run_id uuid not null,
    seq bigint not null,
    event_at timestamptz not null,
    commits integer not null check (commits > 0),
    read_after bigint not null,
    accepted_at timestamptz,
    accepted_by varchar(255)
);

comment on table database_losses is 'Times that the database went back: it no longer had commits that a server knew.';
comment on column database_losses.found_by is 'the server';
comment on column database_losses.run_id is 'of the first event that is gone, as far as that server knew them';
comment on column database_losses.seq is 'of the first event that is gone';
comment on column database_losses.commits is 'that are gone and that the server remembered';
comment on column database_losses.read_after is 'id of an event that is still there; readers of the feed begin again after it';
comment on column database_losses.accepted_at is 'when an operator decided to continue; null before';

create or replace function keelson_database_went_back() returns boolean language sql stable as $$
    select exists (select from database_losses where accepted_at is null)
$$;

create table if not exists step_logs (
    step_id uuid not null,
    lease_epoch integer not null,
    line integer not null,
    attempt integer not null,
    message text not null,
    at timestamptz not null,
    primary key (step_id, lease_epoch, line)
);

comment on table step_logs is 'Log lines of steps.';

create table if not exists step_progress (
    step_id uuid primary key,
    lease_epoch integer not null,
    progress double precision check (progress between 0 and 1),
    message text,
    details jsonb,
    updated_at timestamptz not null
) with (fillfactor = 70);

comment on table step_progress is 'Progress that workers report of steps at work.';

-- Written only while a text has a reader at another server than the one that executes the step; lost in a crash.
create unlogged table if not exists live_texts (
    step_id uuid primary key,
    lease_epoch integer not null default 0,
    text text not null default '',
    watched_until timestamptz not null,
    watched_by varchar(255) not null
) with (fillfactor = 70);

comment on table live_texts is 'Texts of answers while they arrive, for readers at other servers.';
comment on column live_texts.lease_epoch is 'of the execution that writes the text; 0 before it writes any';
comment on column live_texts.watched_until is 'the text is written until then; a reader extends it';
comment on column live_texts.watched_by is 'server of the reader; the server that executes the step writes for others only';

-- How long artifacts are kept is written in the transaction that ends their run. What has expired is marked first (deleted_at),
-- removed from the store after a grace, and then noted as such (removed_at), so that a crash between any two leaves
-- a state from which the next sweep continues. No two records share a content.
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
    retention_seconds bigint,
    expires_at timestamptz,
    deleted_at timestamptz,
    removed_at timestamptz,
    unique nulls not distinct (run_id, attempt, name, deleted_at) deferrable initially deferred
);

comment on table artifacts is 'Files that steps left behind; the bytes are in the artifact store.';
comment on column artifacts.attempt is 'the run attempt';
comment on column artifacts.retention_seconds is 'null: the installation''s';
comment on column artifacts.expires_at is 'null until its run has ended';
comment on column artifacts.removed_at is 'when its content was removed from the store';

create unique index if not exists uq_artifacts_key on artifacts (storage_key);
create index if not exists ix_artifacts_open on artifacts (run_id) where expires_at is null;
create index if not exists ix_artifacts_expires on artifacts (expires_at) where deleted_at is null;
create index if not exists ix_artifacts_deleted on artifacts (deleted_at)
    where deleted_at is not null and removed_at is null;
-- How much room a workspace's artifacts take is asked when a run comes in where that is limited.
create index if not exists ix_artifacts_kept on artifacts (workspace_id) include (size_bytes) where deleted_at is null;

-- They stay until the step's result names them, or a day is over.
create table if not exists artifact_uploads (
    id uuid primary key,
    workspace_id uuid not null,
    step_id uuid not null,
    lease_epoch integer not null,
    name text not null,
    content_type text not null,
    size_bytes bigint not null check (size_bytes >= 0),
    sha256 char(64) not null,
    storage_key text not null,
    retention_seconds bigint,
    created_at timestamptz not null
);

comment on table artifact_uploads is 'Files that workers have uploaded and no result has named yet.';

create index if not exists ix_artifact_uploads_key on artifact_uploads (storage_key);
create index if not exists ix_artifact_uploads_created on artifact_uploads (created_at);
create index if not exists ix_artifact_uploads_workspace on artifact_uploads (workspace_id);

-- Until a result has them recorded they count for what a run and a workspace may store, so that several at a time do not
-- exceed it together. Rows of executions that are over count no more, and go when the next one of the workspace comes.
create table if not exists artifact_reservations (
    storage_key text primary key,
    workspace_id uuid not null,
    run_id uuid not null,
    step_id uuid not null,
    lease_epoch integer not null,
    size_bytes bigint not null check (size_bytes >= 0)
);

comment on table artifact_reservations is 'Files stored for steps at work, counted against the storage limits.';

create index if not exists ix_artifact_reservations_workspace on artifact_reservations (workspace_id);

-- A server that holds a slot extends it repeatedly.
create table if not exists upload_slots (
    workspace_id uuid not null,
    slot smallint not null check (slot >= 1),
    holder uuid not null,
    expires_at timestamptz not null,
    primary key (workspace_id, slot)
);

comment on table upload_slots is 'Uploads under way, ten at a time in a workspace.';

-- A portion of runs at a time. What is chosen is written down before it is done, so that a server that continues after a
-- crash repeats the same choice, under the same idempotency keys.
create table if not exists bulk_jobs (
    id uuid primary key,
    workspace_id uuid not null,
    action varchar(20) not null check (action in ('cancel', 'retry', 'pause', 'resume', 'delete')),
    filter jsonb not null,
    reason varchar(2000),
    from_start boolean not null default false,
    per_second integer not null check (per_second between 1 and 1000),
    state varchar(20) not null default 'running' check (state in ('running', 'completed', 'stopped')),
    actor_type varchar(20) not null,
    actor_id varchar(255),
    matches bigint not null check (matches >= 0),
    changed bigint not null default 0 check (changed >= 0),
    unchanged bigint not null default 0 check (unchanged >= 0),
    refused jsonb not null default '{}',
    waits_for varchar(100),
    portion uuid[],
    claim bigint not null default 0,
    last_created_at timestamptz,
    last_id uuid,
    wake_at timestamptz,
    created_at timestamptz not null,
    ended_at timestamptz,
    constraint ck_bulk_jobs_ended check ((state = 'running') = (ended_at is null)),
    constraint ck_bulk_jobs_wake check ((state = 'running') = (wake_at is not null)),
    constraint ck_bulk_jobs_last check ((last_created_at is null) = (last_id is null))
);

comment on table bulk_jobs is 'Commands to all runs that a filter finds, and how far they are.';
comment on column bulk_jobs.refused is 'how many runs refused, by the code of the refusal';
comment on column bulk_jobs.portion is 'runs that are chosen and not yet counted; null if absent';
comment on column bulk_jobs.claim is 'rises with each that takes the job up; who has an older one counts for nothing';

create index if not exists ix_bulk_jobs_workspace on bulk_jobs (workspace_id, id);
create index if not exists ix_bulk_jobs_wake on bulk_jobs (wake_at) where wake_at is not null;
