-- Money. 1 credit is 1 USD; amounts are exact, with six places. See docs/money.md.

-- A workspace's accounts, a fold of its ledger: changed in the transaction that writes the ledger's rows, but for what an
-- open attempt has charged, which is moved from reserved to spent when the attempt is settled. NaN is above everything
-- and passes ">= 0"; hence the upper bound.
create table if not exists credit_balances (
    workspace_id uuid primary key,
    available numeric(20, 6) not null default 0,
    reserved numeric(20, 6) not null default 0,
    spent numeric(20, 6) not null default 0,
    constraint ck_credit_balances_possible check (
        available between 0 and 99999999999999.999999 and reserved between 0 and 99999999999999.999999
        and spent between 0 and 99999999999999.999999)
) with (fillfactor = 40, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);

-- A workspace is born with its accounts, whoever makes it.
create or replace function keelson_open_balances() returns trigger language plpgsql as $$
begin
    insert into credit_balances (workspace_id) select id from made on conflict do nothing;
    return null;
end $$;

create or replace trigger workspaces_open_balances after insert on workspaces
    referencing new table as made for each statement execute function keelson_open_balances();

insert into credit_balances (workspace_id) select id from workspaces on conflict do nothing;

-- What a row of the ledger may be: the accounts follow from the type, only corrections choose theirs and say why. What a
-- run does names the run and its attempt. In a function, for a CHECK's text is read anew by every statement.
create or replace function keelson_transfer_possible(transaction_type varchar, amount numeric, debit varchar,
    credit varchar, run_id uuid, attempt_number integer, detail jsonb)
    returns boolean language plpgsql immutable as $$
begin
    return amount > 0 and amount <= 99999999999999.999999
        and (run_id is null) = (attempt_number is null) and coalesce(attempt_number >= 1, true)
        and case transaction_type
            when 'charge' then debit = 'reserved' and credit = 'spent' and run_id is not null
            when 'reserve' then debit = 'available' and credit = 'reserved' and run_id is not null
            when 'refund' then debit = 'reserved' and credit = 'available' and run_id is not null
            when 'grant' then debit = 'funding' and credit = 'available' and run_id is null
            when 'adjustment' then debit <> credit and coalesce(length(detail ->> 'reason') > 0, false)
                and debit in ('funding', 'available', 'reserved', 'spent')
                and credit in ('funding', 'available', 'reserved', 'spent')
            else false end;
end $$;

-- One row is one transfer from an account (debit) to another (credit) of the workspace. It refers to nothing, so that
-- nothing can take it away: it stays when run and workspace are gone.
create table if not exists billing_ledger (
    id bigint generated always as identity,
    workspace_id uuid not null,
    transaction_type varchar(12) not null,
    amount numeric(20, 6) not null,
    debit_account varchar(10) not null,
    credit_account varchar(10) not null,
    run_id uuid,
    attempt_number integer,
    step_id uuid,
    idempotency_key text not null,
    tool text,
    model text,
    agent text,
    tokens bigint,
    price_version integer,
    actor_type varchar(20) not null,
    actor_id varchar(255),
    detail jsonb,
    created_at timestamptz not null,
    primary key (workspace_id, id),
    constraint uq_billing_ledger_key unique (workspace_id, idempotency_key, transaction_type),
    constraint ck_billing_ledger_possible check (keelson_transfer_possible(transaction_type, amount, debit_account,
        credit_account, run_id, attempt_number, detail))
);

comment on column billing_ledger.idempotency_key is 'with the type, unique per workspace: nothing is booked twice';
comment on column billing_ledger.price_version is 'of the price list that the amount was calculated by; null: reported';

create index if not exists ix_billing_ledger_run on billing_ledger (run_id, id) where run_id is not null;
create index if not exists ix_billing_ledger_created on billing_ledger using brin (created_at);

create or replace trigger billing_ledger_no_change before update or delete on billing_ledger
    for each row execute function keelson_refuse_change();
create or replace trigger billing_ledger_no_truncate before truncate on billing_ledger
    for each statement execute function keelson_refuse_change();

-- The price list of this installation, all its versions. The price of a name is its row with the highest version; both
-- prices null: withdrawn.
create table if not exists prices (
    version integer not null check (version >= 1),
    kind varchar(10) not null,
    name text not null check (length(name) between 1 and 255),
    usd_per_call numeric(20, 6),
    usd_per_million_tokens numeric(20, 6),
    created_at timestamptz not null,
    created_by varchar(255) not null,
    primary key (kind, name, version),
    constraint ck_prices_possible check (case kind
        when 'tool' then usd_per_million_tokens is null
            and coalesce(usd_per_call between 0 and 99999999999999.999999, true)
        when 'model' then usd_per_call is null
            and coalesce(usd_per_million_tokens between 0 and 99999999999999.999999, true)
        else false end)
);

create or replace trigger prices_no_change before update or delete on prices
    for each row execute function keelson_refuse_change();
create or replace trigger prices_no_truncate before truncate on prices
    for each statement execute function keelson_refuse_change();
