-- Triggers: events from outside that start runs (docs/guide/triggers.md).

create table if not exists triggers (
    id uuid primary key,
    workspace_id uuid not null references workspaces (id) on delete cascade,
    name varchar(200) not null,
    recipe_id uuid references workflow_recipes (recipe_id),
    definition jsonb not null,
    enabled boolean not null default true,
    version integer not null default 1,
    created_by varchar(255) not null,
    created_at timestamptz not null default clock_timestamp(),
    updated_at timestamptz not null default clock_timestamp(),
    unique (workspace_id, name)
);

comment on table triggers is 'Sources of events and the runs that they start.';
comment on column triggers.recipe_id is 'recipe of its runs; null for a mission of its own';
comment on column triggers.definition is 'as given: source, key, filter, inputs, flow, example';

create index if not exists ix_triggers_recipe on triggers (recipe_id) where recipe_id is not null;

-- The key makes each event one delivery, however often and to whichever server it is sent; the run's id is here before there is a
-- run.
create table if not exists trigger_deliveries (
    id uuid primary key,
    workspace_id uuid not null,
    trigger_id uuid not null references triggers (id) on delete cascade,
    key varchar(255) not null,
    run_id uuid not null,
    state varchar(10) not null default 'pending'
        check (state in ('pending', 'started', 'merged', 'dropped', 'refused', 'dead')),
    headers jsonb not null,
    body jsonb not null,
    repeats integer not null default 0,
    failures integer not null default 0,
    due_at timestamptz not null default clock_timestamp(),
    error_code varchar(100),
    error_message text,
    received_at timestamptz not null default clock_timestamp(),
    decided_at timestamptz,
    rate_key varchar(255),
    admitted_at timestamptz,
    group_key varchar(255),
    formed_at timestamptz,
    single_key varchar(255),
    at_work boolean not null default false,
    unique (trigger_id, key),
    constraint ck_trigger_deliveries_decided check ((decided_at is null) = (state = 'pending'))
);

comment on table trigger_deliveries is 'Events of triggers and their outcomes.';
comment on column trigger_deliveries.key is 'identity of the event: the id of its sender, or the value of the key expression';
comment on column trigger_deliveries.run_id is 'id of the run that it starts, or was merged into';
comment on column trigger_deliveries.repeats is 'number of further deliveries with the key';
comment on column trigger_deliveries.failures is 'number of failed attempts to start the run';
comment on column trigger_deliveries.due_at is 'when a pending delivery is decided; while a server decides, the end of its lease';
comment on column trigger_deliveries.rate_key is 'value of the key of rate; null before its admission';
comment on column trigger_deliveries.admitted_at is 'time at which rate admitted it';
comment on column trigger_deliveries.group_key is 'value of the key of debounce or batch, while it waits';
comment on column trigger_deliveries.formed_at is 'time at which debounce or batch let it start a run for its group';
comment on column trigger_deliveries.single_key is 'value of the key of singleton';
comment on column trigger_deliveries.at_work is 'its run has not been seen to have ended; for singleton only';

create index if not exists ix_trigger_deliveries_due on trigger_deliveries (due_at) where state = 'pending';
create index if not exists ix_trigger_deliveries_list on trigger_deliveries (trigger_id, received_at, id);
create index if not exists ix_trigger_deliveries_workspace on trigger_deliveries (workspace_id);
create index if not exists ix_trigger_deliveries_decided on trigger_deliveries (decided_at) where decided_at is not null;
create index if not exists ix_trigger_deliveries_rate on trigger_deliveries (trigger_id, rate_key, admitted_at)
    where rate_key is not null;
create index if not exists ix_trigger_deliveries_group on trigger_deliveries (trigger_id, group_key)
    where group_key is not null;
create index if not exists ix_trigger_deliveries_single on trigger_deliveries (trigger_id, single_key) where at_work;

select keelson_enable_rls('triggers', 'workspace_id = (select keelson_workspace())', true);
select keelson_enable_rls('trigger_deliveries', 'workspace_id = (select keelson_workspace())', true);
