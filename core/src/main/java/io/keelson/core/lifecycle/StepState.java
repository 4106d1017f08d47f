package io.keelson.core.lifecycle;

import java.util.Locale;

/** States of a step, the unit that a worker claims. */
public enum StepState implements State {
    PENDING(StateType.PENDING), RUNNING(StateType.RUNNING), WAITING(StateType.PAUSED),
    WAITING_APPROVAL(StateType.PAUSED), AWAITING_RETRY(StateType.PENDING), COMPLETED(StateType.TERMINAL),
    FAILED(StateType.TERMINAL), CANCELLED(StateType.TERMINAL), SKIPPED(StateType.TERMINAL);

    private final StateType type;
    private final String wire = name().toLowerCase(Locale.ROOT);

    StepState(StateType type) {
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
    public static StepState of(String wire) {
        return valueOf(wire.toUpperCase(Locale.ROOT));
    }
}
