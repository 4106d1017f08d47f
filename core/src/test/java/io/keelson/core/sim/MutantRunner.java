package io.keelson.core.sim;

import java.util.Objects;
import java.util.stream.IntStream;

/** Looks for a broken law: called by mutants' tests in a class loader whose core has a mistake in it. */
public final class MutantRunner {

    private MutantRunner() {}

    /** The first broken law in one seed and then in so many from 1 on; null when none is broken. */
    public static String hunt(int first, int seeds) {
        return IntStream.concat(IntStream.of(first), IntStream.rangeClosed(1, seeds)).mapToObj(MutantRunner::broken)
                .filter(Objects::nonNull).findFirst().orElse(null);
    }

    private static String broken(int seed) {
        try {
            new Simulation(seed).run();
            return null;
        } catch (SimulationFailure e) {
            return "seed " + seed + ": " + e.getCause();
        }
    }
}
