package io.keelson.core.plan;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A step of a run's ladder: the reaction to a task whose own retries are used up, or the other model of a retry.
 *
 * @param agent who does the task from now on; null where the rung changes no agent, or there is no other
 * @param turn its turn, under a name of its own; null as {@code agent}
 */
public record Rung(To to, @Nullable AgentTerms agent, @Nullable StepSpec turn) {

    /** Kinds of rungs. */
    public enum To {
        /** Another model from the next retry on, while the task has retries. */
        RETRY, AGENT, MODEL, REPLAN, HUMAN, FAIL;

        private final String wire = name().toLowerCase(Locale.ROOT);

        /** The name in JSON. */
        public String wire() {
            return wire;
        }
    }
}
