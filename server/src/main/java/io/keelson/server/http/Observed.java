package io.keelson.server.http;

import java.util.function.UnaryOperator;

/**
 * What the API tells about this server.
 *
 * @param exchanges is told of every request
 * @param page the metrics in the format that the caller's {@code Accept} asks for
 * @param door who is shown them without a key
 */
public record Observed(Exchanges exchanges, UnaryOperator<Page> page, MetricsDoor door) {

    /** Nobody looks, and there is nothing to see. */
    public static final Observed NOTHING = new Observed(Exchanges.NONE, asked -> asked, MetricsDoor.LOOPBACK);

    /**
     * A page of metrics.
     *
     * @param type its media type; when it is asked for, what the caller takes
     */
    public record Page(String type, String text) {}

    /** Who reads metrics without a key; everybody else shows one with the scope {@code operator}. */
    public enum MetricsDoor {
        /** Programs on this machine that reach the server directly. */
        LOOPBACK,
        /** Everybody. */
        OPEN,
        /** Nobody. */
        KEY
    }
}
