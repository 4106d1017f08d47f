-- A statement reads the text of its table's checks anew, and a transaction sets a function's expressions up anew: of a
-- small commit's time in the database that was an eighth (docs/adr/0011). So a table that commits touch has one check, its
-- function takes plain columns, and its expressions are short. They refuse what they refused, but that a step's counters
-- that only ever grow are not looked at any more. Each statement is a transaction of its own.
create or replace function keelson_run_possible(state varchar, state_type varchar, completed_at timestamptz,
    total_tokens integer, total_cost numeric, task_count integer, tasks_completed integer, tasks_failed integer,
    tasks_skipped integer, agent_count integer, steps_total integer, attempt_number integer, max_attempts integer,
    effect_generation integer, duration_ms bigint, plan_version integer, replans integer, active_ms bigint)
    returns boolean language plpgsql immutable as $$
begin
    return (completed_at is not null) = (state_type = 'terminal')
        and strpos(' running:running running:resuming terminal:completed terminal:failed terminal:cancelled'
            ' terminal:skipped pending:pending pending:created pending:planning pending:awaiting_approval'
            ' pending:retrying paused:paused paused:budget_exceeded paused:escalated ',
            concat(' ', state_type, ':', state, ' ')) > 0
        and least(total_tokens, task_count, tasks_completed, tasks_failed, tasks_skipped, agent_count, steps_total,
            plan_version, replans) >= 0
        and least(attempt_number, max_attempts, effect_generation) >= 1
        and least(duration_ms, active_ms) >= 0 and total_cost >= 0;
end $$;

create or replace function keelson_task_possible(state varchar, state_type varchar, completed_at timestamptz,
    attempt_number integer, continuation_count integer, tokens_used integer, attempt integer, group_id uuid,
    item_index integer, duration_ms bigint, failures integer, forgiven integer, effect_generation integer, cost numeric,
    verifier_score numeric)
    returns boolean language plpgsql immutable as $$
begin
    return (completed_at is not null) = (state_type = 'terminal')
        and strpos(' running:running running:assigned running:continuing terminal:completed terminal:failed'
            ' terminal:cancelled terminal:skipped pending:pending pending:queued pending:awaiting_retry'
            ' paused:verifying paused:awaiting_human ', concat(' ', state_type, ':', state, ' ')) > 0
        and (group_id is null) = (item_index is null)
        and least(continuation_count, tokens_used, item_index, failures, forgiven) >= 0
        and least(attempt_number, attempt, effect_generation) >= 1
        and coalesce(duration_ms, 0) >= 0 and cost >= 0 and coalesce(verifier_score, 0) between 0 and 1;
end $$;

create or replace function keelson_step_possible(state varchar, state_type varchar, completed_at timestamptz,
    result_epoch integer, lease_epoch integer, tokens bigint, cost numeric)
    returns boolean language plpgsql immutable as $$
begin
    return (completed_at is not null) = (state_type = 'terminal')
        and strpos(' running:running terminal:completed terminal:failed terminal:cancelled terminal:skipped'
            ' pending:pending pending:awaiting_retry paused:waiting paused:waiting_approval ',
            concat(' ', state_type, ':', state, ' ')) > 0
        and result_epoch between 0 and lease_epoch and tokens >= 0 and cost >= 0;
end $$;

create or replace function keelson_agent_possible(state varchar, state_type varchar, completed_at timestamptz,
    attempt integer, number integer) returns boolean language plpgsql immutable as $$
begin
    return (completed_at is not null) = (state_type = 'terminal')
        and strpos(' running:running pending:pending paused:paused terminal:completed terminal:failed'
            ' terminal:cancelled terminal:skipped ', concat(' ', state_type, ':', state, ' ')) > 0
        and least(attempt, number) >= 1;
end $$;

create or replace function keelson_attempt_possible(attempt_number integer, credits_reserved numeric,
    credits_charged numeric, credits_refunded numeric, uncollected numeric, settled_at timestamptz)
    returns boolean language plpgsql immutable as $$
begin
    return attempt_number >= 1 and least(credits_charged, credits_refunded, uncollected) >= 0
        and (settled_at is null or credits_charged + credits_refunded = credits_reserved);
end $$;

-- A correction is rare, and its conditions are set up only where there is one. NaN is above everything; what has too many
-- digits the columns refuse themselves.
create or replace function keelson_transfer_possible(transaction_type varchar, amount numeric, debit varchar,
    credit varchar, run_id uuid, attempt_number integer, detail jsonb) returns boolean language plpgsql immutable as $$
begin
    if transaction_type = 'adjustment' then
        return amount > 0 and amount < 'NaN'::numeric
            and (run_id is null) = (attempt_number is null) and coalesce(attempt_number >= 1, true)
            and debit <> credit and coalesce(length(detail ->> 'reason') > 0, false)
            and debit in ('funding', 'available', 'reserved', 'spent')
            and credit in ('funding', 'available', 'reserved', 'spent');
    end if;
    return amount > 0 and amount < 'NaN'::numeric
        and (run_id is null) = (attempt_number is null) and coalesce(attempt_number, 1) >= 1
        and strpos(' charge:reserved:spent:t reserve:available:reserved:t refund:reserved:available:t'
            ' grant:funding:available:f ',
            concat(' ', transaction_type, ':', debit, ':', credit, ':', run_id is not null, ' ')) > 0;
end $$;

-- What is there was let in by checks that refused no less.
alter table orchestration_runs
    drop constraint if exists ck_orch_runs_possible,
    add constraint ck_orch_runs_possible check (keelson_run_possible(state, state_type, completed_at, total_tokens,
        total_cost, task_count, tasks_completed, tasks_failed, tasks_skipped, agent_count, steps_total, attempt_number,
        max_attempts, effect_generation, duration_ms, plan_version, replans, active_ms)) not valid;
alter table orchestration_tasks
    drop constraint if exists ck_orch_tasks_possible,
    drop constraint if exists ck_orch_tasks_item,
    drop constraint if exists orchestration_tasks_verifier_score_check,
    add constraint ck_orch_tasks_possible check (keelson_task_possible(state, state_type, completed_at, attempt_number,
        continuation_count, tokens_used, attempt, group_id, item_index, duration_ms, failures, forgiven,
        effect_generation, cost, verifier_score)) not valid;
alter table orchestration_steps
    drop constraint if exists ck_orch_steps_possible,
    add constraint ck_orch_steps_possible check (keelson_step_possible(state, state_type, completed_at, result_epoch,
        lease_epoch, tokens, cost)) not valid;
alter table run_agents
    drop constraint if exists ck_run_agents_possible,
    drop constraint if exists run_agents_attempt_check,
    drop constraint if exists run_agents_number_check,
    add constraint ck_run_agents_possible check (keelson_agent_possible(state, state_type, completed_at, attempt,
        number)) not valid;
alter table run_attempts
    drop constraint if exists ck_run_attempts_credits,
    drop constraint if exists run_attempts_attempt_number_check,
    add constraint ck_run_attempts_credits check (keelson_attempt_possible(attempt_number, credits_reserved,
        credits_charged, credits_refunded, uncollected, settled_at)) not valid;

drop function if exists keelson_run_possible(text, text, timestamptz, bigint, numeric);
drop function if exists keelson_task_possible(text, text, timestamptz, bigint, numeric);
drop function if exists keelson_step_possible(varchar, varchar, timestamptz, integer, integer, integer, integer, integer,
    integer, integer, integer, bigint, bigint, integer, integer, numeric);
drop function if exists keelson_agent_possible(text, text, timestamptz);
drop function if exists keelson_attempt_possible(numeric, numeric, numeric, numeric, timestamptz);
