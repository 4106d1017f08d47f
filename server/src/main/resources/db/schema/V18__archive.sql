-- Archived runs (docs/operate/archive.md): their rows are in objects of the artifact store. These tables have a short row of each.
create table if not exists archive_objects (
    id uuid primary key,
    workspace_id uuid not null references workspaces (id) on delete cascade,
    storage_key text not null,
    size_bytes bigint not null check (size_bytes > 0),
    sha256 char(64) not null,
    runs integer not null check (runs > 0),
    created_at timestamptz not null,
    constraint uq_archive_objects_key unique (storage_key)
);

comment on table archive_objects is 'Objects of the artifact store with the rows of archived runs, one or more runs each.';
comment on column archive_objects.runs is 'the number of runs that were written to it';

create index if not exists ix_archive_objects_workspace on archive_objects (workspace_id, id);

-- Columns that a filter of the list of runs names have the names of orchestration_runs.
create table if not exists archived_runs (
    id uuid primary key,
    workspace_id uuid not null,
    object_id uuid not null references archive_objects (id) on delete cascade,
    first_byte bigint not null check (first_byte >= 0),
    size_bytes bigint not null check (size_bytes > 0),
    sha256 char(64) not null,
    external_id varchar(255),
    title varchar(500) not null,
    goal text not null,
    state varchar(30) not null,
    state_type varchar(10) not null,
    trigger varchar(50) not null,
    tags jsonb not null,
    origin jsonb,
    error_code varchar(100),
    parent_run_id uuid,
    total_tokens bigint not null,
    total_cost numeric(26, 12) not null,
    created_at timestamptz not null,
    started_at timestamptz,
    completed_at timestamptz not null,
    last_seq bigint not null,
    document jsonb not null,
    parts uuid[] not null,
    reads_from uuid,
    archived_at timestamptz not null
);

comment on table archived_runs is 'Runs whose rows are in the archive: what lists show, and the place in the archive.';
comment on column archived_runs.first_byte is 'of the run''s part of the object, which is a gzip file by itself';
comment on column archived_runs.sha256 is 'of that part';
comment on column archived_runs.goal is 'the first 500 characters';
comment on column archived_runs.last_seq is 'the number of its last event';
comment on column archived_runs.document is 'the run as a list shows it, without members that are null';
comment on column archived_runs.parts is 'ids of its tasks, steps, tickets, proposals and reports';
comment on column archived_runs.reads_from is 'the run that it was forked from, whose outputs it reads';

create index if not exists ix_archived_runs_created on archived_runs (workspace_id, created_at desc, id desc);
create index if not exists ix_archived_runs_completed on archived_runs (workspace_id, completed_at);
create unique index if not exists uq_archived_runs_external on archived_runs (workspace_id, external_id)
    where external_id is not null;
create index if not exists ix_archived_runs_object on archived_runs (object_id);
create index if not exists ix_archived_runs_parent on archived_runs (parent_run_id) where parent_run_id is not null;
create index if not exists ix_archived_runs_reads on archived_runs (reads_from) where reads_from is not null;
create index if not exists ix_archived_runs_parts on archived_runs using gin (parts);

-- Files of archived runs that stay in the artifact store: artifacts until they expire, and exported events.
create table if not exists archived_files (
    storage_key text primary key,
    workspace_id uuid not null,
    run_id uuid not null references archived_runs (id) on delete cascade,
    size_bytes bigint not null check (size_bytes >= 0),
    sha256 char(64) not null,
    expires_at timestamptz
);

comment on table archived_files is 'Artifacts and exported events of archived runs.';
comment on column archived_files.expires_at is 'of an artifact; null for events';

create index if not exists ix_archived_files_workspace on archived_files (workspace_id);
create index if not exists ix_archived_files_run on archived_files (run_id);
create index if not exists ix_archived_files_expires on archived_files (expires_at) where expires_at is not null;

-- A restored run is archived again when it has been back for as long as it had to have ended at first.
create table if not exists restored_runs (
    run_id uuid primary key references orchestration_runs (id) on delete cascade,
    workspace_id uuid not null,
    restored_at timestamptz not null,
    restored_by varchar(255)
);

comment on table restored_runs is 'Runs that have come back from the archive.';

-- Servers that compare remembered events with the database ignore those of deleted runs.
create table if not exists archive_deletions (
    workspace_id uuid primary key references workspaces (id) on delete cascade,
    ended_before timestamptz not null
);

comment on table archive_deletions is 'Deletion of archived runs, by workspace.';
comment on column archive_deletions.ended_before is 'archived runs that ended earlier have been deleted';

select keelson_enable_rls(own::regclass, 'workspace_id = (select keelson_workspace())', true)
  from unnest('{archive_objects, archived_runs, archived_files, restored_runs, archive_deletions}'::text[]) as own;

-- A run waits for its forks, which read its outputs.
create index if not exists ix_orch_runs_forked on orchestration_runs (forked_from) where forked_from is not null;

-- An archived run keeps its external id. After the insertion, whose unique index has waited for the transaction that archives the
-- other run: each statement of the function has a snapshot of its own.
create or replace function keelson_external_id_free() returns trigger language plpgsql as $$
begin
    if exists (select from archived_runs a
            where a.workspace_id = new.workspace_id and a.external_id = new.external_id and a.id <> new.id) then
        raise exception 'an archived run has the external id' using errcode = 'unique_violation',
            constraint = 'uq_archived_runs_external';
    end if;
    return null;
end $$;

create or replace trigger orchestration_runs_external_id after insert on orchestration_runs
    for each row when (new.external_id is not null) execute function keelson_external_id_free();

-- Removes all events of a run that the same transaction archives; returns how many packs they were.
create or replace function keelson_export_events(of_run uuid) returns integer language plpgsql as $$
declare
    gone integer;
    more integer;
begin
    if not exists (select from archived_runs where id = of_run) then
        raise exception 'run % is not archived', of_run using errcode = 'restrict_violation';
    end if;
    delete from run_event_packs where run_id = of_run;
    get diagnostics gone = row_count;
    delete from run_event_packs_archive where run_id = of_run;
    get diagnostics more = row_count;
    return gone + more;
end $$;

create or replace view run_origins with (security_invoker = true) as
select id as run_id, title as name, origin ->> 'recipe_id' as recipe, origin ->> 'schedule_id' as schedule
  from orchestration_runs
union all
select id, title, origin ->> 'recipe_id', origin ->> 'schedule_id' from archived_runs;
