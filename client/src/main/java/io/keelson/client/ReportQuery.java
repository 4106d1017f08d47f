package io.keelson.client;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Which reports, newest first.
 *
 * @param from inclusive
 * @param to exclusive
 * @param cursor the start of the page; null for the newest
 * @param limit at most so many; null for the server's default
 */
public record ReportQuery(@Nullable String runId, @Nullable String type, @Nullable String agent,
        @Nullable Instant from, @Nullable Instant to, @Nullable String cursor, @Nullable Integer limit) {

    /** No filter. */
    public static ReportQuery all() {
        return new ReportQuery(null, null, null, null, null, null, null);
    }

    /** Selects reports of this run. */
    public ReportQuery run(String value) {
        return new ReportQuery(value, type, agent, from, to, cursor, limit);
    }

    /** Only this type, such as {@code incident}. */
    public ReportQuery type(String value) {
        return new ReportQuery(runId, value, agent, from, to, cursor, limit);
    }

    /** Selects reports of this agent. */
    public ReportQuery agent(String value) {
        return new ReportQuery(runId, type, value, from, to, cursor, limit);
    }

    /** Selects reports of a period: from the first instant, before the second; null for no bound. */
    public ReportQuery between(@Nullable Instant begin, @Nullable Instant end) {
        return new ReportQuery(runId, type, agent, begin, end, cursor, limit);
    }

    /** Begins at a {@link Page#nextCursor()}; null for the first page. */
    public ReportQuery from(@Nullable String value) {
        return new ReportQuery(runId, type, agent, from, to, value, limit);
    }

    /** Maximum rows of a page. */
    public ReportQuery limit(int value) {
        return new ReportQuery(runId, type, agent, from, to, cursor, value);
    }
}
