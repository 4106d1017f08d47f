package io.keelson.server.outlet.statusdoc;

import io.keelson.server.base.db.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.OptionalLong;
import java.util.UUID;

/**
 * Elects the server that writes documents, and records how far the events have been processed. Only
 * avoids duplicate work: the lock on each run's documents makes them correct.
 */
final class WriterLease {

    private static final Sql WANTED = Sql.of("""
            select event_id < :event_id and (holder = :holder or held_until < clock_timestamp()) as wanted
              from status_document_progress""");
    private static final Sql BEGIN = Sql.of("""
            insert into status_document_progress (event_id, holder, held_until) values (:event_id, :holder, '-infinity')
            on conflict do nothing""");
    private static final Sql TAKE = Sql.of("""
            update status_document_progress set holder = :holder, held_until = clock_timestamp() + interval '10 seconds'
             where holder = :holder or held_until < clock_timestamp()
            returning event_id""");
    private static final Sql ADVANCE = Sql.of("""
            update status_document_progress set event_id = greatest(event_id, :event_id),
                held_until = case when holder = :holder then clock_timestamp() + interval '10 seconds' else held_until end
            returning holder = :holder as held""");
    private static final Sql LEAVE = Sql.of("""
            update status_document_progress set held_until = '-infinity' where holder = :holder""");

    private final UUID holder;

    WriterLease(UUID holder) {
        this.holder = holder;
    }

    /** Whether this node may have work after that event, as far as a check without a lock can tell. */
    boolean wanted(Connection c, long settled) throws SQLException {
        return WANTED.on(c).set("event_id", settled).set("holder", holder).first(row -> row.getBoolean("wanted"))
                .orElse(false);
    }

    /** Has events be followed from here on, unless they are already. */
    void begin(Connection c, long eventId) throws SQLException {
        BEGIN.on(c).set("event_id", eventId).set("holder", holder).update();
    }

    /**
     * Takes or extends the lease for 10 s.
     *
     * @return the event up to which all is written; empty when another node has the lease
     */
    OptionalLong take(Connection c) throws SQLException {
        return TAKE.on(c).set("holder", holder).first(row -> OptionalLong.of(row.getLong("event_id")))
                .orElse(OptionalLong.empty());
    }

    /**
     * Records progress, even if the lease was lost meanwhile: otherwise slow servers could take it from each
     * other for ever without progress.
     *
     * @return false when the turn was lost
     */
    boolean advance(Connection c, long eventId) throws SQLException {
        return ADVANCE.on(c).set("event_id", eventId).set("holder", holder).first(row -> row.getBoolean("held"))
                .orElse(false);
    }

    void leave(Connection c) throws SQLException {
        LEAVE.on(c).set("holder", holder).update();
    }
}
