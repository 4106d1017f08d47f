package io.keelson.core.run;

import io.keelson.core.lifecycle.EventType;
import io.keelson.core.money.Tokens;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Payloads of events beyond the four lifecycles: tickets, signals, proposals, child runs, maintenance. */
public sealed interface OtherPayload extends Payload {

    /** The resolution of an unanswered ticket whose question is void. */
    String VOID = "void";

    @Override
    default EventType type() {
        return switch (this) {
            case EscalationOpened _ -> EventType.ESCALATION_OPENED;
            case EscalationReminded _ -> EventType.ESCALATION_REMINDED;
            case EscalationResolved _ -> EventType.ESCALATION_RESOLVED;
            case HumanReminded _ -> EventType.HUMAN_REMINDED;
            case ApprovalVoted _ -> EventType.APPROVAL_VOTED;
            case VoteWithdrawn _ -> EventType.APPROVAL_VOTE_WITHDRAWN;
            case SignalReceived _ -> EventType.SIGNAL_RECEIVED;
            case ProposalCreated _ -> EventType.PROPOSAL_CREATED;
            case ProposalAccepted _ -> EventType.PROPOSAL_ACCEPTED;
            case ProposalRejected _ -> EventType.PROPOSAL_REJECTED;
            case ProposalWithdrawn _ -> EventType.PROPOSAL_WITHDRAWN;
            case ChildRunStarted _ -> EventType.CHILD_RUN_STARTED;
            case ChildRunAllotted _ -> EventType.CHILD_RUN_ALLOTTED;
            case ChildRunEnded _ -> EventType.CHILD_RUN_ENDED;
            case CounterCorrected _ -> EventType.COUNTER_CORRECTED;
            case StallDetected _ -> EventType.STALL_DETECTED;
            case ModelFallback _ -> EventType.MODEL_FALLBACK;
            case ModelAnswerLost _ -> EventType.MODEL_ANSWER_LOST;
            case CostSnapshot _ -> EventType.COST_SNAPSHOT;
        };
    }

    record EscalationOpened(UUID ticketId, String kind, String severity, String reason, String message)
            implements OtherPayload {
        @Override
        public void write(Members to) {
            to.put("ticket_id", ticketId).put("kind", kind).put("severity", severity).put("reason", reason)
                    .put("message", message);
        }
    }

    record EscalationReminded(UUID ticketId, String severity) implements OtherPayload {
        @Override
        public void write(Members to) {
            to.put("ticket_id", ticketId).put("severity", severity);
        }
    }

    record EscalationResolved(UUID ticketId, String resolution, String resolvedBy, @Nullable String reason)
            implements OtherPayload {
        @Override
        public void write(Members to) {
            to.put("ticket_id", ticketId).put("resolution", resolution).put("resolved_by", resolvedBy).put("reason",
                    reason);
        }

        @Override
        public @Nullable Actor actor() {
            return resolution.equals(VOID) ? Actor.SYSTEM : null;
        }
    }

    record HumanReminded(String waitsFor) implements OtherPayload {
        @Override
        public void write(Members to) {
            to.put("waits_for", waitsFor);
        }
    }

    /**
     * @param subject the run, task, step, ticket or proposal that the question is about
     * @param given approvals of the same, this one included
     * @param digest SHA-256 of the approved content
     */
    record ApprovalVoted(String kind, UUID subject, String votedBy, int given, int required, String digest,
            @Nullable String reason) implements OtherPayload {
        @Override
        public void write(Members to) {
            to.put("kind", kind).put("subject", subject).put("voted_by", votedBy).put("given", given)
                    .put("required", required).put("digest", digest).put("reason", reason);
        }
    }

    record VoteWithdrawn(String kind, UUID subject, String withdrawnBy) implements OtherPayload {
        @Override
        public void write(Members to) {
            to.put("kind", kind).put("subject", subject).put("withdrawn_by", withdrawnBy);
        }
    }

    record SignalReceived(String signal, UUID signalId) implements OtherPayload {
        @Override
        public void write(Members to) {
            to.put("signal", signal).put("signal_id", signalId);
        }
    }

    record ProposalCreated(UUID proposalId, String title) implements OtherPayload {
        @Override
        public void write(Members to) {
            to.put("proposal_id", proposalId).put("title", title);
        }
    }

    record ProposalAccepted(UUID proposalId, String acceptedBy, @Nullable String reason) implements OtherPayload {
        @Override
        public void write(Members to) {
            to.put("proposal_id", proposalId).put("accepted_by", acceptedBy).put("reason", reason);
        }
    }

    record ProposalRejected(UUID proposalId, String rejectedBy, @Nullable String reason) implements OtherPayload {
        @Override
        public void write(Members to) {
            to.put("proposal_id", proposalId).put("rejected_by", rejectedBy).put("reason", reason);
        }
    }

    record ProposalWithdrawn(UUID proposalId, String withdrawnBy) implements OtherPayload {
        @Override
        public void write(Members to) {
            to.put("proposal_id", proposalId).put("withdrawn_by", withdrawnBy);
        }
    }

    record ChildRunStarted(UUID childRunId, String name, @Nullable BigDecimal allotment) implements OtherPayload {
        @Override
        public void write(Members to) {
            to.put("child_run_id", childRunId).put("name", name).put("allotment", allotment);
        }
    }

    record ChildRunAllotted(UUID childRunId, BigDecimal allotment) implements OtherPayload {
        @Override
        public void write(Members to) {
            to.put("child_run_id", childRunId).put("allotment", allotment);
        }
    }

    record ChildRunEnded(UUID childRunId, String childState, BigDecimal childCharged, long childTokens)
            implements OtherPayload {
        @Override
        public void write(Members to) {
            to.put("child_run_id", childRunId).put("child_state", childState).put("child_charged", childCharged)
                    .put("child_tokens", childTokens);
        }
    }

    record CounterCorrected(String counter, int was, int is) implements OtherPayload {
        @Override
        public void write(Members to) {
            to.put("counter", counter).put("was", was).put("is", is);
        }
    }

    record StallDetected(String entityType, UUID entityId, String stalledState, @Nullable Instant stalledSince,
            String actionTaken) implements OtherPayload {
        @Override
        public void write(Members to) {
            to.put("entity_type", entityType).put("entity_id", entityId).put("stalled_state", stalledState)
                    .put("stalled_since", stalledSince).put("action_taken", actionTaken);
        }
    }

    record ModelFallback(UUID taskId, String requestedModel, String fallbackModel, String reason)
            implements OtherPayload {
        @Override
        public void write(Members to) {
            to.put("task_id", taskId).put("requested_model", requestedModel).put("fallback_model", fallbackModel)
                    .put("reason", reason);
        }
    }

    /** @param estimatedCost of {@code tokens} in credits; null without a price; never charged */
    /** @param spent its charge; null where the step's event has it, and without a price */
    record ModelAnswerLost(int leaseEpoch, String model, String requestSha256, Instant sentAt, Tokens tokens,
            @Nullable BigDecimal estimatedCost, PayloadPart.@Nullable Spent spent) implements OtherPayload {
        @Override
        public void write(Members to) {
            to.put("lease_epoch", leaseEpoch).put("model", model).put("request_sha256", requestSha256)
                    .put("sent_at", sentAt).put("estimated_tokens", tokens.total())
                    .put("estimated_cost", estimatedCost).put("charged", spent == null ? null : spent.charged())
                    .put("uncollected", spent == null ? null : spent.uncollected());
        }
    }

    record CostSnapshot(UUID runId, BigDecimal totalCost, Tokens tokens, Map<String, Object> byTask)
            implements OtherPayload {
        @Override
        public void write(Members to) {
            to.put("run_id", runId).put("total_cost", totalCost).put("total_tokens", tokens.total())
                    .put("usage", tokens.none() ? null : tokens.members()).put("by_task", byTask);
        }
    }
}
