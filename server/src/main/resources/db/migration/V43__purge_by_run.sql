-- What belongs to a run goes by its id when a workspace is emptied (docs/retention.md), logs and progress of its steps
-- among it, and nothing is looked for in tables that hold other workspaces' rows without an index that leads to it.

-- What refers to rows that go: without these each of them is a look at all who might refer to it. None is in the way of a
-- commit: nobody writes the first column, and the other tables belong to people and uploads.
create index concurrently if not exists ix_orch_runs_coordinator on orchestration_runs (coordinator_agent_id)
    where coordinator_agent_id is not null;
create index concurrently if not exists ix_api_keys_principal on api_keys (principal_id) where principal_id is not null;
create index concurrently if not exists ix_inbox_assignments_assignee on inbox_assignments (workspace_id, assignee)
    where assignee is not null;
create index concurrently if not exists ix_artifact_uploads_workspace on artifact_uploads (workspace_id);

-- What earlier purges left.
delete from step_logs l where not exists (select from orchestration_steps s where s.id = l.step_id);
delete from step_progress p where not exists (select from orchestration_steps s where s.id = p.step_id);

-- A task's steps go with it, and with them their results, logs and progress. By index, whatever the planner believes of
-- tables that it has not looked at lately.
create or replace function keelson_drop_steps() returns trigger language plpgsql
    set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
    steps uuid[] := array(select s.id from gone join orchestration_steps s on s.task_id = gone.id);
begin
    delete from work_results where step_id = any (steps);
    delete from step_logs where step_id = any (steps);
    delete from step_progress where step_id = any (steps);
    delete from orchestration_steps where id = any (steps);
    return null;
end $$;

-- Removes some of a run of a workspace that is to be purged, the run itself once there is nothing else; returns how many
-- rows it removed itself, the most that it may where something is left.
create or replace function keelson_purge_run(of_run uuid, most integer) returns integer language plpgsql
    set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
    total integer := keelson_purge_events(of_run, most);
    gone integer;
begin
    if total < most then
        delete from step_logs where ctid = any (array(
            select l.ctid from orchestration_tasks t join orchestration_steps s on s.task_id = t.id
              join step_logs l on l.step_id = s.id
             where t.run_id = of_run limit most - total));
        get diagnostics gone = row_count;
        total := total + gone;
    end if;
    if total < most then
        -- Their results are no more than they are, or nearly so.
        with steps as (
            delete from orchestration_steps where id = any (array(
                select s.id from orchestration_tasks t join orchestration_steps s on s.task_id = t.id
                 where t.run_id = of_run limit most - total))
            returning id),
        results as (delete from work_results where step_id = any (array(select id from steps))),
        progress as (delete from step_progress where step_id = any (array(select id from steps)))
        select count(*) into gone from steps;
        total := total + gone;
    end if;
    if total < most then
        delete from orchestration_tasks where id = any (array(
            select id from orchestration_tasks where run_id = of_run limit most - total));
        get diagnostics gone = row_count;
        total := total + gone;
    end if;
    if total < most then
        delete from work_queue where run_id = of_run;
        delete from timers where run_id = of_run;
        delete from orchestration_runs where id = of_run;
        total := total + 1;
    end if;
    return total;
end $$;

-- Removes some of what such a workspace has, runs first; returns how many rows it removed itself, 0 when nothing is left.
-- Whatever table names a workspace is emptied of it: by way of the rows that its own belong to and go with, where there is
-- no index by workspace. Who adds a table need not think of this, as long as it has the one or the other.
create or replace function keelson_purge_workspace(of_workspace uuid, most integer) returns integer language plpgsql
    set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
    run uuid;
    each record;
    gone integer;
    total integer := 0;
begin
    if not exists (select from workspaces where id = of_workspace and closed_at is not null
            and purge_asked_at is not null) then
        raise exception 'workspace % is not to be purged', of_workspace using errcode = 'restrict_violation';
    end if;
    for run in select id from orchestration_runs where workspace_id = of_workspace order by created_at desc loop
        total := total + keelson_purge_run(run, most - total);
        exit when total >= most;
    end loop;
    if total > 0 then
        return total;
    end if;
    for each in
        with own as (
            select c.oid as place, c.relname as name, exists (
                    select from pg_index i
                     where i.indrelid = c.oid and i.indkey[0] = a.attnum and i.indpred is null and i.indisvalid) as indexed
              from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'workspace_id'
             where c.relkind in ('r', 'p') and not a.attisdropped
               and c.relnamespace = (select relnamespace from pg_class where oid = 'orchestration_runs'::regclass)),
        parts as (
            select k.conrelid as place, k.confrelid as whole, mine.attname as mine, theirs.attname as theirs
              from pg_constraint k
              join own on own.place = k.confrelid and own.indexed
              join pg_attribute mine on mine.attrelid = k.conrelid and mine.attnum = k.conkey[1]
              join pg_attribute theirs on theirs.attrelid = k.confrelid and theirs.attnum = k.confkey[1]
             where k.contype = 'f' and k.confdeltype = 'c' and cardinality(k.conkey) = 1)
        select case when own.indexed or p.place is null
                then format('delete from %1$s where ctid = any (array('
                    'select ctid from %1$s where workspace_id = $1 limit $2))', own.place::regclass)
                else format('delete from %1$s where ctid = any (array('
                    'select t.ctid from %2$s w join %1$s t on t.%3$I = w.%4$I where w.workspace_id = $1 limit $2))',
                    own.place::regclass, p.whole::regclass, p.mine, p.theirs) end as sql
          from own left join lateral (select * from parts where parts.place = own.place limit 1) p on true
         where own.name not in ('billing_ledger', 'credit_balances', 'operator_audit')
           -- What has gone with its run.
           and own.name not in ('orchestration_steps', 'work_queue', 'timers')
           and not exists (select from parts where parts.place = own.place
                and parts.whole = 'orchestration_runs'::regclass)
         order by p.place is null, own.name = 'workflow_recipes', own.name -- parts first; schedules name their recipes
    loop
        execute each.sql using of_workspace, most;
        get diagnostics gone = row_count;
        if gone > 0 then
            return gone;
        end if;
    end loop;
    return 0;
end $$;
