-- Events, how they end (docs/operate/retention.md) and who is sent them (docs/guide/webhooks.md), and commands to the world outside
-- (docs/guide/commands.md).

-- Events are written packed: those of a run in one commit are one row, on average for three events (docs/adr/0015). A
-- pack's events have its run, run attempt, time and transaction. body lists them, in their order:
--
--   [{"e": "step_completed", "s": "<step id>", "p": {"from": "running", "to": "completed"}}, …]
--
-- e is the type, s the step and p the payload. Agent, task and actor are the pack's, but where the event has members of
-- its own: agent and task, which are '' for none, and actor_type, to which an actor_id belongs.
--
-- An event's seq and id are the pack's plus its place, from 0. Therefore ids are taken 1,000 at a time. The sequence must
-- not be cached by sessions: see keelson_feed_look. Packs have no foreign key, which would cost a query per row, and no
-- index that no statement uses (docs/adr/0011).
create sequence if not exists run_event_packs_id_seq increment 1000;

create table if not exists run_event_packs (
    run_id uuid not null,
    first_seq keelson_long_number not null,
    id bigint primary key default nextval('run_event_packs_id_seq'),
    attempt integer not null default 1,
    agent_id uuid,
    task_id uuid,
    actor_type varchar(20) not null default 'system',
    actor_id varchar(255),
    created_at timestamptz not null default now(),
    xid xid8 not null default pg_current_xact_id(),
    body keelson_events not null
);

alter sequence run_event_packs_id_seq owned by run_event_packs.id;

comment on table run_event_packs is
    'Append-only event log, a row for the events of a run in one commit. Never UPDATE or DELETE from application code.';
comment on column run_event_packs.first_seq is 'seq of the first event; a run''s events count from 1, without gaps';
comment on column run_event_packs.id is 'id of the first event';
comment on column run_event_packs.attempt is 'the run attempt';
comment on column run_event_packs.agent_id is 'of run_agents';
comment on column run_event_packs.xid is 'the transaction that wrote it';

-- PRD-101 has (run_id); with the number behind it the same tree also refuses a second pack from one number on and yields a
-- run's events in order.
create unique index if not exists ix_orch_events_run on run_event_packs (run_id, first_seq);
create index if not exists ix_orch_events_created on run_event_packs using brin (created_at);

-- Its types are those of the packs: a view over both uses their indexes only where no column is converted.
create table if not exists run_event_packs_archive (
    run_id uuid not null,
    first_seq keelson_long_number not null,
    id bigint primary key,
    attempt integer not null,
    agent_id uuid,
    task_id uuid,
    actor_type varchar(20) not null,
    actor_id varchar(255),
    created_at timestamptz not null,
    xid xid8 not null,
    body keelson_events not null
);

comment on table run_event_packs_archive is 'Cold storage for packs of events past the hot period (PRD-101).';

create index if not exists ix_orch_events_archive_run on run_event_packs_archive (run_id, first_seq);

-- The events of a pack. Plain SQL, which the planner inlines.
create or replace function keelson_unpack(pack_id bigint, pack_seq bigint, pack_agent uuid, pack_task uuid,
        pack_actor_type varchar, pack_actor varchar, body json)
    returns table (id bigint, seq bigint, agent_id uuid, task_id uuid, step_id uuid, event_type varchar, payload jsonb,
        actor_type varchar, actor_id varchar) language sql stable parallel safe as $$
    select pack_id + e.place - 1, pack_seq + e.place - 1,
        case when e.agent is null then pack_agent when e.agent <> '' then e.agent::uuid end,
        case when e.task is null then pack_task when e.task <> '' then e.task::uuid end, e.s, e.e, e.p,
        case when e.actor_type is null then pack_actor_type else e.actor_type end,
        case when e.actor_type is null then pack_actor else e.actor_id end
      from rows from (json_to_recordset(body) as (e varchar, s uuid, p jsonb, agent text, task text, actor_type varchar,
            actor_id varchar)) with ordinality as e (e, s, p, agent, task, actor_type, actor_id, place)
$$;

-- The tables of PRD-101, a row for each event. Programs of the platform read them (docs/operate/sql-readers.md), so they have
-- the rights of their owner: SELECT on the view suffices. Connections that serve requests may not (V8).
create or replace view orchestration_events as
select e.id, p.run_id, e.task_id, e.event_type::varchar(50), e.payload, e.actor_type::varchar(20),
    e.actor_id::varchar(255), p.created_at, e.seq, p.attempt, e.step_id, e.agent_id, p.xid
  from run_event_packs p
 cross join lateral keelson_unpack(p.id, p.first_seq, p.agent_id, p.task_id, p.actor_type, p.actor_id, p.body) e;

comment on view orchestration_events is
    'Append-only event log for mission lifecycle (PRD-101); orchestration_event_feed is read from an id on.';

create or replace view orchestration_events_archive as
select e.id, p.run_id, e.task_id, e.event_type::varchar(50), e.payload, e.actor_type::varchar(20),
    e.actor_id::varchar(255), p.created_at, e.seq, p.attempt, e.step_id, e.agent_id, p.xid
  from run_event_packs_archive p
 cross join lateral keelson_unpack(p.id, p.first_seq, p.agent_id, p.task_id, p.actor_type, p.actor_id, p.body) e;

comment on view orchestration_events_archive is 'Cold storage for orchestration events past the hot period (PRD-101).';

create or replace view run_event_packs_kept with (security_invoker = true) as
select run_id, first_seq, id, attempt, agent_id, task_id, actor_type, actor_id, created_at, body
  from run_event_packs
union all
select run_id, first_seq, id, attempt, agent_id, task_id, actor_type, actor_id, created_at, body
  from run_event_packs_archive;

comment on view run_event_packs_kept is 'Packs of the hot table and of the archive as one.';

-- No index knows the ids and numbers of events. A statement that asks for a range of them asks for the packs first:
-- pack_id > x - 1000 where id > x, pack_seq > x - 100 where seq > x, and orders by the pack's before the event's own.
create or replace view orchestration_events_kept with (security_invoker = true) as
select e.id, p.run_id, e.task_id, e.event_type, e.payload, e.actor_type, e.actor_id, p.created_at, e.seq, p.attempt,
    e.step_id, e.agent_id, p.id as pack_id, p.first_seq as pack_seq
  from run_event_packs_kept p
 cross join lateral keelson_unpack(p.id, p.first_seq, p.agent_id, p.task_id, p.actor_type, p.actor_id, p.body) e;

comment on view orchestration_events_kept is 'Events of the hot table and of the archive as one.';
comment on column orchestration_events_kept.pack_id is 'id of the first event of its pack';
comment on column orchestration_events_kept.pack_seq is 'seq of the first event of its pack';

-- Events are never changed. What removes them puts them elsewhere: the functions below, which the trigger knows by the call
-- stack, for a setting could be made by anyone.
create or replace function keelson_refuse_event_change() returns trigger language plpgsql as $$
declare
    stack text;
begin
    if tg_op = 'DELETE' then
        get diagnostics stack = pg_context;
        if stack ~ 'function (\w+\.)?keelson_(archive|export|purge)_events\(' then
            return old;
        end if;
    end if;
    raise exception '% is append-only: % refused', tg_table_name, tg_op using errcode = 'restrict_violation';
end $$;

create or replace trigger run_event_packs_no_change before update or delete on run_event_packs
    for each row execute function keelson_refuse_event_change();
create or replace trigger run_event_packs_no_truncate before truncate on run_event_packs
    for each statement execute function keelson_refuse_change();
create or replace trigger run_event_packs_archive_no_change before update or delete on run_event_packs_archive
    for each row execute function keelson_refuse_event_change();
create or replace trigger run_event_packs_archive_no_truncate before truncate on run_event_packs_archive
    for each statement execute function keelson_refuse_change();

-- Moves packs of a run that has ended, the first ones first, until they have so many events; returns how many. A run that
-- is open again keeps its own. It is one statement: no snapshot sees an event in both places or in none.
create or replace function keelson_archive_events(of_run uuid, enough integer) returns integer language plpgsql as $$
declare
    moved integer;
begin
    with gone as (
        delete from run_event_packs where id = any (array(
            select p.id
              from (select first.id, sum(first.events) over (order by first.first_seq) - first.events as before
                      from (select id, first_seq, json_array_length(body) as events
                              from run_event_packs where run_id = of_run order by first_seq limit enough) first) p
             where p.before < enough and exists (
                select from orchestration_runs r where r.id = of_run and r.state_type = 'terminal')))
        returning *),
    archived as (
        insert into run_event_packs_archive (run_id, first_seq, id, attempt, agent_id, task_id, actor_type,
            actor_id, created_at, xid, body)
        select run_id, first_seq, id, attempt, agent_id, task_id, actor_type, actor_id, created_at, xid, body
          from gone
        returning body)
    select coalesce(sum(json_array_length(body)), 0) into moved from archived;
    return moved;
end $$;

create table if not exists event_exports (
    id uuid primary key,
    workspace_id uuid not null,
    run_id uuid not null references orchestration_runs (id) on delete cascade,
    first_seq bigint not null,
    last_seq bigint not null,
    events bigint not null check (events > 0),
    size_bytes bigint not null check (size_bytes > 0),
    sha256 char(64) not null,
    storage_key text not null,
    exported_at timestamptz not null,
    constraint uq_event_exports_run unique (run_id, first_seq),
    constraint ck_event_exports_seq check (last_seq - first_seq + 1 = events)
);

comment on table event_exports is 'Files of events that were moved to the artifact store.';

create index if not exists ix_event_exports_key on event_exports (storage_key);
create index if not exists ix_event_exports_workspace on event_exports (workspace_id);

-- Removes from the archive what a file holds. That there are as many as were written is the caller's proof that it is the
-- same ones: they have no gaps and never change.
create or replace function keelson_export_events(of_run uuid, first_one bigint, last_one bigint) returns void
language plpgsql as $$
declare
    gone bigint;
begin
    with removed as (
        delete from run_event_packs_archive where run_id = of_run and first_seq between first_one and last_one
        returning body)
    select coalesce(sum(json_array_length(body)), 0) into gone from removed;
    if gone <> last_one - first_one + 1 then
        raise exception 'run % has % events from % to % in the archive', of_run, gone, first_one, last_one;
    end if;
end $$;

-- One row, which servers raise: readers by SQL may be on a replica and cannot look themselves, for a look takes a transaction
-- number.
create table if not exists event_watermark (
    only_one boolean primary key default true check (only_one),
    last_id bigint not null
);

comment on table event_watermark is 'Up to which event no further one can appear (docs/adr/0014).';

insert into event_watermark (last_id) values (0) on conflict do nothing;

-- For the engine's one look at what is due.
create or replace function keelson_events_unsettled() returns boolean language sql stable as $$
    select (select case when s.is_called then s.last_value + 999 else 0 end from run_event_packs_id_seq s)
        > (select last_id from event_watermark)
$$;

-- No index has the ids of events, and no condition on them leads the planner to those of packs. So this view has pack_id, and
-- its cursor names both (docs/adr/0015). It has the rights of its owner, as orchestration_events; run_event_packs_kept has not,
-- also below another view.
create or replace view orchestration_event_feed as
select e.id, p.run_id, e.task_id, e.event_type::varchar(50), e.payload, e.actor_type::varchar(20),
    e.actor_id::varchar(255), p.created_at, e.seq, p.attempt, e.step_id, e.agent_id, p.id as pack_id
  from (select run_id, first_seq, id, attempt, agent_id, task_id, actor_type, actor_id, created_at, body from run_event_packs
        union all
        select run_id, first_seq, id, attempt, agent_id, task_id, actor_type, actor_id, created_at, body
          from run_event_packs_archive) p
 cross join lateral keelson_unpack(p.id, p.first_seq, p.agent_id, p.task_id, p.actor_type, p.actor_id, p.body) e
 where p.id <= (select last_id from event_watermark);

comment on view orchestration_event_feed is
    'Events of the hot table and of the archive in the order of their ids, as far as no further one can appear between them.';
comment on column orchestration_event_feed.pack_id is
    'id of the first event of its pack: pack_id > N - 100 and id > N order by pack_id, id continues behind the event N';

-- The feed over all runs follows the events' own ids, which are handed out in order but become visible out of order: it
-- reads no further than up to an id below which nothing can appear any more (docs/adr/0014). A transaction that takes an
-- id has its number by then, for it wrote the run's row or head before. So, once a number has been read of the sequence,
-- ids up to it belong to transactions below one that takes its number afterwards; when all of those have ended, the ids up
-- to it are settled. That one is our own, for a snapshot's xmax is only the last ended transaction's successor and says
-- nothing of those that are open beyond; it is taken only when there are ids that are not known, and its commit waits for
-- no disk. The order matters: first the id, then the number, then the snapshot; hence a volatile function, each of whose
-- statements has a snapshot of its own.
create or replace function keelson_feed_look(known bigint, out last_id bigint, out next bigint, out open_from bigint)
    language plpgsql volatile as $$
begin
    select case when s.is_called then s.last_value + 999 else s.last_value - 1 end into last_id
      from run_event_packs_id_seq s;
    if last_id > known then
        next := pg_current_xact_id()::text::bigint;
    end if;
    select pg_snapshot_xmin(now.s)::text::bigint into open_from from (select pg_current_snapshot() as s) now;
end $$;

-- One row, written by the server that writes runs' status documents into the artifact store; none where that was never
-- set up.
create table if not exists status_document_progress (
    only_one boolean primary key default true check (only_one),
    event_id bigint not null,
    holder uuid not null,
    held_until timestamptz not null
);

comment on table status_document_progress is 'Up to which event status documents are written.';

-- The server that delivers moves due_at ahead and raises the epoch, so a node that was killed is followed by another one,
-- and one that was suspended changes nothing any more.
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
    failing_since timestamptz,
    last_error varchar(500),
    created_at timestamptz not null default clock_timestamp(),
    updated_at timestamptz not null default clock_timestamp(),
    constraint ck_webhook_endpoints_events check (cardinality(events) >= 1),
    constraint ck_webhook_endpoints_previous check ((previous is null) = (previous_key_id is null)
        and (previous is null) = (previous_until is null)),
    constraint ck_webhook_endpoints_replay check ((replay_after is null) = (replay_to is null)
        and (replay_after is null) = (replay_since is null)),
    constraint ck_webhook_endpoints_disabled check (enabled = (disabled_reason is null))
) with (fillfactor = 80);

comment on table webhook_endpoints is 'Endpoints that receive events; a row is also the lease of its sender.';
comment on column webhook_endpoints.sealed is 'the secret that signs deliveries, under the key key_id';
comment on column webhook_endpoints.previous is 'the sealed secret before it, which signs too until previous_until';
comment on column webhook_endpoints.from_id is 'only events above it, unless a replay asks for them';
comment on column webhook_endpoints.due_at is 'when it is to be served; null while nothing waits';
comment on column webhook_endpoints.held_until is 'until when the server that serves it does so; null if absent';
comment on column webhook_endpoints.failing_since is
    'when the first attempt failed since the last one that was taken; null where none has';

create index if not exists ix_webhook_endpoints_workspace on webhook_endpoints (workspace_id, created_at, id);
create index if not exists ix_webhook_endpoints_due on webhook_endpoints (due_at) where enabled;

-- Those of an endpoint go in the order of position, which is the event's id.
create table if not exists webhook_deliveries (
    id uuid primary key,
    workspace_id uuid not null references workspaces (id) on delete cascade,
    endpoint_id uuid not null references webhook_endpoints (id) on delete cascade,
    event_id bigint,
    position bigint not null,
    type varchar(60) not null,
    body text not null,
    traceparent varchar(60),
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

comment on table webhook_deliveries is 'Events to be sent to webhook endpoints, and what came of it.';
comment on column webhook_deliveries.id is 'what the receiver knows it by at every attempt; follows from endpoint and event';
comment on column webhook_deliveries.last_status is 'the HTTP status of the last attempt';

create index if not exists ix_webhook_deliveries_pending on webhook_deliveries (endpoint_id, position, id)
    where state = 'pending';
create index if not exists ix_webhook_deliveries_list on webhook_deliveries (endpoint_id, created_at desc, id desc);
create index if not exists ix_webhook_deliveries_completed on webhook_deliveries (completed_at)
    where completed_at is not null;

-- One row for all workspaces.
create table if not exists webhook_feed (
    one boolean primary key default true check (one),
    last_id bigint not null
);

comment on table webhook_feed is 'Up to which event deliveries are made.';

insert into webhook_feed (last_id) select coalesce(max(id) + 999, 0) from run_event_packs on conflict do nothing;

-- For the engine's one look at what is due: a look into an empty index where there is no endpoint.
create or replace function keelson_webhooks_wait(at timestamptz) returns boolean language sql stable as $$
    select case when exists (select from webhook_endpoints where enabled) then
        (select min(due_at) from webhook_endpoints where enabled) <= at
        or (select max(id) + 999 from run_event_packs) > (select last_id from webhook_feed)
        or exists (select from webhook_endpoints where enabled and replay_after is not null) end
$$;

-- One row for each thing asked of the world outside, written before the call.
create table if not exists execution_commands (
    id uuid primary key,
    workspace_id uuid not null references workspaces (id) on delete cascade,
    type varchar(100) not null,
    key_source varchar(10) not null check (key_source in ('api', 'step')),
    idempotency_key varchar(600),
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

comment on table execution_commands is
    'Commands with effects outside, once under each idempotency key.';
comment on column execution_commands.provider_key is 'the idempotency key that the provider is given';
comment on column execution_commands.uncertain is 'an attempt was made of which it is not known whether it arrived';
comment on column execution_commands.wake_at is
    'when it is to be looked at: the lease of the server at work has run out, or it is to be tried again';

create index if not exists ix_execution_commands_wake on execution_commands (wake_at) where wake_at is not null;
create index if not exists ix_execution_commands_list on execution_commands (workspace_id, id desc);
create index if not exists ix_execution_commands_type on execution_commands (workspace_id, type, id desc);
create index if not exists ix_execution_commands_run on execution_commands (run_id) where run_id is not null;

-- For the engine's one look at what is due: costs a look into an index, which is empty where nothing is under way.
create or replace function keelson_commands_due(at timestamptz) returns boolean language sql stable as $$
    select (select min(wake_at) from execution_commands where wake_at is not null) <= at
$$;

-- The world outside of installations that have no provider: deployments and orders on paper.
create table if not exists simulated_effects (
    id uuid primary key,
    workspace_id uuid not null references workspaces (id) on delete cascade,
    kind varchar(20) not null check (kind in ('deployment', 'order')),
    status varchar(20) not null check (status in ('running', 'stopped', 'open', 'filled', 'cancelled')),
    document jsonb not null,
    created_at timestamptz not null,
    updated_at timestamptz not null
);

comment on table simulated_effects is 'Effects that the simulated provider recorded.';

create index if not exists ix_simulated_effects_workspace on simulated_effects (workspace_id);
