package io.keelson.server.mission.submission;

import io.keelson.core.money.Amounts;
import io.keelson.core.run.Reply;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.UUID;

/** The outcome of {@link RunSubmission#submit}. Only a created run is a change. */
public sealed interface SubmissionResult {

    /**
     * The mission has a run.
     *
     * @param created true if the run was created, now or by an earlier submission under the same idempotency key; false for a
     *                run that existed before and has the external id that the mission accepts, or the same id
     */
    record Submitted(UUID run, boolean created) implements SubmissionResult {}

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
