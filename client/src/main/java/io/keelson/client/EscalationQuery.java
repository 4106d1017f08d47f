package io.keelson.client;

import org.jspecify.annotations.Nullable;

/**
 * Which tickets to list, newest first.
 *
 * @param runId only those of this run; null for all
 * @param state {@code open} or {@code resolved}; null for both
 * @param cursor the start of the page, from {@link Page#nextCursor()}; null for the beginning
 * @param limit at most so many; null for the server's default
 */
public record EscalationQuery(@Nullable String runId, @Nullable String state, @Nullable String cursor,
        @Nullable Integer limit) {

    public static EscalationQuery all() {
        return new EscalationQuery(null, null, null, null);
    }

    /** Those that wait for an answer. */
    public static EscalationQuery open() {
        return new EscalationQuery(null, "open", null, null);
    }

    public EscalationQuery run(String value) {
        return new EscalationQuery(value, state, cursor, limit);
    }

    public EscalationQuery from(@Nullable String value) {
        return new EscalationQuery(runId, state, value, limit);
    }

    public EscalationQuery limit(int value) {
        return new EscalationQuery(runId, state, cursor, value);
    }
}
