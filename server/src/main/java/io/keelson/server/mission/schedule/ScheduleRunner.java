package io.keelson.server.mission.schedule;

import io.keelson.core.schedule.DueTimes;
import io.keelson.server.base.background.BackgroundTask;
import io.keelson.server.base.db.Database;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Acts on schedules when their times come. First the times that have come are noted and the schedule is moved on, in one
 * transaction; then each is acted upon under the schedule's row. Any number of nodes may do so at once, and any may die at
 * any instruction: a time is noted once, with the id of its run, and there is one run of an id.
 */
public final class ScheduleRunner implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ScheduleRunner.class);
    private static final int MAX_AT_ONCE = 50;
    private static final Duration AFTER_A_FAILURE = Duration.ofSeconds(5);

    private final Database database;
    private final ScheduleStore schedules;
    private final ScheduledTimes scheduledTimes;
    private final RunSubmitter runs;
    private final BackgroundTask task = BackgroundTask.onNudge("schedules", this::look);

    public ScheduleRunner(Database database, ScheduleStore schedules, ScheduledTimes scheduledTimes,
            RunSubmitter runs) {
        this.database = database;
        this.schedules = schedules;
        this.scheduledTimes = scheduledTimes;
        this.runs = runs;
    }

    /** Signals that a time may be due. Returns at once. */
    public void signal() {
        task.nudge();
    }

    /** Processes all due schedules that no other server has locked. */
    public void look() throws InterruptedException {
        List<UUID> found;
        do {
            found = database.inTransaction(this::plan);
            for (UUID schedule : found) {
                take(schedule);
            }
        } while (found.size() == MAX_AT_ONCE);
    }

    /** Notes the times that have come. */
    private List<UUID> plan(Connection c) throws SQLException {
        List<ScheduleRow> waking = schedules.waking(c, MAX_AT_ONCE);
        Instant now = schedules.now(c);
        for (ScheduleRow schedule : waking) {
            Instant planned = schedule.nextRunAt();
            if (planned != null && !planned.isAfter(now)) {
                DueTimes due = DueTimes.of(schedule.rule(), planned, now);
                for (Instant time : due.times()) {
                    scheduledTimes.add(c, schedule, time, ScheduledTimeRow.Kind.CRON,
                            time.plus(jitter(schedule, time)));
                }
                schedules.planned(c, schedule.id(), due.next(), due.missed(), now);
                scheduledTimes.forget(c, schedule.id(), now);
            }
        }
        return waking.stream().map(ScheduleRow::id).toList();
    }

    /** Deterministic: the same on all servers. */
    private static Duration jitter(ScheduleRow schedule, Instant time) {
        long seed = schedule.id().getLeastSignificantBits() * 31 + time.getEpochSecond();
        long mixed = (seed ^ seed >>> 30) * 0xbf58476d1ce4e5b9L;
        return Duration.ofMillis(Math.floorMod(mixed ^ mixed >>> 27, schedule.jitter().toMillis() + 1));
    }

    /** Processes the due times of one schedule, unless another thread has locked it. */
    public void take(UUID id) throws InterruptedException {
        try {
            InterruptedException interrupted = database.inTransaction(c -> take(c, id));
            if (interrupted != null) {
                throw interrupted;
            }
        } catch (RuntimeException e) {
            LOG.warn("could not process schedule {}, retrying", id, e);
            database.runInTransaction(c -> schedules.postpone(c, id, schedules.now(c).plus(AFTER_A_FAILURE)));
        }
    }

    private @Nullable InterruptedException take(Connection c, UUID id) throws SQLException {
        ScheduleRow schedule = schedules.mine(c, id).orElse(null);
        if (schedule != null) {
            try {
                new Decisions(c, schedule, scheduledTimes, runs, schedules.now(c)).take(schedules);
            } catch (InterruptedException e) {
                c.rollback();
                return e;
            }
        }
        return null;
    }

    /**
     * Requests a run now, regardless of the schedule's policies; {@link #take} creates it. Empty if the schedule
     * no longer exists.
     */
    public Optional<ScheduledTimeRow> trigger(Connection c, ScheduleRow schedule) throws SQLException {
        Instant now = schedules.now(c).truncatedTo(ChronoUnit.MICROS);
        if (!schedules.wake(c, schedule.id(), now)) {
            return Optional.empty();
        }
        scheduledTimes.add(c, schedule, now, ScheduledTimeRow.Kind.MANUAL, now);
        return Optional.of(scheduledTimes.one(c, schedule.id(), now, ScheduledTimeRow.Kind.MANUAL));
    }

    /**
     * Requests runs for these times, regardless of the schedule's policies; a time that was already backfilled is
     * skipped.
     *
     * @return false where the schedule is no longer there
     */
    public boolean backfill(Connection c, ScheduleRow schedule, List<Instant> times) throws SQLException {
        Instant now = schedules.now(c);
        if (!schedules.wake(c, schedule.id(), now)) {
            return false;
        }
        for (Instant time : times) {
            scheduledTimes.add(c, schedule, time, ScheduledTimeRow.Kind.BACKFILL, now);
        }
        return true;
    }

    public List<BackgroundTask> tasks() {
        return List.of(task);
    }

    @Override
    public void close() throws InterruptedException {
        task.close();
    }
}
