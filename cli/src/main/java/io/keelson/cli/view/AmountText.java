package io.keelson.cli.view;

import io.keelson.api.run.Explanation;
import io.keelson.api.run.Run;
import io.keelson.api.run.TaskBudget;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Numbers as people read them. */
public final class AmountText {

    private static final int KILO = 1000;
    private static final int SECONDS_PER_MINUTE = 60;

    private AmountText() {}

    /** Working time of an ended run's last attempt, without waits; empty while it is open. */
    public static String took(Run run) {
        Long millis = run.ended() ? run.activeMs() : null;
        return millis == null ? "" : duration(Duration.ofMillis(millis));
    }

    /** {@code 0.4s}, {@code 12.3s}, {@code 3m 05s}, {@code 2h 04m}, {@code 3d 04h}; nothing below zero. */
    public static String duration(Duration time) {
        long millis = Math.max(0, time.toMillis());
        long seconds = millis / KILO;
        if (seconds < SECONDS_PER_MINUTE) {
            return String.format(Locale.ROOT, "%d.%ds", seconds, millis % KILO / 100);
        }
        Duration whole = Duration.ofSeconds(seconds);
        if (whole.toHours() == 0) {
            return String.format(Locale.ROOT, "%dm %02ds", whole.toMinutes(), whole.toSecondsPart());
        }
        return whole.toDays() == 0
                ? String.format(Locale.ROOT, "%dh %02dm", whole.toHours(), whole.toMinutesPart())
                : String.format(Locale.ROOT, "%dd %02dh", whole.toDays(), whole.toHoursPart());
    }

    /** One unit only: {@code 5s}, {@code 3m}, {@code 2h}, {@code 12d}. */
    public static String age(Duration time) {
        long seconds = Math.max(0, time.toSeconds());
        if (seconds < SECONDS_PER_MINUTE) {
            return seconds + "s";
        }
        Duration whole = Duration.ofSeconds(seconds);
        if (whole.toHours() == 0) {
            return whole.toMinutes() + "m";
        }
        return whole.toDays() == 0 ? whole.toHours() + "h" : whole.toDays() + "d";
    }

    /** {@code in 3m}, or {@code 3m ago} for a time in the past. */
    public static String when(Instant time, Instant now) {
        return time.isAfter(now) ? "in " + age(Duration.between(now, time)) : age(Duration.between(time, now)) + " ago";
    }

    /** Decimal units: {@code 512 B}, {@code 4.2 kB}, {@code 1.0 MB}. */
    public static String size(long bytes) {
        if (bytes < KILO) {
            return bytes + " B";
        }
        String[] units = {"kB", "MB", "GB", "TB", "PB", "EB"};
        double value = bytes;
        int unit = -1;
        do {
            value /= KILO;
            unit++;
        } while (value >= KILO - 0.05 && unit < units.length - 1);
        return String.format(Locale.ROOT, "%.1f %s", value, units[unit]);
    }

    /** {@code 10,000}. */
    public static String count(long number) {
        return String.format(Locale.ROOT, "%,d", number);
    }

    /** {@code 1 task}, {@code 2 tasks}. */
    public static String count(long number, String one) {
        return count(number, one, one + "s");
    }

    /** {@code 1 entry}, {@code 2 entries}. */
    public static String count(long number, String one, String many) {
        return count(number) + " " + (number == 1 ? one : many);
    }

    /** {@code 1 credit}, {@code 0.5 credits}. */
    public static String credits(BigDecimal amount) {
        return decimal(amount) + (amount.compareTo(BigDecimal.ONE) == 0 ? " credit" : " credits");
    }

    /** All decimal places, without trailing zeros and without an exponent. */
    public static String decimal(BigDecimal amount) {
        return amount.stripTrailingZeros().toPlainString();
    }

    /** The cost of a task beside its budget: {@code task research used 5 of 3 credits}. */
    public static String used(TaskBudget budget) {
        return "task " + budget.task() + " used " + decimal(budget.used()) + " of " + credits(budget.budgetUsd());
    }

    /**
     * The options of {@code budget} that raise the limits which have stopped a run, with the least amounts:
     * {@code --hard-limit 0.5}.
     *
     * @param budgets of tasks that stopped it; empty if its own limit stopped it
     * @param reasons of the stop; an amount that they do not contain is shown as {@code CREDITS}
     */
    public static String raise(List<TaskBudget> budgets, List<Explanation.Reason> reasons) {
        return budgets.isEmpty() ? " --hard-limit " + least(reasons.stream())
                : budgets.stream().map(budget -> " --task " + budget.task() + "="
                        + least(reasons.stream().filter(reason -> reason.on().contains(budget.task()))))
                        .collect(Collectors.joining());
    }

    private static String least(Stream<Explanation.Reason> reasons) {
        return reasons.map(Explanation.Reason::neededUsd).filter(Objects::nonNull).findFirst()
                .map(AmountText::decimal).orElse("CREDITS");
    }
}
