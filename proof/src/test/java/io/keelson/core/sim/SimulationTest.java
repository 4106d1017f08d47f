package io.keelson.core.sim;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.core.run.Command;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Simulates whole installations under virtual time. No fault breaks a law after any commit, and every run ends once the
 * faults stop. docs/internals/proof.md says how to repeat a failing seed and how to run more seeds.
 */
class SimulationTest {
    private static final long FIRST = Long.getLong("keelson.sim.seed", 1);
    /** The seed to repeat; 0 is in no other test. */
    private static final long ONE = Long.getLong("keelson.sim.seed", 0);
    private static final long SEEDS = Long.getLong("keelson.sim.seeds", 1_000);
    private static final long STEPS = Long.getLong("keelson.sim.steps", 0);
    /** From this number of seeds on, even the rarest pair must be met. */
    private static final long MANY = 100_000;

    /** The number of seeds is a setting, so the test has no tight timeout. */
    @Test
    @Timeout(value = 1, unit = TimeUnit.DAYS)
    void noLawIsBrokenAndEveryRunEnds() throws InterruptedException {
        Seeds seeds = new Seeds(FIRST, SEEDS, STEPS);
        Coverage coverage = seeds.run();
        System.out.printf("simulation: %,d seeds, %,d commands decided, %d edges, %d pairs of edge and fault%n",
                seeds.ran(), coverage.commands(), coverage.edges().size(), coverage.pairsMet());
        if (SEEDS >= 1_000) {
            everythingWasReached(coverage);
        }
    }

    private static void everythingWasReached(Coverage coverage) {
        assertThat(coverage.edges()).filteredOn(edge -> !Reach.RARE.contains(edge)).as("edges taken")
                .containsExactlyInAnyOrderElementsOf(Reach.edges());
        assertThat(coverage.decided()).as("commands and evaluations decided").containsAll(Stream.concat(
                Reach.cases(Command.class), Reach.cases(Command.Evaluation.class)).toList())
                .contains("Fork", "TotalOutage", "Outage", DraftedRun.IN_ONE_COMMIT);
        List<String> missed = coverage.pairsMissed().stream().filter(Reach::possible).toList();
        assertThat(missed).as("pairs of edge and fault that never met")
                .hasSizeLessThanOrEqualTo(SEEDS >= MANY ? 0 : coverage.pairsMet() / 14);
    }

    /** Seeds of stories with chains only. */
    @Test
    @Breadth.InPart({0, 2, 3})
    @Timeout(value = 1, unit = TimeUnit.HOURS)
    void noLawIsBrokenByChains() {
        Coverage coverage = new Coverage();
        LongStream.range(1_001, Breadth.of(2_651, 4_301)).filter(Executor::chains)
                .forEach(seed -> coverage.add(new Simulation(seed).run().coverage));
        assertThat(coverage.count("CompleteChain")).isGreaterThan(Breadth.of(100, 200));
        assertThat(coverage.count(DraftedRun.IN_ONE_COMMIT)).as("runs created with a report")
                .isGreaterThan(Breadth.of(50, 100));
    }

    /** Seeds of stories in which runs are undone with the runs that started them only. */
    @Test
    @Breadth.InPart(2)
    @Timeout(value = 1, unit = TimeUnit.HOURS)
    void noLawIsBrokenByUndosOfChildren() {
        Coverage coverage = new Coverage();
        LongStream.range(1_001, Breadth.of(2_601, 6_001)).filter(RandomPlans::undoesChildren)
                .forEach(seed -> coverage.add(new Simulation(seed).run().coverage));
        assertThat(coverage.count("ChildUndo")).isGreaterThan(Breadth.of(20, 100));
    }

    @Test
    void oneSeed() {
        Simulation simulation = new Simulation(ONE).run();
        assertThat(simulation.coverage.commands()).isPositive();
    }

    /** Seeds beyond the usual ones that have found an error. */
    @ParameterizedTest
    @ValueSource(longs = {1858, 2544})
    void seedThatFoundAnError(long seed) {
        assertThat(new Simulation(seed).run().coverage.commands()).isPositive();
    }

    @Test
    void sameSeedHasTheSameTrace() {
        for (long seed = FIRST; seed < FIRST + 5; seed++) {
            assertThat(new Simulation(seed).run().hash()).isEqualTo(new Simulation(seed).run().hash())
                    .isNotEqualTo(new Simulation(seed + 1).run().hash());
        }
    }
}
