package io.keelson.server.engine.dispatch;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.keelson.api.worker.WorkItem;
import io.keelson.core.run.StepAssignment;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.engine.store.queue.GatewayGrant;
import io.keelson.server.engine.store.queue.GatewayTokens;
import io.keelson.server.engine.store.queue.WorkerRegistry;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Gives steps whose tools have announced {@code gateway} a token for it. An announcement by another node is known here after
 * {@link #REMEMBERED}, one by this node at once.
 */
final class GatewayAccess {
    private static final Duration REMEMBERED = Duration.ofSeconds(1);
    private static final int MAX_WORKSPACES = 10_000;
    private static final String MEMBER = "\"gateway\"";

    private final Database database;
    private final WorkerRegistry workers;
    private final GatewayTokens tokens = new GatewayTokens(DbClock.DATABASE);
    private final Cache<UUID, Map<String, GatewayGrant>> grants;

    GatewayAccess(Database database, WorkerRegistry workers, LongSupplier nanoTime) {
        this.database = database;
        this.workers = workers;
        this.grants = Caffeine.newBuilder().maximumSize(MAX_WORKSPACES).expireAfterWrite(REMEMBERED)
                .ticker(nanoTime::getAsLong).executor(Runnable::run).build();
    }

    /**
     * A worker has announced tools.
     *
     * @param specs JSON text; null if unchanged
     */
    void announced(UUID workspace, @Nullable String specs) {
        if (specs != null && specs.contains(MEMBER)) {
            grants.invalidate(workspace);
        }
    }

    /** A new token for the lease; null if the step's tool has announced no use of the gateway. */
    WorkItem.@Nullable Gateway of(UUID workspace, StepAssignment step) {
        GatewayGrant grant = grants.get(workspace, id -> database.withConnection(c -> workers.gateways(c, id)))
                .get(step.tool());
        return grant == null ? null
                : new WorkItem.Gateway(database.inTransaction(c -> tokens.create(c,
                        new GatewayTokens.Lease(workspace, step.runId(), step.taskId(), step.stepId(),
                                step.leaseEpoch()),
                        grant)));
    }
}
