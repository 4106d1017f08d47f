package io.keelson.core.plan;

import java.util.Locale;

/** The kind of a step, which decides who executes it. */
public enum StepKind {
    /** A tool call, claimed by an executor or a worker. */
    TOOL,
    /** One turn of an agent, claimed by the executor of its {@link RunsOn#tool()}. */
    TURN,
    /** A tool call that an agent's turn asked for; claimed like any tool call. Plans have none. */
    CALL,
    /** A person's decision; never handed to a worker. */
    APPROVAL,
    /** A durable timer; holds no worker. */
    WAIT,
    /** A message from outside; holds no worker. */
    SIGNAL,
    /** A child run, which the step waits for; holds no worker. */
    RUN,
    /** Judges its task's output; claimed like a tool call. */
    VERIFY;

    private final String wire = name().toLowerCase(Locale.ROOT);

    public String wire() {
        return wire;
    }

    /** True when the engine itself executes the step, without a lease. */
    public boolean engineOwned() {
        return this == APPROVAL || this == WAIT || this == SIGNAL || this == RUN;
    }
}
