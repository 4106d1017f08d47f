package io.keelson.server.engine.commit;

import io.keelson.core.decide.ChangeSet;
import io.keelson.core.decide.LocalCapacity;
import io.keelson.core.decide.RunView;
import java.time.Instant;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Starts work from committed changes, and offers capacity to the next decisions. */
public interface CommitListener {

    /** The capacity of this node's executors at this moment. */
    LocalCapacity offer();

    /** Ends the offer and frees its unused capacity. Called once per offer, after {@link #committed}. */
    void settled(LocalCapacity capacity);

    /**
     * The changes are committed. Called on the committing thread: must not block.
     *
     * @param views the views of the changed runs; null for a run without one. Valid during the call
     * @param now the time at which they were decided
     */
    void committed(ChangeSet changes, Function<UUID, @Nullable RunView> views, Instant now);
}
