-- Who may do what, in which workspace, and how much. See docs/tenants.md.

-- People and services. What they did names them, so they are never deleted and their names never change.
create table if not exists principals (
    id uuid primary key default gen_random_uuid(),
    workspace_id uuid not null references workspaces (id) on delete cascade,
    kind varchar(20) not null check (kind in ('person', 'service')),
    name varchar(100) not null,
    created_at timestamptz not null default now(),
    unique (workspace_id, name)
);

alter table workspaces add column if not exists closed_at timestamptz;

-- A key may do what it could before: everything. The installation itself is run from the first workspace.
alter table api_keys
    add column if not exists principal_id uuid references principals (id) on delete cascade,
    add column if not exists scopes text[] not null default
        '{runs:read,runs:write,approve,work,credits:read,credits:grant,admin}',
    add column if not exists created_by varchar(255),
    add column if not exists replaced_by uuid;

update api_keys set scopes = scopes || 'operator'::text
 where principal_id is null and not 'operator' = any (scopes)
   and workspace_id = '00000000-0000-7000-8000-000000000001';

alter table api_keys
    drop constraint if exists ck_api_keys_operator,
    add constraint ck_api_keys_operator check (
        not 'operator' = any (scopes) or workspace_id = '00000000-0000-7000-8000-000000000001');

-- Events name a key that is there already by its id; so its principal has that id.
insert into principals (id, workspace_id, kind, name, created_at)
select id, workspace_id, 'person',
    left(name, 90) || case when row_number() over (partition by workspace_id, left(name, 90) order by created_at, id) > 1
        then '-' || right(id::text, 8) else '' end,
    created_at
  from api_keys where principal_id is null
on conflict do nothing;

update api_keys k set principal_id = p.id from principals p where k.principal_id is null and p.id = k.id;

-- How much a workspace may have at most. Who has no row for it has no limit.
create table if not exists workspace_limits (
    workspace_id uuid not null references workspaces (id) on delete cascade,
    name varchar(230) not null,
    most bigint not null check (most >= 0),
    primary key (workspace_id, name)
);

comment on column workspace_limits.name is
    'open_runs, steps, runs_per_minute, storage_bytes, requests_per_minute, or tool: and a tool''s name';

-- What operators and administrators did. It outlives the workspaces it is about, so it refers to none.
create table if not exists operator_audit (
    id bigint generated always as identity primary key,
    at timestamptz not null default clock_timestamp(),
    actor varchar(255) not null,
    actor_kind varchar(20) not null,
    key_id uuid,
    from_address text,
    action varchar(50) not null,
    workspace_id uuid,
    subject text,
    detail jsonb not null default '{}'
);

create index if not exists ix_operator_audit_workspace on operator_audit (workspace_id, id);

create or replace trigger operator_audit_no_change before update or delete on operator_audit
    for each row execute function keelson_refuse_change();
create or replace trigger operator_audit_no_truncate before truncate on operator_audit
    for each statement execute function keelson_refuse_change();
