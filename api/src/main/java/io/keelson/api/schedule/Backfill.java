package io.keelson.api.schedule;

import io.keelson.api.Shape.Request;
import java.time.Instant;

/**
 * Requests runs for the times of a past period.
 *
 * @param from earliest time (inclusive)
 * @param to latest time (inclusive)
 */
@Request
public record Backfill(Instant from, Instant to) {

    /**
     * The answer.
     *
     * @param times number of times in the period
     */
    public record Result(int times) {}
}
