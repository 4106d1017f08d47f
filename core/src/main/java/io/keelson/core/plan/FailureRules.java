package io.keelson.core.plan;

import io.keelson.core.policy.EscalationPolicy;
import io.keelson.core.policy.FailureMode;
import io.keelson.core.policy.RetryPolicy;
import org.jspecify.annotations.Nullable;

/**
 * A run's reactions to failures.
 *
 * @param run how the run reacts to an agent that finally failed
 * @param agent how its agents react to a task that finally failed; null: agents named in the plan fail, and the run's
 *              default agent follows the run's mode
 * @param task retry policy of a whole task
 * @param level retry policy of a whole agent, and of the run in mode {@code retry}
 * @param runTries how many attempts the run may have by itself, the first included; a person may ask for further ones
 * @param planner the step that makes a new plan after failures; null: the run is never replanned
 * @param maxReplans maximum number of new plans
 * @param approveReplans true when a person must approve a new plan
 * @param failOnLostHeartbeat true when the run fails after all its workers stop sending heartbeats, instead of its work
 *                            being claimed again
 * @param models that plan and verify
 * @param keepTurns true when an agent whose output was rejected continues from its turns, instead of from the beginning
 * @param replanAtBudget true when a new plan is made once 80 % of the hard limit are used
 */
public record FailureRules(FailureMode run, @Nullable FailureMode agent, RetryPolicy task, RetryPolicy level,
        int runTries, EscalationPolicy escalation, @Nullable StepSpec planner, int maxReplans, boolean approveReplans,
        boolean failOnLostHeartbeat, Models models, boolean keepTurns, boolean replanAtBudget) {

    public static final FailureRules DEFAULT = new FailureRules(FailureMode.FAIL_FAST, null,
            RetryPolicy.TASK, RetryPolicy.LEVEL, EscalationPolicy.DEFAULT, null, 2, false, false);

    public FailureRules with(EscalationPolicy other) {
        return new FailureRules(run, agent, task, level, runTries, other, planner, maxReplans, approveReplans,
                failOnLostHeartbeat, models, keepTurns, replanAtBudget);
    }

    /** A copy of the rules that decides about a new plan at 80 % of the hard limit. */
    public FailureRules replanning(boolean atBudget) {
        return new FailureRules(run, agent, task, level, runTries, escalation, planner, maxReplans, approveReplans,
                failOnLostHeartbeat, models, keepTurns, atBudget);
    }

    /** A copy of the rules that decides about turns of rejected agents. */
    public FailureRules keeping(boolean turns) {
        return new FailureRules(run, agent, task, level, runTries, escalation, planner, maxReplans, approveReplans,
                failOnLostHeartbeat, models, turns, replanAtBudget);
    }

    /**
     * An agent's reaction to a task that finally failed.
     *
     * @param name null for the run's default agent, which is not a level of its own: it continues where the run does,
     *             and where the run restarts, it fails first
     */
    public FailureMode agent(@Nullable String name) {
        if (agent != null) {
            return agent;
        }
        return name == null && run == FailureMode.CONTINUE ? FailureMode.CONTINUE : FailureMode.FAIL_FAST;
    }

    /** Rules without names of models; the run has as many attempts as its agents. */
    public FailureRules(FailureMode run, @Nullable FailureMode agent, RetryPolicy task, RetryPolicy level,
            EscalationPolicy escalation, @Nullable StepSpec planner, int maxReplans, boolean approveReplans,
            boolean failOnLostHeartbeat) {
        this(run, agent, task, level, tries(level), escalation, planner, maxReplans, approveReplans,
                failOnLostHeartbeat, Models.NONE, false, false);
    }

    /** Number of attempts of an agent. Each attempt that ends in a retry is a failure. */
    public int agentTries() {
        return tries(level);
    }

    /** Number of attempts of a whole level under that policy. */
    public static int tries(RetryPolicy level) {
        return Math.min(level.maxAttempts(), level.maxFailures());
    }
}
