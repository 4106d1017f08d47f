-- Charges of many steps in one commit (docs/internals/time-of-a-run.md).

-- Rows name their usage by its place in an array of the statement's different ones.
drop type if exists keelson_transfer_2;
create type keelson_transfer_2 as (workspace_id uuid, transaction_type text, amount numeric, cost numeric, debit_account text,
    credit_account text, run_id uuid, attempt_number int4, step_id uuid, idempotency_key text, tool text, model text,
    agent text, tokens int8, usage int4, price_version int4, purpose text, estimated bool,
    actor_type text, actor_id text);

-- The same checks. An expression finds out in a fifth of the time of the functions that a row is a usual charge, and that tokens
-- whose parts are unknown are all output. Those of task_steps follow in V37__durable_steps.sql.
alter table billing_ledger drop constraint if exists ck_billing_ledger_valid;
alter table billing_ledger add constraint ck_billing_ledger_valid
    check (case when transaction_type = 'charge' and cost is null and amount > 0 and amount < 'NaN' and debit_account = 'reserved'
            and credit_account = 'spent' and run_id is not null and attempt_number >= 1 then true
        else keelson_transfer_valid(transaction_type, amount, debit_account, credit_account, run_id, attempt_number, detail,
            cost) end) not valid;

alter table billing_ledger drop constraint if exists ck_billing_ledger_usage;
alter table billing_ledger add constraint ck_billing_ledger_usage
    check (case when usage is null then coalesce(tokens, 0) = 0
        when tokens >= 0 and usage @> '{"input": 0, "cache_read": 0, "cache_write": 0, "reasoning": 0}'
            and (usage -> 'output')::bigint = tokens then true
        else keelson_usage_valid(usage, tokens) end) not valid;
