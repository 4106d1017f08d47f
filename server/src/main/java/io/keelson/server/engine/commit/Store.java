package io.keelson.server.engine.commit;

import io.keelson.core.plan.Plan;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.engine.store.IdempotencyKeys;
import io.keelson.server.engine.store.RunStore;
import io.keelson.server.engine.store.WorkLimits;
import io.keelson.server.engine.store.queue.LeaseHeartbeats;
import io.keelson.server.engine.store.queue.ResultCache;
import io.keelson.server.engine.store.queue.WorkerRegistry;
import io.keelson.server.engine.store.read.ResultSources;
import io.keelson.server.engine.store.read.ScopeReader;
import io.keelson.server.engine.store.read.StepWorkReader;
import io.keelson.server.engine.store.retention.ArtifactQuota;
import io.keelson.server.engine.store.retention.ArtifactRetention;
import io.keelson.server.engine.store.retention.UploadSlots;
import io.keelson.server.engine.store.retention.Uploads;
import java.time.Duration;
import java.util.function.Function;
import java.util.function.Predicate;

/** The parts of the store that the engine uses. */
public record Store(RunStore runs, WorkerRegistry workers, LeaseHeartbeats heartbeats, ScopeReader scopes,
        StepWorkReader work, IdempotencyKeys keys, WorkLimits limits, ArtifactRetention artifacts, ArtifactQuota quota,
        Uploads uploads, UploadSlots slots, ResultCache results, ResultSources sources) {

    /**
     * @param plans reads a plan's stored document
     * @param artifactRetention retention of artifacts without one of their own, after the end of their run
     */
    public static Store of(DbClock clock, Function<String, Plan> plans, Duration artifactRetention) {
        return of(clock, plans, artifactRetention, tool -> false);
    }

    /** @param announced tools of work that a broker announces */
    public static Store of(DbClock clock, Function<String, Plan> plans, Duration artifactRetention,
            Predicate<String> announced) {
        return new Store(new RunStore(clock, plans, artifactRetention, announced), new WorkerRegistry(clock),
                new LeaseHeartbeats(clock), new ScopeReader(), new StepWorkReader(), new IdempotencyKeys(clock),
                new WorkLimits(), new ArtifactRetention(clock), new ArtifactQuota(), new Uploads(clock),
                new UploadSlots(clock), new ResultCache(clock), new ResultSources(clock));
    }
}
