package io.keelson.core.run;

import io.keelson.core.lifecycle.ActorType;
import io.keelson.core.lifecycle.EventType;
import io.keelson.core.plan.RunsOn;
import io.keelson.core.plan.TaskType;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Payloads of events about a task. */
public sealed interface TaskPayload extends Payload {

    @Override
    default EventType type() {
        return switch (this) {
            case Created _ -> EventType.TASK_CREATED;
            case Carried _ -> EventType.TASK_CARRIED;
            case Queued _ -> EventType.TASK_QUEUED;
            case Assigned _ -> EventType.TASK_ASSIGNED;
            case Requeued _ -> EventType.TASK_REQUEUED;
            case Started _ -> EventType.TASK_STARTED;
            case Continuing _ -> EventType.TASK_CONTINUING;
            case Resumed _ -> EventType.TASK_RESUMED;
            case RoundCompleted _ -> EventType.TASK_ROUND_COMPLETED;
            case OutputSubmitted _ -> EventType.TASK_OUTPUT_SUBMITTED;
            case VerificationStarted _ -> EventType.TASK_VERIFICATION_STARTED;
            case VerificationPassed _ -> EventType.TASK_VERIFICATION_PASSED;
            case RungReached _ -> EventType.TASK_RUNG_REACHED;
            case VerificationSkipped _ -> EventType.TASK_VERIFICATION_SKIPPED;
            case VerificationFailed _ -> EventType.TASK_VERIFICATION_FAILED;
            case HumanReviewRequested _ -> EventType.TASK_HUMAN_REVIEW_REQUESTED;
            case HumanApproved _ -> EventType.TASK_HUMAN_APPROVED;
            case HumanRejected _ -> EventType.TASK_HUMAN_REJECTED;
            case Retrying _ -> EventType.TASK_RETRYING;
            case RetryRequested _ -> EventType.TASK_RETRY_REQUESTED;
            case Crashed _ -> EventType.TASK_CRASHED;
            case Completed _ -> EventType.TASK_COMPLETED;
            case Failed _ -> EventType.TASK_FAILED;
            case Skipped _ -> EventType.TASK_SKIPPED;
            case Cancelled _ -> EventType.TASK_CANCELLED;
        };
    }

    record Created(TaskType taskType, String triggerRule, List<UUID> dependsOn, @Nullable UUID replaces,
            @Nullable String group) implements TaskPayload {
        @Override
        public void write(Members to) {
            to.put("task_type", taskType.wire()).put("trigger_rule", triggerRule).put("depends_on", dependsOn)
                    .put("replaces", replaces).put("group", group);
        }
    }

    record Carried(TaskType taskType, String triggerRule, List<UUID> dependsOn) implements TaskPayload {
        @Override
        public void write(Members to) {
            to.put("task_type", taskType.wire()).put("trigger_rule", triggerRule).put("depends_on", dependsOn);
        }
    }

    record Queued(@Nullable UUID unblockedBy) implements TaskPayload {
        @Override
        public void write(Members to) {
            to.put("unblocked_by", unblockedBy);
        }
    }

    record Assigned(@Nullable Integer agentId, @Nullable String agentType, @Nullable String model,
            @Nullable UUID boardTaskId, @Nullable String agent, @Nullable List<String> tools,
            @Nullable List<String> candidates, @Nullable RunsOn runsOn, @Nullable String worker)
            implements TaskPayload {
        @Override
        public void write(Members to) {
            to.put("agent_id", agentId).put("agent_type", agentType).put("model", model)
                    .put("board_task_id", boardTaskId).put("agent", agent).put("tools", tools)
                    .put("candidates", candidates).put("runs_on", runsOn == null ? null : runsOn.wire())
                    .put("worker", worker);
        }
    }

    record Requeued() implements TaskPayload {}

    record Started(int attemptNumber, @Nullable Integer items, @Nullable String worker) implements TaskPayload {
        @Override
        public void write(Members to) {
            to.put("attempt_number", attemptNumber).put("items", items).put("worker", worker);
        }

        @Override
        public @Nullable Actor actor() {
            return worker == null ? null : Actor.agent(worker);
        }
    }

    record Continuing(int continuationCount, long tokensThisTurn) implements TaskPayload {
        @Override
        public void write(Members to) {
            to.put("continuation_count", continuationCount).put("tokens_this_turn", tokensThisTurn);
        }
    }

    record Resumed(int continuationCount) implements TaskPayload {
        @Override
        public void write(Members to) {
            to.put("continuation_count", continuationCount);
        }
    }

    /**
     * @param roundTaskId the round's task; null for a group, of whose tasks the numbers are the sums
     * @param attempts of a group: of the task with the most
     * @param until whether the condition that ends the rounds holds
     * @param nextRunAt when the next round begins; null if none follows
     */
    record RoundCompleted(int round, @Nullable UUID roundTaskId, int attempts, long tokens, BigDecimal cost,
            boolean until,
            @Nullable Instant nextRunAt) implements TaskPayload {
        @Override
        public void write(Members to) {
            to.put("round", round).put("round_task_id", roundTaskId).put("attempts", attempts).put("tokens", tokens)
                    .put("cost", cost).put("until", until).put("next_run_at", nextRunAt);
        }
    }

    record OutputSubmitted(@Nullable String outputRef, int outputSummaryLength, long tokensUsed, int verifiers)
            implements TaskPayload {
        @Override
        public void write(Members to) {
            to.put("output_ref", outputRef).put("output_summary_length", outputSummaryLength)
                    .put("tokens_used", tokensUsed).put("verifiers", verifiers);
        }
    }

    record VerificationStarted(String verifierAgentId, @Nullable String verifierModel) implements TaskPayload {
        @Override
        public void write(Members to) {
            to.put("verifier_agent_id", verifierAgentId).put("verifier_model", verifierModel);
        }

        @Override
        public Actor actor() {
            return new Actor(ActorType.VERIFIER, verifierAgentId);
        }
    }

    record VerificationPassed(@Nullable BigDecimal score, @Nullable String verifierFeedback, long tokens,
            BigDecimal cost) implements TaskPayload {
        @Override
        public void write(Members to) {
            to.put("score", score).put("verifier_feedback", verifierFeedback).put("tokens", tokens).put("cost", cost);
        }
    }

    record RungReached(int rung, String to, boolean taken, @Nullable String agent, @Nullable String model,
            BigDecimal cost, String errorCode) implements TaskPayload {
        @Override
        public void write(Members to) {
            to.put("rung", rung).put("to", this.to).put("taken", taken).put("agent", agent).put("model", model)
                    .put("cost", cost).put("error_code", errorCode);
        }
    }

    record VerificationSkipped(String verifierAgentId, String verifierModel, String reason) implements TaskPayload {
        @Override
        public void write(Members to) {
            to.put("verifier_agent_id", verifierAgentId).put("verifier_model", verifierModel).put("reason", reason);
        }
    }

    record VerificationFailed(@Nullable BigDecimal score, @Nullable String verifierFeedback, int retriesRemaining,
            Failure cause) implements TaskPayload {
        @Override
        public void write(Members to) {
            to.put("score", score).put("verifier_feedback", verifierFeedback).put("retries_remaining", retriesRemaining)
                    .all(cause);
        }
    }

    record HumanReviewRequested(String reason, @Nullable BigDecimal score, int gate, @Nullable String feedback)
            implements TaskPayload {
        @Override
        public void write(Members to) {
            to.put("reason", reason).put("score", score).put("gate", gate).put("feedback", feedback);
        }
    }

    record HumanApproved(String approvedBy, @Nullable String reason, long tokens, BigDecimal cost)
            implements TaskPayload {
        @Override
        public void write(Members to) {
            to.put("approved_by", approvedBy).put("reason", reason).put("tokens", tokens).put("cost", cost);
        }
    }

    record HumanRejected(String rejectedBy, @Nullable String reason, int retriesRemaining) implements TaskPayload {
        @Override
        public void write(Members to) {
            to.put("rejected_by", rejectedBy).put("reason", reason).put("retries_remaining", retriesRemaining);
        }
    }

    record Retrying(int attemptNumber, double backoffSeconds, String failureType, Failure cause)
            implements TaskPayload {
        @Override
        public void write(Members to) {
            to.put("attempt_number", attemptNumber).put("backoff_seconds", backoffSeconds)
                    .put("failure_type", failureType).all(cause);
        }
    }

    record RetryRequested(String requestedBy, String reason) implements TaskPayload {
        @Override
        public void write(Members to) {
            to.put("requested_by", requestedBy).put("reason", reason);
        }
    }

    record Crashed(String errorType, String errorMessage, long durationMs, String errorCode) implements TaskPayload {
        @Override
        public void write(Members to) {
            to.put("error_type", errorType).put("error_message", errorMessage).put("duration_ms", durationMs)
                    .put("error_code", errorCode);
        }
    }

    record Completed(long tokens, BigDecimal cost) implements TaskPayload {
        @Override
        public void write(Members to) {
            to.put("tokens", tokens).put("cost", cost);
        }
    }

    record Failed(int totalAttempts, BigDecimal totalCost, Failure cause, boolean failureIgnored)
            implements TaskPayload {
        @Override
        public void write(Members to) {
            to.put("total_attempts", totalAttempts).put("total_cost", totalCost).all(cause).flag("failure_ignored",
                    failureIgnored);
        }
    }

    /** @param failure the ignored failure in its work; null where nothing in it failed */
    record Skipped(String skippedBecause, @Nullable UUID failedDependencyId, String reason, @Nullable String skippedBy,
            @Nullable UUID ticketId, PayloadPart.@Nullable Cause failure) implements TaskPayload {
        @Override
        public void write(Members to) {
            to.put("skipped_because", skippedBecause).put("failed_dependency_id", failedDependencyId)
                    .put("reason", reason).put("skipped_by", skippedBy).put("ticket_id", ticketId)
                    .all(failure).flag("failure_ignored", failure != null);
        }

        @Override
        public boolean requested() {
            return skippedBy != null;
        }
    }

    record Cancelled(String cancelledBy, @Nullable String reason, boolean requested) implements TaskPayload {
        @Override
        public void write(Members to) {
            to.put("cancelled_by", cancelledBy).put("reason", reason).flag("requested", requested);
        }

        @Override
        public boolean requested() {
            return requested;
        }
    }
}
