-- Values that plans name and nobody reads again: sealed under a key that is not in the database. The value before the
-- present one stays, so that work which began with it can still be kept from writing it down.
create table if not exists secrets (
    workspace_id uuid not null references workspaces (id) on delete cascade,
    name varchar(100) not null,
    version integer not null default 1,
    key_id varchar(16) not null,
    sealed bytea not null,
    previous_key_id varchar(16),
    previous bytea,
    created_at timestamptz not null default clock_timestamp(),
    updated_at timestamptz not null default clock_timestamp(),
    updated_by varchar(255),
    primary key (workspace_id, name),
    constraint ck_secrets_name check (name ~ '^[A-Za-z0-9_.-]+$'),
    constraint ck_secrets_version check (version >= 1),
    constraint ck_secrets_previous check ((previous is null) = (previous_key_id is null))
);
