-- Messages from outside that steps wait for: kept until a step takes one, and each is taken once.
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
-- A step takes one signal at most.
create unique index if not exists uq_run_signals_step on run_signals (step_id) where step_id is not null;
select keelson_fence('run_signals', 'workspace_id = (select keelson_workspace())');

drop type if exists keelson_signal_new;
create type keelson_signal_new as (id uuid, workspace_id uuid, run_id uuid, seq int8, name text, payload jsonb,
    sent_by text, received_at timestamptz, step_id uuid, taken_at timestamptz);

drop type if exists keelson_signal_taken;
create type keelson_signal_taken as (id uuid, step_id uuid, taken_at timestamptz);
