-- A receiver that nobody mends: since when nothing has got through to it, and why; and where a delivery belongs in a trace.
alter table webhook_endpoints
    add column if not exists failing_since timestamptz,
    add column if not exists last_error varchar(500);
comment on column webhook_endpoints.failing_since is
    'when the first attempt failed since the last one that was taken; null where none has';

alter table webhook_deliveries add column if not exists traceparent varchar(60);
