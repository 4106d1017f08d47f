package io.keelson.client;

import org.jspecify.annotations.Nullable;

/**
 * A filter of proposals, which are listed newest first.
 *
 * @param state selects proposals in this state; null for all
 * @param runId selects proposals of this run; null for all
 * @param cursor the start of the page, from {@link Page#nextCursor()}; null for the beginning
 * @param limit maximum number; null for the server's default
 */
public record ProposalQuery(@Nullable String state, @Nullable String runId, @Nullable String cursor,
        @Nullable Integer limit) {

    /** No filter. */
    public static ProposalQuery all() {
        return new ProposalQuery(null, null, null, null);
    }

    /** Pending proposals. */
    public static ProposalQuery pending() {
        return new ProposalQuery("pending", null, null, null);
    }

    /** Selects proposals of this run; null for all. */
    public ProposalQuery run(@Nullable String value) {
        return new ProposalQuery(state, value, cursor, limit);
    }

    /** Begins at a {@link Page#nextCursor()}; null for the first page. */
    public ProposalQuery from(@Nullable String value) {
        return new ProposalQuery(state, runId, value, limit);
    }

    /** Maximum rows of a page. */
    public ProposalQuery limit(int value) {
        return new ProposalQuery(state, runId, cursor, value);
    }
}
