package io.keelson.server.mission.submission;

import io.keelson.core.money.Amounts;
import io.keelson.core.run.Reply;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.UUID;

/** The outcome of {@link RunSubmission#submit}. All but {@link Submitted} changed nothing. */
public sealed interface SubmissionResult {

    /** The run was created, now or by an earlier submission under the same idempotency key. */
    record Submitted(UUID run) implements SubmissionResult {}

    /** A run with this external id exists, and the mission asks for that run in this case; or a run with the same id. */
    record Existing(UUID run) implements SubmissionResult {}

    /** A run with this external id exists, and the mission does not accept it. */
    record ExternalIdTaken(UUID run) implements SubmissionResult {}

    /** @param needed more credits than the workspace has available */
    record InsufficientCredits(BigDecimal needed) implements SubmissionResult {

        public String message() {
            return "the workspace has fewer than the " + Amounts.credits(needed)
                    + " that the run needs";
        }
    }

    /**
     * The workspace is at one of its limits.
     *
     * @param code the error code
     * @param limit the limit's name
     * @param retryAfter the earliest time at which a retry can succeed
     */
    record LimitReached(String code, String limit, String message, Duration retryAfter)
            implements SubmissionResult, AdmissionControl.Admission {}

    /** The engine refused the command. */
    record Rejected(Reply.Rejected reply) implements SubmissionResult {}
}
