package io.keelson.client.worker;

import org.jspecify.annotations.Nullable;

/**
 * Returned by a handler whose work needs another turn: this turn's step completes, and a second later the next turn's
 * step exists. Turns are bounded by the task's {@code max_continuations}.
 *
 * @param output this turn's output, any value that Jackson can write
 */
public record Continue(@Nullable Object output) {}
