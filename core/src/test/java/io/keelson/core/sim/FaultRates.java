package io.keelson.core.sim;

import java.time.Duration;
import java.util.Random;

/**
 * How often what goes wrong. One in a hundred is the ground; every seed has some faults that strike more often, so that
 * rare edges meet rare faults, and some that never do. Calm in the end.
 */
final class FaultRates {
    private static final int[] PER_MILLE = {0, 10, 10, 10, 40, 150};

    private final int[] rates = new int[Fault.values().length];
    private final Duration[] skews = {Duration.ZERO, Duration.ZERO, Duration.ofMillis(-40), Duration.ofMillis(300),
            Duration.ofSeconds(-2), Duration.ofMinutes(5), Duration.ofMinutes(-5)};
    private final Random random;
    private boolean calm;
    private final int dropped;

    FaultRates(Random random) {
        this.random = random;
        for (int i = 0; i < rates.length; i++) {
            rates[i] = PER_MILLE[random.nextInt(PER_MILLE.length)];
        }
        dropped = PER_MILLE[random.nextInt(PER_MILLE.length)];
    }

    void clear() {
        calm = true;
    }

    boolean calm() {
        return calm;
    }

    boolean strikes(Fault fault) {
        return !calm && random.nextInt(1000) < rates[fault.ordinal()];
    }

    /** A message that never arrives. */
    boolean drops() {
        return !calm && random.nextInt(1000) < dropped;
    }

    /** By how much a node is wrong about the database's time. */
    Duration skew() {
        return calm || rates[Fault.CLOCK_SKEWED.ordinal()] == 0 ? Duration.ZERO : skews[random.nextInt(skews.length)];
    }
}
