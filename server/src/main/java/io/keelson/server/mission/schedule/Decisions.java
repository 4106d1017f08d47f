package io.keelson.server.mission.schedule;

import io.keelson.core.schedule.Overlap;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Decides the due times of a schedule, under the lock of its row. A run is created before it
 * is recorded: after a crash between the two, the next server submits the same run, which then exists already.
 */
final class Decisions {
    private static final int MAX_AT_ONCE = 100;
    /** Poll interval for the end of a run that a queued time waits for. */
    private static final Duration QUEUE_POLL_INTERVAL = Duration.ofSeconds(1);
    private static final RunSubmitter.Outcome PAUSED = new RunSubmitter.Outcome.Refused("SCHEDULE_PAUSED",
            "the schedule was paused before the run was made");

    private final Connection c;
    private final ScheduleRow schedule;
    private final ScheduledTimes scheduledTimes;
    private final RunSubmitter runs;
    private final Instant now;
    private final Set<UUID> busy = new HashSet<>();
    private boolean queued;
    private int made;

    Decisions(Connection c, ScheduleRow schedule, ScheduledTimes scheduledTimes, RunSubmitter runs, Instant now) {
        this.c = c;
        this.schedule = schedule;
        this.scheduledTimes = scheduledTimes;
        this.runs = runs;
        this.now = now;
    }

    /** Acts on due times, and returns the time of the next check. */
    void take(ScheduleStore schedules) throws SQLException, InterruptedException {
        List<ScheduledTimeRow> open = scheduledTimes.open(c, schedule.id(), now, MAX_AT_ONCE);
        if (!open.isEmpty() && minds()) {
            busy.addAll(scheduledTimes.atWork(c, schedule.id()));
            Set<UUID> ended = runs.ended(c, busy);
            scheduledTimes.ended(c, schedule.id(), ended);
            busy.removeAll(ended);
        }
        for (ScheduledTimeRow time : open) {
            if (time.kind() == ScheduledTimeRow.Kind.CRON) {
                byPolicy(time);
            } else {
                make(time);
            }
        }
        Instant next = made > 0 && schedule.left() - made <= 0 ? null : schedule.nextRunAt();
        Instant again = open.size() == MAX_AT_ONCE ? now : queued ? now.plus(QUEUE_POLL_INTERVAL) : null;
        schedules.decided(c, schedule.id(), made, next,
                earliest(next, again, scheduledTimes.next(c, schedule.id(), now)));
    }

    private static @Nullable Instant earliest(@Nullable Instant... times) {
        return Stream.of(times).filter(Objects::nonNull).min(Instant::compareTo).orElse(null);
    }

    private boolean minds() {
        return schedule.overlap() != Overlap.ALLOW;
    }

    private void byPolicy(ScheduledTimeRow time) throws SQLException, InterruptedException {
        if (schedule.shown().paused()) {
            paused(time);
            return;
        }
        if (schedule.left() - made <= 0) {
            skip(time);
            return;
        }
        switch (schedule.overlap()) {
            case ALLOW -> make(time);
            case SKIP -> {
                if (busy.isEmpty()) {
                    make(time);
                } else {
                    skip(time);
                }
            }
            case QUEUE -> {
                if (busy.isEmpty()) {
                    make(time);
                } else if (queued) {
                    skip(time);
                } else {
                    queued = true;
                    scheduledTimes.change(c, time, ScheduledTimeRow.State.QUEUED, false, null, null);
                }
            }
            case CANCEL_RUNNING -> {
                for (UUID run : busy) {
                    runs.cancel(run, "the next run of schedule " + schedule.shown().name() + " begins");
                }
                scheduledTimes.ended(c, schedule.id(), busy);
                busy.clear();
                make(time);
            }
        }
    }

    /** A run that was made before is noted. */
    private void paused(ScheduledTimeRow time) throws SQLException, InterruptedException {
        if (runs.made(time)) {
            make(time);
        } else {
            scheduledTimes.change(c, time, ScheduledTimeRow.State.SKIPPED, false, PAUSED, now);
        }
    }

    private void skip(ScheduledTimeRow time) throws SQLException {
        scheduledTimes.change(c, time, ScheduledTimeRow.State.SKIPPED, false, null, now);
    }

    private void make(ScheduledTimeRow time) throws SQLException, InterruptedException {
        RunSubmitter.Outcome outcome = runs.make(schedule, time);
        boolean done = outcome instanceof RunSubmitter.Outcome.Submitted;
        scheduledTimes.change(c, time, done ? ScheduledTimeRow.State.MADE : ScheduledTimeRow.State.FAILED,
                done && minds(), outcome, now);
        if (done) {
            busy.add(time.runId());
            made += time.kind() == ScheduledTimeRow.Kind.CRON ? 1 : 0;
        }
    }
}
