-- The tables that PRD-101 takes as given. They are bare here: each gets its further columns with the feature that
-- needs them.

create table if not exists workspaces (
    id uuid primary key default gen_random_uuid(),
    name varchar(255) not null,
    created_at timestamptz not null default now()
);

create table if not exists api_keys (
    id uuid primary key default gen_random_uuid(),
    workspace_id uuid not null references workspaces (id) on delete cascade,
    name varchar(255) not null,
    key_hash bytea not null unique,
    prefix varchar(40) not null,
    created_at timestamptz not null default now(),
    expires_at timestamptz,
    revoked_at timestamptz,
    last_used_at timestamptz
);

create index if not exists ix_api_keys_workspace on api_keys (workspace_id);

create table if not exists agents (
    id serial primary key,
    workspace_id uuid not null references workspaces (id) on delete cascade,
    slug varchar(100) not null,
    name varchar(255) not null,
    created_at timestamptz not null default now(),
    unique (workspace_id, slug)
);

create table if not exists board_tasks (
    id serial primary key,
    workspace_id uuid not null references workspaces (id) on delete cascade,
    title varchar(500) not null,
    description text,
    status varchar(30) not null default 'inbox',
    parent_task_id integer references board_tasks (id) on delete set null,
    source_type varchar(30) not null default 'user',
    source_id varchar(255),
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now()
);

create table if not exists agent_reports (
    id uuid primary key default gen_random_uuid(),
    workspace_id uuid not null references workspaces (id) on delete cascade,
    report_type varchar(30) not null,
    title varchar(500) not null,
    created_at timestamptz not null default now()
);

create table if not exists workflow_recipes (
    id serial primary key,
    workspace_id uuid not null references workspaces (id) on delete cascade,
    name varchar(255) not null,
    execution_config jsonb not null default '{}',
    created_at timestamptz not null default now()
);
