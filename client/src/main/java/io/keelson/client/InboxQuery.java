package io.keelson.client;

import org.jspecify.annotations.Nullable;

/**
 * Which items to list, due first, then oldest.
 *
 * @param kind only those of this kind; null for all
 * @param runId only those of this run; null for all
 * @param assignee only items of this principal; {@code @me} is the caller, {@code @none} selects unassigned items,
 *     null all
 * @param overdue only what is past its due time
 * @param cursor the start of the page, from {@link Page#nextCursor()}; null for the beginning
 * @param limit at most so many; null for the server's default
 */
public record InboxQuery(@Nullable String kind, @Nullable String runId, @Nullable String assignee, boolean overdue,
        @Nullable String cursor, @Nullable Integer limit) {

    public static InboxQuery all() {
        return new InboxQuery(null, null, null, false, null, null);
    }

    public InboxQuery kind(@Nullable String value) {
        return new InboxQuery(value, runId, assignee, overdue, cursor, limit);
    }

    public InboxQuery run(@Nullable String value) {
        return new InboxQuery(kind, value, assignee, overdue, cursor, limit);
    }

    public InboxQuery assignee(@Nullable String value) {
        return new InboxQuery(kind, runId, value, overdue, cursor, limit);
    }

    public InboxQuery overdue(boolean value) {
        return new InboxQuery(kind, runId, assignee, value, cursor, limit);
    }

    public InboxQuery from(@Nullable String value) {
        return new InboxQuery(kind, runId, assignee, overdue, value, limit);
    }

    public InboxQuery limit(int value) {
        return new InboxQuery(kind, runId, assignee, overdue, cursor, value);
    }
}
