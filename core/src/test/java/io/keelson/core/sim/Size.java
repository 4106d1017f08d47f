package io.keelson.core.sim;

import java.time.Duration;

/**
 * How long a story is.
 *
 * @param fewest runs that it is about
 * @param more so many at most beyond those
 * @param disturbed for so long things go wrong
 */
public record Size(int fewest, int more, Duration disturbed) {
    static final Size FULL = new Size(5, 5, Duration.ofMinutes(5));
    /** For stores slower than a map. */
    public static final Size SHORT = new Size(1, 1, Duration.ofSeconds(45));
}
