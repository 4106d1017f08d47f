-- What a hot row costs. Every foreign key is a query per row, every index a tree per row; a CHECK's text is read anew by
-- each statement. Measured in docs/adr/0011. What goes here was either true by construction (one transaction writes a
-- run's rows, under the run's lock) or is held at the rarer end, when something is deleted.

alter table orchestration_events drop constraint if exists orchestration_events_run_id_fkey;
alter table orchestration_events drop constraint if exists orchestration_events_task_id_fkey;
alter table orchestration_steps drop constraint if exists orchestration_steps_run_id_fkey;
alter table orchestration_steps drop constraint if exists orchestration_steps_task_id_fkey;
alter table work_results drop constraint if exists work_results_step_id_fkey;

-- What changes with every commit of a run, on a narrow row: locked by whoever decides, and the proof that a view is
-- current. The run's own row changes with its state and its
-- tasks only; its tokens and cost are brought up to date then.
create table if not exists run_heads (
    run_id uuid primary key,
    version_id integer not null,
    last_seq bigint not null,
    steps_completed integer not null,
    total_tokens bigint not null,
    total_cost numeric(20, 6) not null,
    updated_at timestamptz not null
) with (fillfactor = 40, autovacuum_vacuum_scale_factor = 0.05);

-- By way of JSON, for the columns are gone when this file runs again.
insert into run_heads (run_id, version_id, last_seq, steps_completed, total_tokens, total_cost, updated_at)
select id, version_id, coalesce((to_jsonb(r) ->> 'last_seq')::bigint, 0),
    coalesce((to_jsonb(r) ->> 'steps_completed')::integer, 0), total_tokens, total_cost, updated_at
  from orchestration_runs r
on conflict do nothing;

alter table orchestration_runs drop column if exists last_seq, drop column if exists steps_completed;

-- A run's head goes with it.
create or replace function keelson_drop_heads() returns trigger language plpgsql as $$
begin
    delete from run_heads where run_id in (select id from gone);
    return null;
end $$;

create or replace trigger orchestration_runs_drop_heads after delete on orchestration_runs
    referencing old table as gone for each statement execute function keelson_drop_heads();

-- A task's steps and their results go with it.
create or replace function keelson_drop_steps() returns trigger language plpgsql as $$
begin
    delete from work_results where step_id in (
        select s.id from orchestration_steps s join gone on gone.id = s.task_id);
    delete from orchestration_steps where task_id in (select id from gone);
    return null;
end $$;

create or replace trigger orchestration_tasks_drop_steps after delete on orchestration_tasks
    referencing old table as gone for each statement execute function keelson_drop_steps();

-- Runs do not go while their events are there: those are kept until they have been archived.
create or replace function keelson_keep_history() returns trigger language plpgsql as $$
begin
    if exists (select from orchestration_events e where tg_op = 'TRUNCATE' or e.run_id = old.id) then
        raise exception 'orchestration_events is append-only: % of % refused while their events are there', tg_op,
            tg_table_name using errcode = 'restrict_violation';
    end if;
    return old;
end $$;

create or replace trigger orchestration_runs_keep_history before delete on orchestration_runs
    for each row execute function keelson_keep_history();
create or replace trigger orchestration_runs_no_truncate before truncate on orchestration_runs
    for each statement execute function keelson_keep_history();

-- A run's events are read by (run_id, seq), and a task's are among them.
drop index if exists ix_orch_events_task;
drop index if exists ix_orch_events_type;
-- A run's steps are found by its tasks.
drop index if exists ix_orch_steps_run;
-- The index mentioned the state: no change of a task was heap-only.
drop index if exists ix_orch_tasks_ws_state;

-- What a row may be: the same pairs of state and type as before, terminal if and only if completed, no negative number.
-- In functions, for a CHECK's expression is read anew by every statement (30 to 40 µs for these) and a function's only
-- once by a session.
create or replace function keelson_run_possible(state text, state_type text, completed_at timestamptz, smallest bigint,
    cost numeric) returns boolean language plpgsql immutable as $$
begin
    return smallest >= 0 and cost >= 0 and case state_type
        when 'running' then completed_at is null and state in ('running', 'resuming')
        when 'terminal' then completed_at is not null and state in ('completed', 'failed', 'cancelled', 'skipped')
        when 'pending' then completed_at is null
            and state in ('pending', 'created', 'planning', 'awaiting_approval', 'retrying')
        when 'paused' then completed_at is null and state in ('paused', 'budget_exceeded', 'escalated')
        else false end;
end $$;

create or replace function keelson_task_possible(state text, state_type text, completed_at timestamptz, smallest bigint,
    cost numeric) returns boolean language plpgsql immutable as $$
begin
    return smallest >= 0 and cost >= 0 and case state_type
        when 'running' then completed_at is null and state in ('running', 'assigned', 'continuing')
        when 'terminal' then completed_at is not null and state in ('completed', 'failed', 'cancelled', 'skipped')
        when 'pending' then completed_at is null and state in ('pending', 'queued', 'awaiting_retry')
        when 'paused' then completed_at is null and state in ('verifying', 'awaiting_human')
        else false end;
end $$;

create or replace function keelson_step_possible(state text, state_type text, completed_at timestamptz, smallest bigint,
    cost numeric) returns boolean language plpgsql immutable as $$
begin
    return smallest >= 0 and cost >= 0 and case state_type
        when 'running' then completed_at is null and state = 'running'
        when 'terminal' then completed_at is not null and state in ('completed', 'failed', 'cancelled', 'skipped')
        when 'pending' then completed_at is null and state in ('pending', 'awaiting_retry')
        when 'paused' then completed_at is null and state in ('waiting', 'waiting_approval')
        else false end;
end $$;

create or replace function keelson_agent_possible(state text, state_type text, completed_at timestamptz)
    returns boolean language plpgsql immutable as $$
begin
    return case state_type
        when 'terminal' then completed_at is not null and state in ('completed', 'failed', 'cancelled', 'skipped')
        else completed_at is null and state = state_type and state in ('pending', 'running', 'paused') end;
end $$;

alter table orchestration_runs
    drop constraint if exists ck_orch_runs_possible,
    drop constraint if exists ck_orch_runs_state,
    drop constraint if exists ck_orch_runs_completed,
    drop constraint if exists ck_orch_runs_numbers,
    drop constraint if exists orchestration_runs_total_tokens_check,
    drop constraint if exists orchestration_runs_total_cost_check,
    drop constraint if exists orchestration_runs_task_count_check,
    drop constraint if exists orchestration_runs_tasks_completed_check,
    drop constraint if exists orchestration_runs_tasks_failed_check,
    drop constraint if exists orchestration_runs_duration_ms_check,
    drop constraint if exists orchestration_runs_attempt_number_check,
    drop constraint if exists orchestration_runs_max_attempts_check,
    drop constraint if exists orchestration_runs_effect_generation_check,
    drop constraint if exists orchestration_runs_last_seq_check,
    drop constraint if exists orchestration_runs_agent_count_check,
    drop constraint if exists orchestration_runs_tasks_skipped_check,
    drop constraint if exists orchestration_runs_steps_total_check,
    drop constraint if exists orchestration_runs_steps_completed_check,
    add constraint ck_orch_runs_possible check (keelson_run_possible(state, state_type, completed_at,
        least(total_tokens, task_count, tasks_completed, tasks_failed, tasks_skipped, agent_count, steps_total,
            attempt_number - 1, max_attempts - 1, effect_generation - 1, duration_ms), total_cost));

alter table orchestration_tasks
    drop constraint if exists ck_orch_tasks_possible,
    drop constraint if exists ck_orch_tasks_state,
    drop constraint if exists ck_orch_tasks_completed,
    drop constraint if exists ck_orch_tasks_numbers,
    drop constraint if exists orchestration_tasks_attempt_number_check,
    drop constraint if exists orchestration_tasks_continuation_count_check,
    drop constraint if exists orchestration_tasks_tokens_used_check,
    drop constraint if exists orchestration_tasks_cost_check,
    drop constraint if exists orchestration_tasks_duration_ms_check,
    drop constraint if exists orchestration_tasks_attempt_check,
    drop constraint if exists orchestration_tasks_item_index_check,
    add constraint ck_orch_tasks_possible check (keelson_task_possible(state, state_type, completed_at,
        least(attempt_number - 1, continuation_count, tokens_used, attempt - 1, item_index, duration_ms), cost));

alter table orchestration_steps
    drop constraint if exists ck_orch_steps_possible,
    drop constraint if exists ck_orch_steps_state,
    drop constraint if exists ck_orch_steps_completed,
    drop constraint if exists ck_orch_steps_numbers,
    drop constraint if exists orchestration_steps_attempt_check,
    drop constraint if exists orchestration_steps_attempt_of_run_check,
    drop constraint if exists orchestration_steps_position_check,
    drop constraint if exists orchestration_steps_turn_check,
    drop constraint if exists orchestration_steps_timeout_ms_check,
    drop constraint if exists orchestration_steps_failures_check,
    drop constraint if exists orchestration_steps_deliveries_check,
    drop constraint if exists orchestration_steps_lease_epoch_check,
    drop constraint if exists orchestration_steps_check,
    drop constraint if exists orchestration_steps_tokens_check,
    drop constraint if exists orchestration_steps_cost_check,
    add constraint ck_orch_steps_possible check (keelson_step_possible(state, state_type, completed_at,
        least(attempt, failures, deliveries, result_epoch, lease_epoch - result_epoch, attempt_of_run - 1,
            position - 1, turn - 1, tokens, timeout_ms - 1), cost));

alter table run_agents
    drop constraint if exists ck_run_agents_possible,
    drop constraint if exists ck_run_agents_state,
    drop constraint if exists ck_run_agents_completed,
    add constraint ck_run_agents_possible check (keelson_agent_possible(state, state_type, completed_at));

-- What never changes once a run is accepted stands apart from what does, so that a change copies little.
alter table orchestration_runs set (toast_tuple_target = 512);
