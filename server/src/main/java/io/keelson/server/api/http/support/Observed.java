package io.keelson.server.api.http.support;

import io.keelson.server.base.background.BackgroundTask;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * The health and metrics of this server in the API.
 *
 * @param requestListeners receive every request
 * @param background receives the API's background tasks
 * @param page the metrics in the format that the caller's {@code Accept} asks for
 * @param access access to metrics without a key
 */
public record Observed(List<RequestListener> requestListeners, Consumer<BackgroundTask> background,
        UnaryOperator<Page> page,
        MetricsAccess access) {

    /** No listener and no metrics. */
    public static final Observed NOTHING = new Observed(List.of(), task -> {}, asked -> asked,
            MetricsAccess.LOOPBACK);

    /**
     * A page of metrics.
     *
     * @param type its media type; in a request, the media type that the caller accepts
     */
    public record Page(String type, String text) {}

    /** Clients that read metrics without a key; others need one with the scope {@code operator}. */
    public enum MetricsAccess {
        /** Programs on this machine that reach the server directly. */
        LOOPBACK,
        /** Everybody. */
        OPEN,
        /** Only holders of a key with the scope. */
        KEY
    }
}
