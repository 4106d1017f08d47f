-- A run whose plan was made or approved is ready until its first step begins.
create or replace function keelson_run_possible(state varchar, state_type varchar, completed_at timestamptz,
    total_tokens integer, total_cost numeric, task_count integer, tasks_completed integer, tasks_failed integer,
    tasks_skipped integer, agent_count integer, steps_total integer, attempt_number integer, max_attempts integer,
    effect_generation integer, duration_ms bigint, plan_version integer, replans integer, active_ms bigint)
    returns boolean language plpgsql immutable as $$
begin
    return (completed_at is not null) = (state_type = 'terminal')
        and strpos(' running:running running:resuming terminal:completed terminal:failed terminal:cancelled'
            ' terminal:skipped pending:pending pending:created pending:planning pending:awaiting_approval'
            ' pending:ready pending:retrying paused:paused paused:budget_exceeded paused:escalated ',
            concat(' ', state_type, ':', state, ' ')) > 0
        and least(total_tokens, task_count, tasks_completed, tasks_failed, tasks_skipped, agent_count, steps_total,
            plan_version, replans) >= 0
        and least(attempt_number, max_attempts, effect_generation) >= 1
        and least(duration_ms, active_ms) >= 0 and total_cost >= 0;
end $$;
