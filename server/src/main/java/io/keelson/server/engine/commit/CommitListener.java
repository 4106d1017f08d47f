package io.keelson.server.engine.commit;

import io.keelson.core.decide.ChangeSet;
import io.keelson.core.decide.LocalCapacity;
import java.time.Instant;

/** What a node does with the changes it has committed, and what it can offer to the next decisions. */
public interface CommitListener {

    /** What this node's executors can start at once. */
    LocalCapacity offer();

    /** The offer is settled: whatever it has left is free again. Called once per offer, after {@link #committed}. */
    void settled(LocalCapacity capacity);

    /**
     * The changes are committed. Called on the committing thread: hand off, never block.
     *
     * @param now the time at which they were decided
     */
    void committed(ChangeSet changes, Instant now);
}
