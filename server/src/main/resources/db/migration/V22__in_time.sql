-- What is decided without a look at the database goes by a node's guess of the database's time. A node that was suspended
-- thinks that no time has passed: it is told as one whose view is not current is, and asks the database. Like that one's,
-- the failure comes before the COMMIT of the same message.
create or replace function keelson_in_time(decided timestamptz, clock timestamptz) returns timestamptz
    language plpgsql as $$
begin
    if decided not between clock - interval '5 seconds' and clock + interval '5 seconds' then
        raise exception 'decided as of %, and it is %', decided, clock using errcode = 'KE001';
    end if;
    return decided;
end $$;
