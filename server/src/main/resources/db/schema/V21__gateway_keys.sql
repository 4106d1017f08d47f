-- A request of a program is found by its keys in the same time, whichever number of requests its step has recorded.
create index if not exists ix_gateway_requests_k1 on gateway_requests (step_id, k1);
create index if not exists ix_gateway_requests_k2 on gateway_requests (step_id, k2);
