package io.keelson.bench.scenario;

import java.util.List;

/**
 * How much is measured.
 *
 * @param rounds turns of each contender, or repetitions where a turn takes long to set up
 * @param seconds how long each load is measured
 * @param warmup seconds of load before that, not measured
 * @param inFlight runs in flight, one variant each
 * @param drain runs or jobs that are queued before anybody works them off
 * @param stages of a hundred tasks each in the big run
 * @param items of the fan-out
 * @param history steps of ended runs in the tables; a multiple of ten
 * @param queued rows of the queue that claims are taken from
 * @param recovered runs in flight when a node is killed, slow steps, and at most as many turns
 * @param leaseSeconds of the killed node
 * @param servers numbers of servers on one database, one variant each
 */
public record Sizes(int rounds, double seconds, double warmup, List<Integer> inFlight, int drain, int stages,
        int items, int history, int queued, int recovered, int leaseSeconds, List<Integer> servers) {

    public Sizes {
        inFlight = List.copyOf(inFlight);
        servers = List.copyOf(servers);
    }

    /** So many callers, or the most that are asked for where those are fewer. */
    int callers(int wanted) {
        return inFlight.stream().mapToInt(most -> Math.min(most, wanted)).max().orElse(wanted);
    }

    /** So small that only whether it works can be seen. */
    public static Sizes smoke() {
        return new Sizes(1, 0.3, 0.2, List.of(1, 4), 40, 1, 20, 100, 300, 20, 1, List.of(1, 2));
    }
}
