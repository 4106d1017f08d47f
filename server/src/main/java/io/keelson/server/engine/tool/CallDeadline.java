package io.keelson.server.engine.tool;

import java.time.Duration;

/**
 * The end of a wait by the steady clock of this process. A wall clock that is set during the wait does not change the time that is left.
 *
 * @param nanos a moment of {@link System#nanoTime}
 */
public record CallDeadline(long nanos) {

    /** The end of a wait that begins now. */
    public static CallDeadline after(Duration time) {
        return new CallDeadline(System.nanoTime() + time.toNanos());
    }

    /** The remaining time; negative after the end. */
    public Duration remaining() {
        return Duration.ofNanos(nanos - System.nanoTime());
    }
}
