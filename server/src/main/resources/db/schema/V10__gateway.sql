-- What programs of steps do through the gateway (docs/reference/gateway.md).

create table if not exists gateway_tokens (
    token_sha256 bytea primary key,
    workspace_id uuid not null,
    run_id uuid not null references orchestration_runs (id) on delete cascade,
    task_id uuid not null,
    step_id uuid not null,
    lease_epoch integer not null,
    allowed jsonb not null,
    created_at timestamptz not null default clock_timestamp()
);

comment on table gateway_tokens is 'Tokens of leases for the gateway; the token itself is not stored.';
comment on column gateway_tokens.lease_epoch is 'of the lease; the token is valid as long as that lasts';
comment on column gateway_tokens.allowed is 'names of models and tools; without a list, all that the rules allow';

create index if not exists ix_gateway_tokens_run on gateway_tokens (run_id);
create index if not exists ix_gateway_tokens_step on gateway_tokens (step_id);

select keelson_enable_rls('gateway_tokens', 'workspace_id = (select keelson_workspace())', true);

-- A program that is executed again gets the answers of its earlier executions from here.
create table if not exists gateway_requests (
    id uuid primary key,
    workspace_id uuid not null,
    run_id uuid not null references orchestration_runs (id) on delete cascade,
    task_id uuid not null,
    step_id uuid not null,
    lease_epoch integer not null,
    model varchar(255) not null,
    k1 char(64) not null,
    k2 char(64) not null,
    facts jsonb not null,
    max_input bigint not null,
    max_output bigint not null,
    held_credits numeric(26, 12) not null,
    state varchar(10) not null default 'open' check (state in ('open', 'answered', 'refused', 'lost')),
    usage jsonb,
    cost numeric(26, 12),
    answer json,
    sent_at timestamptz not null,
    ended_at timestamptz,
    constraint ck_gateway_requests_answer check (state <> 'answered' or answer is not null)
);

comment on table gateway_requests is 'Requests of programs of steps to models, and their answers.';
comment on column gateway_requests.k1 is 'digest of path and canonical body';
comment on column gateway_requests.k2 is 'digest after the rules for clients';
comment on column gateway_requests.facts is 'the server that sends it, its wire, and digests of its messages';
comment on column gateway_requests.held_credits is 'held until the request ends';
comment on column gateway_requests.answer is 'json: an answer is returned as it was recorded';

create index if not exists ix_gateway_requests_run on gateway_requests (run_id);
create index if not exists ix_gateway_requests_step on gateway_requests (step_id, sent_at);
create index if not exists ix_gateway_requests_open on gateway_requests (run_id) where state = 'open';

select keelson_enable_rls('gateway_requests', 'workspace_id = (select keelson_workspace())', true);

alter table billing_ledger drop constraint if exists ck_billing_ledger_purpose;
alter table billing_ledger add constraint ck_billing_ledger_purpose
    check (purpose in ('planning', 'verification', 'compaction', 'gateway')) not valid;

drop type if exists keelson_gateway_request;
create type keelson_gateway_request as (id uuid, workspace_id uuid, run_id uuid, task_id uuid, step_id uuid,
    lease_epoch int4, model text, k1 text, k2 text, facts jsonb, max_input int8, max_output int8, held_credits numeric);
drop type if exists keelson_gateway_end;
create type keelson_gateway_end as (id uuid, state text, usage jsonb, cost numeric, answer text);
