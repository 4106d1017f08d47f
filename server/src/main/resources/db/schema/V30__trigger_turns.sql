-- Turns of workspaces, and lines of deliveries that wait for a rule of flow (docs/guide/triggers.md).

create index if not exists ix_trigger_deliveries_turn on trigger_deliveries (workspace_id, due_at) where state = 'pending';
create index if not exists ix_trigger_deliveries_rate_line on trigger_deliveries (trigger_id, rate_key, received_at, id)
    where state = 'pending' and rate_key is not null and admitted_at is null;
create index if not exists ix_trigger_deliveries_single_line on trigger_deliveries (trigger_id, single_key, received_at, id)
    where state = 'pending' and single_key is not null and not at_work;

comment on column trigger_deliveries.rate_key is 'value of the key of rate; null before it was looked at';
comment on column trigger_deliveries.single_key is 'value of the key of singleton, which it has or waits for';
