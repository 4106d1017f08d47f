-- Commands to all runs that a filter finds, a portion at a time. What is chosen is written down before it is done, so that
-- whoever goes on after a crash does the very same again, under the same idempotency keys.
create table if not exists bulk_jobs (
    id uuid primary key,
    workspace_id uuid not null,
    action varchar(20) not null check (action in ('cancel', 'retry')),
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
comment on column bulk_jobs.refused is 'how many runs refused, by the code of the refusal';
comment on column bulk_jobs.portion is 'runs that are chosen and not yet counted; null for none';
comment on column bulk_jobs.claim is 'rises with each that takes the job up; who has an older one counts for nothing';
create index if not exists ix_bulk_jobs_workspace on bulk_jobs (workspace_id, id);
create index if not exists ix_bulk_jobs_wake on bulk_jobs (wake_at) where wake_at is not null;
select keelson_fence('bulk_jobs', 'workspace_id = (select keelson_workspace())');
-- Few runs end otherwise than completed, and they are who people look for. The type of state stands in the predicate of
-- ix_orch_runs_active already, and changes whenever a run comes into this index or leaves it: no update costs more.
create index concurrently if not exists ix_orch_runs_ended_badly on orchestration_runs (workspace_id, created_at desc, id desc)
    where state_type = 'terminal' and state <> 'completed';
