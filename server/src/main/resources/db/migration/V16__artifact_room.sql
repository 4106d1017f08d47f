-- How much room a workspace's artifacts take is asked whenever a run comes in where that is limited.
create index concurrently if not exists ix_artifacts_workspace on artifacts (workspace_id) include (size_bytes);
