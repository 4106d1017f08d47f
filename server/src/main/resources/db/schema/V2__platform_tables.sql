-- Tables that Keelson shares with the platform of PRD-101: the roster, the work board, reports and recipes. They may
-- exist before Keelson's first start, be large and be in use, so each statement is a transaction of its own, indexes that
-- read many rows are built concurrently, and no statement holds two tables. `create table` has the columns that PRD-101
-- takes as given; `alter table` adds ours.

create table if not exists agents (
    id serial primary key,
    workspace_id uuid not null references workspaces (id) on delete cascade,
    slug varchar(100) not null,
    name varchar(255) not null,
    created_at timestamptz not null default now(),
    unique (workspace_id, slug)
);

alter table agents
    add column if not exists description text,
    add column if not exists model varchar(200),
    add column if not exists instructions text,
    add column if not exists tools jsonb not null default '[]',
    add column if not exists capabilities jsonb not null default '[]',
    add column if not exists limits jsonb not null default '{}',
    add column if not exists runs_on varchar(10),
    add column if not exists created_by varchar(255),
    add column if not exists updated_at timestamptz not null default now();

-- An agent that is gone is no reason to refuse a task that was given to it.
create or replace function keelson_agent(wanted int4) returns int4 language sql stable as $$
    select id from agents where id = wanted
$$;

create table if not exists board_tasks (
    id bigserial primary key,
    workspace_id uuid not null,
    title varchar(500) not null,
    description text,
    status varchar(30) not null default 'inbox',
    parent_task_id bigint,
    source_type varchar(30) not null default 'user',
    source_id varchar(255),
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now()
);

-- PRD-101's INTEGER would be used up within weeks of full load, and no run could be made any more.
alter table board_tasks alter column id type bigint, alter column parent_task_id type bigint;
alter sequence board_tasks_id_seq as bigint;

alter table board_tasks
    add column if not exists priority varchar(20) not null default 'medium',
    add column if not exists review_mode varchar(20) not null default 'auto',
    add column if not exists assigned_agent_id integer references agents (id) on delete set null,
    add column if not exists assignee varchar(255),
    add column if not exists created_by_type varchar(30) not null default 'user',
    add column if not exists created_by_id varchar(255),
    add column if not exists tags jsonb not null default '[]',
    add column if not exists planning_data jsonb,
    add column if not exists run_id uuid,
    add column if not exists result text,
    add column if not exists error_message text,
    add column if not exists started_at timestamptz,
    add column if not exists completed_at timestamptz;

comment on column board_tasks.source_id is 'of source_type orchestration the run''s id, of orchestration_task the task''s';
comment on column board_tasks.assignee is 'who does it: the name of a run''s agent, or what people write';
comment on column board_tasks.planning_data is
    'of runs and their tasks; a run''s progress is that of its last change of state';

-- NOT VALID: rows of the platform may have other statuses. An array constant, because each statement reads the check's
-- text and `in (…)` would make the array each time (docs/adr/0011).
alter table board_tasks
    drop constraint if exists ck_board_tasks_status,
    add constraint ck_board_tasks_status
        check (status::text = any ('{inbox,assigned,in_progress,review,done}'::text[])) not valid;

-- What changes with a task's status leaves a fifth of a page free. One tree for columns and lists, one for a task's
-- children: a change of status costs an entry in each.
alter table board_tasks set (fillfactor = 80);
create unique index if not exists uq_board_tasks_orchestration_run on board_tasks (source_id)
    where source_type = 'orchestration';
create unique index if not exists uq_board_tasks_orchestration_task on board_tasks (source_id)
    where source_type = 'orchestration_task';
create index concurrently if not exists ix_board_tasks_column on board_tasks (workspace_id, status, source_type, id);
create index concurrently if not exists ix_board_tasks_parent on board_tasks (parent_task_id, status, id)
    where parent_task_id is not null;
create index concurrently if not exists ix_board_tasks_agent on board_tasks (assigned_agent_id)
    where assigned_agent_id is not null;

-- A task whose parent is deleted has none.
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

-- Its column orchestration_task_id comes with the tasks, in V3.
create table if not exists agent_reports (
    id uuid primary key default gen_random_uuid(),
    workspace_id uuid not null,
    report_type varchar(30) not null,
    title varchar(500) not null,
    created_at timestamptz not null default now()
);

alter table agent_reports
    add column if not exists subject_id uuid,
    add column if not exists run_id uuid,
    add column if not exists run_attempt integer,
    add column if not exists agent varchar(255),
    add column if not exists state varchar(30),
    add column if not exists tokens bigint not null default 0,
    add column if not exists cost numeric(20, 6) not null default 0,
    add column if not exists duration_ms bigint,
    add column if not exists content text not null default '';

comment on column agent_reports.subject_id is 'the task or the run that it is about, also once that is gone';
comment on column agent_reports.cost is 'credits';
comment on column agent_reports.content is 'Markdown as it was written; outlives what it is about';

-- One report per task and per attempt of a run; it also finds a run's.
create unique index concurrently if not exists uq_agent_reports_subject
    on agent_reports (run_id, run_attempt, subject_id) where run_id is not null;
create index concurrently if not exists ix_agent_reports_ws on agent_reports (workspace_id, created_at, id);

-- Board and reports refer to neither workspaces nor parents: a reference is a query per row of a run's first and last
-- commit (docs/adr/0011). What deleting did is done by triggers, and statements of people lock what they refer to.
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

-- The workspace that a person puts a task into: it stays until they have committed.
create or replace function keelson_held_workspace(of_workspace uuid) returns uuid language plpgsql as $$
begin
    perform from workspaces where id = of_workspace for key share;
    if not found then
        raise exception 'there is no workspace %', of_workspace using errcode = 'foreign_key_violation';
    end if;
    return of_workspace;
end $$;

-- The platform's references go. A session that holds one of two tables and waits for the other is let go first, so that
-- no commit fails of this.
do $$
declare
    reference record;
begin
    for reference in
        select conname as name, conrelid::regclass as place, confrelid::regclass as whole from pg_constraint
         where contype = 'f' and (conrelid, confrelid) in (
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

create table if not exists workflow_recipes (
    id serial primary key,
    workspace_id uuid not null references workspaces (id) on delete cascade,
    name varchar(255) not null,
    execution_config jsonb not null default '{}',
    created_at timestamptz not null default now()
);

-- Beside what runs (template_definition), what PRD-101 wants to see.
alter table workflow_recipes
    add column if not exists recipe_id uuid not null default gen_random_uuid(),
    add column if not exists description text,
    add column if not exists steps jsonb not null default '[]',
    add column if not exists template_id varchar(255),
    add column if not exists template_definition jsonb not null default '{}',
    add column if not exists owner_type varchar(30) not null default 'workspace',
    add column if not exists tags jsonb not null default '[]',
    add column if not exists created_by varchar(255),
    add column if not exists version integer not null default 1,
    add column if not exists updated_by varchar(255),
    add column if not exists updated_at timestamptz not null default now();

comment on column workflow_recipes.recipe_id is 'what the API and recipe_versions name it by';
comment on column workflow_recipes.template_definition is 'the mission that a run of it is made of';

create unique index if not exists ux_workflow_recipes_id on workflow_recipes (recipe_id);
create unique index if not exists ux_workflow_recipes_name on workflow_recipes (workspace_id, name);

-- A table that was there before keeps the comment that it has.
do $$
declare
    each record;
begin
    for each in select * from (values
        ('agent_reports', 'Reports on ended tasks and runs, in Markdown; kept after those are gone.'),
        ('agents', 'The roster: agents that tasks can be given to.'),
        ('api_keys', 'API keys, by the hash of their text.'),
        ('board_tasks', 'The work board: runs, their tasks, and tasks of people.'),
        ('workflow_recipes', 'Missions kept to be run again.'),
        ('workspaces', 'Tenants; every other row belongs to one.')) as said (name, purpose)
    loop
        if obj_description(to_regclass(each.name), 'pg_class') is null then
            execute format('comment on table %I is %L', each.name, each.purpose);
        end if;
    end loop;
end $$;
