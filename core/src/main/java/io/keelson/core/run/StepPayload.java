package io.keelson.core.run;

import io.keelson.core.lifecycle.EventType;
import io.keelson.core.plan.ToolPolicy;
import io.keelson.core.policy.CallGate;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Payloads of events about a step. */
public sealed interface StepPayload extends Payload {

    @Override
    default EventType type() {
        return switch (this) {
            case Started _ -> EventType.STEP_STARTED;
            case Reclaimed _ -> EventType.STEP_RECLAIMED;
            case Waiting _ -> EventType.STEP_WAITING;
            case ApprovalRequested _ -> EventType.STEP_APPROVAL_REQUESTED;
            case Approved _ -> EventType.STEP_APPROVED;
            case Rejected _ -> EventType.STEP_REJECTED;
            case Completed _ -> EventType.STEP_COMPLETED;
            case ResultAwaited _ -> EventType.STEP_RESULT_AWAITED;
            case ResultReused _ -> EventType.STEP_RESULT_REUSED;
            case Retrying _ -> EventType.STEP_RETRYING;
            case RetryRequested _ -> EventType.STEP_RETRY_REQUESTED;
            case Failed _ -> EventType.STEP_FAILED;
            case Skipped _ -> EventType.STEP_SKIPPED;
            case Cancelled _ -> EventType.STEP_CANCELLED;
            case Released _ -> EventType.STEP_RELEASED;
            case Deferred _ -> EventType.STEP_DEFERRED;
            case Answered _ -> EventType.STEP_ANSWERED;
            case LeaseExpired _ -> EventType.STEP_LEASE_EXPIRED;
            case Unpriced _ -> EventType.STEP_UNPRICED;
            case HoldExceeded _ -> EventType.STEP_HOLD_EXCEEDED;
            case Charged _ -> EventType.STEP_CHARGED;
        };
    }

    record Started(int attempt, int leaseEpoch, String worker) implements StepPayload {
        @Override
        public void write(Members to) {
            to.put("attempt", attempt).put("lease_epoch", leaseEpoch).put("worker", worker);
        }

        @Override
        public Actor actor() {
            return Actor.agent(worker);
        }
    }

    record Reclaimed(int attempt, int leaseEpoch, String worker) implements StepPayload {
        @Override
        public void write(Members to) {
            to.put("attempt", attempt).put("lease_epoch", leaseEpoch).put("worker", worker);
        }

        @Override
        public Actor actor() {
            return Actor.agent(worker);
        }
    }

    record Waiting() implements StepPayload {}

    /** @param gate why a call of an agent waits; null for an approval of the plan */
    record ApprovalRequested(@Nullable CallGate gate) implements StepPayload {
        @Override
        public void write(Members to) {
            if (gate != null) {
                to.put("reason", gate.reason().wire()).put("detail",
                        gate.reason() == CallGate.Reason.QUESTION ? null : gate.detail());
            }
        }
    }

    record Approved(String approvedBy, @Nullable String reason) implements StepPayload {
        @Override
        public void write(Members to) {
            to.put("approved_by", approvedBy).put("reason", reason);
        }
    }

    record Rejected(@Nullable String rejectedBy, @Nullable String reason, String errorCode) implements StepPayload {
        @Override
        public void write(Members to) {
            to.put("rejected_by", rejectedBy).put("reason", reason).put("error_code", errorCode);
        }
    }

    record Completed(@Nullable Spent spent, @Nullable Waited waited) implements StepPayload {
        @Override
        public void write(Members to) {
            to.all(spent).all(waited);
        }
    }

    /**
     * @param sourceRunId that computes the result
     * @param sourceTaskId that computes the result
     * @param sourceStepId that computes the result
     * @param until when the step computes the result itself
     */
    record ResultAwaited(UUID sourceRunId, UUID sourceTaskId, UUID sourceStepId, Instant until) implements StepPayload {
        @Override
        public void write(Members to) {
            to.put("source_run_id", sourceRunId).put("source_task_id", sourceTaskId)
                    .put("source_step_id", sourceStepId).put("until", until);
        }
    }

    /**
     * @param sourceRunId that computed the result
     * @param sourceTaskId that computed the result
     * @param sourceStepId that computed the result
     */
    record ResultReused(UUID sourceRunId, UUID sourceTaskId, UUID sourceStepId) implements StepPayload {
        @Override
        public void write(Members to) {
            to.put("source_run_id", sourceRunId).put("source_task_id", sourceTaskId)
                    .put("source_step_id", sourceStepId);
        }
    }

    record Retrying(Failure cause, @Nullable Spent spent) implements StepPayload {
        @Override
        public void write(Members to) {
            to.all(cause).all(spent);
        }
    }

    record RetryRequested(String requestedBy, String reason) implements StepPayload {
        @Override
        public void write(Members to) {
            to.put("requested_by", requestedBy).put("reason", reason);
        }
    }

    record Failed(Failure cause, @Nullable Spent spent, @Nullable Waited waited, boolean failureIgnored)
            implements StepPayload {
        @Override
        public void write(Members to) {
            to.all(cause).all(spent).all(waited).flag("failure_ignored", failureIgnored);
        }
    }

    /** @param refusedBy level of the rule that refuses the tool; null for any other reason */
    record Skipped(String reason, @Nullable String tool, @Nullable String errorCode, @Nullable UUID ticketId,
            ToolPolicy.@Nullable Level refusedBy) implements StepPayload {

        /** A step skipped for a reason other than a rule about tools. */
        public Skipped(String reason, @Nullable String tool, @Nullable String errorCode, @Nullable UUID ticketId) {
            this(reason, tool, errorCode, ticketId, null);
        }

        @Override
        public void write(Members to) {
            to.put("reason", reason).put("tool", tool).put("error_code", errorCode).put("ticket_id", ticketId)
                    .put("refused_by", refusedBy == null ? null : refusedBy.wire());
        }

        @Override
        public boolean requested() {
            return ticketId != null;
        }
    }

    /** @param spent by a request to a model that was under way; null if absent */
    record Cancelled(PayloadPart.@Nullable Spent spent) implements StepPayload {
        @Override
        public void write(Members to) {
            to.all(spent);
        }
    }

    /** @param reason why a limit has refused a request of its program; null for any other end of the lease */
    record Released(int leaseEpoch, @Nullable String reason) implements StepPayload {
        @Override
        public void write(Members to) {
            to.put("lease_epoch", leaseEpoch).put("reason", reason);
        }
    }

    /** @param busy the busy system; null if absent */
    record Deferred(int leaseEpoch, Instant until, @Nullable String busy, String errorCode, String errorMessage)
            implements StepPayload {
        @Override
        public void write(Members to) {
            to.put("lease_epoch", leaseEpoch).put("until", until).put("busy", busy).put("error_code", errorCode)
                    .put("error_message", errorMessage);
        }
    }

    /** @param round counts the questions of its call, from 1 */
    record Answered(String answeredBy, int round) implements StepPayload {
        @Override
        public void write(Members to) {
            to.put("answered_by", answeredBy).put("round", round);
        }
    }

    record LeaseExpired(int leaseEpoch, String worker) implements StepPayload {
        @Override
        public void write(Members to) {
            to.put("lease_epoch", leaseEpoch).put("worker", worker);
        }
    }

    /** @param model null when none was named */
    record Unpriced(@Nullable String model, long tokens) implements StepPayload {
        @Override
        public void write(Members to) {
            to.put("model", model).put("tokens", tokens);
        }
    }

    /** Both in credits. */
    record HoldExceeded(BigDecimal cost, BigDecimal held) implements StepPayload {
        @Override
        public void write(Members to) {
            to.put("cost", cost).put("held", held);
        }
    }

    /** @param spent since the report before */
    record Charged(int leaseEpoch, Spent spent) implements StepPayload {
        @Override
        public void write(Members to) {
            to.put("lease_epoch", leaseEpoch).all(spent);
        }
    }
}
