package io.keelson.core.sim;

import io.keelson.core.decide.ChangeSet.Lane;
import io.keelson.core.decide.LocalCapacity;
import io.keelson.core.run.Command;
import io.keelson.core.run.EngineOutage;
import io.keelson.core.run.Event;
import io.keelson.core.run.Reply;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Receives all writes of a simulation in order, so that another store can repeat them. */
public interface BatchListener {

    /** Ignores all writes. */
    BatchListener NONE = new BatchListener() {
        @Override
        public void committed(Batch batch) {}

        @Override
        public void outage(EngineOutage outage) {}

        @Override
        public void extended(String holder, Lane lane, Instant now) {}

        @Override
        public void granted(UUID workspace, BigDecimal amount) {}
    };

    /**
     * The steps of a new run that a node has executed before the run's first commit.
     *
     * @param ids that the draft of the run has used, in order
     * @param tool of the first step, which has a slot of the node
     * @param report of the ended steps; null if absent
     */
    record FirstSteps(List<UUID> ids, String tool, @Nullable Command report) {}

    /**
     * A batch that a node has committed.
     *
     * @param node with the number of its life: a node that was started again has another name and knows nothing
     * @param executed by command, the steps of a new run that were executed before this commit; null if absent
     * @param loaded runs whose views it had to load for it
     * @param locked whether the runs were locked first
     * @param now the time that the decisions were given
     * @param ids the ids that the decisions have used, in order, without the ids of drafts
     * @param replies to each of the commands; null where there was no such run
     * @param reportReplies by command, to the report of executed steps; null if absent
     */
    record Batch(String node, List<Command> commands, List<@Nullable FirstSteps> executed, Set<UUID> loaded,
            boolean locked, Instant now, int slots, List<UUID> ids, List<Reply> replies,
            List<@Nullable Reply> reportReplies, List<Event> events) {

        /** What the node could take at once; used up by the decisions. */
        public LocalCapacity offer() {
            return Node.offer(node, slots);
        }
    }

    void committed(Batch batch);

    /** A node has begun and found that there was none for a while. */
    void outage(EngineOutage outage);

    /** A holder's lease continues from now. */
    void extended(String holder, Lane lane, Instant now);

    /** A workspace, which may be new, has got credits. */
    void granted(UUID workspace, BigDecimal amount);
}
