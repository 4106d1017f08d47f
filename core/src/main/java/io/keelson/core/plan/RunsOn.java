package io.keelson.core.plan;

import java.util.Locale;

/** The executor of an agent's turns. */
public enum RunsOn {
    /** In a server, which sends them to the agent's model. */
    SERVER("model.turn"),
    /** In a worker of the workspace. */
    WORKERS("agent.turn");

    private final String wire = name().toLowerCase(Locale.ROOT);
    private final String tool;

    RunsOn(String tool) {
        this.tool = tool;
    }

    /** The name in documents. */
    public String wire() {
        return wire;
    }

    /** The tool of such a turn's step. */
    public String tool() {
        return tool;
    }

    /** The constant with that {@link #wire()} name; {@link IllegalArgumentException} when there is none. */
    public static RunsOn of(String wire) {
        return valueOf(wire.toUpperCase(Locale.ROOT));
    }
}
