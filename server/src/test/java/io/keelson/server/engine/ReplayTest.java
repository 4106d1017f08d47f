package io.keelson.server.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.core.run.Command;
import io.keelson.core.sim.Reach;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The simulations of the core commit to a store made of maps. This test repeats their commits on PostgreSQL with the
 * server's commit code, and the tables must equal the maps.
 */
@ExtendWith(Breadth.InFailures.class)
class ReplayTest {
    private static final @Nullable Long FIRST = Long.getLong("keelson.replay.seed");
    private static final long SEEDS = Long.getLong("keelson.replay.seeds", 200);
    /** Have the commands that are too rare for each seventh of the first 200. */
    private static final List<Long> RARE =
            List.of(2L, 12L, 15L, 16L, 38L, 54L, 70L, 86L, 27L, 32L, 35L, 40L, 49L, 60L, 69L, 84L, 131L, 992L, 90L,
                    250L);

    /** The number of stories is a setting, so the test has no tight timeout. */
    @Test
    @Timeout(value = 1, unit = TimeUnit.HOURS)
    void theDatabaseHoldsWhatTheSimulationHolds() throws Exception {
        try (Replica replica = new Replica()) {
            Set<Long> seeds = seeds();
            for (long seed : seeds) {
                follow(replica, seed);
            }
            replica.boardHolds();
            System.out.printf("replay: %,d stories, %,d batches, %,d times compared, %,d reports in first commits%n",
                    seeds.size(), replica.batches, replica.looks, replica.reports);
            if (seeds.containsAll(RARE)) {
                assertThat(replica.reports).as("reports in first commits of runs").isPositive();
                assertThat(replica.commands).containsExactlyInAnyOrderElementsOf(Reach.types(Command.class).toList());
            }
        }
    }

    /** Those from a first one on if it is set, else a part of them with the rare ones. */
    private static Set<Long> seeds() {
        long first = FIRST == null ? 1 : FIRST;
        List<Long> all = LongStream.range(first, first + SEEDS).boxed().toList();
        if (FIRST != null) {
            return new LinkedHashSet<>(all);
        }
        Set<Long> seeds = new LinkedHashSet<>(Breadth.of(all));
        seeds.addAll(RARE);
        return seeds;
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
