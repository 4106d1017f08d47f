package io.keelson.server.engine.upkeep;

import io.keelson.core.decide.ChangeSet.Lane;
import io.keelson.server.db.Database;
import io.keelson.server.db.SqlFailure;
import io.keelson.server.engine.commit.Observer;
import io.keelson.server.engine.commit.PriceList;
import io.keelson.server.engine.commit.Store;
import io.keelson.server.engine.execute.Execution;
import io.keelson.server.engine.execute.LocalExecutor;
import io.keelson.server.secret.Secrets;
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

/** The node's ticker: keeps its leases and its sign of life, has the lookout look, and calls the rarer duties. */
public final class MaintenanceScheduler implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(MaintenanceScheduler.class);
    private static final Duration TIMER_INTERVAL = Duration.ofSeconds(1);
    private static final Duration JOIN_CHECK_INTERVAL = Duration.ofSeconds(20);
    private static final Duration CLEANUP_INTERVAL = Duration.ofMinutes(5);
    /** The whole store is gone through. */
    private static final Duration ORPHAN_SCAN_INTERVAL = Duration.ofHours(6);
    /** How soon a node sees limits and prices that were changed elsewhere, if it does not hear of it. */
    private static final Duration SETTINGS_INTERVAL = Duration.ofSeconds(5);
    private static final int KEY_BATCH_SIZE = 1_000;
    /** So much later than it should a node's sign of life may come. */
    private static final Duration TOLERANCE = Duration.ofSeconds(5);

    /**
     * This server among the others.
     *
     * @param lease how long work stays with a node that is not heard of
     */
    public record Node(String id, String version, Duration lease, Observer observer) {}

    /** @param period from the end of one to the beginning of the next */
    public record Duty(Duration period, Runnable work) {}

    private final Database database;
    private final Store store;
    private final Reconciler reconciler;
    private final DueWorkPoller dueWorkPoller;
    private final LocalExecutor executor;
    private final RunEnds ends;
    private final PriceList prices;
    private final ClusterNotifier notifier;
    private final ArtifactSweeper artifacts;
    private final Secrets secrets;
    private final Node node;
    private volatile long committedAt;
    private final ScheduledThreadPoolExecutor ticker = ticker(2, "upkeep-");
    /** A large store may take its time, and no lease is lost meanwhile. */
    private final ScheduledThreadPoolExecutor chores = ticker(1, "chores-");

    public MaintenanceScheduler(Database database, Store store, Reconciler reconciler, DueWorkPoller dueWorkPoller,
            LocalExecutor executor,
            RunEnds ends, PriceList prices, ClusterNotifier notifier, ArtifactSweeper artifacts, Secrets secrets,
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
        chores().forEach(duty -> every(chores, duty));
        lookAfter(TIMER_INTERVAL);
    }

    /** Whether the node's sign of life was committed lately: not while the database takes no writes. */
    public boolean commits() {
        return System.nanoTime() - committedAt < silence().toNanos();
    }

    private Duration beat() {
        return node.lease().dividedBy(3);
    }

    /** Of a node that was not heard of for longer it is not known whether it lives. */
    private Duration silence() {
        return beat().plus(TOLERANCE);
    }

    /** What must not come late; the look at what is due says itself when to look again. */
    public List<Duty> duties() {
        return List.of(new Duty(beat(), this::keepLeases), new Duty(TIMER_INTERVAL, this::endsElsewhere),
                new Duty(SETTINGS_INTERVAL, this::readSettings));
    }

    /** What may wait for each other. */
    public List<Duty> chores() {
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
                LOG.warn("looking for what is due failed and is tried again", e);
            }
            if (!ticker.isShutdown()) {
                lookAfter(next);
            }
        }, pause.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** What has lost its lease is stopped: its run was cancelled, say, or this node was not heard of for too long. */
    public void keepLeases() {
        boolean company = dueWorkPoller.ask(c -> {
            boolean others = store.workers().heartbeat(c, node.id(), node.version(), silence());
            Map<Lane, Execution> held = executor.held();
            for (Lane lane : store.runs().extendLeases(c, node.id(), held.keySet())) {
                Execution lost = Objects.requireNonNull(held.get(lane));
                executor.stop(lost.stepId(), lost.leaseEpoch());
            }
            return others;
        });
        committedAt = System.nanoTime();
        notifier.peersPresent(company);
    }

    /** Tells those who wait for runs that others have ended. */
    public void endsElsewhere() {
        Set<UUID> awaited = ends.awaited();
        if (!awaited.isEmpty()) {
            database.withConnection(c -> store.runs().ended(c, awaited)).forEach(ends::ended);
        }
    }

    /** Limits and prices; of two who read them at once the later one's count. */
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
                LOG.warn("upkeep failed and is tried again", e);
            }
        }, duty.period.toMillis(), duty.period.toMillis(), TimeUnit.MILLISECONDS);
    }

    @Override
    public void close() throws InterruptedException {
        ticker.shutdown();
        chores.shutdown();
        ticker.awaitTermination(5, TimeUnit.SECONDS);
        chores.awaitTermination(5, TimeUnit.SECONDS);
        notifier.close();
        dueWorkPoller.close();
        try {
            database.runInTransaction(c -> store.workers().deregister(c, node.id()));
        } catch (SqlFailure e) {
            LOG.warn("the node ends without saying goodbye: {}", e.getMessage());
        }
    }
}
