-- What the board says of a run's and a task's place in the plan (PRD-101 §7.2.2, §7.2.3), and the row types of its statements.
alter table board_tasks add column if not exists planning_data jsonb;
comment on column board_tasks.planning_data is 'of runs and their tasks; a run''s progress is that of its last change of state';

drop type if exists keelson_board_run_v2;
create type keelson_board_run_v2 as (workspace_id uuid, title text, description text, status text, priority text,
    created_by text, tags jsonb, planning_data jsonb, run_id uuid, mission text, error_message text,
    started_at timestamptz, completed_at timestamptz);
drop type if exists keelson_board_task_v2;
create type keelson_board_task_v2 as (workspace_id uuid, title text, description text, status text, review_mode text,
    assignee text, agent_id int4, tags jsonb, planning_data jsonb, run_id uuid, mission text, subject text, result text,
    error_message text, started_at timestamptz, completed_at timestamptz);
drop type if exists keelson_board_run_change_v2;
create type keelson_board_run_change_v2 as (mission text, status text, tags jsonb, planning_data jsonb,
    started_at timestamptz, completed_at timestamptz, error_message text);
drop type if exists keelson_board_task_change_v2;
create type keelson_board_task_change_v2 as (task_id uuid, status text, started_at timestamptz,
    completed_at timestamptz, result text, error_message text, planning_data jsonb);
