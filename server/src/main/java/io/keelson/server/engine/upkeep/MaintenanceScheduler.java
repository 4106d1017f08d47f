package io.keelson.server.engine.upkeep;

import io.keelson.core.decide.ChangeSet.Lane;
import io.keelson.server.db.Database;
import io.keelson.server.db.SqlFailure;
import io.keelson.server.engine.commit.CurrentPrices;
import io.keelson.server.engine.commit.Observer;
import io.keelson.server.engine.commit.Store;
import io.keelson.server.engine.execute.LocalExecutor;
import io.keelson.server.engine.execute.StepExecution;
import io.keelson.server.secret.SecretStore;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Periodic tasks of a node: extends its leases, sends its heartbeat, polls for due work, and runs rarer tasks. */
public final class MaintenanceScheduler implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(MaintenanceScheduler.class);
    private static final Duration TIMER_INTERVAL = Duration.ofSeconds(1);
    private static final Duration JOIN_CHECK_INTERVAL = Duration.ofSeconds(20);
    private static final Duration CLEANUP_INTERVAL = Duration.ofMinutes(5);
    /** Lists the whole store. */
    private static final Duration ORPHAN_SCAN_INTERVAL = Duration.ofHours(6);
    /** How soon a node reads limits and prices that were changed elsewhere, without a notification. */
    private static final Duration SETTINGS_INTERVAL = Duration.ofSeconds(5);
    private static final int KEY_BATCH_SIZE = 1_000;
    /** Accepted delay of a node's heartbeat. */
    private static final Duration TOLERANCE = Duration.ofSeconds(5);

    /**
     * This node.
     *
     * @param lease how long work stays with a silent node
     */
    public record Node(String id, String version, Duration lease, Observer observer) {}

    /** @param period from the end of one run to the beginning of the next */
    public record Duty(Duration period, Runnable work) {}

    private final Database database;
    private final Store store;
    private final Reconciler reconciler;
    private final DueWorkPoller dueWorkPoller;
    private final LocalExecutor executor;
    private final RunEnds ends;
    private final CurrentPrices prices;
    private final ClusterNotifier notifier;
    private final ArtifactSweeper artifacts;
    private final SecretStore secrets;
    private final Node node;
    private volatile long committedAt;
    private final ScheduledThreadPoolExecutor ticker = ticker(2, "upkeep-");
    /** Separate, so that a slow store delays no lease. */
    private final ScheduledThreadPoolExecutor cleaningTasks = ticker(1, "chores-");

    public MaintenanceScheduler(Database database, Store store, Reconciler reconciler, DueWorkPoller dueWorkPoller,
            LocalExecutor executor,
            RunEnds ends, CurrentPrices prices, ClusterNotifier notifier, ArtifactSweeper artifacts,
            SecretStore secrets,
            Node node) {
        this.database = database;
        this.store = store;
        this.reconciler = reconciler;
        this.dueWorkPoller = dueWorkPoller;
        this.executor = executor;
        this.ends = ends;
        this.prices = prices;
        this.notifier = notifier;
        this.artifacts = artifacts;
        this.secrets = secrets;
        this.node = node;
    }

    private static ScheduledThreadPoolExecutor ticker(int threads, String name) {
        ScheduledThreadPoolExecutor ticker = new ScheduledThreadPoolExecutor(threads,
                Thread.ofPlatform().daemon().name(name, 0).factory());
        ticker.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        return ticker;
    }

    public void start() {
        notifier.peersPresent(
                database.inTransaction(c -> store.workers().register(c, node.id(), node.version(), silence())));
        committedAt = System.nanoTime();
        readSettings();
        duties().forEach(duty -> every(ticker, duty));
        cleaningTasks().forEach(duty -> every(cleaningTasks, duty));
        lookAfter(TIMER_INTERVAL);
    }

    /** Whether the node's heartbeat was committed recently: not while the database accepts no writes. */
    public boolean commits() {
        return System.nanoTime() - committedAt < silence().toNanos();
    }

    private Duration beat() {
        return node.lease().dividedBy(3);
    }

    /** After this time without a heartbeat a node may be dead. */
    private Duration silence() {
        return beat().plus(TOLERANCE);
    }

    /** Tasks that must be on time; the poll for due work sets its own next time. */
    public List<Duty> duties() {
        return List.of(new Duty(beat(), this::keepLeases), new Duty(TIMER_INTERVAL, this::endsElsewhere),
                new Duty(SETTINGS_INTERVAL, this::readSettings));
    }

    /** Tasks that may delay each other. */
    public List<Duty> cleaningTasks() {
        return List.of(new Duty(JOIN_CHECK_INTERVAL, reconciler::stuckJoins),
                new Duty(CLEANUP_INTERVAL, this::dropExpiredKeys),
                new Duty(CLEANUP_INTERVAL, secrets::forget), new Duty(CLEANUP_INTERVAL, artifacts::expire),
                new Duty(CLEANUP_INTERVAL, artifacts::remove),
                new Duty(ORPHAN_SCAN_INTERVAL, artifacts::removeOrphans));
    }

    private void lookAfter(Duration pause) {
        ticker.schedule(() -> {
            Duration next = TIMER_INTERVAL;
            try {
                next = dueWorkPoller.look();
                node.observer().database(true);
            } catch (RuntimeException e) {
                node.observer().database(false);
                LOG.warn("polling for due work failed, retrying", e);
            }
            if (!ticker.isShutdown()) {
                lookAfter(next);
            }
        }, pause.toMillis(), TimeUnit.MILLISECONDS);
    }

    /**
     * Stops executions that have lost their lease, because of a cancelled run or a long silence of this node, for
     * example.
     */
    public void keepLeases() {
        boolean company = dueWorkPoller.ask(c -> {
            boolean others = store.workers().heartbeat(c, node.id(), node.version(), silence());
            Map<Lane, StepExecution> held = executor.held();
            for (Lane lane : store.runs().extendLeases(c, node.id(), held.keySet())) {
                StepExecution lost = Objects.requireNonNull(held.get(lane));
                executor.stop(lost.stepId(), lost.leaseEpoch());
            }
            return others;
        });
        committedAt = System.nanoTime();
        notifier.peersPresent(company);
    }

    /** Notifies waiters of runs that other nodes have ended. */
    public void endsElsewhere() {
        Set<UUID> awaited = ends.awaited();
        if (!awaited.isEmpty()) {
            database.withConnection(c -> store.runs().ended(c, awaited)).forEach(ends::ended);
        }
    }

    /** Reads limits and prices; of two concurrent calls the later one's result counts. */
    public void readSettings() {
        dueWorkPoller.<@Nullable Object>ask(c -> {
            store.limits().refresh(c);
            prices.refresh(c);
            return null;
        });
    }

    private void dropExpiredKeys() {
        int dropped;
        do {
            dropped = database.withConnection(c -> store.keys().purge(c, KEY_BATCH_SIZE));
        } while (dropped == KEY_BATCH_SIZE);
    }

    private static void every(ScheduledThreadPoolExecutor ticker, Duty duty) {
        ticker.scheduleWithFixedDelay(() -> {
            try {
                duty.work.run();
            } catch (RuntimeException e) {
                LOG.warn("maintenance failed, retrying", e);
            }
        }, duty.period.toMillis(), duty.period.toMillis(), TimeUnit.MILLISECONDS);
    }

    @Override
    public void close() throws InterruptedException {
        ticker.shutdown();
        cleaningTasks.shutdown();
        ticker.awaitTermination(5, TimeUnit.SECONDS);
        cleaningTasks.awaitTermination(5, TimeUnit.SECONDS);
        notifier.close();
        dueWorkPoller.close();
        try {
            database.runInTransaction(c -> store.workers().deregister(c, node.id()));
        } catch (SqlFailure e) {
            LOG.warn("could not deregister the node: {}", e.getMessage());
        }
    }
}
