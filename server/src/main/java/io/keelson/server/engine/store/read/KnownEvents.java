package io.keelson.server.engine.store.read;

import io.keelson.server.base.db.Rows;
import io.keelson.server.base.db.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * Compares events in a server's memory with the database. An event is gone if its run is unknown or has fewer events, or if
 * another event has its number. Retention, deletion of runs and the purge of a workspace remove events, too, but leave
 * the run's head with its last number. The archive has that number, too. Only a purge and the deletion of archived runs remove it:
 * runs of a purged workspace count as present, and events until the end of the latest deleted run.
 */
public final class KnownEvents {

    private static final Sql GONE = Sql.of("""
            select k.place::integer as place
              from unnest(:runs::uuid[], :workspaces::uuid[], :seqs::bigint[], :times::bigint[])
                       with ordinality as k (run_id, workspace_id, seq, at, place)
              left join run_heads h on h.run_id = k.run_id
              left join archived_runs a on a.id = k.run_id and h.run_id is null
             where (coalesce(h.last_seq, a.last_seq, 0) < k.seq or exists (
                    select from run_event_packs_kept p
                     where p.run_id = k.run_id and p.first_seq = k.seq
                       and (extract(epoch from p.created_at) * 1000000)::bigint <> k.at))
               and not exists (
                    select from workspaces w left join archive_deletions d on d.workspace_id = w.id
                     where w.id = k.workspace_id and (w.purge_asked_at is not null
                        or (extract(epoch from d.ended_before) * 1000000)::bigint >= k.at))
             order by k.place""");

    private static final Sql LATEST = Sql.of("""
            select p.run_id, r.workspace_id, p.first_seq, p.created_at, p.id
              from (select id, run_id, first_seq, created_at from run_event_packs order by id desc limit :limit) p
              join orchestration_runs r on r.id = p.run_id
              join run_heads h on h.run_id = p.run_id and h.last_seq >= p.first_seq
             order by p.id""");

    private static final Sql SETTLED = Sql.of("select last_id from event_watermark");

    private static final Sql COMPARABLE = Sql.of("select where not pg_is_in_recovery()");

    private KnownEvents() {}

    /**
     * The first event of a run in one commit.
     *
     * @param at time of the commit's decision, in whole microseconds
     * @param id of the event, 0 if unknown
     */
    public record Known(UUID workspaceId, UUID runId, long seq, Instant at, long id) {

        /** Whether it is the event of the other one, whose id may be unknown. */
        public boolean sameAs(Known other) {
            return seq == other.seq && runId.equals(other.runId) && at.equals(other.at);
        }

        private long micros() {
            return at.getEpochSecond() * 1_000_000 + at.getNano() / 1_000;
        }
    }

    /** Whether the database is a primary. */
    public static boolean comparable(Connection c) throws SQLException {
        return COMPARABLE.on(c).exists();
    }

    /** The events that are gone, in the order given. */
    public static List<Known> missing(Connection c, List<Known> known) throws SQLException {
        List<UUID> runs = new ArrayList<>();
        List<UUID> workspaces = new ArrayList<>();
        List<Long> seqs = new ArrayList<>();
        List<Long> times = new ArrayList<>();
        for (Known each : known) {
            runs.add(each.runId);
            workspaces.add(each.workspaceId);
            seqs.add(each.seq);
            times.add(each.micros());
        }
        return GONE.on(c).setUuids("runs", runs).setUuids("workspaces", workspaces).setLongs("seqs", seqs)
                .setLongs("times", times).all(row -> known.get(row.getInt("place") - 1));
    }

    /** The latest events, oldest first: of each commit the first. No commit has written events beyond the head of their run. */
    public static List<Known> latest(Connection c, int limit) throws SQLException {
        return LATEST.on(c).set("limit", limit).all(row -> new Known(row.getObject("workspace_id", UUID.class),
                row.getObject("run_id", UUID.class), row.getLong("first_seq"), Rows.time(row, "created_at"),
                row.getLong("id")));
    }

    /** The id up to which readers of the feed have been shown events. */
    public static long settled(Connection c) throws SQLException {
        return SETTLED.on(c).one(row -> row.getLong(1));
    }
}
