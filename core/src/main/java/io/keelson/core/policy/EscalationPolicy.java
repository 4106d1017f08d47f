package io.keelson.core.policy;

import java.time.Duration;

/**
 * When the failure policy asks for a person.
 *
 * @param enabled whether a burst of errors or an overlong backoff asks for one
 * @param onExhausted whether an exhausted budget asks for one instead of failing what failed
 * @param window how far back errors of the run are counted
 * @param errorThreshold more errors than this in the window escalate
 * @param errorRate a greater share of failed calls than this escalates, once there were {@link #MIN_CALLS}; 0 to 1
 */
public record EscalationPolicy(boolean enabled, boolean onExhausted, Duration window, int errorThreshold,
        double errorRate) {

    /** Minimum number of calls for a rate. */
    public static final int MIN_CALLS = 10;

    public static final EscalationPolicy DEFAULT = new EscalationPolicy(true, false, Duration.ofSeconds(300), 5, 0.5);
    public static final EscalationPolicy OFF = new EscalationPolicy(false, false, Duration.ofSeconds(300), 5, 0.5);
}
