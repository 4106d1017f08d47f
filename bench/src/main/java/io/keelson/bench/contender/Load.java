package io.keelson.bench.contender;

/**
 * A closed loop: each caller submits one run, waits for its end, submits the next.
 *
 * @param callers runs in flight
 * @param seconds no run begins later; only what ends within them is counted. 0 for no limit
 * @param count runs in all; 0 for no limit
 */
public record Load(Work work, int callers, double seconds, int count) {

    public static Load during(Work work, int callers, double seconds) {
        return new Load(work, callers, seconds, 0);
    }

    public static Load of(Work work, int callers, int count) {
        return new Load(work, callers, 0, count);
    }
}
