package io.keelson.bench.scenario;

import java.util.List;

/**
 * How much is measured.
 *
 * @param seconds how long each load is measured
 * @param warmup seconds of load before that, which nobody counts
 * @param inFlight runs in flight, one variant each
 */
public record Sizes(double seconds, double warmup, List<Integer> inFlight) {

    public Sizes {
        inFlight = List.copyOf(inFlight);
    }
}
