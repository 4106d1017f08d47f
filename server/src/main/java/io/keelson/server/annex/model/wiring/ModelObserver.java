package io.keelson.server.annex.model.wiring;

/** Observes the models that this server calls. Called by many threads. */
public interface ModelObserver {

    /**
     * A model has answered.
     *
     * @param firstTextMillis from the request to the first text
     */
    void onAnswer(String model, long firstTextMillis);

    /** The provider of a model has requested a pause. */
    void onPause(String model);
}
