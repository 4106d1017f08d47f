package io.keelson.core.plan;

import io.keelson.core.money.Amounts;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A task or a group of tasks that is done in rounds until the output of one meets a condition. Each round is a task of its own, or
 * has a task of its own for each of the group.
 *
 * @param until an expression over the output of a round; true ends the rounds
 * @param max maximum number of rounds, from 1
 * @param delay between the end of a round and the beginning of the next one
 * @param budget no further round begins once the rounds have cost that amount, in credits; null for no limit
 * @param keep number of ended rounds whose tasks and steps stay, from 1; an earlier round is one row
 * @param after the round of another run after which the task begins; null to begin with round 1
 * @param tasks names of the group's tasks, whose ids in the plan are the group's, a point and the name; empty for a task
 */
public record Repeat(String until, int max, Duration delay, @Nullable BigDecimal budget, int keep,
        @Nullable After after, List<String> tasks) {
    /** Defaults of {@link #max} and {@link #keep}. */
    public static final int DEFAULT_ROUNDS = 50;
    public static final int DEFAULT_KEPT = 20;

    /**
     * A round of another run.
     *
     * @param round its number, from 1
     * @param output JSON text; {@code null} without an output
     */
    public record After(int round, String output) {}

    public Repeat {
        budget = budget == null ? null : Amounts.of(budget);
        tasks = tasks == null ? List.of() : List.copyOf(tasks);
    }

    /** Rounds of a task. */
    public Repeat(String until, int max, Duration delay, @Nullable BigDecimal budget, int keep,
            @Nullable After after) {
        this(until, max, delay, budget, keep, after, List.of());
    }

    /** Rounds that begin with round 1. */
    public Repeat(String until, int max, Duration delay, @Nullable BigDecimal budget, int keep) {
        this(until, max, delay, budget, keep, null);
    }

    /** Number of the first round. */
    public int first() {
        return after == null ? 1 : after.round() + 1;
    }

    /** Rounds of a group with tasks of these names. */
    public Repeat of(List<String> names) {
        return new Repeat(until, max, delay, budget, keep, after, names);
    }
}
