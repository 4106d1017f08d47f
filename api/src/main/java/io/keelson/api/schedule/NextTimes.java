package io.keelson.api.schedule;

import io.keelson.api.Shape.Id;
import java.time.Instant;
import java.util.List;

/**
 * The next times of a schedule, fewer than requested if it ends.
 *
 * @param items times without jitter, in their order
 */
public record NextTimes(List<Instant> items) {

    /**
     * The next times of all schedules in a period.
     *
     * @param from start of the period, inclusive
     * @param to end of the period, exclusive
     * @param items times in their order
     * @param complete false if there are more times in the period than requested
     */
    public record OfSchedules(Instant from, Instant to, List<Item> items, boolean complete) {}

    /**
     * A time of one of several schedules.
     *
     * @param scheduleId id of the schedule
     * @param name name of the schedule
     * @param at time without jitter
     */
    public record Item(@Id String scheduleId, String name, Instant at) {}
}
