-- The second fence between workspaces (docs/adr/0013). Connections that serve requests say for which workspace
-- (keelson.workspace) and see its rows only, whatever their statements ask for; where nothing is said, as in the engine,
-- all rows are seen. Each line is a transaction of its own, so that no two tables are locked at a time.

create or replace function keelson_workspace() returns uuid language sql stable parallel safe
    return nullif(current_setting('keelson.workspace', true), '')::uuid;

-- Rows that name no workspace belong to what they are part of, which has a fence itself. Not in SQL, which would be
-- opened up into the statement and might then read all the runs of a workspace for a single row.
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
    return exists (select from orchestration_steps s where s.id = keelson_own_step.id);
end $$;

-- Owners are held by it, too. The policy comes first: without one nobody would see anything.
create or replace function keelson_fence(fenced regclass, own text) returns void language plpgsql as $$
begin
    if not exists (select from pg_policy where polrelid = fenced and polname = 'workspace') then
        execute format('create policy workspace on %s using ((select keelson_workspace()) is null or %s)', fenced, own);
    end if;
    if not (select relrowsecurity and relforcerowsecurity from pg_class where oid = fenced) then
        execute format('alter table %s enable row level security, force row level security', fenced);
    end if;
end $$;

-- Who is above all fences (superusers, BYPASSRLS) serves requests under this role. Null for who needs none.
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
        execute format('grant usage on all sequences in schema %s to keelson_request', place);
        execute format('alter default privileges in schema %s grant select, insert, update, delete on tables
            to keelson_request', place);
        execute format('alter default privileges in schema %s grant usage on sequences to keelson_request', place);
    end if;
    return 'keelson_request';
end $$;

select keelson_fence('workspaces', 'id = (select keelson_workspace())');
select keelson_fence('agent_reports', 'workspace_id = (select keelson_workspace())');
select keelson_fence('agents', 'workspace_id = (select keelson_workspace())');
select keelson_fence('api_keys', 'workspace_id = (select keelson_workspace())');
select keelson_fence('artifacts', 'workspace_id = (select keelson_workspace())');
select keelson_fence('billing_ledger', 'workspace_id = (select keelson_workspace())');
select keelson_fence('board_tasks', 'workspace_id = (select keelson_workspace())');
select keelson_fence('credit_balances', 'workspace_id = (select keelson_workspace())');
select keelson_fence('escalation_tickets', 'workspace_id = (select keelson_workspace())');
select keelson_fence('idempotency_cache', 'workspace_id = (select keelson_workspace())');
select keelson_fence('operator_audit', 'workspace_id = (select keelson_workspace())');
select keelson_fence('orchestration_runs', 'workspace_id = (select keelson_workspace())');
select keelson_fence('orchestration_steps', 'workspace_id = (select keelson_workspace())');
select keelson_fence('orchestration_tasks', 'workspace_id = (select keelson_workspace())');
select keelson_fence('principals', 'workspace_id = (select keelson_workspace())');
select keelson_fence('run_agents', 'workspace_id = (select keelson_workspace())');
select keelson_fence('secrets', 'workspace_id = (select keelson_workspace())');
select keelson_fence('work_queue', 'workspace_id = (select keelson_workspace())');
select keelson_fence('workers', 'workspace_id = (select keelson_workspace())');
select keelson_fence('workflow_recipes', 'workspace_id = (select keelson_workspace())');
select keelson_fence('workspace_limits', 'workspace_id = (select keelson_workspace())');

select keelson_fence('orchestration_events', 'keelson_own_run(run_id)');
select keelson_fence('orchestration_events_archive', 'keelson_own_run(run_id)');
select keelson_fence('run_attempts', 'keelson_own_run(run_id)');
select keelson_fence('run_heads', 'keelson_own_run(run_id)');
select keelson_fence('timers', 'keelson_own_run(run_id)');
select keelson_fence('work_results', 'keelson_own_run(run_id)');
select keelson_fence('orchestration_task_dependencies', 'keelson_own_task(task_id)');
select keelson_fence('step_logs', 'keelson_own_step(step_id)');
select keelson_fence('step_progress', 'keelson_own_step(step_id)');
