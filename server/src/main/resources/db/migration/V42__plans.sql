-- A run without a plan has version 0, until its planner has made the first.
alter table orchestration_runs
    drop constraint if exists ck_orch_runs_possible,
    add constraint ck_orch_runs_possible check (keelson_run_possible(state, state_type, completed_at,
        least(total_tokens, task_count, tasks_completed, tasks_failed, tasks_skipped, agent_count, steps_total,
            attempt_number - 1, max_attempts - 1, effect_generation - 1, duration_ms, plan_version, replans,
            active_ms), total_cost)) not valid;

-- Plans that others have taken the place of. The plan in force stands with its run.
create table if not exists run_plans (
    run_id uuid not null references orchestration_runs (id) on delete cascade,
    version integer not null check (version > 0),
    workspace_id uuid not null,
    plan jsonb not null,
    replaced_at timestamptz not null,
    primary key (run_id, version)
);
select keelson_fence('run_plans', 'workspace_id = (select keelson_workspace())');

drop type if exists keelson_plan_v2;
create type keelson_plan_v2 as (run_id uuid, version int4, plan jsonb);
