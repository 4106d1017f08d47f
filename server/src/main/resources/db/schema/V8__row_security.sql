-- Row-level security of workspaces (docs/adr/0013), and the removal of a workspace's rows (docs/operate/retention.md).
--
-- Connections that serve requests set their workspace (keelson.workspace) and see its rows only. Without that setting, as
-- in the engine, they see all rows. Each statement is a transaction of its own, so that no two tables of the platform are
-- locked at a time.

create or replace function keelson_workspace() returns uuid language sql stable parallel safe
    return nullif(current_setting('keelson.workspace', true), '')::uuid;

-- Rows without a workspace belong to a run, which has a policy itself. Not in SQL, which would be inlined
-- into the statement and might then read all the runs of a workspace for a single row.
create or replace function keelson_own_run(id uuid) returns boolean language plpgsql stable as $$
begin
    return exists (select from orchestration_runs r where r.id = keelson_own_run.id);
end $$;

create or replace function keelson_own_task(id uuid) returns boolean language plpgsql stable as $$
begin
    return exists (select from orchestration_tasks t where t.id = keelson_own_task.id);
end $$;

create or replace function keelson_own_step(id uuid) returns boolean language plpgsql stable as $$
begin
    return exists (select from task_steps s where s.id = keelson_own_step.id);
end $$;

-- Owners are held by it, too. The policy comes first: without one no row would be seen. A condition on columns that are
-- never null is null without the setting only: it says both in one look at the setting.
create or replace function keelson_enable_rls(target regclass, own text, never_null boolean default false) returns void
    language plpgsql as $$
begin
    if not exists (select from pg_policy where polrelid = target and polname = 'workspace') then
        execute format(case when never_null then 'create policy workspace on %s using ((%s) is not false)'
            else 'create policy workspace on %s using ((select keelson_workspace()) is null or %s)' end, target, own);
    end if;
    if not (select relrowsecurity and relforcerowsecurity from pg_class where oid = target) then
        execute format('alter table %s enable row level security, force row level security', target);
    end if;
end $$;

-- The role under which users that bypass row-level security (superusers, BYPASSRLS) serve requests; null for others.
create or replace function keelson_request_role() returns text language plpgsql as $$
declare
    place text := quote_ident(current_schema());
begin
    if not (select rolsuper or rolbypassrls from pg_roles where rolname = current_user) then
        return null;
    end if;
    perform pg_advisory_xact_lock(hashtextextended('keelson_request', 0));
    if to_regrole('keelson_request') is null then
        begin
            create role keelson_request;
        exception when duplicate_object or unique_violation then
            null; -- another database's server has just made it
        end;
    end if;
    if not pg_has_role('keelson_request', 'member') then
        grant keelson_request to current_user;
    end if;
    if not has_table_privilege('keelson_request', 'orchestration_runs', 'select') then
        execute format('grant usage on schema %s to keelson_request', place);
        execute format('grant select, insert, update, delete on all tables in schema %s to keelson_request', place);
        -- Views with the rights of their owner, who may be above row-level security.
        execute format('revoke all on %1$s.orchestration_events, %1$s.orchestration_events_archive,
            %1$s.orchestration_event_feed from keelson_request', place);
        execute format('grant usage on all sequences in schema %s to keelson_request', place);
        execute format('alter default privileges in schema %s grant select, insert, update, delete on tables
            to keelson_request', place);
        execute format('alter default privileges in schema %s grant usage on sequences to keelson_request', place);
    end if;
    return 'keelson_request';
end $$;

-- Tables that the platform may use at the same time: one by one.
select keelson_enable_rls('workspaces', 'id = (select keelson_workspace())');
select keelson_enable_rls('agent_reports', 'workspace_id = (select keelson_workspace())');
select keelson_enable_rls('agents', 'workspace_id = (select keelson_workspace())');
select keelson_enable_rls('api_keys', 'workspace_id = (select keelson_workspace())');
select keelson_enable_rls('board_tasks', 'workspace_id = (select keelson_workspace())');
select keelson_enable_rls('workflow_recipes', 'workspace_id = (select keelson_workspace())');

-- Our own tables, of which one also has rows of no workspace.
select keelson_enable_rls('operator_audit', 'workspace_id = (select keelson_workspace())');
select keelson_enable_rls(own::regclass, 'workspace_id = (select keelson_workspace())', true) from unnest('{
    artifact_uploads, artifacts, artifact_reservations, billing_ledger, bulk_jobs, call_waits, credit_months, credit_slots,
    escalation_tickets, event_exports, execution_commands, former_secrets, idempotency_cache, inbox_assignments,
    mcp_servers, mcp_tools, orchestration_runs, orchestration_tasks, simulated_effects, principals,
    proposals, recipe_versions, saved_views, run_agents, run_children, run_parents, run_plans, run_signals, schedule_ticks,
    schedules, secrets, session_links, sessions, task_budgets, task_steps, upload_slots, webhook_deliveries, webhook_endpoints, work_queue, workers,
    workspace_limits}'::text[]) as own;

select keelson_enable_rls(part::regclass, 'keelson_own_run(run_id)') from unnest('{
    run_attempts, run_event_packs, run_event_packs_archive, run_heads, step_results, timers}'::text[]) as part;

select keelson_enable_rls('orchestration_task_dependencies', 'keelson_own_task(task_id)');
select keelson_enable_rls('step_logs', 'keelson_own_step(step_id)');
select keelson_enable_rls('step_progress', 'keelson_own_step(step_id)');
select keelson_enable_rls('live_texts', 'keelson_own_step(step_id)');

-- No request reads it.
select keelson_enable_rls('status_document_progress', 'false');

-- Removes packs of events of a run of a workspace that is to be purged: it is closed then, and its runs have ended. Ledger,
-- balances and audit stay, and so does its name. Returns how many.
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
    delete from run_event_packs where id = any (array(
        select id from run_event_packs where run_id = of_run limit most));
    get diagnostics gone = row_count;
    delete from run_event_packs_archive where id = any (array(
        select id from run_event_packs_archive where run_id = of_run limit most - gone));
    get diagnostics more = row_count;
    return gone + more;
end $$;

-- Removes some of a run of such a workspace, the run itself once there is nothing else; returns how many rows it removed
-- itself, which equals the maximum while rows are left. Uses indexes regardless of the planner's statistics.
create or replace function keelson_purge_run(of_run uuid, most integer) returns integer language plpgsql
    set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
    total integer := keelson_purge_events(of_run, most);
    gone integer;
begin
    if total < most then
        delete from step_logs where ctid = any (array(
            select l.ctid from orchestration_tasks t join task_steps s on s.task_id = t.id
              join step_logs l on l.step_id = s.id
             where t.run_id = of_run limit most - total));
        get diagnostics gone = row_count;
        total := total + gone;
    end if;
    if total < most then
        -- Their results are no more than they are, or nearly so.
        with steps as (
            delete from task_steps where id = any (array(
                select s.id from orchestration_tasks t join task_steps s on s.task_id = t.id
                 where t.run_id = of_run limit most - total))
            returning id),
        results as (delete from step_results where step_id = any (array(select id from steps))),
        progress as (delete from step_progress where step_id = any (array(select id from steps))),
        texts as (delete from live_texts where step_id = any (array(select id from steps)))
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
-- Each table that names a workspace is emptied of it: by way of the rows that its own belong to and go with, where there is
-- no index by workspace. A new table needs the one or the other, and no change here.
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
         where own.name not in ('billing_ledger', 'credit_slots', 'operator_audit')
           -- What has gone with its run.
           and own.name not in ('task_steps', 'run_agents', 'work_queue', 'timers')
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
