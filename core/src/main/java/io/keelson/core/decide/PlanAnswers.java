package io.keelson.core.decide;

import io.keelson.core.decide.RunRow.Gate;
import io.keelson.core.decide.TicketRow.Kind;
import io.keelson.core.decide.TicketRow.Severity;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.Models;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Command;
import io.keelson.core.run.Command.Evaluation.Planned;
import io.keelson.core.run.RunPayload;
import io.keelson.core.run.StepError;
import java.math.BigDecimal;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Puts planners' answers in place or refuses them. */
final class PlanAnswers {
    private static final String ABOVE_BUDGET = "ESTIMATE_ABOVE_BUDGET";

    private PlanAnswers() {}

    /** The planner's answer is a valid plan: it is executed, or waits for a person if its estimate requires that. */
    private static void firstPlan(Decision d, Planned answer) {
        Planned.Terms terms = answer.terms();
        BigDecimal estimate = terms.budget().estimate(d.funds.prices());
        BigDecimal limit = terms.budget().hardLimit();
        if (limit != null && estimate.compareTo(limit) > 0 && modelPlans(d)) {
            broken(d, new StepError("PLAN_INVALID", ErrorClass.QUALITY, "/plan/tasks: the estimated cost "
                    + estimate.stripTrailingZeros().toPlainString() + " is above the budget "
                    + limit.stripTrailingZeros().toPlainString() + " (" + ABOVE_BUDGET + ")"));
            return;
        }
        d.run.gate = RunRow.Gate.NONE;
        d.run.replans = 0;
        d.run.planVersion = answer.plan().version();
        d.view.plan = answer.plan();
        d.changes.plan(d.run, answer.json());
        PlanRows.spawnMissing(d, answer.plan(), Map.of());
        PlanRows.hooks(d, Map.of());
        Credits.provideFor(d, estimate);
        Planning.open(d, new RunPayload.PlanReady(answer.plan().tasks().size(), estimate.stripTrailingZeros(),
                answer.plan().strategy(), d.run.planVersion,
                terms.threshold() == null ? null : terms.threshold().stripTrailingZeros()),
                terms.requiresApproval(estimate));
    }

    /** Whether a model of the server plans, whose estimates the engine computes. */
    private static boolean modelPlans(Decision d) {
        StepSpec planner = d.run.policy().failures().planner();
        return planner != null && planner.tool().equals(Models.PLAN_TOOL);
    }

    /** The planner's task has ended without an answer. */
    static void missing(Decision d, TaskRow planner) {
        retryOrPropagate(d, new StepError(Objects.requireNonNullElse(planner.errorCode, "REPLAN_ABANDONED"),
                ErrorClass.QUALITY, Objects.requireNonNullElse(planner.errorMessage, "the planner did not end")));
    }

    /** The planner's answer is checked. */
    static void planned(Decision d, Command.Evaluation.Planned answer) {
        if (d.planning()) {
            firstPlan(d, answer);
            return;
        }
        if (d.run.failing) {
            d.run.gate = Gate.NONE;
            Completion.judgeAll(d);
            return;
        }
        if (d.run.gate == Gate.REPLANNING && d.run.policy().failures().approveReplans()) {
            requestApproval(d, "replan_approval", null, "a new plan waits for approval");
            return;
        }
        d.run.gate = Gate.NONE;
        forgive(d);
        Map<String, Integer> generations = PlanRows.generations(d);
        Set<String> kept = replaceTasks(d, answer);
        d.note(new RunPayload.Replanned(d.run.planVersion, kept.size(), answer.plan().tasks().size()));
        PlanRows.spawnMissing(d, answer.plan(), generations);
        SlotScheduling.letOthers(d);
        Completion.judgeAll(d);
        d.view.agents.forEach(agent -> Completion.end(d, agent));
        Completion.settle(d);
    }

    /** A person replaces the plan that waits for approval. */
    static void edited(Decision d, Planned answer) {
        Map<String, Integer> generations = PlanRows.generations(d);
        replaceTasks(d, answer);
        PlanRows.spawnMissing(d, answer.plan(), generations);
        Credits.provideFor(d, answer.terms().budget().estimate(d.funds.prices()));
    }

    /**
     * Makes the plan the next version, and drops the old plan's tasks that have not completed.
     *
     * @return keys of the tasks that stay
     */
    private static Set<String> replaceTasks(Decision d, Planned answer) {
        d.run.planVersion++;
        d.view.plan = answer.plan();
        d.changes.plan(d.run, answer.json());
        Set<String> kept = new HashSet<>();
        for (TaskRow task : List.copyOf(d.view.tasks.values())) {
            TaskRow whole = task.group() == null ? task : task.group();
            if (task.system() || whole.state == TaskState.COMPLETED) {
                kept.add(task.key());
            } else {
                TaskMoves.drop(d, task);
            }
        }
        CompletionCounters.forgetSuperseded(d.view);
        return kept;
    }

    /** Asks a person about the new plan, once. */
    private static void requestApproval(Decision d, String reason, @Nullable String errorCode, String message) {
        if (d.view.tickets.values().stream().noneMatch(ticket -> ticket.kind() == Kind.REPLAN_APPROVAL)) {
            Tickets.open(d, new TicketRow(d.ids.next(), Kind.REPLAN_APPROVAL, d.run.attempt, null, null,
                    Severity.MEDIUM, reason, errorCode, null, message, d.now));
        }
    }

    /** Forgives earlier failures, which the new plan replaces. */
    private static void forgive(Decision d) {
        d.run.errorCode = null;
        d.run.errorMessage = null;
        for (AgentRow agent : d.view.agents) {
            agent.failing = false;
            d.changes.touch(agent);
        }
    }

    /** The planner's answer is no valid plan: stores the problems with its task, for the next try. */
    static void broken(Decision d, StepError error) {
        if (error.code().equals(FirstPlan.NO_PRICE) && !d.planning() && !d.run.failing) {
            d.run.gate = Gate.REPLANNING;
            requestApproval(d, "no_price", FirstPlan.NO_PRICE, error.message());
            return;
        }
        d.view.tasks.values().stream().filter(SystemTasks::plans).max(Comparator.comparing(TaskRow::sequence))
                .ifPresent(task -> {
                    task.errorCode = error.code();
                    task.errorMessage = error.message();
                    task.errorClass = error.errorClass().wire();
                    d.changes.touch(task);
                });
        retryOrPropagate(d, error);
    }

    /** No valid plan: retries while there are tries, else propagates the failure. */
    static void retryOrPropagate(Decision d, StepError error) {
        if (d.planning()) {
            FirstPlan.retryOrFail(d, error);
            return;
        }
        d.run.gate = Gate.NONE;
        if (d.run.failing) {
            Completion.judgeAll(d);
            return;
        }
        d.note(new RunPayload.ReplanFailed(error.code(), error.message()));
        if (Replanning.possible(d)) {
            Replanning.begin(d, "the last plan was no plan: " + error.message());
            return;
        }
        Propagation.failWhatFailed(d, error);
    }
}
