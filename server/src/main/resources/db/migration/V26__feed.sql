-- The feed over all runs goes by the events' own ids, which are handed out in order but become visible out of order: it
-- reads no further than up to an id below which nothing can appear any more (docs/adr/0014). Whoever takes an id has a
-- transaction number by then, for the run's row or head was written before. So, once a number has been read of the
-- sequence, ids up to it belong to transactions below one that takes its number afterwards; when all of those have ended,
-- the ids up to it are settled. That one is our own, for a snapshot's xmax is only the last ended transaction's successor
-- and says nothing of those that are open beyond; it is taken only when there are ids that are not known, and its commit
-- waits for no disk. The order matters: first the id, then the number, then the snapshot; hence a volatile function, each
-- of whose statements has a snapshot of its own. The sequence must not be cached by sessions.
create or replace function keelson_feed_look(known bigint, out last_id bigint, out next bigint, out open_from bigint)
    language plpgsql volatile as $$
begin
    select case when s.is_called then s.last_value else s.last_value - 1 end into last_id
      from orchestration_events_id_seq s;
    if last_id > known then
        next := pg_current_xact_id()::text::bigint;
    end if;
    select pg_snapshot_xmin(now.s)::text::bigint into open_from from (select pg_current_snapshot() as s) now;
end $$;

alter sequence orchestration_events_id_seq cache 1;
