package io.keelson.server.tool;

import io.keelson.server.artifact.StoredArtifact;

/**
 * Records the requests to models that an execution sends. A request without a recorded end is named in the run's events, for its
 * provider may have billed it.
 */
public interface SentRequests {

    /** Records nothing. */
    SentRequests NONE = new SentRequests() {
        @Override
        public void sending(String model, String requestSha256, long inputTokens, long outputTokens) {}

        @Override
        public void ended() {}

        @Override
        public void stored(StoredArtifact request) {}
    };

    /**
     * A request is about to be sent. Returns once that is written.
     *
     * @param inputTokens about so many
     * @param outputTokens at most
     * @throws InterruptedException when this execution has lost its lease: nothing is to be sent
     */
    void sending(String model, String requestSha256, long inputTokens, long outputTokens) throws InterruptedException;

    /** The request is kept as this artifact, whether the execution fails or not. */
    void stored(StoredArtifact request);

    /** The request is answered, or its provider has billed nothing for it. */
    void ended();
}
