package io.keelson.core.sim;

/** Looks for a broken law: called by mutants' tests in a class loader whose core has a mistake in it. */
public final class MutantRunner {

    private MutantRunner() {}

    /** The first broken law in so many seeds; null when none is broken. */
    public static String hunt(int seeds) {
        for (int seed = 1; seed <= seeds; seed++) {
            try {
                new Simulation(seed).run();
            } catch (SimulationFailure e) {
                return "seed " + seed + ": " + e.getCause();
            }
        }
        return null;
    }
}
