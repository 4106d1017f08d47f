package io.keelson.core.decide;

import io.keelson.core.decide.RunRow.Gate;
import io.keelson.core.decide.TicketRow.Kind;
import io.keelson.core.decide.TicketRow.Severity;
import io.keelson.core.lifecycle.AgentState;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.FailureRules;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import io.keelson.core.run.RunPayload;
import io.keelson.core.run.StepError;
import io.keelson.core.run.TimerKind;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Makes a new plan for a failing run. The planner's work is an ordinary task. The evaluator
 * checks its answer outside the committing threads; it becomes the plan's next version.
 */
final class Replanning {
    /** The error of a valid plan whose models have no price, which a planner cannot fix. */
    static final String NO_PRICE = "NO_PRICE";
    private static final int MANY_TASKS = 10;

    private Replanning() {}

    /** Whether the failures require a new plan: more than half of the agents, or more than ten tasks. */
    static boolean wanted(Decision d, AgentRow failing) {
        if (!possible(d) || d.run.gate != Gate.NONE) {
            return false;
        }
        long agents = d.view.agents.stream().filter(agent -> !agent.system()).count();
        long failed = d.view.agents.stream().filter(agent -> !agent.system())
                .filter(agent -> agent == failing || agent.failing || agent.state == AgentState.FAILED).count();
        return 2 * failed > agents || d.run.tasksFailed + 1 > MANY_TASKS;
    }

    private static boolean possible(Decision d) {
        FailureRules rules = d.run.policy().failures();
        return rules.planner() != null && d.run.replans < rules.maxReplans() && !d.run.failing;
    }

    /** A human requests a new plan. */
    static Reply ask(Decision d, Command.Replan command) {
        if (!d.carriedOut()) {
            return Decider.forbidden(d.run.state, "re-plan");
        }
        if (underWay(d)) {
            return Reply.UNCHANGED;
        }
        if (!possible(d)) {
            return Reply.rejected(d.run.policy().failures().planner() == null ? "NO_PLANNER" : "REPLANS_EXHAUSTED",
                    d.run.policy().failures().planner() == null ? "the run has no planner"
                            : "the run has had all of its " + d.run.policy().failures().maxReplans() + " re-plannings");
        }
        if (d.run.gate == Gate.ACCEPTANCE) {
            d.disarm(TimerKind.HUMAN, d.run.id());
        }
        begin(d, command.reason() == null ? "asked for" : command.reason(), d.by());
        return Reply.CHANGED;
    }

    static void begin(Decision d, String reason) {
        begin(d, reason, null);
    }

    /** @param requestedBy the human who requested it; null for the failure policy */
    private static void begin(Decision d, String reason, @Nullable String requestedBy) {
        StepSpec planner = Objects.requireNonNull(d.run.policy().failures().planner());
        if (d.view.evaluatingOutput) {
            d.view.evaluatingOutput = false;
            d.disarm(TimerKind.EVALUATE_RUN_OUTPUT, d.run.id());
        }
        d.run.replans++;
        d.run.gate = Gate.REPLANNING;
        d.note(new RunPayload.Replanning(d.run.replans, reason, requestedBy));
        TaskRow task = Planning.addSystemTask(d, SystemTasks.planning(planner, d.run.attempt, d.run.replans));
        Completion.queue(d, task);
    }

    /** The planner's task has ended. */
    static void ended(Decision d, TaskRow task) {
        if (task.state == TaskState.COMPLETED && d.atWork()) {
            answered(d);
        } else if (task.state != TaskState.COMPLETED) {
            refused(d, new StepError(Objects.requireNonNullElse(task.errorCode, "REPLAN_ABANDONED"),
                    ErrorClass.QUALITY, Objects.requireNonNullElse(task.errorMessage, "the planner did not end")));
        }
    }

    /** The planner has answered: has its answer checked. */
    static void answered(Decision d) {
        d.view.evaluatingPlan = true;
        d.evaluate(TimerKind.EVALUATE_PLAN, d.run.id());
    }

    /** The planner's answer is checked. */
    static void planned(Decision d, Command.Evaluation.Planned answer) {
        if (FirstPlan.underWay(d)) {
            FirstPlan.planned(d, answer);
            return;
        }
        if (d.run.failing) {
            d.run.gate = Gate.NONE;
            Completion.judgeAll(d);
            return;
        }
        if (d.run.gate == Gate.REPLANNING && d.run.policy().failures().approveReplans()) {
            ask(d, "replan_approval", null, "a new plan wants approval, its tasks: " + answer.plan().tasks().size());
            return;
        }
        d.run.gate = Gate.NONE;
        d.run.planVersion++;
        d.view.plan = answer.plan();
        d.changes.plan(d.run, answer.json());
        forgive(d);
        Map<String, Integer> generations = Planning.generations(d);
        Set<String> kept = new HashSet<>();
        for (TaskRow task : List.copyOf(d.view.tasks.values())) {
            TaskRow whole = task.group() == null ? task : task.group();
            if (task.system() || whole.state == TaskState.COMPLETED) {
                kept.add(task.key());
            } else {
                Completion.drop(d, task);
            }
        }
        CompletionCounters.forgetSuperseded(d.view);
        d.note(new RunPayload.Replanned(d.run.planVersion, kept.size(), answer.plan().tasks().size()));
        Planning.spawnMissing(d, answer.plan(), generations);
        SlotScheduling.letOthers(d);
        Completion.judgeAll(d);
        d.view.agents.forEach(agent -> Completion.end(d, agent));
        Completion.settle(d);
    }

    /** Asks a human about the new plan, once. */
    private static void ask(Decision d, String reason, @Nullable String errorCode, String message) {
        if (d.view.tickets.values().stream().noneMatch(ticket -> ticket.kind() == Kind.REPLAN_APPROVAL)) {
            Tickets.open(d, new TicketRow(d.ids.next(), Kind.REPLAN_APPROVAL, d.run.attempt, null, null,
                    Severity.MEDIUM, reason, errorCode, message, d.now));
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
        if (error.code().equals(NO_PRICE) && !FirstPlan.underWay(d) && !d.run.failing) {
            d.run.gate = Gate.REPLANNING;
            ask(d, "no_price", NO_PRICE, error.message());
            return;
        }
        d.view.tasks.values().stream().filter(SystemTasks::plans).max(Comparator.comparing(TaskRow::sequence))
                .ifPresent(task -> {
                    task.errorCode = error.code();
                    task.errorMessage = error.message();
                    task.errorClass = error.errorClass().wire();
                    d.changes.touch(task);
                });
        refused(d, error);
    }

    /** No valid plan: retries while there are tries, else propagates the failure. */
    static void refused(Decision d, StepError error) {
        if (FirstPlan.underWay(d)) {
            FirstPlan.refused(d, error);
            return;
        }
        d.run.gate = Gate.NONE;
        if (d.run.failing) {
            Completion.judgeAll(d);
            return;
        }
        d.note(new RunPayload.ReplanFailed(error.code(), error.message()));
        if (possible(d)) {
            begin(d, "the last plan was no plan: " + error.message());
            return;
        }
        Propagation.failWhatFailed(d, error);
    }

    /** True when the planner's answer exists and no check of it is in progress. */
    static boolean plannerIsDone(Decision d) {
        return underWay(d) && !d.view.evaluatingPlan
                && d.view.tickets.isEmpty() && d.run.state == RunState.RUNNING
                && d.view.tasks.values().stream().noneMatch(task -> SystemTasks.plans(task) && !task.terminal());
    }

    /** True while nothing of the current plan may begin. */
    static boolean holds(Decision d, TaskRow task) {
        return underWay(d) && !task.system();
    }

    /**
     * True from the request of a new plan until it is in place or refused; failures in that time are the planner's,
     * too.
     */
    static boolean underWay(Decision d) {
        return d.run.gate == Gate.REPLANNING || d.run.gate == Gate.REPLAN_APPROVED;
    }
}
