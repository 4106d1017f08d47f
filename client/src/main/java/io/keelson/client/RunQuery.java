package io.keelson.client;

import org.jspecify.annotations.Nullable;

/**
 * Which runs to list, newest first.
 *
 * @param cursor the start of the page, from {@link Page#nextCursor()}; null for the beginning
 * @param limit at most so many; null for the server's default
 * @param archived whether archived runs, instead of those in the database
 */
public record RunQuery(RunFilter filter, @Nullable String cursor, @Nullable Integer limit, boolean archived) {

    /** Runs in the database. */
    public RunQuery(RunFilter filter, @Nullable String cursor, @Nullable Integer limit) {
        this(filter, cursor, limit, false);
    }

    /** No filter. */
    public static RunQuery all() {
        return of(RunFilter.all());
    }

    /** The runs that match a filter. */
    public static RunQuery of(RunFilter filter) {
        return new RunQuery(filter, null, null);
    }

    /** Only this state. */
    public RunQuery state(String value) {
        return new RunQuery(filter.state(value), cursor, limit, archived);
    }

    /** Only this type of state. */
    public RunQuery stateType(String value) {
        return new RunQuery(filter.stateType(value), cursor, limit, archived);
    }

    /** Only the run with this external id. */
    public RunQuery externalId(String value) {
        return new RunQuery(filter.externalId(value), cursor, limit, archived);
    }

    /** Begins at a {@link Page#nextCursor()}; null for the first page. */
    public RunQuery from(@Nullable String value) {
        return new RunQuery(filter, value, limit, archived);
    }

    /** Maximum rows of a page. */
    public RunQuery limit(int value) {
        return new RunQuery(filter, cursor, value, archived);
    }

    /** Archived runs, instead of those in the database. */
    public RunQuery archived(boolean value) {
        return new RunQuery(filter, cursor, limit, value);
    }
}
