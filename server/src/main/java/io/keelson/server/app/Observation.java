package io.keelson.server.app;

import io.keelson.server.api.http.support.RequestListener;
import io.keelson.server.app.metrics.DatabaseGauges;
import io.keelson.server.app.metrics.Metrics;
import io.keelson.server.app.trace.Traces;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.base.db.Tenancy;
import io.keelson.server.engine.commit.Observer;
import io.keelson.server.engine.commit.Observers;
import io.keelson.server.engine.commit.RunLog;
import io.keelson.server.engine.execute.Tracing;
import io.keelson.server.engine.store.queue.Backlog;
import io.keelson.server.outlet.webhook.Deliveries;
import io.keelson.server.outlet.webhook.DeliveryObserver;

/** Metrics and traces of a server, and the observers that its other parts call. */
record Observation(Metrics metrics, Observer engine, Tracing tracing, RequestListener http,
        DeliveryObserver deliveries) {

    /** OpenTelemetry is not loaded unless traces are configured. */
    static Observation of(Settings.Telemetry telemetry, Database database, Closer closer) {
        Metrics metrics = new Metrics(
                () -> Tenancy.allWorkspaces(() -> database.withConnection(c -> new DatabaseGauges(
                        Backlog.read(c, DbClock.DATABASE), Deliveries.waiting(c)))),
                System::nanoTime, KeelsonVersion.current().toString());
        metrics.pools(database);
        Observer engine = new Observers(metrics.engine(), new RunLog());
        if (!Traces.wanted(telemetry.variables())) {
            return new Observation(metrics, engine, Tracing.NONE, metrics.http(), metrics.deliveries());
        }
        Traces traces = closer.register(new Traces(telemetry.variables(), telemetry.genAi() == Settings.GenAi.LATEST));
        return new Observation(metrics, new Observers(engine, traces.engine()), traces.tracing(),
                new RequestListener.Both(metrics.http(), traces.http()),
                new DeliveryObserver.Both(metrics.deliveries(), traces.deliveries()));
    }
}
