-- Steps that wait for results which other steps compute (docs/guide/reuse.md, docs/adr/0043).
create table if not exists result_waits (
    step_id uuid primary key,
    workspace_id uuid not null references workspaces (id) on delete cascade,
    run_id uuid not null,
    source_task_id uuid not null,
    since timestamptz not null
);

create index if not exists ix_result_waits_source on result_waits (source_task_id);
create index if not exists ix_result_waits_since on result_waits (since);

comment on table result_waits is 'Steps that wait for results which steps of other tasks compute. A lost row delays its step only.';
comment on column result_waits.run_id is 'of the step';
comment on column result_waits.source_task_id is 'the task whose end wakes the step';
comment on column result_waits.since is 'the last time that the result was looked up; the row is deleted a day later at the latest';
comment on column task_steps.deferred_for is
    'the system that was busy at the last deferral of its attempt, such as model:NAME; before its first execution result:RUN/TASK/STEP, the source of a result that it waits for or has taken over';

select keelson_enable_rls('result_waits', 'workspace_id = (select keelson_workspace())', true);
