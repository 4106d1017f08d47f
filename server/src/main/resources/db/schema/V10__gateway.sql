-- What programs of steps do through the gateway (docs/reference/gateway.md).

create table if not exists gateway_tokens (
    token_sha256 bytea primary key,
    workspace_id uuid not null,
    run_id uuid not null references orchestration_runs (id) on delete cascade,
    task_id uuid not null,
    step_id uuid not null,
    lease_epoch integer not null,
    allowed jsonb not null,
    parked boolean not null default false,
    created_at timestamptz not null default clock_timestamp()
);

comment on table gateway_tokens is 'Tokens of leases for the gateway; the token itself is not stored.';
comment on column gateway_tokens.lease_epoch is 'of the lease; the token is valid as long as that lasts';
comment on column gateway_tokens.allowed is 'names of models and tools; without a list, all that the rules allow';
comment on column gateway_tokens.parked is 'whether the step waits: nothing more is begun with the token';

create index if not exists ix_gateway_tokens_run on gateway_tokens (run_id);
create index if not exists ix_gateway_tokens_step on gateway_tokens (step_id);

select keelson_enable_rls('gateway_tokens', 'workspace_id = (select keelson_workspace())', true);
