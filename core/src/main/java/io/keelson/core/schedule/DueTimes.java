package io.keelson.core.schedule;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The due times of a schedule.
 *
 * @param times that start runs, in order
 * @param missed number of times within the window that start no run
 * @param next when to check again; null when the schedule has ended
 */
public record DueTimes(List<Instant> times, int missed, @Nullable Instant next) {
    /** A time counts as missed after this delay without a server. */
    public static final Duration ON_TIME = Duration.ofMinutes(1);
    /** Further due times remain due. */
    public static final int MAX_AT_ONCE = 1_000;

    public DueTimes {
        times = List.copyOf(times);
    }

    /**
     * The rule of due times.
     *
     * @param window maximum age of a missed time to catch up on
     * @param end no time after it; null if absent
     */
    public record Rule(Cron cron, ZoneId zone, CatchUp catchUp, Duration window, @Nullable Instant end) {

        /** The first time after that moment; null when the schedule has ended. */
        public @Nullable Instant after(Instant moment) {
            Instant next = cron.next(moment, zone);
            return end != null && next.isAfter(end) ? null : next;
        }

        /** The next times after that moment, up to a maximum number. */
        public List<Instant> preview(Instant moment, int count) {
            List<Instant> times = new ArrayList<>();
            for (Instant time = after(moment); time != null && times.size() < count; time = after(time)) {
                times.add(time);
            }
            return times;
        }

        /** All times between two moments, both included, up to a maximum number. */
        public List<Instant> between(Instant from, Instant to, int most) {
            List<Instant> times = new ArrayList<>();
            for (Instant time = after(from.minusNanos(1)); time != null && !time.isAfter(to)
                    && times.size() < most; time = after(time)) {
                times.add(time);
            }
            return times;
        }
    }

    /**
     * The times due by now.
     *
     * @param planned the first time that was not handled
     */
    public static DueTimes of(Rule rule, Instant planned, Instant now) {
        Instant oldest = now.minus(rule.window);
        Instant time = planned.isBefore(oldest) ? rule.after(oldest.minusNanos(1)) : planned;
        List<Instant> come = new ArrayList<>();
        while (time != null && !time.isAfter(now) && (rule.catchUp != CatchUp.ALL || come.size() < MAX_AT_ONCE)) {
            come.add(time);
            time = rule.after(time);
        }
        if (come.isEmpty()) {
            return new DueTimes(List.of(), 0, time);
        }
        Instant last = come.getLast();
        boolean onTime = !last.isBefore(now.minus(ON_TIME));
        List<Instant> times = switch (rule.catchUp) {
            case ALL -> come;
            case LATEST -> List.of(last);
            case SKIP -> onTime ? List.of(last) : List.of();
        };
        return new DueTimes(times, come.size() - times.size(), time);
    }
}
