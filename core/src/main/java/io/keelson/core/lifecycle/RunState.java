package io.keelson.core.lifecycle;

import java.util.Locale;

/** States of a run. */
public enum RunState implements State {
    CREATED(StateType.PENDING), PENDING(StateType.PENDING), PLANNING(StateType.PENDING),
    AWAITING_APPROVAL(StateType.PENDING), READY(StateType.PENDING), RUNNING(StateType.RUNNING),
    PAUSED(StateType.PAUSED), BUDGET_EXCEEDED(StateType.PAUSED), ESCALATED(StateType.PAUSED),
    RESUMING(StateType.RUNNING), RETRYING(StateType.PENDING), COMPLETED(StateType.TERMINAL), FAILED(StateType.TERMINAL),
    CANCELLED(StateType.TERMINAL), SKIPPED(StateType.TERMINAL);

    private final StateType type;
    private final String wire = name().toLowerCase(Locale.ROOT);

    RunState(StateType type) {
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
    public static RunState of(String wire) {
        return valueOf(wire.toUpperCase(Locale.ROOT));
    }
}
