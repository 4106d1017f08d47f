package io.keelson.core.decide;

import java.time.Instant;
import java.util.Locale;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A question of a run to people, as its timer has it. The question is open exactly while the timer is armed.
 *
 * @param askedAt tells the question from an earlier one about the same row
 * @param dueAt when the answer is due by the run's rule; reminders leave it unchanged
 * @param cause equal for tickets about one failure, which one answer may close; null for others
 */
public record Question(Kind kind, UUID workspaceId, Instant askedAt, Instant dueAt, @Nullable String cause) {

    /** The rows that wait for a person by a timer. The server has further kinds of inbox items. */
    public enum Kind {
        /** A run's plan. */
        PLAN_APPROVAL,
        /** A run's result. */
        RESULT_ACCEPTANCE,
        /** A step of the kind {@code approval}. */
        APPROVAL_STEP,
        /** A call of an agent. */
        CALL_APPROVAL,
        /** A question of an agent. */
        QUESTION,
        /** A task's output. */
        TASK_REVIEW,
        /** A ticket. */
        ESCALATION;

        private final String wire = name().toLowerCase(Locale.ROOT);

        public String wire() {
            return wire;
        }
    }
}
