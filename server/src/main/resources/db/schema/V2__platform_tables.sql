-- Tables that Keelson shares with the platform of PRD-101: the roster, the work board, reports and recipes. They may
-- exist before Keelson's first start, be large and be in use. Then their columns, types, defaults, references and checks
-- stay, Adoption has added the columns that they lacked, and `create table` does nothing. Each statement is a transaction
-- of its own. SharedIndexes has the indexes.

create table if not exists agents (
    id serial primary key,
    workspace_id uuid not null references workspaces (id) on delete cascade,
    slug varchar(100) not null,
    name varchar(255) not null,
    description text,
    model varchar(200),
    instructions text,
    tools jsonb not null default '[]',
    capabilities jsonb not null default '[]',
    limits jsonb not null default '{}',
    runs_on varchar(10),
    created_by varchar(255),
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    unique (workspace_id, slug)
);

-- An agent that is gone is no reason to refuse a task that was given to it.
create or replace function keelson_agent(wanted int4) returns int4 language sql stable as $$
    select id from agents where id = wanted
$$;

-- Its id is BIGINT: the INTEGER of PRD-101 is used up within weeks of full load, and then no run can be created. A table
-- that exists keeps its type, and servers warn while there is time to change it.
--
-- It refers to neither workspaces nor parents: a reference is a query per row of a run's first and last commit
-- (docs/adr/0011). What deleting does to what it refers to is done by triggers, and statements of people lock what they
-- refer to. A table that exists keeps its references. So do reports.
--
-- The check has an array constant, because each statement reads the check's text and `in (…)` would make the array each
-- time (docs/adr/0011). What changes with a task's status leaves a fifth of a page free.
create table if not exists board_tasks (
    id bigserial primary key,
    workspace_id uuid not null,
    title varchar(500) not null,
    description text,
    status varchar(30) not null default 'inbox',
    priority varchar(20) not null default 'medium',
    review_mode varchar(20) not null default 'auto',
    assignee varchar(255),
    created_by_type varchar(30) not null default 'user',
    created_by_id varchar(255),
    parent_task_id bigint,
    source_type varchar(30) not null default 'user',
    source_id varchar(255),
    run_id uuid,
    tags jsonb not null default '[]',
    planning_data jsonb,
    result text,
    error_message text,
    started_at timestamptz,
    completed_at timestamptz,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    constraint ck_board_tasks_status check (status::text = any ('{inbox,assigned,in_progress,review,done}'::text[]))
) with (fillfactor = 80);

alter table board_tasks add column if not exists assigned_agent_id integer references agents (id) on delete set null;

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

-- Its column orchestration_task_id comes with the tasks, in V4.
create table if not exists agent_reports (
    id uuid primary key default gen_random_uuid(),
    workspace_id uuid not null,
    report_type varchar(30) not null,
    title varchar(500) not null,
    subject_id uuid,
    run_id uuid,
    run_attempt integer,
    agent varchar(255),
    state varchar(30),
    tokens bigint not null default 0,
    cost numeric(26, 12) not null default 0,
    duration_ms bigint,
    content text not null default '',
    created_at timestamptz not null default now()
);

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

-- Beside what runs (template_definition), what PRD-101 wants to see.
create table if not exists workflow_recipes (
    id serial primary key,
    workspace_id uuid not null references workspaces (id) on delete cascade,
    recipe_id uuid not null default gen_random_uuid() constraint ux_workflow_recipes_id unique,
    name varchar(255) not null,
    description text,
    steps jsonb not null default '[]',
    execution_config jsonb not null default '{}',
    template_id varchar(255),
    template_definition jsonb not null default '{}',
    owner_type varchar(30) not null default 'workspace',
    tags jsonb not null default '[]',
    version integer not null default 1,
    created_by varchar(255),
    created_at timestamptz not null default now(),
    updated_by varchar(255),
    updated_at timestamptz not null default now()
);

-- Tables and columns that were there before keep the comments that they have.
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
    for each in select said.*, a.attrelid, a.attnum from (values
        ('board_tasks', 'source_id', 'of source_type orchestration the run''s id, of orchestration_task the task''s'),
        ('board_tasks', 'assignee', 'who does it: the name of a run''s agent, or what people write'),
        ('board_tasks', 'planning_data', 'of runs and their tasks; a run''s progress is that of the last begin or end of one of its tasks'),
        ('agent_reports', 'subject_id', 'the task or the run that it is about, also once that is gone'),
        ('agent_reports', 'cost', 'credits'),
        ('agent_reports', 'content', 'Markdown as it was written; outlives what it is about'),
        ('workflow_recipes', 'recipe_id', 'what the API and recipe_versions name it by'),
        ('workflow_recipes', 'template_definition', 'the mission that a run of it is made of'))
            as said (place, name, purpose)
        join pg_attribute a on a.attrelid = to_regclass(said.place) and a.attname = said.name
    loop
        if col_description(each.attrelid, each.attnum) is null then
            execute format('comment on column %I.%I is %L', each.place, each.name, each.purpose);
        end if;
    end loop;
end $$;
