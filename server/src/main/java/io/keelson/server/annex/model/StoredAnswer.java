package io.keelson.server.annex.model;

import org.jspecify.annotations.Nullable;

/** The answer to one request that its provider makes without a connection, and keeps under an id. */
public interface StoredAnswer {

    /** The id of an answer that an earlier execution has begun; null if absent. */
    @Nullable String known();

    /**
     * The provider has begun an answer, or an earlier execution had. Returns once the id is written.
     *
     * @param cancel tells the provider to stop; for an answer that no execution will fetch
     * @throws InterruptedException when the id could not be written: this execution is over
     */
    void begun(String id, Runnable cancel) throws InterruptedException;

    /** The provider has no such answer any more, or none that can be used: the id is of no use. */
    void gone();
}
