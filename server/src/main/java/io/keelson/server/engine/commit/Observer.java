package io.keelson.server.engine.commit;

import io.keelson.core.decide.ChangeSet;
import java.time.Instant;

/** Observes an engine. Called on the engine's own threads, including committing ones: it must not block or throw. */
public interface Observer {

    /** How a batch was decided and committed. */
    enum BatchPath {
        /** Decided on views in memory, proven by the write. */
        AT_HAND,
        /** A view was missing or not current: decided under the runs' locks. */
        STALE,
        /** A workspace's balance was too low or unknown: decided with its balance locked. */
        INSUFFICIENT_CREDITS,
        /** The database refused it or was away; the sender retries, or reports to its callers. */
        REFUSED
    }

    /** A duty of the maintenance, which finds unreported conditions. */
    enum Duty {
        LEASES, TIMERS, JOINS
    }

    /**
     * Changes are in the database.
     *
     * @param now the time at which they were decided
     */
    default void committed(ChangeSet changes, Instant now) {}

    /** A batch of that many commands was tried, and took that long. */
    default void batchEnded(BatchPath path, int commands, long nanos) {}

    /** A command was refused because of overload. */
    default void overloaded() {}

    /** A duty has run, with that many findings. */
    default void repaired(Duty duty, int found) {}

    /** There are events above the settled ones, of this server or of another one. */
    default void eventsFound() {}

    /** A committing connection was lost. The next one may lead to another server of the database. */
    default void connectionLost() {}

    /** Whether the database answered the poller. */
    default void database(boolean answers) {}
}
