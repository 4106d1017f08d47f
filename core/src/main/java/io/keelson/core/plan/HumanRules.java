package io.keelson.core.plan;

import java.time.Duration;
import java.util.Locale;

/**
 * A run's requirements of people besides its plan's gate.
 *
 * @param accept true when a person must accept the run's result before it is completed
 * @param timeout how long a gate or a ticket waits before {@code onTimeout}
 * @param autonomy who approves its plan
 * @param approvals people who have to approve each of its questions, from 1
 * @param fourEyes true when the submitter of the run does not approve
 */
public record HumanRules(boolean accept, Duration timeout, OnTimeout onTimeout, Autonomy autonomy, int approvals,
        boolean fourEyes) {

    public static final HumanRules DEFAULT = new HumanRules(false, Duration.ofHours(24), OnTimeout.REMIND);

    /** Rules of a run whose plan needs no approval. */
    public HumanRules(boolean accept, Duration timeout, OnTimeout onTimeout) {
        this(accept, timeout, onTimeout, Autonomy.AUTONOMOUS);
    }

    /** Rules of a run whose questions one person decides. */
    public HumanRules(boolean accept, Duration timeout, OnTimeout onTimeout, Autonomy autonomy) {
        this(accept, timeout, onTimeout, autonomy, 1, false);
    }

    /**
     * A copy that is at least so strict.
     *
     * @param people who have to approve each question
     * @param others true when the submitter of the run does not approve
     */
    public HumanRules atLeast(int people, boolean others) {
        return people <= approvals && (fourEyes || !others) ? this
                : new HumanRules(accept, timeout, onTimeout, autonomy, Math.max(people, approvals), fourEyes || others);
    }

    /** The reaction to a missing answer. */
    public enum OnTimeout {
        /** The severity rises, people are notified again, and the wait continues. */
        REMIND,
        /** Counts as a rejection. */
        FAIL,
        /** Counts as an approval. */
        APPROVE;

        private final String wire = name().toLowerCase(Locale.ROOT);

        public String wire() {
            return wire;
        }

        /** The rule of that name; {@link IllegalArgumentException} when there is none. */
        public static OnTimeout of(String wire) {
            return valueOf(wire.toUpperCase(Locale.ROOT));
        }
    }
}
