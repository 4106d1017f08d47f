-- Versions of workers: which of them gets the steps of a tool (docs/guide/versions.md, docs/adr/0039).
create table if not exists tool_versions (
    workspace_id uuid not null references workspaces (id) on delete cascade,
    tool varchar(220) not null,
    current varchar(200) not null,
    previous varchar(200),
    ramping varchar(200),
    percent integer not null default 0,
    behavior varchar(10) not null default 'pinned' check (behavior in ('pinned', 'latest')),
    former varchar(200)[] not null default '{}',
    version integer not null default 1,
    updated_by varchar(255) not null,
    updated_at timestamptz not null default clock_timestamp(),
    primary key (workspace_id, tool),
    constraint ck_tool_versions_ramp check (case when ramping is null then percent = 0
        else percent between 1 and 100 and ramping <> current end)
);

comment on table tool_versions is 'Tools whose steps go to chosen versions of workers only.';
comment on column tool_versions.current is 'version of workers that gets the steps; unversioned: workers that announce none';
comment on column tool_versions.previous is 'version that a rollback makes current again; null if absent';
comment on column tool_versions.ramping is 'version that gets a part of the runs; null if absent';
comment on column tool_versions.percent is 'of the runs that the ramping version gets; 0 without one';
comment on column tool_versions.behavior is 'pinned: a run stays with the version of its first claim; latest: each claim follows the rule';
comment on column tool_versions.former is 'the last 20 versions that were current or ramping before';

create table if not exists run_tool_versions (
    run_id uuid not null references orchestration_runs (id) on delete cascade,
    tool varchar(220) not null,
    workspace_id uuid not null,
    version varchar(200) not null,
    primary key (run_id, tool)
);

comment on table run_tool_versions is 'Versions of workers that runs stay with, by tool.';

-- Unclaimed work of a tool that has a rule. A search takes the lots of its version and never reads those of others.
alter table work_queue add column if not exists lot varchar(201);

comment on column work_queue.lot is
    'two digits, the part of all runs that its run is in; or = and the version that its run stays with; null without a rule';

create index if not exists ix_work_queue_lot on work_queue (workspace_id, tool, lot, model, priority, queued_at)
    where holder is null and lot is not null;

-- The lot of a run that stays with no version: as VersionRule.bucket of the engine.
create or replace function keelson_run_lot(run uuid) returns text language sql immutable as $$
    select lpad((('x' || right(run::text, 8))::bit(32)::bigint % 100)::text, 2, '0')
$$;

select keelson_enable_rls('tool_versions', 'workspace_id = (select keelson_workspace())', true);
select keelson_enable_rls('run_tool_versions', 'workspace_id = (select keelson_workspace())', true);

drop type if exists keelson_queue_item_2, keelson_run_pin;
create type keelson_queue_item_2 as (task_id uuid, lane int4, run_id uuid, workspace_id uuid, tool text, model text,
    priority int4, queued_at timestamptz, holder text, lease_ms int8, timeout_ms int8,
    held_credits numeric, max_output_tokens int8, requested bool, lot text);
create type keelson_run_pin as (run_id uuid, tool text, workspace_id uuid, version text);
