package io.keelson.core.run;

import java.util.Locale;

/** The purpose of a durable timer. A timer's key is its kind and its entity. */
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
    /** No answer yet to a gate or a ticket. */
    HUMAN,
    /** All workers of a run are silent. */
    HEARTBEAT,
    /** A timeout of a run may have passed: one timer for all of them, due no later than the earliest. */
    WATCH,
    /** A `when` or `for_each` was sent to the evaluator without an answer yet. */
    EVALUATE_GATE,
    /** The input of an approval or a wait was sent to the evaluator without an answer yet. */
    EVALUATE_STEP,
    /** A task's output was sent to the evaluator without an answer yet. */
    EVALUATE_TASK_OUTPUT,
    /** A run's output was sent to the evaluator without an answer yet. */
    EVALUATE_RUN_OUTPUT,
    /** A planner's answer was sent to the evaluator without an answer yet. */
    EVALUATE_PLAN,
    /** A child run is to be checked; the subject is its step. */
    EVALUATE_CHILD,
    /** The parent run is to be checked. */
    EVALUATE_PARENT,
    /** A run is to be undone, or the run that undoes it is to be checked. */
    EVALUATE_UNDO,
    /** The undo of a child run is to be checked by the undo of its parent; the subject is the child run. */
    EVALUATE_CHILD_UNDO;

    private final String wire = name().toLowerCase(Locale.ROOT);

    public String wire() {
        return wire;
    }

    public static TimerKind of(String wire) {
        return valueOf(wire.toUpperCase(Locale.ROOT));
    }

    /** True for kinds that guard an evaluation instead of measuring time. */
    public boolean evaluation() {
        return ordinal() >= EVALUATE_GATE.ordinal();
    }
}
