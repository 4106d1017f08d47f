package io.keelson.client;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a workspace was charged within a time.
 *
 * @param by how it is divided: {@code day}, {@code agent}, {@code model}, {@code tool} or {@code purpose}
 * @param from inclusive
 * @param to exclusive
 * @param items days in order, others from the dearest
 * @param complete false when there are more items; the total covers them all the same
 */
public record Usage(String by, Instant from, Instant to, List<Line> items, Line total, boolean complete) {

    /** How a report is divided. */
    public enum By {
        DAY, AGENT, MODEL, TOOL, PURPOSE
    }

    /**
     * One of {@code day}, {@code agent}, {@code model}, {@code tool} and {@code purpose} says what it is about, where anything is known.
     *
     * @param day in UTC, {@code 2026-01-31}
     * @param runs how many runs were charged
     */
    public record Line(@Nullable String day, @Nullable String agent, @Nullable String model, @Nullable String tool,
            @Nullable String purpose, BigDecimal credits, long tokens, TokenUsage usage, long charges, long runs) {

        /** The day, agent, model, tool or purpose; null where the charge named none. */
        public @Nullable String name() {
            return day != null ? day : agent != null ? agent : model != null ? model : tool != null ? tool : purpose;
        }
    }

    public Usage {
        items = items == null ? List.of() : List.copyOf(items);
    }
}
