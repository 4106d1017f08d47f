-- Runs that steps of other runs have started. Each side has a row of its own, written under its own run's version: what a
-- child knows of its parent, and what a parent knows of its children.
create table if not exists run_parents (
    run_id uuid primary key references orchestration_runs (id) on delete cascade,
    workspace_id uuid not null,
    parent_run_id uuid not null,
    parent_step_id uuid not null,
    depth integer not null check (depth >= 1),
    abandon boolean not null,
    allotment numeric(20,6) check (allotment >= 0),
    seen integer not null,
    held boolean not null,
    constraint uq_run_parents_step unique (parent_step_id)
);
create index if not exists ix_run_parents_parent on run_parents (parent_run_id);
select keelson_fence('run_parents', 'workspace_id = (select keelson_workspace())');

create table if not exists run_children (
    step_id uuid primary key,
    workspace_id uuid not null,
    run_id uuid not null references orchestration_runs (id) on delete cascade,
    child_run_id uuid not null,
    allotment numeric(20,6) check (allotment >= 0),
    charged numeric(20,6) not null check (charged >= 0),
    tokens bigint not null check (tokens >= 0),
    ended boolean not null,
    constraint uq_run_children_child unique (child_run_id)
);
create index if not exists ix_run_children_run on run_children (run_id);
select keelson_fence('run_children', 'workspace_id = (select keelson_workspace())');

drop type if exists keelson_run_parent;
create type keelson_run_parent as (run_id uuid, workspace_id uuid, parent_run_id uuid, parent_step_id uuid, depth int4,
    abandon bool, allotment numeric, seen int4, held bool);

drop type if exists keelson_run_parent_news;
create type keelson_run_parent_news as (run_id uuid, seen int4, held bool);

drop type if exists keelson_run_child;
create type keelson_run_child as (step_id uuid, workspace_id uuid, run_id uuid, child_run_id uuid, allotment numeric,
    charged numeric, tokens int8, ended bool);
