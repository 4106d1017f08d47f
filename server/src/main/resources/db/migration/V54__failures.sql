-- How many tasks and steps had failed when an attempt of a run ended.
alter table run_attempts add column if not exists failures integer not null default 0;

drop type if exists keelson_attempt_v3;
create type keelson_attempt_v3 as (run_id uuid, attempt_number int4, state text, started_at timestamptz,
    completed_at timestamptz, error_code text, error_message text, credits_reserved numeric, credits_charged numeric,
    credits_refunded numeric, uncollected numeric, settled_at timestamptz, failures int4);
