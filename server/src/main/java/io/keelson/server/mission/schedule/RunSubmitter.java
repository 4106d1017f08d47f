package io.keelson.server.mission.schedule;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collection;
import java.util.Set;
import java.util.UUID;

/** Submits runs for schedules. */
public interface RunSubmitter {

    /** The result of a submission. */
    sealed interface Outcome {

        /** The run exists, new or from before; an older one may be deleted by now. */
        record Submitted() implements Outcome {}

        /** There cannot be one. */
        record Refused(String code, String message) implements Outcome {}
    }

    /** Creates and starts the run of a scheduled time; an existing run is left unchanged. */
    Outcome make(ScheduleRow schedule, ScheduledTimeRow time) throws InterruptedException;

    /** Whether the run of a tick was made, though it may be deleted by now. */
    boolean made(ScheduledTimeRow time);

    /** Cancels an open run; an ended run stays unchanged. */
    void cancel(UUID run, String reason) throws InterruptedException;

    /** The ended ones of these runs. */
    Set<UUID> ended(Connection c, Collection<UUID> runs) throws SQLException;
}
