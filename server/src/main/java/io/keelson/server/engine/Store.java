package io.keelson.server.engine;

import io.keelson.core.plan.Plan;
import io.keelson.server.db.DbClock;
import io.keelson.server.run.ArtifactLife;
import io.keelson.server.run.ArtifactRoom;
import io.keelson.server.run.Fleet;
import io.keelson.server.run.Heartbeats;
import io.keelson.server.run.IdempotencyKeys;
import io.keelson.server.run.RunStore;
import io.keelson.server.run.ScopeReader;
import io.keelson.server.run.StepWorkReader;
import io.keelson.server.run.UploadPlaces;
import io.keelson.server.run.Uploads;
import io.keelson.server.run.WorkLimits;
import java.time.Duration;
import java.util.function.Function;

/** The faces of the store that the engine works with. */
public record Store(RunStore runs, Fleet fleet, Heartbeats heartbeats, ScopeReader scopes, StepWorkReader work,
        IdempotencyKeys keys, WorkLimits limits, ArtifactLife artifacts, ArtifactRoom room, Uploads uploads,
        UploadPlaces places) {

    /**
     * @param plans reads a plan's document as it was stored
     * @param artifactRetention how long artifacts are kept after the end of their run, where they have no time of their own
     */
    public static Store of(DbClock clock, Function<String, Plan> plans, Duration artifactRetention) {
        return new Store(new RunStore(clock, plans, artifactRetention), new Fleet(clock), new Heartbeats(clock),
                new ScopeReader(),
                new StepWorkReader(), new IdempotencyKeys(clock), new WorkLimits(), new ArtifactLife(clock),
                new ArtifactRoom(), new Uploads(clock), new UploadPlaces(clock));
    }
}
