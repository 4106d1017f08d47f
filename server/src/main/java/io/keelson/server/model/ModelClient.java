package io.keelson.server.model;

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
}
