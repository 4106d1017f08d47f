package io.keelson.server.engine.dispatch;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.keelson.server.base.db.Database;
import io.keelson.server.engine.store.queue.WorkerRegistry;
import java.time.Duration;
import java.util.Set;
import java.util.UUID;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Which workers are drained, and their versions, as each of their claims and reports needs them. Remembered for {@link #REMEMBERED}: a change by
 * another node is known here after that time, one by this node at once.
 */
final class DrainingWorkers {
    static final Duration REMEMBERED = Duration.ofSeconds(1);

    private static final int MAX_WORKERS = 10_000;

    private record Worker(UUID workspace, String id) {}

    /**
     * The parameters of a worker's claims.
     *
     * @param specs the announced tools, as JSON text; null if unchanged
     */
    record Offer(Set<String> tools, @Nullable String version, @Nullable String specs) {}

    /**
     * @param version that it has announced; null if absent
     * @param claimed its last claim that was recorded; null where it was only looked up
     */
    private record Known(boolean draining, @Nullable String version, @Nullable Offer claimed) {}

    private final Database database;
    private final WorkerRegistry workers;
    private final Cache<Worker, Known> known;

    DrainingWorkers(Database database, WorkerRegistry workers, LongSupplier nanoTime) {
        this.database = database;
        this.workers = workers;
        this.known = Caffeine.newBuilder().maximumSize(MAX_WORKERS).expireAfterWrite(REMEMBERED)
                .ticker(nanoTime::getAsLong).executor(Runnable::run).build();
    }

    boolean of(UUID workspace, String worker) {
        return read(workspace, worker).draining;
    }

    /** The version that the worker has announced; null if absent. */
    @Nullable String version(UUID workspace, String worker) {
        return read(workspace, worker).version;
    }

    private Known read(UUID workspace, String worker) {
        return known.get(new Worker(workspace, worker), w -> {
            WorkerRegistry.State state = database.withConnection(c -> workers.state(c, w.workspace, w.id));
            return new Known(state.draining(), state.version(), null);
        });
    }

    /**
     * Records the claim, unless one with the same offer has been recorded within {@link #REMEMBERED}.
     *
     * @param slots that it asks for
     * @return whether the worker is drained
     */
    boolean claiming(UUID workspace, String worker, Offer offer, int slots) {
        Worker key = new Worker(workspace, worker);
        Known recent = known.getIfPresent(key);
        if (recent == null || !offer.equals(recent.claimed)) {
            recent = known.asMap().compute(key, (w, before) -> new Known(database.inTransaction(
                    c -> workers.seen(c, w.workspace, w.id, offer.tools, offer.specs, slots, offer.version)),
                    offer.version, offer));
        }
        return recent.draining;
    }

    /** Waits for a read that is under way, which may not have seen the change. */
    void changed(UUID workspace, String worker) {
        known.invalidate(new Worker(workspace, worker));
    }
}
