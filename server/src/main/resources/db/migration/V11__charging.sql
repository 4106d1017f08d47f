-- What runs do with credits: an open attempt's account stands on its run's head, a settled one's with the attempt, and
-- the limits, as they were raised, with the run. See docs/money.md.

alter table run_heads
    add column if not exists credits_reserved numeric(20, 6) not null default 0,
    add column if not exists credits_charged numeric(20, 6) not null default 0;

comment on column run_heads.credits_charged is 'by the open attempt; reserved in the workspace''s balance until it ends';

-- In functions, for a CHECK's text is read anew by every statement, and a function's only once by a session.
create or replace function keelson_head_possible(credits_reserved numeric, credits_charged numeric)
    returns boolean language plpgsql immutable as $$
begin
    return credits_charged >= 0 and credits_reserved >= credits_charged;
end $$;

alter table run_heads
    drop constraint if exists ck_run_heads_possible,
    add constraint ck_run_heads_possible check (keelson_head_possible(credits_reserved, credits_charged)) not valid;

alter table run_attempts
    add column if not exists credits_reserved numeric(20, 6) not null default 0,
    add column if not exists credits_charged numeric(20, 6) not null default 0,
    add column if not exists credits_refunded numeric(20, 6) not null default 0,
    add column if not exists uncollected numeric(20, 6) not null default 0,
    add column if not exists settled_at timestamptz;

comment on column run_attempts.settled_at is 'from then on charged + refunded = reserved; before, the head has the figures';

create or replace function keelson_attempt_possible(credits_reserved numeric, credits_charged numeric,
    credits_refunded numeric, uncollected numeric, settled_at timestamptz)
    returns boolean language plpgsql immutable as $$
begin
    return credits_charged >= 0 and credits_refunded >= 0 and uncollected >= 0
        and (settled_at is null or credits_charged + credits_refunded = credits_reserved);
end $$;

alter table run_attempts
    drop constraint if exists ck_run_attempts_credits,
    add constraint ck_run_attempts_credits check (keelson_attempt_possible(credits_reserved, credits_charged,
        credits_refunded, uncollected, settled_at)) not valid;

alter table orchestration_runs
    add column if not exists credits_charged_before numeric(20, 6) not null default 0,
    add column if not exists credits_refunded numeric(20, 6) not null default 0,
    add column if not exists credits_uncollected numeric(20, 6) not null default 0,
    add column if not exists hard_limit_usd numeric(20, 6),
    add column if not exists soft_limit_usd numeric(20, 6),
    add column if not exists budget_warned boolean not null default false;

comment on column orchestration_runs.credits_charged_before is 'by settled attempts';
comment on column orchestration_runs.credits_refunded is 'by settled attempts';
comment on column orchestration_runs.credits_uncollected is 'of the current attempt';
comment on column orchestration_runs.hard_limit_usd is 'in the place of the config''s; null: that one';

-- As keelson_overtaken: what is not there cannot be taken out of a balance, and the rest of the message is passed over.
create or replace function keelson_balance_too_low(expected integer, found bigint) returns integer
    language plpgsql as $$
begin
    raise exception '% balances to change, % have enough', expected, found using errcode = 'KE002';
end $$;

drop type if exists keelson_transfer;
create type keelson_transfer as (workspace_id uuid, transaction_type text, amount numeric, debit_account text,
    credit_account text, run_id uuid, attempt_number int4, step_id uuid, idempotency_key text, tool text, model text,
    agent text, tokens int8, price_version int4, actor_type text, actor_id text);

drop type if exists keelson_balance;
create type keelson_balance as (workspace_id uuid, available numeric, reserved numeric, spent numeric);

drop type if exists keelson_run_head_v2;
create type keelson_run_head_v2 as (run_id uuid, version_id int4, last_seq int8, steps_completed int4,
    total_tokens int8, total_cost numeric, credits_reserved numeric, credits_charged numeric);

drop type if exists keelson_attempt_v2;
create type keelson_attempt_v2 as (run_id uuid, attempt_number int4, state text, started_at timestamptz,
    completed_at timestamptz, error_code text, error_message text, credits_reserved numeric, credits_charged numeric,
    credits_refunded numeric, uncollected numeric, settled_at timestamptz);

drop type if exists keelson_run_change_v3;
create type keelson_run_change_v3 as (id uuid, state text, state_type text, attempt_number int4,
    effect_generation int4, failing bool, agent_count int4, task_count int4, tasks_completed int4, tasks_failed int4,
    tasks_skipped int4, steps_total int4, total_tokens int4, total_cost numeric, started_at timestamptz,
    completed_at timestamptz, error_code text, error_message text, output jsonb, version_id int4, plan_version int4,
    replans int4, gate text, state_since timestamptz, active_ms int8, active_since timestamptz,
    quiet_since timestamptz, credits_charged_before numeric, credits_refunded numeric, credits_uncollected numeric,
    hard_limit_usd numeric, soft_limit_usd numeric, budget_warned bool);

drop type if exists keelson_run_new_v3;
create type keelson_run_new_v3 as (id uuid, workspace_id uuid, title text, description text, goal text, plan jsonb,
    config jsonb, policy jsonb, inputs jsonb, tags jsonb, output_template text, priority int4, trigger text,
    agent_slug text, external_id text, created_by text, max_attempts int4, forked_from uuid, fork_task text,
    state text, state_type text, attempt_number int4, effect_generation int4, failing bool, agent_count int4,
    task_count int4, tasks_completed int4, tasks_failed int4, tasks_skipped int4, steps_total int4, total_tokens int4,
    total_cost numeric, started_at timestamptz, completed_at timestamptz, error_code text, error_message text,
    output jsonb, version_id int4, plan_version int4, replans int4, gate text, state_since timestamptz,
    active_ms int8, active_since timestamptz, quiet_since timestamptz, credits_charged_before numeric,
    credits_refunded numeric, credits_uncollected numeric, hard_limit_usd numeric, soft_limit_usd numeric,
    budget_warned bool);
