package io.keelson.server.schedule;

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
 * What becomes of a schedule's times that have come, decided by whoever holds the schedule's row. A run is made before it
 * is noted that it was: whoever comes after a crash between the two makes the same run, which is there then.
 */
final class Decisions {
    private static final int MOST_AT_ONCE = 100;
    /** So soon somebody looks again whether the run has ended that another waits for. */
    private static final Duration QUEUE_LOOK = Duration.ofSeconds(1);
    private static final RunMaker.Outcome PAUSED = new RunMaker.Outcome.Refused("SCHEDULE_PAUSED",
            "the schedule was paused before the run was made");

    private final Connection c;
    private final Schedule schedule;
    private final Ticks ticks;
    private final RunMaker runs;
    private final Instant now;
    private final Set<UUID> busy = new HashSet<>();
    private boolean queued;
    private int made;

    Decisions(Connection c, Schedule schedule, Ticks ticks, RunMaker runs, Instant now) {
        this.c = c;
        this.schedule = schedule;
        this.ticks = ticks;
        this.runs = runs;
        this.now = now;
    }

    /** Acts on what is due, and says when to look again. */
    void take(Schedules schedules) throws SQLException, InterruptedException {
        List<Tick> open = ticks.open(c, schedule.id(), now, MOST_AT_ONCE);
        if (!open.isEmpty() && minds()) {
            busy.addAll(ticks.atWork(c, schedule.id()));
            Set<UUID> ended = runs.ended(c, busy);
            ticks.ended(c, schedule.id(), ended);
            busy.removeAll(ended);
        }
        for (Tick tick : open) {
            if (tick.kind() == Tick.Kind.CRON) {
                byPolicy(tick);
            } else {
                make(tick);
            }
        }
        Instant next = made > 0 && schedule.left() - made <= 0 ? null : schedule.nextRunAt();
        Instant again = open.size() == MOST_AT_ONCE ? now : queued ? now.plus(QUEUE_LOOK) : null;
        schedules.decided(c, schedule.id(), made, next, earliest(next, again, ticks.next(c, schedule.id(), now)));
    }

    private static @Nullable Instant earliest(@Nullable Instant... times) {
        return Stream.of(times).filter(Objects::nonNull).min(Instant::compareTo).orElse(null);
    }

    private boolean minds() {
        return schedule.spec().overlap() != Overlap.ALLOW;
    }

    private void byPolicy(Tick tick) throws SQLException, InterruptedException {
        if (schedule.paused()) {
            paused(tick);
            return;
        }
        if (schedule.left() - made <= 0) {
            skip(tick);
            return;
        }
        switch (schedule.spec().overlap()) {
            case ALLOW -> make(tick);
            case SKIP -> {
                if (busy.isEmpty()) {
                    make(tick);
                } else {
                    skip(tick);
                }
            }
            case QUEUE -> {
                if (busy.isEmpty()) {
                    make(tick);
                } else if (queued) {
                    skip(tick);
                } else {
                    queued = true;
                    ticks.change(c, tick, Tick.State.QUEUED, false, null, null);
                }
            }
            case CANCEL_RUNNING -> {
                for (UUID run : busy) {
                    runs.cancel(run, "the next run of schedule " + schedule.spec().name() + " begins");
                }
                ticks.ended(c, schedule.id(), busy);
                busy.clear();
                make(tick);
            }
        }
    }

    /** A run that was made before is noted. */
    private void paused(Tick tick) throws SQLException, InterruptedException {
        if (runs.made(tick)) {
            make(tick);
        } else {
            ticks.change(c, tick, Tick.State.SKIPPED, false, PAUSED, now);
        }
    }

    private void skip(Tick tick) throws SQLException {
        ticks.change(c, tick, Tick.State.SKIPPED, false, null, now);
    }

    private void make(Tick tick) throws SQLException, InterruptedException {
        RunMaker.Outcome outcome = runs.make(schedule, tick);
        boolean done = outcome instanceof RunMaker.Outcome.Made;
        ticks.change(c, tick, done ? Tick.State.MADE : Tick.State.FAILED, done && minds(), outcome, now);
        if (done) {
            busy.add(tick.runId());
            made += tick.kind() == Tick.Kind.CRON ? 1 : 0;
        }
    }
}
