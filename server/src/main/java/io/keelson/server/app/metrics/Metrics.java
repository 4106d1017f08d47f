package io.keelson.server.app.metrics;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.UnixOperatingSystemMXBean;
import io.keelson.server.annex.mcp.gateway.ToolGatewayObserver;
import io.keelson.server.annex.rabbitmq.RabbitObserver;
import io.keelson.server.annex.trigger.TriggerObserver;
import io.keelson.server.api.http.support.Observed;
import io.keelson.server.api.http.support.RequestListener;
import io.keelson.server.base.artifact.ArtifactStoreObserver;
import io.keelson.server.base.background.BackgroundTask;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.Database.PoolUse;
import io.keelson.server.engine.commit.Observer;
import io.keelson.server.engine.tool.SlotKind;
import io.keelson.server.engine.upkeep.RunArchiver;
import io.keelson.server.outlet.webhook.DeliveryObserver;
import io.keelson.server.outlet.webhook.EndpointFormat;
import io.micrometer.core.instrument.Counter;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;

/** All metrics of one server. Counts in memory; renders a page on request. */
public final class Metrics {

    private static final String PLAIN = "text/plain; version=0.0.4; charset=utf-8";
    private static final String OPEN_METRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8";

    /** Well below the 10 s that Prometheus waits. */
    private static final Duration DATABASE_TIMEOUT = Duration.ofSeconds(2);

    private final Meters meters = new Meters();
    private final ModelMeters models = new ModelMeters(meters);
    private final EngineMeters engine = new EngineMeters(meters, models);
    private final ProgramMeters programs = new ProgramMeters(meters);
    private final ArtifactMeters artifacts = new ArtifactMeters(meters);
    private final HttpMeters http = new HttpMeters(meters);
    private final WebhookMeters webhooks = new WebhookMeters(meters);
    private final TriggerMeters triggers = new TriggerMeters(meters);
    private final ArchiveMeters archive = new ArchiveMeters(meters);
    private final RabbitMeters rabbit = new RabbitMeters(meters);
    private final BacklogMeters backlog;
    private final DatabaseMeters database;

    /**
     * @param backlog queries the database for open work
     * @param database queries the database for its own condition
     * @param nanos a monotonic clock
     */
    public Metrics(Supplier<DatabaseGauges> backlog, Supplier<DatabaseHealth> database, LongSupplier nanos,
            String version) {
        this.backlog = new BacklogMeters(meters, backlog, nanos, DATABASE_TIMEOUT);
        this.database = new DatabaseMeters(meters, database, nanos, DATABASE_TIMEOUT);
        JvmMeters.register(meters);
        meters.gauge(Metric.BUILD, () -> 1, version);
    }

    /** Counts the engine's work. */
    public Observer engine() {
        return engine;
    }

    /** Counts the use of models. */
    public ModelMeters models() {
        return models;
    }

    /** Counts calls of programs. */
    public ToolGatewayObserver programs() {
        return programs;
    }

    /** Counts the use of the artifact store. */
    public ArtifactStoreObserver artifacts() {
        return artifacts;
    }

    /** Counts requests. */
    public RequestListener http() {
        return http;
    }

    /** Counts deliveries. */
    public DeliveryObserver deliveries() {
        return webhooks;
    }

    /** Counts events of triggers. */
    public TriggerObserver triggers() {
        return triggers;
    }

    /** Counts archived runs. */
    public RunArchiver.Observer archive() {
        return archive;
    }

    /** Counts messages to the broker. */
    public RabbitObserver rabbit() {
        return rabbit;
    }

    /** Adds counts of requests whose mission was known, and whose mission was read. */
    public void missions(LongSupplier known, LongSupplier read) {
        meters.counter(Metric.MISSIONS, known::getAsLong, "known");
        meters.counter(Metric.MISSIONS, read::getAsLong, "read");
    }

    /** Adds gauges of this server's executors. */
    public void executors(ToIntFunction<SlotKind> busy, Map<SlotKind, Integer> slots) {
        slots.forEach((kind, count) -> {
            String name = kind.name().toLowerCase(Locale.ROOT);
            meters.gauge(Metric.EXECUTOR_BUSY, () -> busy.applyAsInt(kind), name);
            meters.gauge(Metric.EXECUTOR_SLOTS, () -> count, name);
        });
    }

    /** Adds metrics of a background task. */
    public void background(BackgroundTask task) {
        meters.counter(Metric.BACKGROUND_RUNS, () -> task.statistics().runs(), task.name());
        meters.counter(Metric.BACKGROUND_FAILURES, () -> task.statistics().failures(), task.name());
        meters.gauge(Metric.BACKGROUND_TIME, () -> seconds(task.statistics().lastDuration()), task.name());
        meters.gauge(Metric.BACKGROUND_AGE, () -> seconds(task.statistics().sinceSuccess()), task.name());
    }

    private static double seconds(Duration duration) {
        return duration.toNanos() / 1e9;
    }

    /** Adds the free bytes and the size of the data folder's disk. */
    public void dataFolder(LongSupplier free, LongSupplier size) {
        meters.gauge(Metric.DATA_FOLDER_FREE, free::getAsLong);
        meters.gauge(Metric.DATA_FOLDER_SIZE, size::getAsLong);
    }

    /** Adds whether the database went back. */
    public void history(BooleanSupplier wentBack) {
        meters.gauge(Metric.DATABASE_WENT_BACK, () -> wentBack.getAsBoolean() ? 1 : 0);
    }

    /** Adds gauges of the connection pools. */
    public void pools(Database database) {
        pool("engine", database::engineUse);
        pool("requests", database::requestUse);
    }

    private void pool(String name, Supplier<PoolUse> use) {
        meters.gauge(Metric.POOL, () -> use.get().active(), name, "active");
        meters.gauge(Metric.POOL, () -> use.get().idle(), name, "idle");
        meters.gauge(Metric.POOL, () -> use.get().waiting(), name, "waiting");
        meters.gauge(Metric.POOL_MOST, () -> use.get().most(), name);
    }

    /** The current page for Prometheus. */
    public Observed.Page page(Observed.Page asked) {
        backlog.look();
        database.look();
        String type = asked.type().contains("application/openmetrics-text") ? OPEN_METRICS : PLAIN;
        return new Observed.Page(type, meters.page(type));
    }

    /** Meters of the process, under the names that dashboards for Java programs use. */
    private static final class JvmMeters {

        private JvmMeters() {}

        static void register(Meters meters) {
            MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
            meters.gauge(Metric.MEMORY, () -> memory.getHeapMemoryUsage().getUsed(), "heap");
            meters.gauge(Metric.MEMORY, () -> memory.getNonHeapMemoryUsage().getUsed(), "nonheap");
            meters.gauge(Metric.MEMORY_MOST, () -> memory.getHeapMemoryUsage().getMax(), "heap");
            meters.gauge(Metric.MEMORY_MOST, () -> memory.getNonHeapMemoryUsage().getMax(), "nonheap");
            for (GarbageCollectorMXBean each : ManagementFactory.getGarbageCollectorMXBeans()) {
                meters.counter(Metric.COLLECTIONS, each::getCollectionCount, each.getName());
                meters.counter(Metric.COLLECTION_TIME, () -> each.getCollectionTime() / 1e3, each.getName());
            }
            meters.gauge(Metric.THREADS, ManagementFactory.getThreadMXBean()::getThreadCount);
            meters.gauge(Metric.STARTED, () -> ManagementFactory.getRuntimeMXBean().getStartTime() / 1e3);
            OperatingSystemMXBean system = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
            meters.counter(Metric.CPU, () -> (double) system.getProcessCpuTime() / TimeUnit.SECONDS.toNanos(1));
            if (system instanceof UnixOperatingSystemMXBean unix) {
                meters.gauge(Metric.FILES, unix::getOpenFileDescriptorCount);
            }
        }
    }

    /** Counts delivery attempts by outcome and format, never by receiver. */
    private static final class WebhookMeters implements DeliveryObserver {

        private final Map<EndpointFormat, Map<Outcome, Counter>> attempts = new EnumMap<>(EndpointFormat.class);

        WebhookMeters(Meters meters) {
            for (EndpointFormat format : EndpointFormat.values()) {
                Map<Outcome, Counter> ofFormat = new EnumMap<>(Outcome.class);
                for (Outcome outcome : Outcome.values()) {
                    ofFormat.put(outcome, meters.counter(Metric.WEBHOOK_ATTEMPTS,
                            outcome.name().toLowerCase(Locale.ROOT), format.wire()));
                }
                attempts.put(format, ofFormat);
            }
        }

        @Override
        public void attempted(Attempt attempt) {
            Counter counter = attempts.getOrDefault(attempt.format(), Map.of()).get(attempt.outcome());
            if (counter != null) {
                counter.increment();
            }
        }
    }

    /** Counts messages to the broker by their outcome. */
    private static final class RabbitMeters implements RabbitObserver {

        private final Map<Happened, Counter> counters = new EnumMap<>(Happened.class);
        private volatile BooleanSupplier connection = () -> false;

        RabbitMeters(Meters meters) {
            for (Happened happened : Happened.values()) {
                counters.put(happened,
                        meters.counter(Metric.RABBITMQ_MESSAGES, happened.name().toLowerCase(Locale.ROOT)));
            }
            meters.gauge(Metric.RABBITMQ_CONNECTED, () -> connection.getAsBoolean() ? 1 : 0);
        }

        @Override
        public void messages(Happened happened, int count) {
            Counter counter = counters.get(happened);
            if (counter != null) {
                counter.increment(count);
            }
        }

        @Override
        public void connected(BooleanSupplier connected) {
            connection = connected;
        }
    }

    /** Counts events by what happened to them, never by trigger. */
    private static final class TriggerMeters implements TriggerObserver {

        private final Map<Happened, Counter> counters = new EnumMap<>(Happened.class);

        TriggerMeters(Meters meters) {
            for (Happened happened : Happened.values()) {
                counters.put(happened,
                        meters.counter(Metric.TRIGGER_DELIVERIES, happened.name().toLowerCase(Locale.ROOT)));
            }
        }

        @Override
        public void delivery(Happened happened) {
            Counter counter = counters.get(happened);
            if (counter != null) {
                counter.increment();
            }
        }
    }
}
