package io.keelson.client.worker;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Why the server no longer wants the work on a step. */
public enum Stop {
    /** The limits of the run or the credits are used up. The handler's result or exception still counts. */
    BUDGET_EXCEEDED,
    /** A person or other work of the run has ended the step. */
    CANCELLED,
    /** The time of the step, its task or its run is over. */
    TIMED_OUT,
    /** The lease is not this worker's any more. */
    LOST;

    /** @param reason the server's code; an unknown or absent code means a lost lease */
    static Stop of(@Nullable String reason) {
        for (Stop stop : values()) {
            if (stop.name().toLowerCase(Locale.ROOT).equals(reason)) {
                return stop;
            }
        }
        return LOST;
    }
}
