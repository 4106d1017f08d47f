package io.keelson.server.annex.model.gateway;

/** Observes requests of programs to models. Called by many threads. */
public interface GatewayObserver {

    /** A request is sent to the provider of the model. */
    default void onRequest(String model) {}

    /** A request is answered from the record. */
    default void onReplay(String model) {}

    /** The first new request of an execution after replayed ones. */
    default void onDivergence(String model) {}

    /** A limit does not pay a request. */
    default void onRefusedHold(String model) {}
}
