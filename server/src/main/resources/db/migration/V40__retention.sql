-- How events end (docs/retention.md): a while after their run they move to the archive, later to files in the artifact
-- store. Each move is one statement: no snapshot sees an event in both places or in none.

create index if not exists ix_orch_events_archive_run on orchestration_events_archive (run_id, seq);

-- Events are never changed. What removes them is what puts them elsewhere, and nothing else: the functions below, which
-- are known by standing in the call stack, for a setting could be made by anybody.
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

create or replace trigger orchestration_events_no_change before update or delete on orchestration_events
    for each row execute function keelson_refuse_event_change();
create or replace trigger orchestration_events_archive_no_change before update or delete on orchestration_events_archive
    for each row execute function keelson_refuse_event_change();
create or replace trigger orchestration_events_archive_no_truncate before truncate on orchestration_events_archive
    for each statement execute function keelson_refuse_change();

-- Moves events of a run that has ended, the first ones first; returns how many. A run that is open again keeps its own.
create or replace function keelson_archive_events(of_run uuid, most integer) returns integer language plpgsql as $$
declare
    moved integer;
begin
    with gone as (
        delete from orchestration_events where id = any (array(
            select e.id from orchestration_events e join orchestration_runs r on r.id = e.run_id
             where e.run_id = of_run and r.state_type = 'terminal' order by e.seq limit most))
        returning id, run_id, task_id, event_type, payload, actor_type, actor_id, created_at, seq, attempt, step_id,
            agent_id, xid)
    insert into orchestration_events_archive (id, run_id, task_id, event_type, payload, actor_type, actor_id, created_at,
        seq, attempt, step_id, agent_id, xid)
    select id, run_id, task_id, event_type, payload, actor_type, actor_id, created_at, seq, attempt, step_id, agent_id,
        xid from gone;
    get diagnostics moved = row_count;
    return moved;
end $$;

-- What has been taken out of the archive, and where it is.
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
create index if not exists ix_event_exports_key on event_exports (storage_key);
create index if not exists ix_event_exports_workspace on event_exports (workspace_id);
select keelson_fence('event_exports', 'workspace_id = (select keelson_workspace())');

-- Removes from the archive what stands in a file. That there are as many as were written is the caller's proof that it is
-- the same ones: they have no gaps and never change.
create or replace function keelson_export_events(of_run uuid, first_one bigint, last_one bigint) returns void
language plpgsql as $$
declare
    gone bigint;
begin
    delete from orchestration_events_archive where run_id = of_run and seq between first_one and last_one;
    get diagnostics gone = row_count;
    if gone <> last_one - first_one + 1 then
        raise exception 'run % has % events from % to % in the archive', of_run, gone, first_one, last_one;
    end if;
end $$;

-- Events of a run wherever the database has them.
create or replace view orchestration_events_kept with (security_invoker = true) as
select id, run_id, task_id, event_type, payload, actor_type, actor_id, created_at, seq, attempt, step_id, agent_id
  from orchestration_events
union all
select id, run_id, task_id, event_type, payload, actor_type, actor_id, created_at, seq, attempt, step_id, agent_id
  from orchestration_events_archive;

-- What a workspace has is removed when an operator says so: it is closed then, and its runs have ended. Ledger, balances and
-- audit stay, and so does its name.
alter table workspaces
    add column if not exists purge_asked_at timestamptz,
    add column if not exists purged_at timestamptz,
    add column if not exists purged_rows bigint not null default 0;

create index if not exists ix_workspaces_purge on workspaces (purge_asked_at)
    where purge_asked_at is not null and purged_at is null;

-- Removes events of a run of such a workspace; returns how many.
create or replace function keelson_purge_events(of_run uuid, most integer) returns integer language plpgsql as $$
declare
    gone integer;
    more integer;
begin
    if not exists (select from orchestration_runs r join workspaces w on w.id = r.workspace_id
            where r.id = of_run and r.state_type = 'terminal' and w.closed_at is not null
              and w.purge_asked_at is not null) then
        raise exception 'run % is not to be purged', of_run using errcode = 'restrict_violation';
    end if;
    delete from orchestration_events where id = any (array(
        select id from orchestration_events where run_id = of_run limit most));
    get diagnostics gone = row_count;
    delete from orchestration_events_archive where id = any (array(
        select id from orchestration_events_archive where run_id = of_run limit most - gone));
    get diagnostics more = row_count;
    return gone + more;
end $$;

-- Removes some of what such a workspace has, runs first; returns how many rows it removed itself, 0 when nothing is left.
-- Whatever table names a workspace is emptied of it: who adds one need not think of this.
create or replace function keelson_purge_workspace(of_workspace uuid, most integer) returns integer language plpgsql as $$
declare
    run uuid;
    place regclass;
    gone integer;
    total integer := 0;
begin
    if not exists (select from workspaces where id = of_workspace and closed_at is not null
            and purge_asked_at is not null) then
        raise exception 'workspace % is not to be purged', of_workspace using errcode = 'restrict_violation';
    end if;
    while total < most loop
        select id into run from orchestration_runs where workspace_id = of_workspace order by created_at desc limit 1;
        exit when run is null;
        total := total + keelson_purge_events(run, most - total);
        if total < most then
            delete from orchestration_tasks where id = any (array(
                select id from orchestration_tasks where run_id = run limit most - total));
            get diagnostics gone = row_count;
            total := total + gone;
        end if;
        if total < most then
            delete from orchestration_runs where id = run;
            total := total + 1;
        end if;
    end loop;
    if total > 0 then
        return total;
    end if;
    for place in
        select c.oid::regclass from pg_class c
          join pg_attribute a on a.attrelid = c.oid and a.attname = 'workspace_id' and not a.attisdropped
         where c.relkind in ('r', 'p') and c.relname not in ('billing_ledger', 'credit_balances', 'operator_audit')
           and c.relnamespace = (select relnamespace from pg_class where oid = 'orchestration_runs'::regclass)
         order by c.relname = 'workflow_recipes', c.relname -- schedules name their recipes
    loop
        execute format('delete from %s where ctid = any (array(select ctid from %s where workspace_id = $1 limit $2))',
            place, place) using of_workspace, most;
        get diagnostics gone = row_count;
        if gone > 0 then
            return gone;
        end if;
    end loop;
    return 0;
end $$;
