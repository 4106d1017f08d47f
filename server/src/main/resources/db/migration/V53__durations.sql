-- What ended without having begun took no time.
create or replace function keelson_duration_ms(started timestamptz, completed timestamptz) returns bigint
language sql immutable as $$
    select case when completed is not null
        then greatest(0, extract(epoch from completed - coalesce(started, completed)) * 1000)::bigint end
$$;
