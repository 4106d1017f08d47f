-- Tenants: workspaces, who works in them, what they may use, and what is kept of it. See docs/concepts/tenants.md.
--
-- How to read these files: a table comes with its purpose, its columns, then comments, indexes and triggers right below
-- it. Every file can be applied again (`if not exists`, `or replace`), because one that failed half-way is begun again.
-- workspaces, api_keys and the tables of V2 may exist before Keelson's first start, with rows of the platform in them:
-- Adoption adds the columns that they lack before the first file, and SharedIndexes makes their indexes after the last one.
-- See docs/operate/adoption.md.

-- Refuses every change of an append-only table. A row trigger misses TRUNCATE, so each such table has two.
create or replace function keelson_refuse_change() returns trigger language plpgsql as $$
begin
    raise exception '% is append-only: % refused', tg_table_name, tg_op using errcode = 'restrict_violation';
end $$;

-- Within a statement: what must not be ends the transaction under a code of its own. It returns nothing, and is cast to
-- the type that its place asks for.
create or replace function keelson_raise(code text, why text) returns text language plpgsql as $$
begin
    raise exception '%', why using errcode = code;
end $$;

-- What a column may hold by itself is its type (docs/adr/0017). A session keeps a domain's condition ready; a check's text
-- is parsed and planned by every statement that writes to the table. NaN is above everything and passes ">= 0", hence the
-- bounds of amounts; a numeric's precision refuses what has too many digits.
do $$
declare
    each record;
begin
    for each in select * from (values
        ('keelson_amount', 'numeric(20, 6)', 'value >= 0 and value < ''NaN''', 'An amount of credits.'),
        ('keelson_cost', 'numeric(26, 12)', 'value >= 0 and value < ''NaN''', 'A cost in credits, before the sum of a run is rounded to an amount.'),
        ('keelson_remainder', 'numeric(12, 12)', 'value between -0.0000005 and 0.0000005', 'The difference between a sum of costs and the sum rounded to an amount.'),
        ('keelson_number', 'integer', 'value >= 1', 'An ordinal number, from 1.'),
        ('keelson_long_number', 'bigint', 'value >= 1', 'An ordinal number, from 1.'),
        ('keelson_events', 'json', 'json_array_length(value) <@ ''[1,100]''::int4range', 'The events of a pack.'),
        ('keelson_agent_state', 'text', 'value = any (''{pending:pending:t,running:running:t,paused:paused:t,'
            'terminal:completed:f,terminal:failed:f,terminal:cancelled:f,terminal:skipped:f}''::text[])',
            'state_type, state and completed_at is null, of run_agents.')) as d (name, base, condition, purpose)
    loop
        if to_regtype(each.name) is null then
            execute format('create domain %I as %s check (%s)', each.name, each.base, each.condition);
            execute format('comment on domain %I is %L', each.name, each.purpose);
        end if;
    end loop;
end $$;

create table if not exists workspaces (
    id uuid primary key default gen_random_uuid(),
    name varchar(255) not null,
    created_at timestamptz not null default now(),
    closed_at timestamptz,
    purge_asked_at timestamptz,
    purged_at timestamptz,
    purged_rows bigint not null default 0,
    allowed_folders text[],
    allowed_models text[],
    allowed_tools text[],
    denied_tools text[],
    default_autonomy varchar(20) check (default_autonomy in ('approve', 'autonomous', 'full_auto'))
);

comment on column workspaces.closed_at is 'from then on nothing can be started in it; null: open';
comment on column workspaces.purge_asked_at is 'when an operator asked for its rows to be removed; it is closed by then';
comment on column workspaces.purged_rows is 'how many rows the purge has removed so far';
comment on column workspaces.allowed_models is
    'names of models that plans and agents may use; empty: no model; null: all models';
comment on column workspaces.allowed_tools is
    'names and groups of tools that plans and agents may use; empty: no tool; null: all tools';
comment on column workspaces.denied_tools is 'names and groups of tools that are refused though they are allowed';
comment on column workspaces.default_autonomy is
    'autonomy level of missions that name none; null: the level that the product sets for the kind of plan';
comment on column workspaces.allowed_folders is
    'absolute paths on every server; empty: no folder; null: the folders of the server''s settings';

-- What they did names them, so they are never deleted and their names never change.
create table if not exists principals (
    id uuid primary key default gen_random_uuid(),
    workspace_id uuid not null references workspaces (id) on delete cascade,
    kind varchar(20) not null check (kind in ('person', 'service')),
    name varchar(100) not null,
    created_at timestamptz not null default now(),
    unique (workspace_id, name)
);

comment on table principals is 'People and programs of a workspace that keys belong to.';

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

alter table api_keys
    add column if not exists principal_id uuid references principals (id) on delete cascade,
    add column if not exists scopes text[] not null default
        '{runs:read,runs:write,approve,work,credits:read,credits:grant,admin}',
    add column if not exists created_by varchar(255),
    add column if not exists replaced_by uuid;

comment on column api_keys.prefix is 'the beginning of the key, by which people recognise it';
comment on column api_keys.replaced_by is 'the key that a rotation made in its place';

-- A key that was there before may do all that its workspace can; the installation is run from the first workspace.
update api_keys set scopes = scopes || 'operator'::text
 where principal_id is null and not 'operator' = any (scopes)
   and workspace_id = '00000000-0000-7000-8000-000000000001';

alter table api_keys
    drop constraint if exists ck_api_keys_operator,
    add constraint ck_api_keys_operator check (
        not 'operator' = any (scopes) or workspace_id = '00000000-0000-7000-8000-000000000001');

-- Events name a key that was there before by its id, so its principal has that id.
insert into principals (id, workspace_id, kind, name, created_at)
select id, workspace_id, 'person',
    left(name, 90) || case when row_number() over (partition by workspace_id, left(name, 90) order by created_at, id) > 1
        then '-' || right(id::text, 8) else '' end,
    created_at
  from api_keys where principal_id is null
on conflict do nothing;

update api_keys k set principal_id = p.id from principals p where k.principal_id is null and p.id = k.id;

-- A code is taken once: its row is removed by the session that it makes.
create table if not exists session_links (
    code_hash bytea primary key,
    workspace_id uuid not null references workspaces (id) on delete cascade,
    key_id uuid not null references api_keys (id) on delete cascade,
    scopes text[] not null,
    expires_at timestamptz not null
);

comment on table session_links is 'One-time codes for browsers to sign in with, by the hash of their text.';

create index if not exists ix_session_links_key on session_links (key_id);

create table if not exists sessions (
    id uuid primary key,
    workspace_id uuid not null references workspaces (id) on delete cascade,
    key_id uuid not null references api_keys (id) on delete cascade,
    token_hash bytea not null unique,
    scopes text[] not null,
    from_address varchar(100),
    created_at timestamptz not null default clock_timestamp(),
    last_used_at timestamptz not null default clock_timestamp(),
    ends_at timestamptz not null
);

comment on table sessions is 'Browsers that are signed in, by the hash of their cookie.';
comment on column sessions.scopes is 'what it may be used for; scopes that the key has lost since do not count';
comment on column sessions.last_used_at is 'to the minute; a session ends 12 hours later';
comment on column sessions.ends_at is 'ends then at the latest';

create index if not exists ix_sessions_workspace on sessions (workspace_id);
create index if not exists ix_sessions_key on sessions (key_id);

create table if not exists saved_views (
    workspace_id uuid not null references workspaces (id) on delete cascade,
    owner varchar(200) not null,
    name varchar(100) not null,
    page varchar(40) not null,
    query varchar(4000) not null,
    saved_by varchar(200) not null,
    saved_at timestamptz not null default clock_timestamp(),
    primary key (workspace_id, owner, name)
);

comment on table saved_views is 'Views of lists that people have saved.';
comment on column saved_views.owner is 'the principal whose view it is; empty for a view that the workspace shares';
comment on column saved_views.query is 'of the page''s address';

-- A name without a row has no limit.
create table if not exists workspace_limits (
    workspace_id uuid not null references workspaces (id) on delete cascade,
    name varchar(230) not null,
    most numeric(26, 6) not null check (most >= 0 and most < 'NaN'),
    primary key (workspace_id, name)
);

comment on table workspace_limits is 'How much a workspace may use of what.';
comment on column workspace_limits.name is
    'open_runs, steps, runs_per_minute, storage_bytes, requests_per_minute, usd_per_month, or tool: or model: and a name';

-- The key that seals the values is not in the database. The value before the present one stays, so that work which began
-- with it can still be kept from writing it down.
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

comment on table secrets is 'Values that plans name, sealed; opened at execution only.';
comment on column secrets.key_id is 'of the key that sealed the value';
comment on column secrets.previous is 'the sealed value before the present one';

-- Never opened again, but redacted for a day from records of steps that began with them.
create table if not exists former_secrets (
    id uuid primary key default gen_random_uuid(),
    workspace_id uuid not null references workspaces (id) on delete cascade,
    name varchar(100) not null,
    key_id varchar(16) not null,
    sealed bytea not null,
    replaced_at timestamptz not null default clock_timestamp()
);

comment on table former_secrets is 'Former values of secrets, which are still redacted from new records.';

create index if not exists ix_former_secrets_name on former_secrets (workspace_id, name);
create index if not exists ix_former_secrets_replaced on former_secrets (replaced_at);

-- It outlives the workspaces that it is about, so it refers to none.
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

comment on table operator_audit is 'Append-only log of what people and keys did to the installation.';

create index if not exists ix_operator_audit_workspace on operator_audit (workspace_id, id);

create or replace trigger operator_audit_no_change before update or delete on operator_audit
    for each row execute function keelson_refuse_change();
create or replace trigger operator_audit_no_truncate before truncate on operator_audit
    for each statement execute function keelson_refuse_change();

-- The transaction that does what was asked writes the key's row. Its answer is noted afterwards; where the server died in
-- between, the answer is made from the rows that the transaction left.
create table if not exists idempotency_cache (
    workspace_id uuid not null,
    endpoint text not null,
    idempotency_key varchar(255) not null,
    request_hash text not null,
    run_id uuid,
    response_status smallint,
    response_location text,
    response_body text,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    primary key (workspace_id, endpoint, idempotency_key),
    constraint ck_idempotency_cache_expires check (expires_at > created_at)
);

comment on table idempotency_cache is 'Answers of requests by idempotency key, for 24 hours. It has no id: no row refers to an answer, so that each request writes one index less.';
comment on column idempotency_cache.request_hash is 'SHA-256 of query and body in base64url, which is shorter than hex; a JSON body in canonical form';
comment on column idempotency_cache.response_body is 'text, because a repeated request gets the same bytes: jsonb would change the order of members and the notation of numbers';
comment on column idempotency_cache.response_status is 'null until the answer has been noted';

create index if not exists ix_idempotency_cache_expires on idempotency_cache (expires_at);
