package io.keelson.server.schedule;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collection;
import java.util.Set;
import java.util.UUID;

/** What schedules want of the engine. */
public interface RunSubmitter {

    /** What came of it. */
    sealed interface Outcome {

        /** There is such a run, from now on or from before; one from before may be deleted by now. */
        record Submitted() implements Outcome {}

        /** There cannot be one. */
        record Refused(String code, String message) implements Outcome {}
    }

    /** Makes and starts the run of a tick; one that was made already is left as it is. */
    Outcome make(Schedule schedule, ScheduledTime time) throws InterruptedException;

    /** Whether the run of a tick was made, though it may be deleted by now. */
    boolean made(ScheduledTime time);

    /** Ends a run that is open; one that has ended stays as it is. */
    void cancel(UUID run, String reason) throws InterruptedException;

    /** Those of these runs that have ended. */
    Set<UUID> ended(Connection c, Collection<UUID> runs) throws SQLException;
}
