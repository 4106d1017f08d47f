package io.keelson.core.decide;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A worker's lease of a lane, as the row of the queue has it. The row stays as it is while consecutive steps pass to the same worker, up to a
 * tenth of the lease and {@link #LONGEST}. So the recorded end of the lease leaves nine tenths to each of these steps. The recorded
 * deadline precedes that of the step by {@link #LONGEST} at most, which is less than the grace after a deadline.
 *
 * @param tool of the row
 * @param length of the lease without a heartbeat
 * @param deadline of the row
 */
public record LaneLease(String tool, Duration length, Instant deadline) {
    static final Duration LONGEST = Duration.ofSeconds(2);
    private static final int PARTS = 10;

    /** The lease of a row; null if it has none, or one of an executor of a node. */
    public static @Nullable LaneLease of(String tool, @Nullable Duration length, @Nullable Instant deadline) {
        return length == null || deadline == null ? null : new LaneLease(tool, length, deadline);
    }

    /**
     * Whether the lease is also that of a next step of the lane.
     *
     * @param timeout of the steps that it has had so far
     */
    boolean covers(String nextTool, Duration nextTimeout, Duration nextLength, Duration timeout, Instant now) {
        Duration age = Duration.between(deadline.minus(timeout), now);
        return nextTool.equals(tool) && nextLength.equals(length) && nextTimeout.equals(timeout) && !age.isNegative()
                && age.compareTo(LONGEST) <= 0 && age.compareTo(length.dividedBy(PARTS)) <= 0;
    }

    /** The end of the lease if no heartbeat has extended it; {@code timeout} is that of its steps. */
    Instant end(Duration timeout) {
        return deadline.minus(timeout).plus(length);
    }
}
