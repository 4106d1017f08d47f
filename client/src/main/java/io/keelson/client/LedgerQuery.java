package io.keelson.client;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Which entries of the ledger.
 *
 * @param type {@code grant}, {@code reserve}, {@code charge}, {@code refund} or {@code adjustment}; null for all
 * @param from inclusive; null for the beginning
 * @param to exclusive; null for no end
 * @param cursor the start of the page, from {@link Page#nextCursor()}; null for the beginning
 * @param limit at most so many; null for the server's default
 */
public record LedgerQuery(@Nullable String type, @Nullable Instant from, @Nullable Instant to,
        @Nullable String cursor, @Nullable Integer limit) {

    /** No filter. */
    public static LedgerQuery all() {
        return new LedgerQuery(null, null, null, null, null);
    }

    /** Only this type of transfer, such as {@code charge}; null for all. */
    public LedgerQuery type(@Nullable String value) {
        return new LedgerQuery(value, from, to, cursor, limit);
    }

    /** Selects entries of a period: from the first instant, before the second; null for no bound. */
    public LedgerQuery between(@Nullable Instant first, @Nullable Instant end) {
        return new LedgerQuery(type, first, end, cursor, limit);
    }

    /** Begins at a {@link Page#nextCursor()}; null for the first page. */
    public LedgerQuery after(@Nullable String value) {
        return new LedgerQuery(type, from, to, value, limit);
    }

    /** Maximum rows of a page; null for the default of the server. */
    public LedgerQuery limit(@Nullable Integer value) {
        return new LedgerQuery(type, from, to, cursor, value);
    }
}
