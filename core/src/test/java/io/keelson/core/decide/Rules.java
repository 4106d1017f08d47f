package io.keelson.core.decide;

import io.keelson.core.plan.FailureRules;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.plan.StepKind;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.policy.EscalationPolicy;
import io.keelson.core.policy.FailureMode;
import io.keelson.core.policy.RetryPolicy;
import java.time.Duration;

/** Builds failure rules for tests: defaults except for the named values, without escalation unless named. */
final class Rules {
    /** Asks a person whenever a budget is exhausted. */
    static final EscalationPolicy ASK = new EscalationPolicy(true, true, Duration.ofSeconds(300), 1_000, 1);

    private FailureMode run = FailureMode.FAIL_FAST;
    private FailureMode agent = FailureMode.FAIL_FAST;
    private EscalationPolicy escalation = EscalationPolicy.OFF;
    private StepSpec planner;
    private int replans = 2;
    private boolean approveReplans;
    private boolean failOnLostHeartbeat;

    private Rules() {}

    static Rules rules() {
        return new Rules();
    }

    Rules run(FailureMode mode) {
        run = mode;
        return this;
    }

    Rules agent(FailureMode mode) {
        agent = mode;
        return this;
    }

    Rules escalation(EscalationPolicy rule) {
        escalation = rule;
        return this;
    }

    Rules planner() {
        planner = new StepSpec("plan", StepKind.TOOL, "planner", "{}", RetryPolicy.STEP, Duration.ofSeconds(30));
        return this;
    }

    Rules replans(int most) {
        replans = most;
        return this;
    }

    Rules approveReplans() {
        approveReplans = true;
        return this;
    }

    Rules failOnLostHeartbeat() {
        failOnLostHeartbeat = true;
        return this;
    }

    RunPolicy policy() {
        return RunPolicy.DEFAULT.with(new FailureRules(run, agent, RetryPolicy.TASK, RetryPolicy.LEVEL, escalation,
                planner, replans, approveReplans, failOnLostHeartbeat));
    }
}
