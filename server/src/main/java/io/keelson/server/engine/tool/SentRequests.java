package io.keelson.server.engine.tool;

import io.keelson.core.money.Tokens;
import io.keelson.server.base.artifact.StoredArtifact;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Records the requests to models that an execution sends. A request without a recorded end is charged at most,
 * for its provider may have billed it.
 */
public interface SentRequests {

    /** Records nothing. */
    SentRequests NONE = new SentRequests() {};

    /** An answer that the provider of the model keeps under the id. */
    record Kept(String model, String id) {}

    /**
     * A request is about to be sent. Returns once that is written.
     *
     * @param inputTokens at most
     * @param outputTokens at most
     * @return answers that earlier executions began and that no execution will fetch, because this request is another one
     * @throws InterruptedException when this execution has lost its lease: nothing is to be sent
     */
    default List<Kept> sending(String model, String requestSha256, long inputTokens, long outputTokens)
            throws InterruptedException {
        return List.of();
    }

    /**
     * An earlier execution has sent this request, and its provider makes the answer in the background: this execution waits for
     * it instead of sending it.
     *
     * @return the answer's id; null where nothing of the kind is known
     */
    default @Nullable String resume(String requestSha256) {
        return null;
    }

    /**
     * The answer to the last request has an id, by which further executions can fetch it. Returns once that is written.
     *
     * @param cancel to be called when the step ends without the answer
     * @throws InterruptedException when this execution has lost its lease
     */
    default void begun(String id, Runnable cancel) throws InterruptedException {}

    /** The answer to the last request cannot be fetched by its id. */
    default void gone() {}

    /** The request is kept as this artifact, whether the execution fails or not. */
    default void stored(StoredArtifact request) {}

    /**
     * The request is answered.
     *
     * @param reported by its provider; null where it has not reported the tokens
     */
    default void ended(@Nullable Tokens reported) {}

    /** The provider has billed nothing for the request. */
    default void refused() {}

    /** The answer broke off after its provider had reported the tokens of the input, and of a part of the output. */
    default void brokeOff(Tokens reported) {}
}
