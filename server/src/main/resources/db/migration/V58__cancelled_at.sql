-- When a run or a task was cancelled: completed_at where the state is 'cancelled', written in the same update. A plain
-- column, because adding a generated one rewrites the table.
alter table orchestration_runs add column if not exists cancelled_at timestamptz;
alter table orchestration_tasks add column if not exists cancelled_at timestamptz;
comment on column orchestration_runs.cancelled_at is 'completed_at of a cancelled run; null in every other state';
comment on column orchestration_tasks.cancelled_at is 'completed_at of a cancelled task; null in every other state';

update orchestration_runs set cancelled_at = completed_at where state = 'cancelled' and cancelled_at is null;
update orchestration_tasks set cancelled_at = completed_at where state = 'cancelled' and cancelled_at is null;
