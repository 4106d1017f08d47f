package io.keelson.core.sim;

/** A violated law with all that is needed to see it again. */
final class SimulationFailure extends RuntimeException {
    private static final long serialVersionUID = 1L;

    SimulationFailure(Simulation simulation, Throwable cause) {
        super(simulation.tail() + "\nSEED " + simulation.seed + ": " + cause
                + "\nAgain: mvn -Dfast test -pl proof -am -Dsurefire.failIfNoSpecifiedTests=false -Dtest=SimulationTest#oneSeed -Dkeelson.sim.seed="
                + simulation.seed, cause);
    }
}
