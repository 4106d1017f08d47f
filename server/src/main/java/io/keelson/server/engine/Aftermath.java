package io.keelson.server.engine;

import io.keelson.core.run.Changes;
import io.keelson.core.run.Offer;
import java.time.Instant;

/** What a node does with the changes it has committed, and what it can offer to the next decisions. */
interface Aftermath {

    /** What this node's executors can start at once. */
    Offer offer();

    /** The offer is settled: whatever it has left is free again. Called once per offer, after {@link #committed}. */
    void settled(Offer offer);

    /**
     * The changes are committed. Called on the committing thread: hand off, never block.
     *
     * @param now the time at which they were decided
     */
    void committed(Changes changes, Instant now);
}
