package io.keelson.client;

import org.jspecify.annotations.Nullable;

/**
 * Which runs to list, newest first.
 *
 * @param cursor the start of the page, from {@link Page#nextCursor()}; null for the beginning
 * @param limit at most so many; null for the server's default
 */
public record RunQuery(RunFilter filter, @Nullable String cursor, @Nullable Integer limit) {

    public static RunQuery all() {
        return of(RunFilter.all());
    }

    public static RunQuery of(RunFilter filter) {
        return new RunQuery(filter, null, null);
    }

    public RunQuery state(String value) {
        return new RunQuery(filter.state(value), cursor, limit);
    }

    public RunQuery stateType(String value) {
        return new RunQuery(filter.stateType(value), cursor, limit);
    }

    public RunQuery externalId(String value) {
        return new RunQuery(filter.externalId(value), cursor, limit);
    }

    public RunQuery from(@Nullable String value) {
        return new RunQuery(filter, value, limit);
    }

    public RunQuery limit(int value) {
        return new RunQuery(filter, cursor, value);
    }
}
