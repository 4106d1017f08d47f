package io.keelson.server.engine.dispatch;

import io.keelson.core.run.VersionRule;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A claim, with the means to end its wait.
 *
 * @param workerId the worker's own stable name
 * @param tools the tools it serves
 * @param max maximum number of items
 * @param maxWait maximum wait for work
 * @param lease how long the lease lasts without a heartbeat; null for the default (30 s)
 * @param specs the announced tools, as JSON text; null if unchanged
 * @param again whether the worker claims again as soon as it has the answer: it gets steps that become ready
 *            meanwhile, as long as it has slots of {@code max} left
 * @param chained tools without effects, consecutive steps of which the worker executes one after another
 * @param gone true once the worker cannot be answered any more: it gets no work then. Commits call it, so it must
 *            return at once
 * @param over true when the claim must not wait any longer
 */
public record WorkerClaim(UUID workspaceId, String workerId, List<String> tools, int max, Duration maxWait,
        @Nullable Duration lease, @Nullable String version, @Nullable String specs, boolean again,
        Set<String> chained, BooleanSupplier gone, BooleanSupplier over) {

    /** For a worker that waits for its answer. */
    public WorkerClaim(UUID workspaceId, String workerId, List<String> tools, int max, Duration maxWait,
            @Nullable Duration lease, @Nullable String version) {
        this(workspaceId, workerId, tools, max, maxWait, lease, version, null, false, Set.of(), () -> false,
                () -> false);
    }

    /** A copy for so many items. */
    WorkerClaim atMost(int items) {
        return new WorkerClaim(workspaceId, workerId, tools, items, maxWait, lease, version, specs, again, chained,
                gone, over);
    }

    /** A copy for a worker of that version; null without one. */
    WorkerClaim ofVersion(@Nullable String announced) {
        return new WorkerClaim(workspaceId, workerId, tools, max, maxWait, lease, announced, specs, again, chained,
                gone, over);
    }

    /** The version for rules about versions. */
    String ruledVersion() {
        return Objects.requireNonNullElse(version, VersionRule.UNVERSIONED);
    }
}
