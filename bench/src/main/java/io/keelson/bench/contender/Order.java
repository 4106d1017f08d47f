package io.keelson.bench.contender;

import org.jspecify.annotations.Nullable;

/**
 * A command to a contender's process: one line of JSON.
 *
 * @param place for {@code start}
 * @param load for {@code load}
 * @param count for {@code preload}, {@code claim} and {@code keep}
 * @param each for {@code claim}
 * @param seconds for {@code drain}
 */
public record Order(Verb verb, @Nullable Place place, @Nullable Load load, int count, int each, double seconds) {

    /** What can be asked for. */
    public enum Verb {
        START, LOAD, PRELOAD, DRAIN, CLAIM, KEEP, STOP
    }

    public static Order start(Place place) {
        return new Order(Verb.START, place, null, 0, 0, 0);
    }

    public static Order load(Load load) {
        return new Order(Verb.LOAD, null, load, 0, 0, 0);
    }

    public static Order preload(int count) {
        return new Order(Verb.PRELOAD, null, null, count, 0, 0);
    }

    public static Order drain(double seconds) {
        return new Order(Verb.DRAIN, null, null, 0, 0, seconds);
    }

    public static Order claim(int count, int each) {
        return new Order(Verb.CLAIM, null, null, count, each, 0);
    }

    public static Order keep(int count) {
        return new Order(Verb.KEEP, null, null, count, 0, 0);
    }

    public static Order stop() {
        return new Order(Verb.STOP, null, null, 0, 0, 0);
    }
}
