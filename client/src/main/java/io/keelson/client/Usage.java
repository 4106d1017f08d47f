package io.keelson.client;

import io.keelson.api.money.TokenUsage;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Charges of a workspace within a period.
 *
 * @param by how it is divided: {@code day}, {@code hour}, {@code agent}, {@code model}, {@code tool}, {@code purpose},
 *     {@code run}, {@code task}, {@code recipe} or {@code schedule}
 * @param from inclusive
 * @param to exclusive
 * @param items days in order, others from the dearest
 * @param complete false when there are more items; the total covers them all the same
 */
public record Usage(String by, Instant from, Instant to, List<Line> items, Line total, boolean complete) {

    /** How a report is divided. */
    public enum By {
        DAY, HOUR, AGENT, MODEL, TOOL, PURPOSE, RUN, TASK, RECIPE, SCHEDULE
    }

    /**
     * One of the members before {@code credits} identifies the group, if known.
     *
     * @param day in UTC, {@code 2026-01-31}
     * @param hour its beginning in UTC
     * @param run an id
     * @param runName beside {@code run}
     * @param task a key
     * @param recipe an id
     * @param schedule an id
     * @param estimatedCredits the part of {@code credits} whose tokens are an upper bound, as no answer reported them
     * @param runs number of charged runs
     */
    public record Line(@Nullable String day, @Nullable String agent, @Nullable String model, @Nullable String tool,
            @Nullable String purpose, @Nullable String hour, @Nullable String run, @Nullable String runName,
            @Nullable String task, @Nullable String recipe, @Nullable String schedule, BigDecimal credits,
            BigDecimal estimatedCredits, long tokens, TokenUsage usage, long charges, long runs) {

        /** The subject of the sum, a run by its name; null if the charges have none. */
        public @Nullable String name() {
            return Stream.of(day, hour, agent, model, tool, purpose, runName, run, task, recipe, schedule)
                    .filter(Objects::nonNull).findFirst().orElse(null);
        }
    }

    public Usage {
        items = items == null ? List.of() : List.copyOf(items);
    }
}
