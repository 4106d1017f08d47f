package io.keelson.server.annex.model.wiring;

import io.keelson.server.annex.model.gateway.GatewayObserver;

/** Observes the models that this server calls. Called by many threads. */
public interface ModelObserver extends GatewayObserver {

    /**
     * A model has answered.
     *
     * @param firstTextMillis from the request to the first text
     */
    void onAnswer(String model, long firstTextMillis);

    /** The provider of a model has requested a pause. */
    void onPause(String model);
}
