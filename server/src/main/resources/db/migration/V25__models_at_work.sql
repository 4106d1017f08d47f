-- Which model a queued step names, as far as that is known before it is claimed; empty for none. A stretch of the index is
-- then a workspace's tool and model, so that those whose limit leaves no room are passed over without being read.
alter table work_queue add column if not exists model varchar(255) not null default '';
create index concurrently if not exists ix_work_queue_turn on work_queue (workspace_id, tool, model, priority, queued_at)
    where holder is null;
drop index concurrently if exists ix_work_queue_ready;

drop type if exists keelson_queue_item_v2;
create type keelson_queue_item_v2 as (task_id uuid, lane int4, run_id uuid, workspace_id uuid, tool text, model text,
    priority int4, queued_at timestamptz, holder text, lease_ms int8, timeout_ms int8);
