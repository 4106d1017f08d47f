package io.keelson.server.engine.commit;

import io.keelson.core.run.Command;
import io.keelson.core.run.Ids;
import java.util.Iterator;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Steps that this node has executed before the commit that creates their run, or that claims the first one.
 *
 * @param ids the ids that the draft of a new run has drawn, in their order
 * @param tool of the first step, which has a slot of this node
 * @param report of the ended steps; null if absent
 * @param first the step that the claim must give for the first time; null for a creation
 */
public record Executed(List<UUID> ids, String tool, @Nullable Command report, @Nullable UUID first) {

    /** The draft's ids, so that each step has the id of its execution, and then others. */
    Ids ids(Ids others) {
        Iterator<UUID> drawn = ids.iterator();
        return () -> drawn.hasNext() ? drawn.next() : others.next();
    }
}
