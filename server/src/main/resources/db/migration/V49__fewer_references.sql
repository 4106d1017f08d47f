-- Rows that a run makes refer to fewer others: each reference is a query per row, which locks what it finds, and costs more
-- than the row (docs/adr/0011). What is gone held by construction: one transaction writes a run and what it is made of, and
-- the run itself still refers to its workspace. What people put on the board is held by their statements. Deleting takes
-- along what it did, as for steps and heads (V5). Each statement is a transaction of its own.

-- A run's head, attempts and agents go with it.
create or replace function keelson_drop_heads() returns trigger language plpgsql
    set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
    runs uuid[] := array(select id from gone);
begin
    delete from run_heads where run_id = any (runs);
    delete from run_attempts where run_id = any (runs);
    delete from run_agents where run_id = any (runs);
    return null;
end $$;

-- A workspace's board and reports go with it.
create or replace function keelson_drop_board() returns trigger language plpgsql
    set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
    spaces uuid[] := array(select id from gone);
begin
    delete from board_tasks where workspace_id = any (spaces);
    delete from agent_reports where workspace_id = any (spaces);
    return null;
end $$;

create or replace trigger workspaces_drop_board after delete on workspaces
    referencing old table as gone for each statement execute function keelson_drop_board();

-- Whose parent goes has none.
create or replace function keelson_leave_children() returns trigger language plpgsql
    set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
    parents bigint[] := array(select id from gone);
begin
    update board_tasks set parent_task_id = null where parent_task_id = any (parents);
    return null;
end $$;

create or replace trigger board_tasks_leave_children after delete on board_tasks
    referencing old table as gone for each statement execute function keelson_leave_children();

-- The same checks in fewer words: each statement reads their text anew, and computes what constants are made of. They allow
-- what they did, so that nothing is gained by looking at the rows that are there. NaN is above everything, and what has
-- too many digits the columns refuse themselves.
alter table board_tasks
    drop constraint if exists ck_board_tasks_status,
    add constraint ck_board_tasks_status
        check (status::text = any ('{inbox,assigned,in_progress,review,done}'::text[])) not valid;
alter table credit_balances
    drop constraint if exists ck_credit_balances_possible,
    add constraint ck_credit_balances_possible check (least(available, reserved, spent) >= '0'::numeric
        and available + reserved + spent < 'NaN'::numeric) not valid;
alter table orchestration_task_dependencies
    drop constraint if exists orchestration_task_dependencies_dependency_type_check,
    add constraint orchestration_task_dependencies_dependency_type_check
        check (dependency_type::text = any ('{data,ordering}'::text[])) not valid;

-- The row types of the board's and the reports' own statements; those of before are for the servers that still run.
drop type if exists keelson_board_run;
create type keelson_board_run as (workspace_id uuid, title text, description text, status text, created_by text,
    tags jsonb, run_id uuid, mission text, error_message text, started_at timestamptz, completed_at timestamptz);
drop type if exists keelson_board_task;
create type keelson_board_task as (workspace_id uuid, title text, description text, status text, review_mode text,
    assignee text, agent_id int4, tags jsonb, run_id uuid, mission text, subject text, result text, error_message text,
    started_at timestamptz, completed_at timestamptz);
drop type if exists keelson_board_run_change;
create type keelson_board_run_change as (mission text, status text, tags jsonb, started_at timestamptz,
    completed_at timestamptz, error_message text);
drop type if exists keelson_board_task_change;
create type keelson_board_task_change as (task_id uuid, status text, started_at timestamptz, completed_at timestamptz,
    result text, error_message text);
drop type if exists keelson_report_task;
create type keelson_report_task as (task_id uuid, report_type text, agent text);
drop type if exists keelson_report_run;
create type keelson_report_run as (run_id uuid, report_type text, tokens int8, cost numeric);
drop type if exists keelson_task_new_v4;
create type keelson_task_new_v4 as (id uuid, run_id uuid, workspace_id uuid, attempt int4, run_agent_id uuid,
    key text, sequence_number int4, title text, description text, task_type text, success_criteria text,
    trigger_rule text, when_expr text, for_each text, output_template text, parallel_steps bool, step_specs jsonb,
    policy jsonb, group_id uuid, item_index int4, item jsonb, state text, state_type text, attempt_number int4,
    continuation_count int4, tokens_used int4, cost numeric, queued_at timestamptz, started_at timestamptz,
    completed_at timestamptz, error_code text, error_message text, carried_from uuid, output jsonb,
    output_summary text, agent_id int4, agent_type text, model_override text, tools_requested jsonb, failures int4,
    forgiven int4, effect_generation int4, passed_over bool, superseded bool, next_run_at timestamptz,
    state_since timestamptz, begun_at timestamptz, error_class text, verifier_score numeric, verified_by text, on_board text);

-- The workspace that somebody puts a task into: it stays until they have committed.
create or replace function keelson_held_workspace(of_workspace uuid) returns uuid language plpgsql as $$
begin
    perform from workspaces where id = of_workspace for key share;
    if not found then
        raise exception 'there is no workspace %', of_workspace using errcode = 'foreign_key_violation';
    end if;
    return of_workspace;
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
           and own.name not in ('orchestration_steps', 'run_agents', 'work_queue', 'timers')
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

-- Whoever holds one of the two tables and waits for the other is let go first, so that no commit fails of this.
do $$
declare
    reference record;
begin
    for reference in
        select conname as name, conrelid::regclass as place, confrelid::regclass as whole from pg_constraint
         where contype = 'f' and (conrelid, confrelid) in (
            ('run_agents'::regclass, 'orchestration_runs'::regclass),
            ('run_attempts'::regclass, 'orchestration_runs'::regclass),
            ('board_tasks'::regclass, 'workspaces'::regclass), ('board_tasks'::regclass, 'board_tasks'::regclass),
            ('agent_reports'::regclass, 'workspaces'::regclass))
    loop
        perform set_config('lock_timeout', '300ms', true);
        for i in 1 .. 100 loop
            begin
                execute format('lock table %s, %s', reference.whole, reference.place);
                execute format('alter table %s drop constraint %I', reference.place, reference.name);
                exit;
            exception when lock_not_available then
                if i = 100 then
                    raise;
                end if;
                perform pg_sleep(0.05);
            end;
        end loop;
        commit;
    end loop;
end $$;
