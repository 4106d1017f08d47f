-- Artifacts that are stored while their step is at work, until its result has them recorded: they count for what a run and a
-- workspace may store, so that several at a time do not exceed it together. Rows of executions that are over count no
-- more, and go when the next one of the workspace comes.
create table if not exists artifacts_coming (
    storage_key text primary key,
    workspace_id uuid not null,
    run_id uuid not null,
    step_id uuid not null,
    lease_epoch integer not null,
    size_bytes bigint not null check (size_bytes >= 0)
);

create index if not exists ix_artifacts_coming_workspace on artifacts_coming (workspace_id);
select keelson_fence('artifacts_coming', 'workspace_id = (select keelson_workspace())');

-- Places for uploads at a time, of all servers together; whoever holds one says so again and again.
create table if not exists upload_places (
    workspace_id uuid not null,
    place smallint not null check (place >= 1),
    holder uuid not null,
    expires_at timestamptz not null,
    primary key (workspace_id, place)
);

select keelson_fence('upload_places', 'workspace_id = (select keelson_workspace())');
