-- Requests that were done under an Idempotency-Key: a key's row is written by the transaction that does what was asked.
-- Its answer is noted afterwards; where the server died in between it is made anew from what is there.
create table if not exists idempotency_cache (
    workspace_id uuid not null,
    endpoint text not null,
    idempotency_key varchar(255) not null,
    request_hash text not null,
    run_id uuid,
    response_status smallint,
    response_location text,
    response_body text,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    primary key (workspace_id, endpoint, idempotency_key),
    constraint ck_idempotency_cache_expires check (expires_at > created_at)
);

create index if not exists ix_idempotency_cache_expires on idempotency_cache (expires_at);

drop type if exists keelson_key_use;
create type keelson_key_use as (workspace_id uuid, endpoint text, idempotency_key text, request_hash text,
    run_id uuid);
