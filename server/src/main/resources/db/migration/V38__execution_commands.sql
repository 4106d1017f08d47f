-- What is asked of the world outside, one row each, written before anybody is called. A row wants to be looked at from
-- wake_at on: when the lease of whoever is at it has run out, or when it is to be tried again.
create table if not exists execution_commands (
    id uuid primary key,
    workspace_id uuid not null references workspaces (id) on delete cascade,
    type varchar(100) not null,
    key_source varchar(10) not null check (key_source in ('api', 'step')),
    idempotency_key varchar(400),
    request_hash varchar(64) not null,
    payload jsonb not null,
    target_id uuid,
    adapter varchar(50) not null,
    idempotent boolean not null,
    provider_key varchar(100) not null unique,
    provider_reference varchar(500),
    state varchar(20) not null check (state in ('executing', 'awaiting_tool', 'completed', 'failed', 'unknown')),
    uncertain boolean not null default false,
    attempts integer not null check (attempts >= 1),
    lease_epoch integer not null check (lease_epoch >= 1),
    wake_at timestamptz,
    response jsonb,
    error_code varchar(100),
    error_message text,
    actor varchar(255) not null,
    actor_kind varchar(20) not null,
    run_id uuid,
    step_id uuid,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    completed_at timestamptz,
    constraint uq_execution_commands_key unique (workspace_id, type, key_source, idempotency_key),
    constraint ck_execution_commands_open check (
        (completed_at is null) = (state in ('executing', 'awaiting_tool')) and (completed_at is null) = (wake_at is not null)),
    constraint ck_execution_commands_response check (state <> 'completed' or response is not null),
    constraint ck_execution_commands_error check (state not in ('failed', 'unknown') or error_code is not null)
) with (fillfactor = 80);

comment on column execution_commands.uncertain is 'an attempt was made of which nobody knows whether it arrived';

create index if not exists ix_execution_commands_wake on execution_commands (wake_at) where wake_at is not null;
create index if not exists ix_execution_commands_list on execution_commands (workspace_id, id desc);
create index if not exists ix_execution_commands_type on execution_commands (workspace_id, type, id desc);
create index if not exists ix_execution_commands_run on execution_commands (run_id) where run_id is not null;
select keelson_fence('execution_commands', 'workspace_id = (select keelson_workspace())');

-- The world outside of installations that have no provider: deployments and orders on paper.
create table if not exists paper_effects (
    id uuid primary key,
    workspace_id uuid not null references workspaces (id) on delete cascade,
    kind varchar(20) not null check (kind in ('deployment', 'order')),
    status varchar(20) not null check (status in ('running', 'stopped', 'open', 'filled', 'cancelled')),
    document jsonb not null,
    created_at timestamptz not null,
    updated_at timestamptz not null
);
create index if not exists ix_paper_effects_workspace on paper_effects (workspace_id);
select keelson_fence('paper_effects', 'workspace_id = (select keelson_workspace())');

-- For the engine's one look at what is due: costs a look into an index, which is empty where nothing is under way.
create or replace function keelson_commands_due(at timestamptz) returns boolean language sql stable as $$
    select (select min(wake_at) from execution_commands where wake_at is not null) <= at
$$;
