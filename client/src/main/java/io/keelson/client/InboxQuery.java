package io.keelson.client;

import org.jspecify.annotations.Nullable;

/**
 * A filter of items, which are listed by due time, then oldest first.
 *
 * @param kind selects items of this kind; null for all
 * @param runId selects items of this run; null for all
 * @param assignee only items of this principal; {@code @me} is the caller, {@code @none} selects unassigned items, null
 *            all
 * @param overdue whether to list only overdue items
 * @param each whether to list each ticket; otherwise tickets of a run about the same failure are one item, the first of
 *            them
 * @param cursor the start of the page, from {@link Page#nextCursor()}; null for the beginning
 * @param limit maximum number; null for the server's default
 */
public record InboxQuery(@Nullable String kind, @Nullable String runId, @Nullable String assignee, boolean overdue,
        boolean each,
        @Nullable String cursor, @Nullable Integer limit) {

    /** No filter. */
    public static InboxQuery all() {
        return new InboxQuery(null, null, null, false, false, null, null);
    }

    /** Only this kind, such as {@code plan_approval}; null for all. */
    public InboxQuery kind(@Nullable String value) {
        return new InboxQuery(value, runId, assignee, overdue, each, cursor, limit);
    }

    /** Selects items of this run; null for all. */
    public InboxQuery run(@Nullable String value) {
        return new InboxQuery(kind, value, assignee, overdue, each, cursor, limit);
    }

    /** Selects items of this principal, {@code @me} or {@code @none}; null for all. */
    public InboxQuery assignee(@Nullable String value) {
        return new InboxQuery(kind, runId, value, overdue, each, cursor, limit);
    }

    /** Only those whose due time has passed, if true. */
    public InboxQuery overdue(boolean value) {
        return new InboxQuery(kind, runId, assignee, value, each, cursor, limit);
    }

    /** Each ticket, if true. */
    public InboxQuery each(boolean value) {
        return new InboxQuery(kind, runId, assignee, overdue, value, cursor, limit);
    }

    /** Begins at a {@link Page#nextCursor()}; null for the first page. */
    public InboxQuery from(@Nullable String value) {
        return new InboxQuery(kind, runId, assignee, overdue, each, value, limit);
    }

    /** Maximum rows of a page. */
    public InboxQuery limit(int value) {
        return new InboxQuery(kind, runId, assignee, overdue, each, cursor, value);
    }
}
