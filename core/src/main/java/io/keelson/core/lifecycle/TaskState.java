package io.keelson.core.lifecycle;

import java.util.Locale;

/** States of a task. */
public enum TaskState implements State {
    PENDING(StateType.PENDING), QUEUED(StateType.PENDING), ASSIGNED(StateType.RUNNING), RUNNING(StateType.RUNNING),
    CONTINUING(StateType.RUNNING), VERIFYING(StateType.PAUSED), AWAITING_HUMAN(StateType.PAUSED),
    AWAITING_RETRY(StateType.PENDING), COMPLETED(StateType.TERMINAL), FAILED(StateType.TERMINAL),
    CANCELLED(StateType.TERMINAL), SKIPPED(StateType.TERMINAL);

    private final StateType type;
    private final String wire = name().toLowerCase(Locale.ROOT);

    TaskState(StateType type) {
        this.type = type;
    }

    @Override
    public StateType type() {
        return type;
    }

    @Override
    public String wire() {
        return wire;
    }

    /** The state of that stored name.
     *
     * @throws IllegalArgumentException when there is none */
    public static TaskState of(String wire) {
        return valueOf(wire.toUpperCase(Locale.ROOT));
    }
}
