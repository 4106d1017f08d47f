-- The undo of a run has the runs undone that its steps started.
alter table run_undos add column if not exists waiter_run_id uuid;
comment on column run_undos.waiter_run_id is 'the run that undoes the parent and waits for this undo; null if absent';

drop type if exists keelson_run_undo_2;
create type keelson_run_undo_2 as (run_id uuid, workspace_id uuid, undo_run_id uuid, state text, tasks int4, undone int4,
    by_hand int4, not_done int4, not_undone int4, requested_by text, reason text, requested_at timestamptz, error_code text,
    error_message text, waiter_run_id uuid);
