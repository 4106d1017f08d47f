-- Notices of dead deliveries (docs/guide/triggers.md).

alter table triggers add column if not exists notice uuid;
alter table triggers add column if not exists notice_since timestamptz;

comment on column triggers.notice is 'the question about its dead deliveries; null without one';
comment on column triggers.notice_since is 'the question is about deliveries that died since then';

create unique index if not exists uq_triggers_notice on triggers (notice) where notice is not null;
create index if not exists ix_trigger_deliveries_dead on trigger_deliveries (trigger_id, decided_at) where state = 'dead';

-- All that waits for people. Servers of earlier versions read open_questions, whose kinds they know.
create or replace view inbox_questions with (security_invoker = true) as
select workspace_id, kind, subject, run_id, asked_at, due_at, expires_at, cause
  from open_questions
union all
select workspace_id, 'dead_letter', notice, null, notice_since, null, null, null
  from triggers t
 where notice is not null
   and exists (select from trigger_deliveries d
                where d.trigger_id = t.id and d.state = 'dead' and d.decided_at >= t.notice_since);

comment on view inbox_questions is 'open_questions, and notices of triggers about dead deliveries';

-- Replays of more deliveries than one transaction takes.
create table if not exists trigger_replays (
    id uuid primary key default gen_random_uuid(),
    workspace_id uuid not null,
    trigger_id uuid not null references triggers (id) on delete cascade,
    state varchar(10),
    since timestamptz,
    until timestamptz,
    decided_since timestamptz,
    asked_at timestamptz not null,
    after_received timestamptz not null,
    after_id uuid not null
);

comment on table trigger_replays is 'Requested replays of deliveries that are not all pending again.';
comment on column trigger_replays.asked_at is 'deliveries that were decided later are not replayed';
comment on column trigger_replays.after_received is 'with after_id: the last delivery that was replayed, in the order of receipt';

create index if not exists ix_trigger_replays_trigger on trigger_replays (trigger_id);
create index if not exists ix_trigger_replays_workspace on trigger_replays (workspace_id);

select keelson_enable_rls('trigger_replays', 'workspace_id = (select keelson_workspace())', true);

-- The source `run`: ends of other runs.
alter table triggers add column if not exists run_ends_from bigint;

comment on column triggers.run_ends_from is 'event after which it receives ends of runs; null for another source';

create index if not exists ix_triggers_run_ends on triggers (id) where run_ends_from is not null;

-- One row for all workspaces.
create table if not exists trigger_feed (
    one boolean primary key default true check (one),
    last_id bigint not null
);

comment on table trigger_feed is 'Up to which event triggers have received the ends of runs.';

insert into trigger_feed (last_id) select coalesce(max(id) + 999, 0) from run_event_packs on conflict do nothing;

-- The target `signal`.
alter table trigger_deliveries drop constraint if exists trigger_deliveries_state_check;
alter table trigger_deliveries add constraint trigger_deliveries_state_check
    check (state in ('pending', 'started', 'signalled', 'merged', 'dropped', 'refused', 'dead')) not valid;
