package io.keelson.core.lifecycle;

import java.util.Locale;

/** The kind of the actor that decides, as events record it. */
public enum ActorType {
    /** The engine: dispatch, timers, and consequences of other changes. */
    SYSTEM,
    /** Planning, and changes of the plan. */
    COORDINATOR,
    /** Work on tasks and steps. */
    AGENT,
    /** Verdicts on outputs. */
    VERIFIER,
    /** A person. */
    HUMAN,
    /** A program that uses the API on its own behalf. */
    SERVICE,
    /** Maintenance that finds unreported conditions. */
    RECONCILER;

    private final String wire = name().toLowerCase(Locale.ROOT);

    public String wire() {
        return wire;
    }

    /** The type of that stored name.
     *
     * @throws IllegalArgumentException when there is none */
    public static ActorType of(String wire) {
        return valueOf(wire.toUpperCase(Locale.ROOT));
    }
}
