-- Agents of the roster in the queue, for the limit agent_per_minute:SLUG.
alter table work_queue add column if not exists agent varchar(100) not null default '';
comment on column work_queue.agent is 'slug of the agent of the roster that does the task; empty if absent';

-- Read only while an agent has reached its limit: its ranges are skipped without being read.
create index if not exists ix_work_queue_agent on work_queue (workspace_id, tool, model, agent, priority, queued_at)
    where holder is null;

comment on column workspace_limits.name is
    'as the API has it; of one tool, model or agent with a colon and its name, such as tool:NAME';

drop type if exists keelson_queue_item_3;
create type keelson_queue_item_3 as (task_id uuid, lane int4, run_id uuid, workspace_id uuid, tool text, model text,
    priority int4, queued_at timestamptz, holder text, lease_ms int8, timeout_ms int8,
    held_credits numeric, max_output_tokens int8, requested bool, lot text, agent text);
