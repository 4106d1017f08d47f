package io.keelson.core.lifecycle;

/** The four kinds of state that engine rules switch on. Names of states are for people, types for code. */
public enum StateType {
    PENDING, RUNNING, PAUSED, TERMINAL;

    private final String wire = name().toLowerCase(java.util.Locale.ROOT);

    /** The name as stored in {@code state_type} columns and sent to clients. */
    public String wire() {
        return wire;
    }
}
