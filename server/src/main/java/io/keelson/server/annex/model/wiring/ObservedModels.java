package io.keelson.server.annex.model.wiring;

import io.keelson.server.annex.model.ModelAnswer;
import io.keelson.server.annex.model.ModelClient;
import io.keelson.server.annex.model.ModelEndpoint;
import io.keelson.server.annex.model.ModelException;
import io.keelson.server.annex.model.ModelRequest;
import io.keelson.server.annex.model.StoredAnswer;
import io.keelson.server.annex.model.TextListener;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** Reports the answers of models and their providers' pauses. */
record ObservedModels(ModelClient client, ModelObserver observer) implements ModelClient {

    @Override
    public CompletableFuture<ModelAnswer> send(ModelEndpoint endpoint, ModelRequest request, Duration timeout,
            TextListener listener) {
        return observed(endpoint, client.send(endpoint, request, timeout, listener));
    }

    @Override
    public CompletableFuture<ModelAnswer> sendStored(ModelEndpoint endpoint, ModelRequest request, Duration timeout,
            StoredAnswer stored) {
        return observed(endpoint, client.sendStored(endpoint, request, timeout, stored));
    }

    @Override
    public void cancelStored(ModelEndpoint endpoint, String id) {
        client.cancelStored(endpoint, id);
    }

    private CompletableFuture<ModelAnswer> observed(ModelEndpoint endpoint, CompletableFuture<ModelAnswer> sent) {
        var _ = sent.whenComplete((answer, failure) -> {
            if (answer != null) {
                observer.onAnswer(endpoint.name(), answer.firstTextMillis());
            } else if (failure instanceof ModelException refused && refused.kind() == ModelException.Kind.DEFERRED) {
                observer.onPause(endpoint.name());
            }
        });
        return sent;
    }
}
