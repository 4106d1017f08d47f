-- The runs that have not ended, in an order in which they can be gone through a stretch at a time, however many there
-- are. Serves what §7.6 wants its index on (workspace_id) for as well.
drop index if exists ix_orch_runs_active;
create index if not exists ix_orch_runs_active on orchestration_runs (workspace_id, id) where state_type <> 'terminal';
