-- Artifacts: how long they are kept is written in the transaction that ends their run, and no two records share a content.
drop type if exists keelson_artifact_end;
create type keelson_artifact_end as (run_id uuid, ended_at timestamptz, retention_seconds int8);

create unique index concurrently if not exists uq_artifacts_key on artifacts (storage_key);
drop index concurrently if exists ix_artifacts_key;
