-- How long artifacts are kept: from the end of their run, by their own time or the installation's. What is over is marked
-- first (deleted_at), removed from the store after a grace, and then noted as such (removed_at), so that a crash between
-- any two leaves something to go on with.
alter table artifacts
    add column if not exists retention_seconds bigint,
    add column if not exists expires_at timestamptz,
    add column if not exists deleted_at timestamptz,
    add column if not exists removed_at timestamptz;

comment on column artifacts.retention_seconds is 'null: the installation''s';
comment on column artifacts.expires_at is 'null until its run has ended';
comment on column artifacts.removed_at is 'when its content was removed from the store';

create index concurrently if not exists ix_artifacts_open on artifacts (run_id) where expires_at is null;
create index concurrently if not exists ix_artifacts_expires on artifacts (expires_at) where deleted_at is null;
create index concurrently if not exists ix_artifacts_deleted on artifacts (deleted_at)
    where deleted_at is not null and removed_at is null;
create index concurrently if not exists ix_artifacts_key on artifacts (storage_key);
create index concurrently if not exists ix_artifacts_kept on artifacts (workspace_id) include (size_bytes)
    where deleted_at is null;
drop index concurrently if exists ix_artifacts_workspace;

-- What workers have uploaded for a step at work, until the step's result names it or a day is over.
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

create index if not exists ix_artifact_uploads_key on artifact_uploads (storage_key);
create index if not exists ix_artifact_uploads_created on artifact_uploads (created_at);
select keelson_fence('artifact_uploads', 'workspace_id = (select keelson_workspace())');

drop type if exists keelson_artifact_new_v2;
create type keelson_artifact_new_v2 as (id uuid, run_id uuid, workspace_id uuid, attempt int4, step_id uuid, name text,
    content_type text, size_bytes int8, sha256 text, storage_key text, retention_seconds int8);
