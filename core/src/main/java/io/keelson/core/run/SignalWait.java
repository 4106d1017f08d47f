package io.keelson.core.run;

/**
 * The signal that a step of kind {@code signal} waits for.
 *
 * @param signal its name
 * @param continues true when the step completes without it after its time
 */
public record SignalWait(String signal, boolean continues) {}
