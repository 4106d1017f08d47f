package io.keelson.server.app;

import io.keelson.server.annex.model.wiring.ModelObserver;
import io.keelson.server.api.http.support.RequestListener;
import io.keelson.server.app.metrics.DatabaseGauges;
import io.keelson.server.app.metrics.DatabaseHealth;
import io.keelson.server.app.metrics.Metrics;
import io.keelson.server.app.trace.Traces;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseState;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.base.db.Tenancy;
import io.keelson.server.engine.commit.Observer;
import io.keelson.server.engine.commit.RunLog;
import io.keelson.server.engine.execute.Tracing;
import io.keelson.server.engine.store.queue.Backlog;
import io.keelson.server.outlet.backup.BackupLog;
import io.keelson.server.outlet.webhook.Deliveries;
import io.keelson.server.outlet.webhook.DeliveryObserver;
import java.util.List;
import java.util.stream.Stream;

/** Metrics and traces of a server, and the observers that its other parts call. */
record Observation(Metrics metrics, List<Observer> engine, Tracing tracing, ModelObserver models,
        List<RequestListener> http, List<DeliveryObserver> deliveries) {

    /** OpenTelemetry is not loaded unless traces are configured. */
    static Observation of(Settings.Telemetry telemetry, Database database, Closer closer) {
        Metrics metrics = new Metrics(
                () -> Tenancy.allWorkspaces(() -> database.withConnection(c -> new DatabaseGauges(
                        Backlog.read(c, DbClock.DATABASE), Deliveries.waiting(c)))),
                () -> database.withConnection(
                        c -> new DatabaseHealth(DatabaseState.read(c), BackupLog.age(c))),
                System::nanoTime, KeelsonVersion.current().toString());
        metrics.pools(database);
        List<Observer> engine = List.of(metrics.engine(), new RunLog());
        if (!Traces.wanted(telemetry.variables())) {
            return new Observation(metrics, engine, Tracing.NONE, metrics.models(), List.of(metrics.http()),
                    List.of(metrics.deliveries()));
        }
        Traces traces = closer.register(new Traces(telemetry.variables(), telemetry.genAi() == Settings.GenAi.LATEST));
        return new Observation(metrics, Stream.concat(engine.stream(), Stream.of(traces.engine())).toList(),
                traces.tracing(), traces.models(metrics.models()), List.of(metrics.http(), traces.http()),
                List.of(metrics.deliveries(), traces.deliveries()));
    }
}
