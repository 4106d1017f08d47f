-- Values that were replaced or removed: never opened again, but for a day struck out of what is written down by the steps
-- that had begun with them.
create table if not exists former_secrets (
    id uuid primary key default gen_random_uuid(),
    workspace_id uuid not null references workspaces (id) on delete cascade,
    name varchar(100) not null,
    key_id varchar(16) not null,
    sealed bytea not null,
    replaced_at timestamptz not null default clock_timestamp()
);

create index if not exists ix_former_secrets_name on former_secrets (workspace_id, name);
create index if not exists ix_former_secrets_replaced on former_secrets (replaced_at);
select keelson_fence('former_secrets', 'workspace_id = (select keelson_workspace())');
