package io.keelson.server.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.run.Command;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The simulations of the core commit to a store made of maps. This test repeats their commits on PostgreSQL with the
 * server's commit code, and the tables must equal the maps.
 */
class ReplayTest {
    private static final long FIRST = Long.getLong("keelson.replay.seed", 1);
    private static final long SEEDS = Long.getLong("keelson.replay.seeds", 200);
    /** Has {@code AddChildBudget}, which is too rare for the first 200. */
    private static final long RARE = 601;

    /** The number of stories is a setting, so the test has no tight timeout. */
    @Test
    @Timeout(value = 1, unit = TimeUnit.HOURS)
    void theDatabaseHoldsWhatTheSimulationHolds() throws Exception {
        try (Replica replica = new Replica()) {
            for (long seed = FIRST; seed < FIRST + SEEDS; seed++) {
                follow(replica, seed);
            }
            if (SEEDS >= 200) {
                follow(replica, RARE);
            }
            replica.boardHolds();
            System.out.printf("replay: %,d stories, %,d batches, %,d times compared%n", SEEDS, replica.batches,
                    replica.looks);
            if (SEEDS >= 200) {
                assertThat(replica.commands).containsExactlyInAnyOrder(Command.class.getPermittedSubclasses());
            }
        }
    }

    private static void follow(Replica replica, long seed) throws Exception {
        try {
            replica.follow(seed);
        } catch (RuntimeException | AssertionError e) {
            throw new AssertionError("story " + seed + ", repeat with -Dkeelson.replay.seed=" + seed
                    + " -Dkeelson.replay.seeds=1", e);
        }
    }
}
