-- Events sent on to receivers outside (docs/webhooks.md). An endpoint's row is also its lease: whoever delivers moves due_at
-- ahead and raises the epoch, so a node that was killed is followed by another one, and one that was suspended changes
-- nothing any more.
create table if not exists webhook_endpoints (
    id uuid primary key,
    workspace_id uuid not null references workspaces (id) on delete cascade,
    url varchar(2048) not null,
    description varchar(500),
    events text[] not null,
    channel varchar(200),
    enabled boolean not null default true,
    disabled_reason varchar(50),
    key_id varchar(16) not null,
    sealed bytea not null,
    previous_key_id varchar(16),
    previous bytea,
    previous_until timestamptz,
    from_id bigint not null,
    replay_after bigint,
    replay_to bigint,
    replay_since timestamptz,
    due_at timestamptz,
    held_until timestamptz,
    lease_epoch bigint not null default 0,
    created_at timestamptz not null default clock_timestamp(),
    updated_at timestamptz not null default clock_timestamp(),
    constraint ck_webhook_endpoints_events check (cardinality(events) >= 1),
    constraint ck_webhook_endpoints_previous check ((previous is null) = (previous_key_id is null)
        and (previous is null) = (previous_until is null)),
    constraint ck_webhook_endpoints_replay check ((replay_after is null) = (replay_to is null)
        and (replay_after is null) = (replay_since is null)),
    constraint ck_webhook_endpoints_disabled check (enabled = (disabled_reason is null))
) with (fillfactor = 80);

comment on column webhook_endpoints.from_id is 'only events above it, unless a replay asks for them';
comment on column webhook_endpoints.due_at is 'when it is to be served; null while nothing waits';
comment on column webhook_endpoints.held_until is 'whoever serves it does so until then; null for nobody';

create index if not exists ix_webhook_endpoints_workspace on webhook_endpoints (workspace_id, created_at, id);
create index if not exists ix_webhook_endpoints_due on webhook_endpoints (due_at) where enabled;

-- The id is what the receiver knows it by, whatever the number of attempts; it follows from endpoint and event. Those of an
-- endpoint go in the order of position, which is the event's id.
create table if not exists webhook_deliveries (
    id uuid primary key,
    workspace_id uuid not null references workspaces (id) on delete cascade,
    endpoint_id uuid not null references webhook_endpoints (id) on delete cascade,
    event_id bigint,
    position bigint not null,
    type varchar(60) not null,
    body text not null,
    state varchar(20) not null default 'pending',
    attempts integer not null default 0,
    last_status integer,
    last_error varchar(500),
    created_at timestamptz not null default clock_timestamp(),
    attempted_at timestamptz,
    completed_at timestamptz,
    constraint ck_webhook_deliveries_state check (state in ('pending', 'delivered', 'dead')),
    constraint ck_webhook_deliveries_completed check ((state = 'pending') = (completed_at is null))
);

create index if not exists ix_webhook_deliveries_pending on webhook_deliveries (endpoint_id, position, id)
    where state = 'pending';
create index if not exists ix_webhook_deliveries_list on webhook_deliveries (endpoint_id, created_at desc, id desc);
create index if not exists ix_webhook_deliveries_completed on webhook_deliveries (completed_at)
    where completed_at is not null;

-- Up to which event deliveries have been made, for all workspaces.
create table if not exists webhook_feed (
    one boolean primary key default true check (one),
    last_id bigint not null
);
insert into webhook_feed (last_id) select coalesce(max(id), 0) from orchestration_events on conflict do nothing;

-- For the engine's one look at what is due: a look into an empty index where there is no endpoint.
create or replace function keelson_webhooks_wait(at timestamptz) returns boolean language sql stable as $$
    select case when exists (select from webhook_endpoints where enabled) then
        (select min(due_at) from webhook_endpoints where enabled) <= at
        or (select max(id) from orchestration_events) > (select last_id from webhook_feed)
        or exists (select from webhook_endpoints where enabled and replay_after is not null) end
$$;

select keelson_fence('webhook_endpoints', 'workspace_id = (select keelson_workspace())');
select keelson_fence('webhook_deliveries', 'workspace_id = (select keelson_workspace())');
