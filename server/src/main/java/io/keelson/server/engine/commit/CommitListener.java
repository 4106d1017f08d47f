package io.keelson.server.engine.commit;

import io.keelson.core.decide.ChangeSet;
import io.keelson.core.decide.LocalCapacity;
import io.keelson.core.decide.RunView;
import java.time.Instant;

/** Starts work from committed changes, and offers capacity to the next decisions. */
public interface CommitListener {

    /** The capacity of this node's executors at this moment. */
    LocalCapacity offer();

    /** Ends the offer and frees its unused capacity. Called once per offer, after {@link #committed}. */
    void settled(LocalCapacity capacity);

    /**
     * The changes are committed. Called on the committing thread: must not block.
     *
     * @param now the time at which they were decided
     */
    void committed(ChangeSet changes, Instant now);

    /** A run has ended in these committed changes. Called before {@link #committed}, and must not block either. */
    default void ended(RunView run, ChangeSet changes, Instant now) {}
}
