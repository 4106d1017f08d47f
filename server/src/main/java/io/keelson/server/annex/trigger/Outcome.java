package io.keelson.server.annex.trigger;

import io.keelson.server.annex.trigger.DeliveryRow.State;
import java.time.Duration;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The outcome of an attempt to decide a delivery.
 *
 * @param run its run; null if it has none yet
 * @param code why it has no run; null if it has one
 * @param message as text for people; null without a code
 * @param delay until the next attempt, for a delivery that stays pending
 * @param failed whether the attempt counts as a failure
 */
record Outcome(State state, @Nullable UUID run, @Nullable String code, @Nullable String message, Duration delay,
        boolean failed) {

    private static final int MAX_FAILURES = 8;

    static Outcome started(UUID run) {
        return new Outcome(State.STARTED, run, null, null, Duration.ZERO, false);
    }

    /** Its signal was sent. */
    static Outcome ofSignal(UUID run) {
        return new Outcome(State.SIGNALLED, run, null, null, Duration.ZERO, false);
    }

    /** It is part of the run of another delivery. */
    static Outcome merged(UUID run) {
        return new Outcome(State.MERGED, run, null, null, Duration.ZERO, false);
    }

    /** A rule of the trigger gives it no run. */
    static Outcome dropped(String code, String message) {
        return new Outcome(State.DROPPED, null, code, message, Duration.ZERO, false);
    }

    /** Its inputs fit no run. */
    static Outcome refusal(String code, String message) {
        return new Outcome(State.REFUSED, null, code, message, Duration.ZERO, false);
    }

    /** It waits without a failure. */
    static Outcome postponed(String code, String message, Duration delay) {
        return new Outcome(State.PENDING, null, code, message, delay, false);
    }

    /**
     * An attempt has failed; the last one ends the attempts.
     *
     * @param failures before this one
     */
    static Outcome failure(int failures, String code, String message) {
        if (failures + 1 >= MAX_FAILURES) {
            return new Outcome(State.DEAD, null, code, message, Duration.ZERO, true);
        }
        return new Outcome(State.PENDING, null, code, message, Duration.ofSeconds(1L << failures), true);
    }

    UUID runOr(UUID before) {
        return run == null ? before : run;
    }
}
