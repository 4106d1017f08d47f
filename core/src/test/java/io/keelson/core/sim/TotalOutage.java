package io.keelson.core.sim;

import java.time.Duration;
import java.util.Random;

/**
 * All nodes are dead at once and for longer than most timeouts, while workers and people go on. It befalls some seeds only,
 * and takes its chances from a source of its own, so that all others tell the stories that they would tell without.
 */
final class TotalOutage {
    private static final int ONE_IN = 8;

    private final Simulation sim;
    private final Duration until;
    private final Duration length;

    private TotalOutage(Simulation sim, Duration disturbed) {
        Random own = new Random(sim.seed);
        this.sim = sim;
        this.until = disturbed.multipliedBy(20 + own.nextInt(40)).dividedBy(100);
        this.length = Duration.ofSeconds(60 + own.nextInt(600));
    }

    /**
     * Lets it fall if this is such a seed.
     *
     * @return how much longer the story takes
     */
    static Duration mayFall(Simulation sim, Duration disturbed) {
        if (sim.seed % ONE_IN != 5) {
            return Duration.ZERO;
        }
        TotalOutage totalOutage = new TotalOutage(sim, disturbed);
        sim.in(totalOutage.until, totalOutage::fall);
        return totalOutage.length;
    }

    private void fall() {
        sim.tell("night", "falls for", length);
        sim.coverage.happened("TotalOutage");
        sim.nodes.forEach(node -> node.dieUntil(sim.now().plus(length)));
    }
}
