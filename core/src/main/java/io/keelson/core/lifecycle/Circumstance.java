package io.keelson.core.lifecycle;

import java.util.Locale;
import java.util.Set;

/** A condition by which a contract names a canonical state differently. */
public enum Circumstance {
    /** None of the below. */
    USUAL,
    /** A run or a task: all its open work waits for the timer of a retry, or a run's for that of a continuation. */
    WAITS_FOR_TIMER,
    /** A run or a task: all its open work waits for a person. */
    WAITS_FOR_HUMAN,
    /** A task: it has begun before. */
    LATER_ATTEMPT,
    /** A run: no step of its plan has begun in its attempt. */
    NOT_BEGUN;

    private final String wire = name().toLowerCase(Locale.ROOT);

    /** The name as sent to clients. */
    public String wire() {
        return wire;
    }

    /** @param begun whether the run has been running in its attempt */
    public static Circumstance ofStart(boolean begun) {
        return begun ? USUAL : NOT_BEGUN;
    }

    /**
     * A run's circumstance. Only tasks at work count, because they hold up the tasks that wait for upstreams or for a
     * slot.
     *
     * @param dispatched whether any of its work is with a worker, or ready for one
     * @param tasks the states that its tasks are in
     * @param steps the states that its steps are in
     */
    public static Circumstance ofRun(boolean dispatched, Set<TaskState> tasks, Set<StepState> steps) {
        boolean busy = dispatched || steps.contains(StepState.RUNNING) || steps.contains(StepState.WAITING)
                || tasks.contains(TaskState.VERIFYING);
        boolean human = steps.contains(StepState.WAITING_APPROVAL) || tasks.contains(TaskState.AWAITING_HUMAN);
        boolean timer = steps.contains(StepState.AWAITING_RETRY) || tasks.contains(TaskState.AWAITING_RETRY)
                || tasks.contains(TaskState.CONTINUING);
        if (busy || human == timer) {
            return USUAL;
        }
        return human ? WAITS_FOR_HUMAN : WAITS_FOR_TIMER;
    }

    /**
     * A task's circumstance.
     *
     * @param tried whether it has begun before
     * @param dispatched whether one of its steps is with a worker, or ready for one
     * @param steps the states that its open steps are in
     */
    public static Circumstance ofTask(TaskState state, boolean tried, boolean dispatched, Set<StepState> steps) {
        Circumstance waits = state == TaskState.RUNNING || state == TaskState.VERIFYING
                ? ofRun(dispatched, Set.of(), steps)
                : USUAL;
        return waits == USUAL && tried ? LATER_ATTEMPT : waits;
    }
}
