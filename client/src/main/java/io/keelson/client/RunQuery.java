package io.keelson.client;

import org.jspecify.annotations.Nullable;

/**
 * Which runs to list, newest first.
 *
 * @param state only runs in this state; null for all
 * @param stateType only runs of this type of state; null for all
 * @param externalId only the run with this external id; null for all
 * @param cursor where to go on, from {@link Page#nextCursor()}; null for the beginning
 * @param limit at most so many; null for the server's default
 */
public record RunQuery(@Nullable String state, @Nullable String stateType, @Nullable String externalId,
        @Nullable String cursor, @Nullable Integer limit) {

    public static RunQuery all() {
        return new RunQuery(null, null, null, null, null);
    }

    public RunQuery state(String value) {
        return new RunQuery(value, stateType, externalId, cursor, limit);
    }

    public RunQuery stateType(String value) {
        return new RunQuery(state, value, externalId, cursor, limit);
    }

    public RunQuery externalId(String value) {
        return new RunQuery(state, stateType, value, cursor, limit);
    }

    public RunQuery from(@Nullable String value) {
        return new RunQuery(state, stateType, externalId, value, limit);
    }

    public RunQuery limit(int value) {
        return new RunQuery(state, stateType, externalId, cursor, value);
    }
}
