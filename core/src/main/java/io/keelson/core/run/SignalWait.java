package io.keelson.core.run;

/**
 * What a step of kind {@code signal} waits for.
 *
 * @param signal its name
 * @param goesOn true when the step completes without it once its time is over
 */
public record SignalWait(String signal, boolean goesOn) {}
