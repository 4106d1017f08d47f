package io.keelson.server.engine.commit;

import io.keelson.core.decide.ChangeSet;
import java.time.Instant;

/**
 * Who looks at an engine from outside. Called on the engine's own threads, committing ones among them: count, or hand
 * over, and never block or throw.
 */
public interface Observer {

    /** Nobody looks. */
    Observer NONE = new Observer() {};

    /** How a batch got through, or did not. */
    enum Way {
        /** Decided on views in memory, proven by the write. */
        AT_HAND,
        /** A view was missing or not current: decided under the runs' locks. */
        STALE,
        /** A workspace had not got the credits, or nobody knew: decided with its balance locked. */
        INSUFFICIENT_CREDITS,
        /** The database refused it or was away; whoever sent it tries again, or tells its callers. */
        REFUSED
    }

    /** A duty of those who look after what nobody acted upon. */
    enum Duty {
        LEASES, TIMERS, JOINS
    }

    /**
     * Changes are in the database.
     *
     * @param now the time at which they were decided
     */
    default void committed(ChangeSet changes, Instant now) {}

    /** A batch of so many commands was tried, and took so long. */
    default void flushed(Way way, int commands, long nanos) {}

    /** A command was turned away: more is submitted than can be committed. */
    default void overloaded() {}

    /** A duty has looked, and found so much to mend. */
    default void mended(Duty duty, int found) {}

    /** Whether the database answered when the lookout asked it. */
    default void database(boolean answers) {}
}
