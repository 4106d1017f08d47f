package io.keelson.core.run;

import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Which version of workers gets the steps of a tool.
 *
 * @param current of all runs outside the ramp
 * @param ramping version that gets a part of the runs; null if absent
 * @param percent of the runs that get the ramping version, 1 to 100; 0 without one
 * @param pinned whether a run stays with the version of its first claim of the tool
 */
public record VersionRule(String current, @Nullable String ramping, int percent, boolean pinned) {
    /** The version of a worker that announces no version. */
    public static final String UNVERSIONED = "unversioned";
    /** The number of equal parts of all runs; a ramping version gets the first parts. */
    public static final int BUCKETS = 100;

    private static final long LOW_BITS = 0xffff_ffffL;

    /** The part of the runs that a run belongs to: from 0, always the same one, equally many runs in each. */
    public static int bucket(UUID run) {
        return (int) ((run.getLeastSignificantBits() & LOW_BITS) % BUCKETS);
    }

    /** The version for runs of this part that are not pinned. */
    public String target(int bucket) {
        return ramping != null && bucket < percent ? ramping : current;
    }

    /** The version for a run that is not pinned. */
    public String target(UUID run) {
        return target(bucket(run));
    }
}
