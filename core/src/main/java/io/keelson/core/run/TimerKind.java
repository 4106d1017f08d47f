package io.keelson.core.run;

import java.util.Locale;

/** What a durable timer is for. A timer is keyed by its kind and the entity it belongs to. */
public enum TimerKind {
    /** A step's backoff is over. */
    STEP_RETRY,
    /** A {@code wait} step's time has come. */
    STEP_WAIT,
    /** A task's next turn may begin. */
    TASK_CONTINUE,
    /** A task's next attempt may begin. */
    TASK_RETRY,
    /** An agent's next attempt may begin. */
    AGENT_RETRY,
    /** A run's next attempt may begin. */
    RUN_RETRY,
    /** A run that was made to start later may start. */
    START,
    /** Nobody has answered a gate or a ticket. */
    HUMAN,
    /** The workers of a run have all been silent. */
    HEARTBEAT,
    /** Some timeout of a run may have passed: one timer for all of them, due no later than the earliest. */
    WATCH,
    /** A `when` or `for_each` was handed to the evaluator and no answer has come. */
    EVALUATE_GATE,
    /** The input of an approval or a wait was handed to the evaluator and no answer has come. */
    EVALUATE_STEP,
    /** A task's output was handed to the evaluator and no answer has come. */
    EVALUATE_TASK_OUTPUT,
    /** A run's output was handed to the evaluator and no answer has come. */
    EVALUATE_RUN_OUTPUT,
    /** A planner's answer was handed to the evaluator and no answer has come. */
    EVALUATE_PLAN,
    /** A run that a step has started is to be looked at; the subject is the step. */
    EVALUATE_CHILD,
    /** The run that has started this one is to be looked at. */
    EVALUATE_PARENT;

    private final String wire = name().toLowerCase(Locale.ROOT);

    public String wire() {
        return wire;
    }

    public static TimerKind of(String wire) {
        return valueOf(wire.toUpperCase(Locale.ROOT));
    }

    /** True for the kinds that guard an evaluation rather than measure time. */
    public boolean evaluation() {
        return ordinal() >= EVALUATE_GATE.ordinal();
    }
}
