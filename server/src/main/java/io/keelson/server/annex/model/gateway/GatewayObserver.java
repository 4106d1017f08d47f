package io.keelson.server.annex.model.gateway;

import io.keelson.core.money.Tokens;
import io.keelson.core.run.RunTrace;
import io.keelson.core.run.TraceParent;
import io.keelson.server.engine.store.queue.GatewayTokens.Lease;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Observes requests of programs to models. Called by many threads. */
public interface GatewayObserver {

    /**
     * A request whose answer is recorded.
     *
     * @param program position of the program in a trace; null if its request names none
     * @param embeds whether the request is for embeddings
     * @param tokens as the provider reports them; {@link Tokens#NONE} if it reports none
     * @param took from the request to the provider until the end of the answer
     */
    record Answered(Lease lease, RunTrace run, @Nullable TraceParent program, String model, boolean embeds,
            Tokens tokens,
            Duration took) {}

    /** An answer is recorded. */
    default void onRecord(Answered request) {}

    /** A request is sent to the provider of the model. */
    default void onRequest(String model) {}

    /** A request is answered from the record. */
    default void onReplay(String model) {}

    /** The first new request of an execution after replayed ones. */
    default void onDivergence(String model) {}

    /** A limit does not pay a request. */
    default void onRefusedHold(String model) {}

    /** A request is refused, as too many are in flight, or they have too many bytes. */
    default void onTooMany(String model) {}

    /** A client gets no more of its answer, as it has not read the beginning and there is no memory. */
    default void onUnread(String model) {}
}
