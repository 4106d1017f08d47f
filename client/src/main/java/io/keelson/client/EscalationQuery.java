package io.keelson.client;

import org.jspecify.annotations.Nullable;

/**
 * A filter of tickets, which are listed newest first.
 *
 * @param runId selects tickets of this run; null for all
 * @param state {@code open} or {@code resolved}; null for both
 * @param cursor the start of the page, from {@link Page#nextCursor()}; null for the beginning
 * @param limit maximum number; null for the server's default
 */
public record EscalationQuery(@Nullable String runId, @Nullable String state, @Nullable String cursor,
        @Nullable Integer limit) {

    /** No filter. */
    public static EscalationQuery all() {
        return new EscalationQuery(null, null, null, null);
    }

    /** Open tickets. */
    public static EscalationQuery open() {
        return new EscalationQuery(null, "open", null, null);
    }

    /** Selects tickets of this run. */
    public EscalationQuery run(String value) {
        return new EscalationQuery(value, state, cursor, limit);
    }

    /** Begins at a {@link Page#nextCursor()}; null for the first page. */
    public EscalationQuery from(@Nullable String value) {
        return new EscalationQuery(runId, state, value, limit);
    }

    /** Maximum rows of a page. */
    public EscalationQuery limit(int value) {
        return new EscalationQuery(runId, state, cursor, value);
    }
}
