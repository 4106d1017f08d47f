package io.keelson.server.engine;

import com.github.f4b6a3.uuid.UuidCreator;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import io.keelson.server.base.artifact.ArtifactStore;
import io.keelson.server.base.background.BackgroundTask;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.base.db.Tenancy;
import io.keelson.server.base.expr.Expressions;
import io.keelson.server.engine.commit.Commands;
import io.keelson.server.engine.commit.Committer;
import io.keelson.server.engine.commit.CurrentPrices;
import io.keelson.server.engine.commit.Observer;
import io.keelson.server.engine.commit.Store;
import io.keelson.server.engine.dispatch.Claims;
import io.keelson.server.engine.dispatch.RemoteDispatch;
import io.keelson.server.engine.dispatch.WorkAvailability;
import io.keelson.server.engine.execute.ArtifactIntake;
import io.keelson.server.engine.execute.ChildMissions;
import io.keelson.server.engine.execute.DelayedActions;
import io.keelson.server.engine.execute.Evaluator;
import io.keelson.server.engine.execute.LocalExecutor;
import io.keelson.server.engine.execute.RecordedAnswers;
import io.keelson.server.engine.execute.Replanner;
import io.keelson.server.engine.execute.ResultLookup;
import io.keelson.server.engine.execute.Scopes;
import io.keelson.server.engine.execute.StepLogs;
import io.keelson.server.engine.execute.ToolRunner;
import io.keelson.server.engine.execute.Tracing;
import io.keelson.server.engine.execute.Undos;
import io.keelson.server.engine.history.DatabaseHistory;
import io.keelson.server.engine.live.LiveTexts;
import io.keelson.server.engine.store.KeyUse;
import io.keelson.server.engine.store.queue.WorkerRegistry;
import io.keelson.server.engine.tool.SlotKind;
import io.keelson.server.engine.tool.Tool;
import io.keelson.server.engine.tool.ToolCatalog;
import io.keelson.server.engine.tool.ToolSpec;
import io.keelson.server.engine.tool.WorkspaceTools;
import io.keelson.server.engine.upkeep.ArtifactSweeper;
import io.keelson.server.engine.upkeep.ClusterNotifier;
import io.keelson.server.engine.upkeep.ConcurrencyKeyScheduler;
import io.keelson.server.engine.upkeep.DueWorkPoller;
import io.keelson.server.engine.upkeep.ExpiredData;
import io.keelson.server.engine.upkeep.MaintenanceScheduler;
import io.keelson.server.engine.upkeep.NodeHeartbeat;
import io.keelson.server.engine.upkeep.Reconciler;
import io.keelson.server.engine.upkeep.RunEnds;
import io.keelson.server.tenant.secret.SecretStore;
import java.time.Clock;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One engine node: commits commands in groups, runs steps of its own executors, and finds unreported conditions. A
 * crash at any point loses nothing; any number of nodes share one database.
 */
public final class Engine implements Commands, AutoCloseable {
    /** Prefix of a node's name as a lease holder. */
    static final String NODE = "node:";

    private static final int COMMITTING_THREADS = 2;
    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(25);

    /**
     * Whether consecutive steps without effects are executed before a commit records the first one's end.
     *
     * @param firstReport the first time of a chain whose results have one report
     * @param longest the time after which a chain ends between two steps, so that others get its slot
     * @param beforeCreation the time for which a new run is executed before it is created, because its caller waits; at most
     *                       {@code firstReport}
     */
    public record Chains(boolean on, Duration firstReport, Duration longest, Duration beforeCreation) {
        private static final Duration LONGEST_WAIT = Duration.ofMillis(20);
        /** The default. */
        public static final Chains ON = new Chains(true, Duration.ofMillis(20));
        /** Each step is committed before the next one begins. */
        public static final Chains OFF = new Chains(false, Duration.ZERO);

        public Chains(boolean on, Duration firstReport) {
            this(on, firstReport, Duration.ofMillis(100));
        }

        public Chains(boolean on, Duration firstReport, Duration longest) {
            this(on, firstReport, longest, firstReport.compareTo(LONGEST_WAIT) < 0 ? firstReport : LONGEST_WAIT);
        }
    }

    /**
     * @param slots executions at a time on this node, by the kind of slot that they use
     * @param lease how long work stays with a silent node or worker
     * @param runArtifactBytes maximum bytes of a run's artifacts together
     */
    public record Options(Map<SlotKind, Integer> slots, Duration lease, String version, Chains chains,
            Duration artifactRetention, long runArtifactBytes, List<Observer> observers, Tracing tracing) {

        /** As many slots of each kind, retention of 30 days, and 10 GiB of artifacts per run. */
        public Options(int slots, Duration lease, String version) {
            this(Map.of(SlotKind.COMPUTING, slots, SlotKind.WAITING, slots, SlotKind.MODEL, slots), lease, version,
                    Chains.ON, Duration.ofDays(30), 10L << 30, List.of(), Tracing.NONE);
        }
    }

    private final String node = NODE + UUID.randomUUID();
    private final Committer committer;
    private final LocalExecutor executor;
    private final LocalDispatcher work;
    /** Null if no step is executed before the creation of its run. */
    private final @Nullable NewRuns newRuns;
    private final Claimer claimer;
    private @Nullable Thread claiming;
    private final MaintenanceScheduler maintenance;
    private final DelayedActions timeouts = new DelayedActions();
    private final RemoteDispatch remote;
    private final RunEnds ends;
    private final CurrentPrices prices;
    private final ConcurrencyKeyScheduler concurrencyKeyScheduler;
    private final WorkAvailability available;
    private final Predicate<String> ownTools;
    private final ClusterNotifier notifier;
    private final LiveTexts texts;
    private final WorkspaceTools workspaceTools;
    private final DatabaseHistory history;

    /** @param replanner creates new plans from planners' answers */
    public Engine(Database database, Store store, ToolCatalog catalog, Expressions expressions, SecretStore secrets,
            Replanner replanner, ArtifactStore artifacts, Clock clock, Options options) {
        this(database, store, catalog, expressions, secrets, replanner, ChildMissions.NONE, Undos.NONE, artifacts,
                clock,
                options);
    }

    /** An engine with steps that can start runs, and with runs that can be undone. */
    public Engine(Database database, Store store, ToolCatalog catalog, Expressions expressions, SecretStore secrets,
            Replanner replanner, ChildMissions children, Undos undos, ArtifactStore artifacts, Clock clock,
            Options options) {
        Scopes scopes = new Scopes(database, store.scopes(), expressions, secrets);
        history = new DatabaseHistory(database, node, UuidCreator::getTimeOrderedEpoch);
        List<Observer> observers = Stream.concat(options.observers().stream(), Stream.of(history)).toList();
        StepLogs logs = new StepLogs(database, store.heartbeats());
        ArtifactIntake intake = new ArtifactIntake(database, store.quota(), artifacts, options.runArtifactBytes());
        texts = new LiveTexts(database, node);
        WorkerRegistry workers = new WorkerRegistry(DbClock.DATABASE);
        ToolRunner.AnnouncedEffects effects =
                (workspace, tool) -> database.withConnection(c -> workers.effects(c, workspace, tool));
        ToolRunner runner = new ToolRunner(catalog, scopes, intake, logs::of, options.tracing(), texts,
                new RecordedAnswers(database),
                effects);
        workspaceTools = catalog.ofWorkspaces();
        ownTools = runner::knows;
        available = new WorkAvailability(ownTools, runner::slot);
        notifier = new ClusterNotifier(database, node, this::notified);
        Evaluator evaluator =
                new Evaluator(database, store.scopes(), scopes, replanner, children, undos,
                        new ResultLookup(database, store.sources(), store.results(), catalog, effects), catalog,
                        this::own);
        executor = new LocalExecutor(runner, this::own, timeouts, logs::details, clock, Actor.agent(node),
                available::slotFreed, Math.max(1, options.slots().getOrDefault(SlotKind.COMPUTING, 0)),
                options.chains().firstReport(), options.chains().longest(), options.chains().beforeCreation());
        concurrencyKeyScheduler = new ConcurrencyKeyScheduler(database, store.runs(), this::own);
        ends = new RunEnds(database, store.runs());
        work = new LocalDispatcher(
                new LocalDispatcher.Lanes(node, options.slots(), options.lease(), runner::knows,
                        tool -> options.chains().on() && runner.chains(tool), runner::slot, store.limits(),
                        store.runs().versions()),
                executor, evaluator, timeouts, this::own, new LocalDispatcher.Listeners(available, ends,
                        concurrencyKeyScheduler, notifier, new CancelledModelSteps(database, store.runs(), this::own),
                        new ResultWaits(database, store.results(), this::own),
                        history::wentBack));
        prices = new CurrentPrices(store.runs());
        database.runInTransaction(prices::refresh);
        Tenancy.allWorkspaces(() -> {
            database.runInTransaction(store.limits()::meetAll);
            database.runInTransaction(store.runs().versions()::refresh);
            return null;
        });
        committer = new Committer(database, store.runs(), UuidCreator::getTimeOrderedEpoch, work, COMMITTING_THREADS,
                prices::inForce, observers);
        newRuns = options.chains().on() && options.chains().beforeCreation().isPositive()
                ? new NewRuns(committer, work, executor, runner::chains, clock)
                : null;
        Map<SlotKind, List<String>> tools = catalog.all().stream().map(Tool::spec).filter(tool -> !tool.engineOwned())
                .collect(Collectors.groupingBy(ToolSpec::slot, () -> new EnumMap<>(SlotKind.class),
                        Collectors.mapping(ToolSpec::name, Collectors.toList())));
        Claims claims = new Claims(database, store.runs(), store.limits(), available, this::own,
                timeouts::after);
        boolean early = options.chains().on() && options.chains().beforeCreation().isPositive();
        QueuedChains queued = new QueuedChains(committer, work, executor, claims,
                early ? runner::chains : tool -> false, available::signal, node, options.lease());
        claimer = new Claimer(claims, queued, work, available, () -> claimable(tools), node, options.lease());
        Reconciler reconciler = new Reconciler(database, store.runs(), this::own, options.observers());
        DueWorkPoller dueWorkPoller = new DueWorkPoller(database, store.runs(), reconciler, available,
                concurrencyKeyScheduler, observers, history, System::nanoTime);
        NodeHeartbeat heartbeat = new NodeHeartbeat(database, store, dueWorkPoller, executor, notifier,
                new NodeHeartbeat.Node(node, options.version(), options.lease(), secrets.keyIds()));
        ExpiredData expired = new ExpiredData(database, store.keys(), store.results(), secrets,
                new ArtifactSweeper(database, store.artifacts(), artifacts, options.artifactRetention(), clock));
        maintenance = new MaintenanceScheduler(heartbeat, dueWorkPoller, reconciler, ends, store.limits(),
                store.runs().versions(), available, prices, workspaceTools, expired, history);
        history.onChange(committer::dropViews);
        history.onChange(dueWorkPoller::forget);
        remote = new RemoteDispatch(database, store, scopes, intake, available, timeouts, claims, this::own,
                options.lease(), options.chains().on(), runner::turn, options.tracing());
    }

    /**
     * Begins to claim work and to poll for due work. Commands are committed before the start, too.
     *
     * @param actions start other packages' due work; each must return at once
     */
    public Engine start(Map<DueWorkPoller.Kind, Runnable> actions) {
        maintenance.start(actions);
        claiming = Thread.ofPlatform().name("claimer").start(claimer);
        return this;
    }

    @Override
    public CompletableFuture<Reply> submit(Command command, @Nullable KeyUse key) {
        CompletableFuture<Reply> reply = command instanceof Command.Create create && newRuns != null
                ? newRuns.submit(create, key)
                : null;
        return reply == null ? committer.submit(command, key) : reply;
    }

    @Override
    public CompletableFuture<RunEnd> ended(UUID runId) {
        return ends.next(runId);
    }

    @Override
    public void settingsChanged() {
        maintenance.readSettings();
        notifier.ring(ClusterNotifier.Notification.SETTINGS);
    }

    /** Has the next commits read the database's clock, as after a test has moved it. */
    public void clockMoved() {
        committer.clockMoved();
    }

    /** The tools whose work this node claims: built-in tools and the workspaces' own tools. */
    private Map<SlotKind, List<String>> claimable(Map<SlotKind, List<String>> builtIn) {
        List<String> more = workspaceTools.names();
        if (more.isEmpty()) {
            return builtIn;
        }
        Map<SlotKind, List<String>> all = new EnumMap<>(builtIn);
        all.merge(SlotKind.WAITING, more, (one, other) -> Stream.concat(one.stream(), other.stream()).toList());
        return all;
    }

    private CompletableFuture<Reply> own(Command command) {
        return committer.submitOwn(command);
    }

    private void notified(Set<ClusterNotifier.Notification> calls) {
        if (calls.contains(ClusterNotifier.Notification.WORK)) {
            available.signal();
        }
        if (calls.contains(ClusterNotifier.Notification.END)) {
            ends.poll();
        }
        if (calls.contains(ClusterNotifier.Notification.STOP)) {
            maintenance.keepLeases();
        }
        if (calls.contains(ClusterNotifier.Notification.SETTINGS)) {
            maintenance.readSettings();
        }
    }

    /** The API of remote workers. */
    public RemoteDispatch remoteWork() {
        return remote;
    }

    /** Has news when work for remote workers was queued, of any workspace. */
    public WorkAvailability.Watch workersWork() {
        return available.watch(null, ownTools.negate(), null);
    }

    /** The texts that steps write, while they arrive. */
    public LiveTexts texts() {
        return texts;
    }

    /** Slots of the kind that steps use on this node, including those whose outcome is being reported. */
    public int busy(SlotKind kind) {
        return executor.size(kind);
    }

    /** Whether the database has all commits. */
    public DatabaseHistory history() {
        return history;
    }

    /** Why this node can accept no work; null if it has recently committed something and the database has space. */
    public @Nullable String obstacle() {
        return !committer.hasRoom() ? "the database's disk is full"
                : maintenance.commits() ? null : "the database has not committed this server's heartbeat";
    }

    /** Its periodic maintenance. */
    public MaintenanceScheduler upkeep() {
        return maintenance;
    }

    /** The engine's background tasks; maintenance tasks only after the start. */
    public List<BackgroundTask> tasks() {
        return Stream.concat(maintenance.tasks().stream(), Stream.of(concurrencyKeyScheduler.task(), texts.task()))
                .toList();
    }

    @Override
    public String node() {
        return node;
    }

    /** Stops claims, stops running steps and releases their leases, and commits submitted commands. */
    @Override
    public void close() throws InterruptedException {
        work.close();
        claimer.close();
        if (claiming != null) {
            claiming.join();
        }
        executor.close(STOP_TIMEOUT);
        texts.close();
        remote.close();
        maintenance.close();
        concurrencyKeyScheduler.close();
        committer.close();
        timeouts.close();
    }
}
