package io.keelson.core.lifecycle;

import java.util.Locale;

/** States of an agent in one run. */
public enum AgentState implements State {
    PENDING(StateType.PENDING), RUNNING(StateType.RUNNING), PAUSED(StateType.PAUSED), COMPLETED(StateType.TERMINAL),
    FAILED(StateType.TERMINAL), CANCELLED(StateType.TERMINAL), SKIPPED(StateType.TERMINAL);

    private final StateType type;
    private final String wire = name().toLowerCase(Locale.ROOT);

    AgentState(StateType type) {
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
    public static AgentState of(String wire) {
        return valueOf(wire.toUpperCase(Locale.ROOT));
    }
}
