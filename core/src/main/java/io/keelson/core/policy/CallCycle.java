package io.keelson.core.policy;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Calls of an agent that repeat in turn, such as a, b, a, b. {@link Repetition} bounds equal calls; a cycle has the bounds of equal
 * results.
 *
 * @param period number of calls that repeat together, from 2 to {@link #LONGEST}
 * @param times how often they were made in a row
 */
public record CallCycle(int period, int times) {
    private static final int LONGEST = 4;

    /** Number of latest calls that a cycle is found in. */
    public static final int WINDOW = LONGEST * Repetition.RESULT.most();

    /**
     * A call's tool, input and end: equal for calls that repeat each other.
     *
     * @param result fingerprint of its result; null where it has none
     * @param errorCode of a call without a result; null where it has none
     * @return null for a call whose end is unknown, which repeats none
     */
    public static @Nullable String signature(@Nullable String callEffect, @Nullable Object result,
            @Nullable String errorCode) {
        String end = result != null ? "=" + result : errorCode != null ? "!" + errorCode : null;
        return end == null ? null : Repetition.content(callEffect) + end;
    }

    /**
     * The cycle that the latest calls are in; null while there is none that the agent is notified of.
     *
     * @param calls signatures, the latest last; {@link #WINDOW} of them are enough
     */
    public static @Nullable CallCycle of(List<@Nullable String> calls) {
        for (int period = 2; period <= LONGEST; period++) {
            CallCycle cycle = new CallCycle(period, times(calls, period));
            if (Repetition.RESULT.notices(cycle.times)) {
                return cycle;
            }
        }
        return null;
    }

    private static int times(List<@Nullable String> calls, int period) {
        int at = calls.size() - 1;
        while (at >= period && calls.get(at) != null && Objects.equals(calls.get(at), calls.get(at - period))) {
            at--;
        }
        return (calls.size() - 1 - at + period) / period;
    }

    /** The notice to the agent. */
    public String notice() {
        return "these " + period + " calls in turn have had the same ends " + times
                + " times in a row; the task fails at " + Repetition.RESULT.most();
    }

    /** True when it ends its task. */
    public boolean ends() {
        return Repetition.RESULT.ends(times);
    }
}
