package io.keelson.core.run;

import io.keelson.core.lifecycle.EventType;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Payloads of events about a run. */
public sealed interface RunPayload extends Payload {

    /** The approver without a gate. */
    String AUTO = "auto";

    @Override
    default EventType type() {
        return switch (this) {
            case Created _ -> EventType.RUN_CREATED;
            case Queued _ -> EventType.RUN_QUEUED;
            case PlanningStarted _ -> EventType.RUN_PLANNING_STARTED;
            case PlanningRefused _ -> EventType.RUN_PLANNING_REFUSED;
            case PlanReady _ -> EventType.RUN_PLAN_READY;
            case Approved _ -> EventType.RUN_APPROVED;
            case Rejected _ -> EventType.RUN_REJECTED;
            case Started _ -> EventType.RUN_STARTED;
            case Paused _ -> EventType.RUN_PAUSED;
            case Resuming _ -> EventType.RUN_RESUMING;
            case Resumed _ -> EventType.RUN_RESUMED;
            case BudgetWarning _ -> EventType.RUN_BUDGET_WARNING;
            case BudgetThreshold _ -> EventType.RUN_BUDGET_THRESHOLD;
            case VerificationShare _ -> EventType.RUN_VERIFICATION_SHARE;
            case Downgraded _ -> EventType.RUN_DOWNGRADED;
            case Finishing _ -> EventType.RUN_FINISHING;
            case BudgetExceeded _ -> EventType.RUN_BUDGET_EXCEEDED;
            case BudgetChanged _ -> EventType.RUN_BUDGET_CHANGED;
            case BudgetApproved _ -> EventType.RUN_BUDGET_APPROVED;
            case BudgetIncreased _ -> EventType.RUN_BUDGET_INCREASED;
            case CreditsExtended _ -> EventType.RUN_CREDITS_EXTENDED;
            case AcceptanceRequested _ -> EventType.RUN_ACCEPTANCE_REQUESTED;
            case Accepted _ -> EventType.RUN_ACCEPTED;
            case Escalated _ -> EventType.RUN_ESCALATED;
            case Replanning _ -> EventType.RUN_REPLANNING;
            case Replanned _ -> EventType.RUN_REPLANNED;
            case ReplanFailed _ -> EventType.RUN_REPLAN_FAILED;
            case Completed _ -> EventType.RUN_COMPLETED;
            case Skipped _ -> EventType.RUN_SKIPPED;
            case Failed _ -> EventType.RUN_FAILED;
            case Cancelled _ -> EventType.RUN_CANCELLED;
            case Retrying _ -> EventType.RUN_RETRYING;
            case UndoRequested _ -> EventType.RUN_UNDO_REQUESTED;
            case UndoStarted _ -> EventType.RUN_UNDO_STARTED;
            case UndoRefused _ -> EventType.RUN_UNDO_REFUSED;
            case UndoEnded _ -> EventType.RUN_UNDO_ENDED;
        };
    }

    record Created(String name, String goal, Map<String, Object> configSummary, String autonomyLevel, String trigger,
            @Nullable Instant startAt) implements RunPayload {
        @Override
        public void write(Members to) {
            to.put("name", name).put("goal", goal).put("config_summary", configSummary)
                    .put("autonomy_level", autonomyLevel).put("trigger", trigger).put("start_at", startAt);
        }
    }

    record Queued(BigDecimal creditsReserved) implements RunPayload {
        @Override
        public void write(Members to) {
            to.put("credits_reserved", creditsReserved);
        }
    }

    record PlanningStarted(@Nullable String coordinatorModel) implements RunPayload {
        @Override
        public void write(Members to) {
            to.put("coordinator_model", coordinatorModel);
        }
    }

    record PlanningRefused(int number, String errorCode, String errorMessage) implements RunPayload {
        @Override
        public void write(Members to) {
            to.put("number", number).put("error_code", errorCode).put("error_message", errorMessage);
        }
    }

    record PlanReady(int taskCount, BigDecimal estimatedCost, String strategy, int planVersion,
            @Nullable BigDecimal autoApproveThreshold) implements RunPayload {
        @Override
        public void write(Members to) {
            to.put("task_count", taskCount).put("estimated_cost", estimatedCost).put("strategy", strategy)
                    .put("plan_version", planVersion).put("auto_approve_threshold", autoApproveThreshold);
        }
    }

    record Approved(String approvedBy, List<String> modifications, @Nullable String reason) implements RunPayload {
        @Override
        public void write(Members to) {
            to.put("approved_by", approvedBy).put("modifications", modifications).put("reason", reason);
        }

        @Override
        public @Nullable Actor actor() {
            return approvedBy.equals(AUTO) ? Actor.COORDINATOR : null;
        }
    }

    record Rejected(String rejectedBy, @Nullable String reason) implements RunPayload {
        @Override
        public void write(Members to) {
            to.put("rejected_by", rejectedBy).put("reason", reason);
        }
    }

    record Started() implements RunPayload {}

    record Paused(String pausedBy, @Nullable String reason) implements RunPayload {
        @Override
        public void write(Members to) {
            to.put("paused_by", pausedBy).put("reason", reason);
        }

        @Override
        public @Nullable Actor actor() {
            return pausedBy.equals(Actor.SYSTEM.name()) ? Actor.SYSTEM : null;
        }
    }

    record Resuming(String resumedBy) implements RunPayload {
        @Override
        public void write(Members to) {
            to.put("resumed_by", resumedBy);
        }
    }

    /** @param begins whether the run is running for the first time in its attempt */
    record Resumed(String resumedBy, boolean begins) implements RunPayload {
        @Override
        public void write(Members to) {
            to.put("resumed_by", resumedBy).flag("begins", begins);
        }
    }

    record BudgetWarning(BigDecimal currentCost, BigDecimal softLimit, double percentUsed, BigDecimal charged,
            BigDecimal warnAt, @Nullable BigDecimal hardLimit) implements RunPayload {
        @Override
        public void write(Members to) {
            to.put("current_cost", currentCost).put("soft_limit", softLimit).put("percent_used", percentUsed)
                    .put("charged", charged).put("warn_at", warnAt).put("hard_limit", hardLimit);
        }
    }

    /** @param charged of the run, and of its children that have ended */
    record BudgetThreshold(int percent, BigDecimal charged, BigDecimal hardLimit) implements RunPayload {
        @Override
        public void write(Members to) {
            to.put("percent", percent).put("charged", charged).put("hard_limit", hardLimit);
        }
    }

    /** @param model that takes all further turns of agents */
    record Downgraded(String model, String downgradedBy) implements RunPayload {
        @Override
        public void write(Members to) {
            to.put("model", model).put("downgraded_by", downgradedBy);
        }
    }

    record Finishing(String decidedBy) implements RunPayload {
        @Override
        public void write(Members to) {
            to.put("decided_by", decidedBy);
        }
    }

    /** @param percent of the total cost */
    record VerificationShare(double percent, BigDecimal verificationCost, BigDecimal totalCost) implements RunPayload {
        @Override
        public void write(Members to) {
            to.put("percent", percent).put("verification_cost", verificationCost).put("total_cost", totalCost);
        }
    }

    /** @param tasks whose budgets stopped the run; null where its own limit or missing credits did */
    record BudgetExceeded(BigDecimal currentCost, @Nullable BigDecimal hardLimit, String reason, BigDecimal charged,
            BigDecimal uncollected, @Nullable List<TaskCost> tasks) implements RunPayload {
        @Override
        public void write(Members to) {
            to.put("current_cost", currentCost).put("hard_limit", hardLimit).put("reason", reason)
                    .put("charged", charged).put("uncollected", uncollected)
                    .put("tasks", tasks == null ? null : tasks.stream().map(TaskCost::members).toList());
        }
    }

    /**
     * The cost of a task beside its budget, in credits.
     *
     * @param task id in the plan
     * @param used charges of its steps, and of the runs that they started
     */
    record TaskCost(String task, BigDecimal used, BigDecimal budget) {
        Map<String, Object> members() {
            Map<String, Object> members = new LinkedHashMap<>();
            members.put("task", task);
            members.put("used", used.toPlainString());
            members.put("budget", budget.toPlainString());
            return members;
        }
    }

    /** @param tasks new budgets of tasks, by the tasks' ids in the plan; null if absent */
    record BudgetChanged(@Nullable BigDecimal hardLimit, @Nullable BigDecimal softLimit,
            @Nullable Map<String, BigDecimal> tasks) implements RunPayload {
        @Override
        public void write(Members to) {
            to.put("hard_limit", hardLimit).put("soft_limit", softLimit);
            if (tasks != null) {
                Map<String, Object> budgets = new TreeMap<>();
                tasks.forEach((task, budget) -> budgets.put(task, budget.toPlainString()));
                to.put("tasks", budgets);
            }
        }
    }

    /**
     * @param way how the run continues: {@code resume} with its limits as they were, {@code raise}, {@code downgrade} or
     *            {@code finish_current}
     * @param hardLimit that was given with a raise; null if absent
     * @param model of a downgrade; null for other ways
     */
    record BudgetApproved(String approvedBy, @Nullable String reason, String way, @Nullable BigDecimal hardLimit,
            @Nullable String model) implements RunPayload {
        @Override
        public void write(Members to) {
            to.put("approved_by", approvedBy).put("reason", reason).put("way", way).put("hard_limit", hardLimit)
                    .put("model", model);
        }
    }

    record BudgetIncreased(@Nullable BigDecimal oldLimit, @Nullable BigDecimal newLimit, String increasedBy)
            implements RunPayload {
        @Override
        public void write(Members to) {
            to.put("old_limit", oldLimit).put("new_limit", newLimit).put("increased_by", increasedBy);
        }
    }

    record CreditsExtended(BigDecimal amount, BigDecimal creditsReserved) implements RunPayload {
        @Override
        public void write(Members to) {
            to.put("amount", amount).put("credits_reserved", creditsReserved);
        }
    }

    record AcceptanceRequested() implements RunPayload {}

    record Accepted(String acceptedBy, @Nullable String reason) implements RunPayload {
        @Override
        public void write(Members to) {
            to.put("accepted_by", acceptedBy).put("reason", reason);
        }
    }

    record Escalated(UUID ticketId, String reason, String message) implements RunPayload {
        @Override
        public void write(Members to) {
            to.put("ticket_id", ticketId).put("reason", reason).put("message", message);
        }
    }

    record Replanning(int number, String reason, @Nullable String requestedBy) implements RunPayload {
        @Override
        public void write(Members to) {
            to.put("number", number).put("reason", reason).put("requested_by", requestedBy);
        }

        @Override
        public boolean requested() {
            return requestedBy != null;
        }
    }

    record Replanned(int planVersion, int kept, int tasks) implements RunPayload {
        @Override
        public void write(Members to) {
            to.put("plan_version", planVersion).put("kept", kept).put("tasks", tasks);
        }
    }

    record ReplanFailed(String errorCode, String errorMessage) implements RunPayload {
        @Override
        public void write(Members to) {
            to.put("error_code", errorCode).put("error_message", errorMessage);
        }
    }

    record Completed(Totals totals, @Nullable Settled credits) implements RunPayload {
        @Override
        public void write(Members to) {
            to.all(totals).all(credits);
        }
    }

    record Skipped(Totals totals, @Nullable Settled credits) implements RunPayload {
        @Override
        public void write(Members to) {
            to.all(totals).all(credits);
        }
    }

    record Failed(String reason, @Nullable UUID failingTaskId, BigDecimal totalCost, String errorCode,
            String errorMessage, @Nullable String failedBy, @Nullable String rejectedBy, @Nullable Settled credits)
            implements RunPayload {
        @Override
        public void write(Members to) {
            to.put("reason", reason).put("failing_task_id", failingTaskId).put("total_cost", totalCost)
                    .put("error_code", errorCode).put("error_message", errorMessage).put("failed_by", failedBy)
                    .put("rejected_by", rejectedBy).all(credits);
        }

        @Override
        public boolean requested() {
            return failedBy != null || rejectedBy != null;
        }
    }

    record Cancelled(String cancelledBy, int tasksRemaining, String reason, @Nullable Settled credits)
            implements RunPayload {
        @Override
        public void write(Members to) {
            to.put("cancelled_by", cancelledBy).put("tasks_remaining", tasksRemaining).put("reason", reason)
                    .all(credits);
        }
    }

    record Retrying(int attemptNumber, int carried, @Nullable Schedule schedule) implements RunPayload {
        @Override
        public void write(Members to) {
            to.put("attempt_number", attemptNumber).put("carried", carried).all(schedule);
        }

        @Override
        public @Nullable Actor actor() {
            return schedule == null ? null : Actor.SYSTEM;
        }
    }

    record UndoRequested(String requestedBy, @Nullable String reason) implements RunPayload {
        @Override
        public void write(Members to) {
            to.put("requested_by", requestedBy).put("reason", reason);
        }
    }

    record UndoStarted(UUID undoRunId, int tasks) implements RunPayload {
        @Override
        public void write(Members to) {
            to.put("undo_run_id", undoRunId).put("tasks", tasks);
        }
    }

    record UndoRefused(String errorCode, String errorMessage) implements RunPayload {
        @Override
        public void write(Members to) {
            to.put("error_code", errorCode).put("error_message", errorMessage);
        }
    }

    /** @param undoRunId null where there was nothing to undo */
    record UndoEnded(String state, @Nullable UUID undoRunId, int undone, int byHand, int notDone, int notUndone)
            implements RunPayload {
        @Override
        public void write(Members to) {
            to.put("state", state).put("undo_run_id", undoRunId).put("undone", undone).put("by_hand", byHand)
                    .put("not_done", notDone).put("not_undone", notUndone);
        }
    }
}
