package io.keelson.server.outlet.statusdoc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.OptionalLong;
import java.util.UUID;

/**
 * Elects the server that writes documents, and records how far the events have been processed. Only
 * avoids duplicate work: the lock on each run's documents makes them correct.
 */
final class WriterLease {

    private static final String WANTED = """
            select event_id < ? and (holder = ? or held_until < clock_timestamp()) from status_document_progress""";
    private static final String BEGIN = """
            insert into status_document_progress (event_id, holder, held_until) values (?, ?, '-infinity')
            on conflict do nothing""";
    private static final String TAKE = """
            update status_document_progress set holder = ?, held_until = clock_timestamp() + interval '10 seconds'
             where holder = ? or held_until < clock_timestamp()
            returning event_id""";
    private static final String ADVANCE = """
            update status_document_progress set event_id = greatest(event_id, ?),
                held_until = case when holder = ? then clock_timestamp() + interval '10 seconds' else held_until end
            returning holder = ?""";
    private static final String LEAVE = """
            update status_document_progress set held_until = '-infinity' where holder = ?""";

    private final UUID holder;

    WriterLease(UUID holder) {
        this.holder = holder;
    }

    /** Whether this node may have work after that event, as far as a check without a lock can tell. */
    boolean wanted(Connection c, long settled) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(WANTED)) {
            statement.setLong(1, settled);
            statement.setObject(2, holder);
            try (ResultSet row = statement.executeQuery()) {
                return row.next() && row.getBoolean(1);
            }
        }
    }

    /** Has events be followed from here on, unless they are already. */
    void begin(Connection c, long eventId) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(BEGIN)) {
            statement.setLong(1, eventId);
            statement.setObject(2, holder);
            statement.executeUpdate();
        }
    }

    /**
     * Takes or extends the lease for 10 s.
     *
     * @return the event up to which all is written; empty when another node has the lease
     */
    OptionalLong take(Connection c) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(TAKE)) {
            statement.setObject(1, holder);
            statement.setObject(2, holder);
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? OptionalLong.of(row.getLong(1)) : OptionalLong.empty();
            }
        }
    }

    /**
     * Records progress, even if the lease was lost meanwhile: otherwise slow servers could take it from each
     * other for ever without progress.
     *
     * @return false when the turn was lost
     */
    boolean advance(Connection c, long eventId) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(ADVANCE)) {
            statement.setLong(1, eventId);
            statement.setObject(2, holder);
            statement.setObject(3, holder);
            try (ResultSet row = statement.executeQuery()) {
                return row.next() && row.getBoolean(1);
            }
        }
    }

    void leave(Connection c) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(LEAVE)) {
            statement.setObject(1, holder);
            statement.executeUpdate();
        }
    }
}
