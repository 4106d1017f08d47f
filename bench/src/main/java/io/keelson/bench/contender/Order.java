package io.keelson.bench.contender;

import org.jspecify.annotations.Nullable;

/**
 * What a contender's process is told, one line of JSON each.
 *
 * @param place for {@code start}
 * @param load for {@code load}
 * @param count for {@code preload}
 * @param seconds for {@code drain}
 */
public record Order(Verb verb, @Nullable Place place, @Nullable Load load, int count, double seconds) {

    /** What can be asked for. */
    public enum Verb {
        START, LOAD, PRELOAD, DRAIN, STOP
    }

    public static Order start(Place place) {
        return new Order(Verb.START, place, null, 0, 0);
    }

    public static Order load(Load load) {
        return new Order(Verb.LOAD, null, load, 0, 0);
    }

    public static Order preload(int count) {
        return new Order(Verb.PRELOAD, null, null, count, 0);
    }

    public static Order drain(double seconds) {
        return new Order(Verb.DRAIN, null, null, 0, seconds);
    }

    public static Order stop() {
        return new Order(Verb.STOP, null, null, 0, 0);
    }
}
