package io.keelson.core.decide;

import io.keelson.core.decide.RunRow.Gate;
import io.keelson.core.lifecycle.AgentState;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.plan.FailureRules;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import io.keelson.core.run.RunPayload;
import io.keelson.core.run.TimerKind;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Asks for a new plan of a failing run. The planner's work is an ordinary task. The evaluator checks its answer outside
 * the committing threads; {@link PlanAnswers} makes it the plan's next version.
 */
final class Replanning {
    private static final int MANY_TASKS = 10;

    private Replanning() {}

    /** Whether the failures require a new plan: more than half of the agents, or more than ten tasks. */
    static boolean isRequired(Decision d, AgentRow failing) {
        if (!possible(d) || d.run.gate != Gate.NONE) {
            return false;
        }
        long agents = d.view.agents.stream().filter(agent -> !agent.system()).count();
        long failed = d.view.agents.stream().filter(agent -> !agent.system())
                .filter(agent -> agent == failing || agent.failing || agent.state == AgentState.FAILED).count();
        return 2 * failed > agents || d.run.tasksFailed + 1 > MANY_TASKS;
    }

    static boolean possible(Decision d) {
        FailureRules rules = d.run.policy().failures();
        return rules.planner() != null && d.run.replans < rules.maxReplans() && !d.run.failing;
    }

    /** A person requests a new plan. */
    static Reply request(Decision d, Command.Replan command) {
        if (!d.carriedOut()) {
            return RunActions.forbidden(d, "re-plan");
        }
        if (underWay(d)) {
            return Reply.UNCHANGED;
        }
        if (!possible(d)) {
            return Reply.rejected(d.run.policy().failures().planner() == null ? "NO_PLANNER" : "REPLANS_EXHAUSTED",
                    d.run.policy().failures().planner() == null ? "the run has no planner"
                            : "the run has used all " + d.run.policy().failures().maxReplans() + " re-plannings");
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

    /** @param requestedBy the person who requested it; null for the failure policy */
    static void begin(Decision d, String reason, @Nullable String requestedBy) {
        StepSpec planner = Objects.requireNonNull(d.run.policy().failures().planner());
        if (d.view.evaluatingOutput) {
            d.view.evaluatingOutput = false;
            d.disarm(TimerKind.EVALUATE_RUN_OUTPUT, d.run.id());
        }
        d.run.replans++;
        d.run.gate = Gate.REPLANNING;
        d.note(new RunPayload.Replanning(d.run.replans, reason, requestedBy));
        TaskRow task = PlanRows.addSystemTask(d, SystemTasks.planning(planner, d.run.attempt, d.run.replans,
                requestedBy == null ? null : reason));
        TaskMoves.queue(d, task);
    }

    /** The planner has answered: has its answer checked. */
    static void checkAnswer(Decision d) {
        d.view.evaluatingPlan = true;
        d.evaluate(TimerKind.EVALUATE_PLAN, d.run.id());
    }

    /** Whether the planner has answered and no check of the answer is in progress. */
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
