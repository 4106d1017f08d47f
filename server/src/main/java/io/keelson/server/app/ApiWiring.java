package io.keelson.server.app;

import com.github.f4b6a3.uuid.UuidCreator;
import io.keelson.server.api.http.ApiServices;
import io.keelson.server.api.http.HttpOptions;
import io.keelson.server.api.http.HttpServer;
import io.keelson.server.api.http.support.ErrorCode;
import io.keelson.server.api.http.support.Observed;
import io.keelson.server.api.http.support.Obstacle;
import io.keelson.server.api.web.Dashboard;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.base.db.SqlFailure;
import io.keelson.server.engine.Engine;
import io.keelson.server.engine.store.read.Explainer;
import io.keelson.server.engine.store.read.InboxReader;
import java.time.Clock;
import org.jspecify.annotations.Nullable;

/** The HTTP API over a server's other parts. */
final class ApiWiring {

    private ApiWiring() {}

    static HttpServer server(Settings.Http settings, Storage storage, EngineParts parts,
            ApiServices.Background background, Observation observation, Clock clock) {
        Database database = storage.database();
        return new HttpServer(
                HttpOptions.DEFAULTS.withHost(settings.host()).withPort(settings.port())
                        .withBounds(settings.connections(), settings.requestTimeout())
                        .withDashboard(settings.dashboard() ? new Dashboard(settings.webFolder()) : null)
                        .withPublicUrl(settings.publicUrl())
                        .withVersion(KeelsonVersion.current().number()),
                new ApiServices(database, storage.auth(),
                        new ApiServices.Runs(storage.runs(),
                                new Explainer(DbClock.DATABASE, parts.store().runs(),
                                        tool -> parts.tools().find(tool).isPresent()),
                                new InboxReader(DbClock.DATABASE), parts.missions(), parts.models(),
                                parts.submissions(),
                                UuidCreator::getTimeOrderedEpoch, parts.store().keys()),
                        new ApiServices.Work(parts.engine(), parts.engine().remoteWork(), parts.tools(),
                                parts.computation(), parts.engine().texts()),
                        new ApiServices.Stores(storage.artifacts(), parts.store().artifacts(), storage.money(),
                                parts.roster(), parts.questions(),
                                storage.secrets(), parts.recipes(),
                                storage.endpoints(),
                                storage.deliveries()),
                        background, parts.modules(), parts.engine().history(),
                        () -> obstacle(parts.engine(), storage)),
                new Observed(observation.http(), observation.metrics()::background, observation.metrics()::page,
                        settings.metricsAccess()));
    }

    private static @Nullable Obstacle obstacle(Engine engine, Storage storage) {
        String found = engine.obstacle();
        if (found != null || !answers(storage.database())) {
            return new Obstacle(ErrorCode.NOT_READY, found == null ? "the database does not respond" : found);
        }
        String refusal = storage.files().refusal();
        return refusal == null ? null : new Obstacle(ErrorCode.ARTIFACT_STORE_OF_OTHER_DATABASE, refusal);
    }

    private static boolean answers(Database database) {
        try {
            return database.withConnection(connection -> connection.isValid(2));
        } catch (SqlFailure e) {
            return false;
        }
    }
}
