package io.keelson.server.annex.model;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** Sends requests to models. Each call is one request of HTTP: nothing is repeated. */
public interface ModelClient {

    /**
     * Sends a request. Holds no thread while the model works; cancelling the future closes the connection.
     *
     * @param timeout for the whole answer
     * @return completes exceptionally with a {@link ModelException}
     */
    CompletableFuture<ModelAnswer> send(ModelEndpoint endpoint, ModelRequest request, Duration timeout,
            TextListener listener);

    /**
     * Has the provider make the answer in the background, unless it has begun it before, and asks for it until it is there.
     * Cancelling the future ends the asking only. A client that cannot do so waits for an ordinary answer.
     *
     * @param timeout for the whole answer
     * @return completes exceptionally with a {@link ModelException}, or as {@link StoredAnswer#begun} does
     */
    default CompletableFuture<ModelAnswer> sendStored(ModelEndpoint endpoint, ModelRequest request, Duration timeout,
            StoredAnswer stored) {
        return send(endpoint, request, timeout, TextListener.NONE);
    }

    /** Asks the provider to stop an answer that it makes in the background, and does not wait for it. */
    default void cancelStored(ModelEndpoint endpoint, String id) {}
}
