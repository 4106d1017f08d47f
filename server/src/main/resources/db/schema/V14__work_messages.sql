-- Messages to a broker about ready work of remote workers (docs/operate/rabbitmq.md). Written in the commit that queues the work, by
-- servers with KEELSON_RABBITMQ_URL only.
create table if not exists work_messages (
    task_id uuid not null,
    lane integer not null,
    sent integer not null default 0 check (sent >= 0),
    due_at timestamptz not null,
    primary key (task_id, lane)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);

comment on table work_messages is 'Ready work that a broker announces: one row per item of the queue.';
comment on column work_messages.sent is 'number of messages that the broker has confirmed';
comment on column work_messages.due_at is 'when the next message is sent if the work is still unclaimed, and the row removed if it is not';

create index if not exists ix_work_messages_due on work_messages (due_at);

-- No request reads it.
select keelson_enable_rls('work_messages', 'false');
