package io.keelson.core.schedule;

import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A cron expression of five fields: minute, hour, day of month, month, day of week. Where both days are restricted, one
 * of them is enough, as in every cron.
 *
 * <p>When clocks are set forward, local times that do not exist fire once, at the first moment after; when they are set
 * back, local times that come twice fire the first time only. A schedule whose hour is open (every hour of the day)
 * follows elapsed time instead: a skipped hour is not made up, and a repeated hour fires twice; otherwise a schedule of
 * every quarter of an hour would pause for an hour.
 */
public final class Cron {
    /** 29 February may be 8 years away. */
    private static final int YEARS = 9;
    private static final LocalDateTime LEAP_YEAR = LocalDateTime.of(2024, 1, 1, 0, 0);

    private static final Map<String, String> NAMED = Map.of("@hourly", "0 * * * *", "@daily", "0 0 * * *", "@midnight",
            "0 0 * * *", "@weekly", "0 0 * * 0", "@monthly", "0 0 1 * *", "@yearly", "0 0 1 1 *", "@annually",
            "0 0 1 1 *");

    private static final CronField MINUTE = new CronField("minute", 0, 59, List.of());
    private static final CronField HOUR = new CronField("hour", 0, 23, List.of());
    private static final CronField DAY = new CronField("day of month", 1, 31, List.of());
    private static final CronField MONTH = new CronField("month", 1, 12,
            List.of("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"));
    private static final CronField WEEKDAY = new CronField("day of week", 0, 7,
            List.of("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"));

    private final BitSet minutes;
    private final BitSet hours;
    private final BitSet days;
    private final BitSet months;
    private final BitSet weekdays;
    private final boolean eitherDay;

    private Cron(String[] fields) {
        minutes = MINUTE.read(fields[0]);
        hours = HOUR.read(fields[1]);
        days = DAY.read(fields[2]);
        months = MONTH.read(fields[3]);
        weekdays = WEEKDAY.read(fields[4]);
        if (weekdays.get(7)) {
            weekdays.set(0);
        }
        eitherDay = !fields[2].startsWith("*") && !fields[4].startsWith("*");
    }

    /** The reason why a text is not a cron expression. */
    static final class Malformed extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Malformed(String why) {
            super(why, null, false, false);
        }
    }

    /** The result of parsing an expression. */
    public sealed interface Reading {

        record Read(Cron cron) implements Reading {}

        record Refused(String why) implements Reading {}
    }

    /** Parses an expression; names such as {@code @daily} are allowed. */
    public static Reading read(String text) {
        String stripped = text.strip();
        String[] fields = NAMED.getOrDefault(stripped, stripped).split("\\s+");
        if (fields.length != 5) {
            return new Reading.Refused(
                    "five fields are wanted (minute, hour, day of month, month, day of week), or one of "
                            + String.join(", ", NAMED.keySet().stream().sorted().toList()));
        }
        try {
            Cron cron = new Cron(fields);
            return cron.local(LEAP_YEAR) == null ? new Reading.Refused("no day is ever like this")
                    : new Reading.Read(cron);
        } catch (Malformed e) {
            return new Reading.Refused(String.valueOf(e.getMessage()));
        }
    }

    /** Parses an expression that was validated before; any problem is a bug. */
    public static Cron parseValid(String text) {
        return switch (read(text)) {
            case Reading.Read(Cron cron) -> cron;
            case Reading.Refused(String why) -> throw new IllegalStateException(text + ": " + why);
        };
    }

    /** The first time after that moment. */
    public Instant next(Instant after, ZoneId zone) {
        Instant first = after.truncatedTo(ChronoUnit.MINUTES).plus(1, ChronoUnit.MINUTES);
        return hours.cardinality() == 24 ? elapsed(first, zone.getRules()) : wallClock(after, zone.getRules());
    }

    /** By elapsed minutes. */
    private Instant elapsed(Instant first, ZoneRules rules) {
        Instant from = first;
        while (true) {
            LocalDateTime here = LocalDateTime.ofEpochSecond(from.getEpochSecond(), 0, rules.getOffset(from));
            Instant found = from.plus(Duration.between(here, some(here)));
            ZoneOffsetTransition change = rules.nextTransition(from);
            if (change == null || change.getInstant().isAfter(found)) {
                return found;
            }
            from = change.getInstant();
        }
    }

    /** By local wall-clock time. */
    private Instant wallClock(Instant after, ZoneRules rules) {
        LocalDateTime here = LocalDateTime.ofEpochSecond(after.getEpochSecond(), 0, rules.getOffset(after))
                .truncatedTo(ChronoUnit.MINUTES);
        while (true) {
            here = some(here.plusMinutes(1));
            Instant found = moment(here, rules);
            if (found.isAfter(after)) {
                return found;
            }
        }
    }

    private static Instant moment(LocalDateTime local, ZoneRules rules) {
        List<ZoneOffset> offsets = rules.getValidOffsets(local);
        return offsets.isEmpty() ? rules.getTransition(local).getInstant() : local.toInstant(offsets.getFirst());
    }

    private LocalDateTime some(LocalDateTime from) {
        LocalDateTime found = local(from);
        if (found == null) {
            throw new IllegalStateException("an expression without a time after " + from);
        }
        return found;
    }

    /** The first local time from that one on; null when there is none for years. */
    private @Nullable LocalDateTime local(LocalDateTime from) {
        LocalTime time = from.toLocalTime();
        LocalDate last = from.toLocalDate().plusYears(YEARS);
        for (LocalDate day = from.toLocalDate(); day.isBefore(last); time = LocalTime.MIN) {
            if (!months.get(day.getMonthValue())) {
                day = day.withDayOfMonth(1).plusMonths(1);
                continue;
            }
            LocalTime found = admits(day) ? time(time) : null;
            if (found != null) {
                return day.atTime(found);
            }
            day = day.plusDays(1);
        }
        return null;
    }

    private boolean admits(LocalDate day) {
        boolean ofMonth = days.get(day.getDayOfMonth());
        boolean ofWeek = weekdays.get(day.getDayOfWeek().getValue() % 7);
        return eitherDay ? ofMonth || ofWeek : ofMonth && ofWeek;
    }

    private @Nullable LocalTime time(LocalTime from) {
        int minute = minutes.nextSetBit(from.getMinute());
        int hour = hours.nextSetBit(minute < 0 || !hours.get(from.getHour()) ? from.getHour() + 1 : from.getHour());
        if (hour < 0) {
            return null;
        }
        return LocalTime.of(hour, hour == from.getHour() ? minute : minutes.nextSetBit(0));
    }
}
