package io.keelson.server.engine.dispatch;

import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.LoadingCache;
import io.keelson.server.db.Database;
import io.keelson.server.run.queue.WorkerRegistry;
import java.time.Duration;
import java.util.UUID;
import java.util.function.LongSupplier;

/**
 * Which workers are drained, as each of their reports asks. Remembered for {@link #REMEMBERED}: a change by another node is
 * known here after that time, one by this node at once.
 */
final class DrainingWorkers {
    static final Duration REMEMBERED = Duration.ofSeconds(1);

    private static final int MAX_WORKERS = 10_000;

    private record Worker(UUID workspace, String id) {}

    private final LoadingCache<Worker, Boolean> draining;

    DrainingWorkers(Database database, WorkerRegistry workers, LongSupplier nanoTime) {
        draining = Caffeine.newBuilder().maximumSize(MAX_WORKERS).expireAfterWrite(REMEMBERED)
                .ticker(nanoTime::getAsLong).executor(Runnable::run).build(worker -> database
                        .withConnection(c -> workers.draining(c, worker.workspace, worker.id)));
    }

    boolean of(UUID workspace, String worker) {
        return draining.get(new Worker(workspace, worker));
    }

    /** Waits for a read that is under way, which may not have seen the change. */
    void changed(UUID workspace, String worker) {
        draining.invalidate(new Worker(workspace, worker));
    }
}
