package io.keelson.core.plan;

import io.keelson.core.policy.Escalation;
import io.keelson.core.policy.FailureMode;
import io.keelson.core.policy.RetryPolicy;
import org.jspecify.annotations.Nullable;

/**
 * What a run does about failures (specification, failure §2–5).
 *
 * @param run how the run reacts to an agent that finally failed
 * @param agent how its agents react to a task that finally failed; null: those that the plan names fail, and the run's
 *     default agent goes on where the run does
 * @param task how often and after what delay a whole task is tried again
 * @param level likewise of a whole agent, and of the run in mode {@code retry}
 * @param planner the step that makes a new plan of an unlucky one; null: the run is never re-planned
 * @param maxReplans how often
 * @param approveReplans true when a human must approve a new plan
 * @param failOnLostHeartbeat true when a run whose workers have all fallen silent fails, instead of its work being
 *     claimed again
 * @param models that plan and verify
 */
public record FailureRules(FailureMode run, @Nullable FailureMode agent, RetryPolicy task, RetryPolicy level,
        Escalation escalation, @Nullable StepSpec planner, int maxReplans, boolean approveReplans,
        boolean failOnLostHeartbeat, Models models) {

    public static final FailureRules DEFAULT = new FailureRules(FailureMode.FAIL_FAST, null,
            RetryPolicy.TASK, RetryPolicy.LEVEL, Escalation.DEFAULT, null, 2, false, false);

    public FailureRules with(Escalation other) {
        return new FailureRules(run, agent, task, level, other, planner, maxReplans, approveReplans,
                failOnLostHeartbeat);
    }

    /**
     * How an agent reacts to a task that finally failed.
     *
     * @param name null for the run's default agent, which is no level of its own: it goes on where the run does, and where
     *     the run starts over, it fails first
     */
    public FailureMode agent(@Nullable String name) {
        if (agent != null) {
            return agent;
        }
        return name == null && run == FailureMode.CONTINUE ? FailureMode.CONTINUE : FailureMode.FAIL_FAST;
    }

    /** Without names of models. */
    public FailureRules(FailureMode run, @Nullable FailureMode agent, RetryPolicy task, RetryPolicy level,
            Escalation escalation, @Nullable StepSpec planner, int maxReplans, boolean approveReplans,
            boolean failOnLostHeartbeat) {
        this(run, agent, task, level, escalation, planner, maxReplans, approveReplans, failOnLostHeartbeat,
                Models.NONE);
    }
}
