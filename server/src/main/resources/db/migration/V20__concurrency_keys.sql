-- The runs that have not ended and take their turn under a key. Neither the key nor the policy that it is in ever changes.
create index concurrently if not exists ix_orch_runs_concurrency
    on orchestration_runs (workspace_id, (policy #>> '{concurrency,key}'), id)
    where state_type <> 'terminal' and policy #>> '{concurrency,key}' is not null;
