-- Admissions of the limits per minute (workspace_limits: steps_per_minute, tool_per_minute:NAME, model_per_minute:NAME).
create table if not exists work_rates (
    workspace_id uuid not null references workspaces (id) on delete cascade,
    name varchar(230) not null,
    admitted_until timestamptz not null,
    primary key (workspace_id, name)
);

comment on table work_rates is 'Token buckets of the limits per minute, which all servers share.';
comment on column work_rates.name is 'name of the limit';
comment on column work_rates.admitted_until is 'time until which the admitted steps last at equal intervals';

comment on column workspace_limits.name is
    'open_runs, steps, runs_per_minute, storage_bytes, requests_per_minute, usd_per_month, steps_per_minute, or tool:, model:, tool_per_minute: or model_per_minute: and a name';

select keelson_enable_rls('work_rates', 'workspace_id = (select keelson_workspace())', true);
