-- A statement that has touched another number of rows than it must fails by this, and with it the transaction, before the
-- COMMIT of the same message is reached. What it returns has a fixed length, or else the driver would send each statement
-- that names it in a message of its own.
create or replace function keelson_overtaken(what text, expected integer, found bigint) returns integer
    language plpgsql as $$
begin
    raise exception '%: % rows to change, % found as expected', what, expected, found using errcode = 'KE001';
end $$;

-- What a small commit touches has checks that are short to read: each statement reads their text anew, and a function's
-- only once by a session. They allow what they did, so that nothing is gained by looking at the rows that are there.
create or replace function keelson_step_possible(state varchar, state_type varchar, completed_at timestamptz,
    attempt integer, failures integer, deliveries integer, result_epoch integer, lease_epoch integer,
    attempt_of_run integer, place integer, turn integer, tokens bigint, timeout_ms bigint, task_attempt integer,
    forgiven integer, cost numeric)
    returns boolean language plpgsql immutable as $$
begin
    return attempt >= 0 and failures >= 0 and deliveries >= 0 and result_epoch between 0 and lease_epoch
        and attempt_of_run >= 1 and place >= 1 and turn >= 1 and tokens >= 0 and timeout_ms >= 1
        and task_attempt >= 1 and forgiven >= 0 and cost >= 0 and case state_type
        when 'running' then completed_at is null and state = 'running'
        when 'terminal' then completed_at is not null and state in ('completed', 'failed', 'cancelled', 'skipped')
        when 'pending' then completed_at is null and state in ('pending', 'awaiting_retry')
        when 'paused' then completed_at is null and state in ('waiting', 'waiting_approval')
        else false end;
end $$;

create or replace function keelson_result_possible(epoch integer, outcome varchar, tokens bigint, cost numeric)
    returns boolean language plpgsql immutable as $$
begin
    return epoch >= 1 and tokens >= 0 and cost >= 0 and outcome in ('completed', 'continued', 'failed');
end $$;

create or replace function keelson_lease_possible(holder text, lease_ms bigint, lease_expires_at timestamptz,
    deadline_at timestamptz) returns boolean language plpgsql immutable as $$
begin
    return case when holder is null then lease_ms is null and lease_expires_at is null and deadline_at is null
        else coalesce(lease_ms, 0) > 0 and lease_expires_at is not null end;
end $$;

alter table orchestration_steps
    drop constraint if exists ck_orch_steps_possible,
    add constraint ck_orch_steps_possible check (keelson_step_possible(state, state_type, completed_at, attempt,
        failures, deliveries, result_epoch, lease_epoch, attempt_of_run, position, turn, tokens, timeout_ms,
        task_attempt, forgiven, cost)) not valid;
drop function if exists keelson_step_possible(text, text, timestamptz, bigint, numeric);

alter table work_results
    drop constraint if exists ck_work_results_possible,
    drop constraint if exists work_results_epoch_check,
    drop constraint if exists work_results_outcome_check,
    drop constraint if exists work_results_tokens_check,
    drop constraint if exists work_results_cost_check,
    add constraint ck_work_results_possible check (keelson_result_possible(epoch, outcome, tokens, cost)) not valid;

alter table work_queue
    drop constraint if exists ck_work_queue_lease,
    drop constraint if exists work_queue_lease_ms_check,
    add constraint ck_work_queue_lease check (keelson_lease_possible(holder, lease_ms, lease_expires_at, deadline_at))
        not valid;
