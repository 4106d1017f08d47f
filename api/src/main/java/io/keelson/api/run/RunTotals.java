package io.keelson.api.run;

import java.math.BigDecimal;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Counts, durations and charges of runs, in groups.
 *
 * @param items the largest group first
 * @param complete whether all runs that match are counted
 */
public record RunTotals(List<Group> items, boolean complete) {

    /**
     * A group of runs.
     *
     * @param key a state, the id of a recipe, a code, or the hour in which the runs were created; null if absent
     * @param count number of runs
     * @param open runs that have not ended
     * @param completed completed runs
     * @param failed failed runs
     * @param durationMsP50 maximum duration of half of the runs with a duration
     * @param durationMsP95 maximum duration of 95 % of the runs with a duration
     * @param creditsCharged charges in credits
     */
    public record Group(@Nullable String key, int count, int open, int completed, int failed,
            @Nullable Long durationMsP50, @Nullable Long durationMsP95, BigDecimal creditsCharged) {}
}
