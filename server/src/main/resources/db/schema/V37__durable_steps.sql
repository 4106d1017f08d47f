-- Statements for the commit that ends a step and begins the next one, and one check of rows of steps instead of two (docs/adr/0011).

create type keelson_run_head_moved as (run_id uuid, version_id int4, last_seq int8, steps_completed int4);
create type keelson_step_done as (id uuid, started_at timestamptz, completed_at timestamptz, output jsonb, completed_by text,
    output_hash int8, handed_to uuid);

-- The usual row returns early: a transaction sets up each expression that it reaches, and a short one costs less. It calls no function of the schema,
-- because pg_restore loads rows with an empty search_path.
create or replace function keelson_step_row_valid(state varchar, state_type varchar, completed_at timestamptz, result_epoch integer,
    lease_epoch integer, tokens bigint, cost numeric, completed_by text, usage jsonb, handed_to uuid)
    returns boolean language plpgsql immutable as $$
begin
    if state = 'completed' and (usage is null or completed_by is not null and (usage -> 'output')::bigint = tokens
            and usage @> '{"input": 0, "cache_read": 0, "cache_write": 0, "reasoning": 0}') then
        return state_type = 'terminal' and completed_at is not null
            and result_epoch between (completed_by is not null)::integer and lease_epoch and tokens >= 0 and cost >= 0;
    end if;
    if usage is not null and (completed_by is null
            or (usage -> 'input')::bigint + (usage -> 'cache_read')::bigint + (usage -> 'cache_write')::bigint
                + (usage -> 'output')::bigint = tokens is not true
            or least((usage -> 'input')::bigint, (usage -> 'cache_read')::bigint, (usage -> 'cache_write')::bigint,
                (usage -> 'reasoning')::bigint) >= 0 is not true
            or (usage -> 'reasoning')::bigint <= (usage -> 'output')::bigint is not true) then
        return false;
    end if;
    return (completed_at is not null) = (state_type = 'terminal')
        and strpos(' running:running terminal:completed terminal:failed terminal:cancelled terminal:skipped'
            ' pending:pending pending:awaiting_retry paused:waiting paused:waiting_approval ',
            concat(' ', state_type, ':', state, ' ')) > 0
        and result_epoch between 0 and lease_epoch and tokens >= 0 and cost >= 0
        and (completed_by is null or state = 'completed' and result_epoch >= 1)
        and (handed_to is null or state = 'completed');
end $$;

alter table task_steps drop constraint if exists ck_orch_steps_usage, drop constraint if exists ck_orch_steps_valid,
    add constraint ck_orch_steps_valid check (keelson_step_row_valid(state, state_type, completed_at, result_epoch, lease_epoch,
        tokens, cost, completed_by, usage, handed_to));
drop function if exists keelson_step_valid(varchar, varchar, timestamptz, integer, integer, bigint, numeric, text, uuid);
