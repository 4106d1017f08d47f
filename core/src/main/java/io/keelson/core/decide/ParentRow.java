package io.keelson.core.decide;

import java.math.BigDecimal;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A run's data on its parent.
 *
 * @param stepId the step that waits for it
 * @param depth 1 for a child of a root run
 * @param abandon true when it continues if the parent stops waiting for it
 * @param allotment credits that it may cost at most; null for no limit
 * @param seen the parent's version that it last received; older news is ignored
 * @param held true while it is to pause because its parent is paused
 */
public record ParentRow(UUID runId, UUID stepId, int depth, boolean abandon, @Nullable BigDecimal allotment, int seen,
        boolean held) {

    ParentRow allotted(BigDecimal amount) {
        return new ParentRow(runId, stepId, depth, abandon, amount, seen, held);
    }

    ParentRow observed(int version, boolean holds) {
        return new ParentRow(runId, stepId, depth, abandon, allotment, version, holds);
    }
}
