package io.keelson.server.engine.upkeep;

import io.keelson.core.decide.ChangeSet.Lane;
import io.keelson.server.background.BackgroundTask;
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
    private volatile List<BackgroundTask> tasks = List.of();

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

    /** @param actions start other packages' due work; each must return at once */
    public void start(Map<DueWorkPoller.Kind, Runnable> actions) {
        notifier.peersPresent(
                database.inTransaction(c -> store.workers().register(c, node.id(), node.version(), silence())));
        committedAt = System.nanoTime();
        readSettings();
        tasks = List.of(BackgroundTask.every("heartbeat", beat(), this::keepLeases),
                BackgroundTask.every("ended-runs", TIMER_INTERVAL, this::endsElsewhere),
                BackgroundTask.every("settings", SETTINGS_INTERVAL, this::readSettings),
                BackgroundTask.paced("due-work", TIMER_INTERVAL, () -> poll(actions)),
                BackgroundTask.every("stuck-joins", JOIN_CHECK_INTERVAL, reconciler::stuckJoins),
                BackgroundTask.every("cleanup", CLEANUP_INTERVAL, this::cleanUp),
                BackgroundTask.every("orphan-scan", ORPHAN_SCAN_INTERVAL, artifacts::removeOrphans));
        tasks.forEach(BackgroundTask::start);
    }

    /** The periodic tasks; none before the start. */
    public List<BackgroundTask> tasks() {
        return tasks;
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

    private Duration poll(Map<DueWorkPoller.Kind, Runnable> actions) {
        boolean answered = false;
        try {
            Duration next = dueWorkPoller.look(actions);
            answered = true;
            return next;
        } finally {
            node.observer().database(answered);
        }
    }

    /**
     * Stops executions that have lost their lease, because of a cancelled run or a long silence of this node, for
     * example.
     */
    public void keepLeases() {
        boolean company = dueWorkPoller.query(c -> {
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
        dueWorkPoller.<@Nullable Object>query(c -> {
            store.limits().refresh(c);
            prices.refresh(c);
            return null;
        });
    }

    /** Contacts the artifact store last, because it may be slow or fail. */
    private void cleanUp() {
        dropExpiredKeys();
        secrets.forget();
        artifacts.expire();
        artifacts.remove();
    }

    private void dropExpiredKeys() {
        int dropped;
        do {
            dropped = database.withConnection(c -> store.keys().purge(c, KEY_BATCH_SIZE));
        } while (dropped == KEY_BATCH_SIZE);
    }

    @Override
    public void close() throws InterruptedException {
        for (BackgroundTask task : tasks) {
            task.close();
        }
        notifier.close();
        dueWorkPoller.close();
        try {
            database.runInTransaction(c -> store.workers().deregister(c, node.id()));
        } catch (SqlFailure e) {
            LOG.warn("could not deregister the node: {}", e.getMessage());
        }
    }
}
