-- Undos of runs: an ended run, and the run that undoes it.
create table if not exists run_undos (
    run_id uuid primary key references orchestration_runs (id) on delete cascade,
    workspace_id uuid not null,
    undo_run_id uuid,
    state varchar(20) not null,
    tasks integer not null,
    undone integer not null,
    by_hand integer not null,
    not_done integer not null,
    not_undone integer not null,
    requested_by varchar(255) not null,
    reason text,
    requested_at timestamptz not null,
    error_code varchar(100),
    error_message text,
    constraint uq_run_undos_run unique (undo_run_id),
    constraint ck_run_undos_valid check (state in ('requested', 'running', 'undone', 'partly_undone', 'failed', 'cancelled',
        'nothing', 'refused') and least(tasks, undone, by_hand, not_done, not_undone) >= 0
        and (state = 'refused') = (error_code is not null))
);

comment on table run_undos is 'Undos of ended runs. An undo is a run of its own.';
comment on column run_undos.undo_run_id is 'the run that undoes; null before it exists';
comment on column run_undos.tasks is 'tasks of that run';
comment on column run_undos.undone is 'tasks that completed; as the other counts, 0 until that run ends';
comment on column run_undos.by_hand is 'tasks that a person has done by other means';
comment on column run_undos.not_done is 'tasks whose original was not done, as a person says';
comment on column run_undos.not_undone is 'all other tasks';
comment on column run_undos.error_code is 'why no run that undoes could be created';

-- The output of a folded round is found by the round's task.
create index if not exists ix_task_rounds_task on task_rounds (task_id);

-- Tickets of undos have one more answer.
alter table escalation_tickets drop constraint if exists escalation_tickets_resolution_check;
alter table escalation_tickets add constraint escalation_tickets_resolution_check
    check (resolution in ('resume', 'skip', 'done', 'fail', 'cancel', 'void')) not valid;

select keelson_enable_rls('run_undos', 'workspace_id = (select keelson_workspace())', true);

drop type if exists keelson_run_undo;
create type keelson_run_undo as (run_id uuid, workspace_id uuid, undo_run_id uuid, state text, tasks int4, undone int4,
    by_hand int4, not_done int4, not_undone int4, requested_by text, reason text, requested_at timestamptz, error_code text,
    error_message text);
