package io.keelson.server.engine;

import com.github.f4b6a3.uuid.UuidCreator;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import io.keelson.server.artifact.ArtifactStore;
import io.keelson.server.db.Database;
import io.keelson.server.engine.commit.Commands;
import io.keelson.server.engine.commit.Committer;
import io.keelson.server.engine.commit.Observer;
import io.keelson.server.engine.commit.PriceList;
import io.keelson.server.engine.commit.Store;
import io.keelson.server.engine.dispatch.Claims;
import io.keelson.server.engine.dispatch.RemoteDispatch;
import io.keelson.server.engine.dispatch.RemoteWork;
import io.keelson.server.engine.dispatch.WorkAvailability;
import io.keelson.server.engine.execute.ArtifactIntake;
import io.keelson.server.engine.execute.ChildMissions;
import io.keelson.server.engine.execute.Evaluator;
import io.keelson.server.engine.execute.LocalExecutor;
import io.keelson.server.engine.execute.Replanner;
import io.keelson.server.engine.execute.Scopes;
import io.keelson.server.engine.execute.StepLogs;
import io.keelson.server.engine.execute.Timeouts;
import io.keelson.server.engine.execute.ToolRunner;
import io.keelson.server.engine.execute.Tracing;
import io.keelson.server.engine.upkeep.ArtifactSweeper;
import io.keelson.server.engine.upkeep.ClusterNotifier;
import io.keelson.server.engine.upkeep.ConcurrencyKeyScheduler;
import io.keelson.server.engine.upkeep.DueWorkPoller;
import io.keelson.server.engine.upkeep.MaintenanceScheduler;
import io.keelson.server.engine.upkeep.Reconciler;
import io.keelson.server.engine.upkeep.RunEnds;
import io.keelson.server.expr.Expressions;
import io.keelson.server.run.KeyUse;
import io.keelson.server.secret.Secrets;
import io.keelson.server.tool.ToolCatalog;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * One node at work: takes commands, commits them in groups, runs what its executors can, and looks after what nobody
 * acted upon. Holds nothing that may not be lost at any instruction; any number of nodes work on one database.
 */
public final class Engine implements Commands, AutoCloseable {
    /** What the name of a node begins with, as a holder of leases. */
    static final String NODE = "node:";

    private static final int COMMIT_LOOPS = 2;
    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(25);

    /**
     * @param maxLanes executions at a time on this node
     * @param lease how long work stays with a node or worker that is not heard of
     * @param runArtifactBytes that the artifacts of a run may have together
     */
    public record Options(int maxLanes, Duration lease, String version, Duration artifactRetention,
            long runArtifactBytes, Observer observer, Tracing tracing) {

        /** Artifacts are kept for 30 days, and a run has 10 GiB of them. */
        public Options(int maxLanes, Duration lease, String version) {
            this(maxLanes, lease, version, Duration.ofDays(30), 10L << 30, Observer.NONE, Tracing.NONE);
        }
    }

    private final String node = NODE + UUID.randomUUID();
    private final Committer committer;
    private final LocalExecutor executor;
    private final LocalDispatcher work;
    private final Claimer claimer;
    private final Thread claiming;
    private final DueWorkPoller dueWorkPoller;
    private final MaintenanceScheduler maintenance;
    private final Timeouts timeouts = new Timeouts();
    private final RemoteWork remote;
    private final RunEnds ends = new RunEnds();
    private final PriceList prices;
    private final ConcurrencyKeyScheduler concurrencyKeyScheduler;
    private final WorkAvailability available;
    private final ClusterNotifier notifier;

    /** @param replanner makes new plans of what planners answer */
    public Engine(Database database, Store store, ToolCatalog catalog, Expressions expressions, Secrets secrets,
            Replanner replanner, ArtifactStore artifacts, Clock clock, Options options) {
        this(database, store, catalog, expressions, secrets, replanner, ChildMissions.NONE, artifacts, clock, options);
    }

    /** The same where steps can start runs. */
    public Engine(Database database, Store store, ToolCatalog catalog, Expressions expressions, Secrets secrets,
            Replanner replanner, ChildMissions children, ArtifactStore artifacts, Clock clock, Options options) {
        Scopes scopes = new Scopes(database, store.scopes(), expressions, secrets);
        StepLogs logs = new StepLogs(database, store.heartbeats());
        ArtifactIntake intake = new ArtifactIntake(database, store.room(), artifacts, options.runArtifactBytes());
        ToolRunner runner = new ToolRunner(catalog, scopes, intake, logs::of, clock, options.tracing());
        available = new WorkAvailability(runner::knows);
        notifier = new ClusterNotifier(database, node, this::heard);
        Evaluator evaluator = new Evaluator(database, store.scopes(), scopes, replanner, children, this::own);
        executor = new LocalExecutor(runner, this::own, timeouts, Actor.agent(node), available::slotFreed);
        concurrencyKeyScheduler = new ConcurrencyKeyScheduler(database, store.runs(), this::own);
        work = new LocalDispatcher(node, options.maxLanes(), options.lease(), runner::knows, executor, evaluator,
                timeouts,
                this::own, available, ends, store.limits(), concurrencyKeyScheduler, notifier);
        prices = new PriceList(store.runs());
        database.runInTransaction(prices::refresh);
        committer = new Committer(database, store.runs(), UuidCreator::getTimeOrderedEpoch, work, COMMIT_LOOPS,
                prices::inForce, options.observer());
        List<String> tools = catalog.all().stream().filter(tool -> !tool.spec().engineOwned())
                .map(tool -> tool.spec().name()).toList();
        Claims claims = new Claims(database, store.runs(), store.limits(), available, this::own);
        claimer = new Claimer(claims, work, available, tools, node, options.lease());
        Reconciler reconciler = new Reconciler(database, store.runs(), this::own, options.observer());
        dueWorkPoller = new DueWorkPoller(database, store.runs(), reconciler, available, concurrencyKeyScheduler);
        maintenance = new MaintenanceScheduler(database, store, reconciler, dueWorkPoller, executor, ends, prices,
                notifier,
                new ArtifactSweeper(database, store.artifacts(), artifacts, options.artifactRetention(), clock),
                secrets, new MaintenanceScheduler.Node(node, options.version(), options.lease(), options.observer()));
        remote = new RemoteDispatch(database, store, scopes, intake, available, claims, this::own, options.lease(),
                runner::timeout, options.tracing());
        maintenance.start();
        claiming = Thread.ofPlatform().name("claimer").start(claimer);
    }

    @Override
    public CompletableFuture<Reply> submit(Command command, @Nullable KeyUse key) {
        return committer.submit(command, key);
    }

    @Override
    public CompletableFuture<RunState> ended(UUID runId) {
        return ends.next(runId);
    }

    @Override
    public void settingsChanged() {
        maintenance.readSettings();
        notifier.ring(ClusterNotifier.Notification.SETTINGS);
    }

    private CompletableFuture<Reply> own(Command command) {
        return committer.submitOwn(command);
    }

    private void heard(Set<ClusterNotifier.Notification> calls) {
        if (calls.contains(ClusterNotifier.Notification.WORK)) {
            available.signal();
        }
        if (calls.contains(ClusterNotifier.Notification.END)) {
            maintenance.endsElsewhere();
        }
        if (calls.contains(ClusterNotifier.Notification.STOP)) {
            maintenance.keepLeases();
        }
        if (calls.contains(ClusterNotifier.Notification.SETTINGS)) {
            maintenance.readSettings();
        }
    }

    /** Has this called when a schedule is due, from the engine's own look at the database; it returns at once. */
    public void onSchedules(Runnable act) {
        dueWorkPoller.onSchedules(act);
    }

    /** Has this called when deliveries to receivers of events wait, likewise. */
    public void onWebhooks(Runnable act) {
        dueWorkPoller.onWebhooks(act);
    }

    /** Has this called when a command to the world outside is due; it returns at once. */
    public void onCommands(Runnable act) {
        dueWorkPoller.onCommands(act);
    }

    /** The way in for workers in other processes. */
    public RemoteWork remoteWork() {
        return remote;
    }

    /** Steps that run on this node at the moment, those whose outcome is being reported included. */
    public int busy() {
        return executor.size();
    }

    /** Whether this node has lately committed something: what it takes can be kept. */
    public boolean commits() {
        return maintenance.commits() && committer.hasRoom();
    }

    /** What it does again and again, whether there is anything to do or not. */
    public MaintenanceScheduler upkeep() {
        return maintenance;
    }

    /** This node's name as leases record it. */
    public String node() {
        return node;
    }

    /** Takes no more work, stops what runs and hands its leases back, commits what was submitted. */
    @Override
    public void close() throws InterruptedException {
        work.close();
        claimer.close();
        claiming.join();
        executor.close(STOP_TIMEOUT);
        maintenance.close();
        concurrencyKeyScheduler.close();
        committer.close();
        timeouts.close();
    }
}
