package io.keelson.server;

import com.github.f4b6a3.uuid.UuidCreator;
import io.keelson.server.artifact.LocalArtifactStore;
import io.keelson.server.auth.ApiKeyUsage;
import io.keelson.server.auth.AuthServices;
import io.keelson.server.auth.Bootstrap;
import io.keelson.server.auth.LocalCredentials;
import io.keelson.server.bulk.BulkDriver;
import io.keelson.server.bulk.BulkJobs;
import io.keelson.server.bulk.BulkServices;
import io.keelson.server.compute.Computation;
import io.keelson.server.db.Database;
import io.keelson.server.db.DatabaseException;
import io.keelson.server.db.DatabaseOptions;
import io.keelson.server.db.DatabaseUrl;
import io.keelson.server.db.DbClock;
import io.keelson.server.db.Migrations;
import io.keelson.server.db.SqlFailure;
import io.keelson.server.db.Tenancy;
import io.keelson.server.db.embedded.DataDirectory;
import io.keelson.server.db.embedded.EmbeddedPostgres;
import io.keelson.server.db.embedded.EmbeddedPostgresOptions;
import io.keelson.server.effect.CommandHandler;
import io.keelson.server.effect.CommandUpkeep;
import io.keelson.server.engine.Engine;
import io.keelson.server.engine.commit.Observer;
import io.keelson.server.engine.commit.Observers;
import io.keelson.server.engine.commit.Store;
import io.keelson.server.engine.execute.Tracing;
import io.keelson.server.engine.upkeep.DueWorkPoller;
import io.keelson.server.engine.upkeep.EventSweeper;
import io.keelson.server.expr.ExpressionLimits;
import io.keelson.server.expr.Expressions;
import io.keelson.server.http.ApiServices;
import io.keelson.server.http.HttpOptions;
import io.keelson.server.http.HttpServer;
import io.keelson.server.http.HttpStartException;
import io.keelson.server.http.support.Observed;
import io.keelson.server.http.support.RequestListener;
import io.keelson.server.metrics.DatabaseGauges;
import io.keelson.server.metrics.Metrics;
import io.keelson.server.money.Money;
import io.keelson.server.money.PriceKind;
import io.keelson.server.outbound.OutboundClient;
import io.keelson.server.plan.CatalogToolKnowledge;
import io.keelson.server.plan.MissionReader;
import io.keelson.server.plan.ModelPrices;
import io.keelson.server.plan.NewPlans;
import io.keelson.server.plan.StoredPlans;
import io.keelson.server.purge.WorkspacePurger;
import io.keelson.server.recipe.RecipeStore;
import io.keelson.server.roster.Roster;
import io.keelson.server.run.IdempotencyKeys;
import io.keelson.server.run.RunStore;
import io.keelson.server.run.queue.Backlog;
import io.keelson.server.run.queue.WorkerRegistry;
import io.keelson.server.run.read.Explainer;
import io.keelson.server.run.read.InboxReader;
import io.keelson.server.run.read.RunReader;
import io.keelson.server.run.retention.ArtifactRetention;
import io.keelson.server.run.retention.EventRetention;
import io.keelson.server.schedule.ScheduleRunner;
import io.keelson.server.schedule.ScheduleServices;
import io.keelson.server.schedule.ScheduleStore;
import io.keelson.server.schedule.ScheduledTimes;
import io.keelson.server.secret.SealingKey;
import io.keelson.server.secret.SecretStore;
import io.keelson.server.statusdoc.StatusDocuments;
import io.keelson.server.submission.RecipeMissions;
import io.keelson.server.submission.RetryAdmission;
import io.keelson.server.submission.ScheduledRuns;
import io.keelson.server.submission.StartedRuns;
import io.keelson.server.submission.SubmissionServices;
import io.keelson.server.tool.ToolCatalog;
import io.keelson.server.tool.builtin.BuiltinTools;
import io.keelson.server.trace.Traces;
import io.keelson.server.webhook.Deliveries;
import io.keelson.server.webhook.DeliveryObserver;
import io.keelson.server.webhook.Endpoints;
import io.keelson.server.webhook.WebhookDispatcher;
import io.keelson.server.webhook.WebhookServices;
import io.keelson.server.workspace.WorkspaceStore;
import java.io.IOException;
import java.net.URI;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The whole server, wired by constructors: database, store, engine, HTTP. What was started is stopped in the reverse
 * order, also when a later part cannot start.
 */
public final class Server implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Server.class);

    private interface Stop {
        void run() throws Exception;
    }

    private final Deque<Stop> stops = new ArrayDeque<>();
    private final CountDownLatch over = new CountDownLatch(1);
    private final URI baseUrl;
    private final String apiKey;
    private final boolean newKey;
    private volatile @Nullable StartupException failure;

    /**
     * Starts a server and returns when it accepts requests.
     *
     * @throws StartupException with the reason
     */
    public static Server start(Settings settings) throws StartupException {
        try {
            return new Server(settings);
        } catch (DatabaseException e) {
            throw new StartupException(e.code().name(), String.valueOf(e.getMessage()), e);
        } catch (HttpStartException e) {
            throw new StartupException(e.code().name(), String.valueOf(e.getMessage()), e);
        } catch (IOException e) {
            throw new StartupException("DATA_DIR_NOT_WRITABLE",
                    "cannot use the data directory " + settings.dataDir() + ": " + FileProblems.reason(e), e);
        }
    }

    private Server(Settings settings) throws IOException, StartupException {
        try {
            DataFolder.create(settings.dataDir());
            DataFolder.warnings(settings.dataDir(), settings.folders()).forEach(LOG::warn);
            DatabaseUrl url = databaseUrl(settings);
            Database database = closing(new Database(url, DatabaseOptions.DEFAULTS));
            Migrations.migrate(url);
            if (!database.rlsEnforced()) {
                LOG.warn("row-level security does not hold this server's requests: its database user is above it and"
                        + " may not make the role keelson_request; see docs/concepts/tenants.md");
            }
            Clock clock = Clock.systemUTC();
            Metrics metrics = new Metrics(
                    () -> Tenancy.allWorkspaces(() -> database.withConnection(c -> new DatabaseGauges(
                            Backlog.read(c, DbClock.DATABASE), Deliveries.waiting(c)))),
                    System::nanoTime, KeelsonVersion.current().toString());
            Computation computation = closing(new Computation("compute",
                    Math.max(2, Runtime.getRuntime().availableProcessors()), settings.runComputation()));
            Computation searching = closing(new Computation("files",
                    Math.max(2, Runtime.getRuntime().availableProcessors()), Computation.UNLIMITED));
            Expressions expressions = new Expressions(ExpressionLimits.DEFAULT, computation);
            OutboundClient outbound = closing(new OutboundClient(settings.allowPrivateAddresses()));
            CommandHandler commands = EffectWiring.handler(settings.commands(), database, outbound);
            ToolCatalog tools =
                    EffectWiring.catalog(BuiltinTools.all(ToolFolders.policy(settings, new WorkspaceStore(database)),
                            expressions, searching, outbound,
                            clock), commands, settings.commands());
            WorkerToolRegistry served = new WorkerToolRegistry(database, new WorkerRegistry(DbClock.DATABASE));
            CatalogToolKnowledge knowledge = new CatalogToolKnowledge(tools, expressions, served::everywhere);
            StoredPlans plans = new StoredPlans(knowledge::timeout);
            LocalArtifactStore artifacts = new LocalArtifactStore(settings.dataDir().resolve("artifacts"),
                    settings.artifacts().maxBytes());
            AuthServices authServices = AuthServices.of(database, closing(new ApiKeyUsage(database).start()));
            SecretStore secrets = secrets(settings, database);
            LocalCredentials files = new LocalCredentials(settings.dataDir());
            Money money = new Money(database, DbClock.DATABASE);
            ModelPrices prices = models -> money.prices().withoutPrice(PriceKind.MODEL, models);
            Roster roster = new Roster(database);
            AgentCandidates agents = new AgentCandidates(roster, database, new RunReader(), money);
            Bootstrap.LocalKey key = settings.bootstrapKey() == null
                    ? Bootstrap.ensureKey(database, authServices.holders(), files)
                    : Bootstrap.ensureGiven(database, settings.bootstrapKey());
            money.ledger().first(Bootstrap.DEFAULT_WORKSPACE, settings.initialCredits());
            MissionReader missions = new MissionReader(knowledge, knowledge::timeout, prices);
            Function<UUID, MissionReader> missionsOf = workspace -> missions
                    .knowing(new CatalogToolKnowledge(tools, expressions, () -> served.in(workspace)))
                    .staffed(() -> agents.of(workspace))
                    .in(work -> Turns.of(computation, workspace, work::get));
            RecipeStore recipes = new RecipeStore();
            RecipeMissions recipeMissions = new RecipeMissions(database, recipes, missionsOf);
            Seen seen = seen(settings, metrics);
            Engine engine = closing(new Engine(database, Store.of(DbClock.DATABASE, plans::read,
                    settings.artifacts().retention()), tools, expressions, secrets,
                    new PlannerAnswerValidator(new NewPlans(knowledge, knowledge::timeout, prices, agents::of),
                            computation),
                    new StartedRuns(recipeMissions, seen.tracing()), artifacts, clock,
                    new Engine.Options(settings.executorSlots(), settings.lease(), KeelsonVersion.current().toString(),
                            settings.artifacts().retention(), settings.artifacts().maxBytesOfRun(),
                            seen.engine(), seen.tracing())));
            if (settings.artifacts().documents()) {
                closing(new StatusDocuments(database, artifacts.documents()).start());
            }
            metrics.executors(engine::busy, settings.executorSlots());
            metrics.pools(database);
            ScheduleStore schedules = new ScheduleStore(DbClock.DATABASE);
            ScheduledTimes scheduledTimes = new ScheduledTimes(UuidCreator::getTimeOrderedEpoch);
            SubmissionServices submissions =
                    SubmissionServices.of(recipeMissions, database, new RunReader(), money, engine);
            ScheduleRunner scheduleRunner = closing(new ScheduleRunner(database, schedules, scheduledTimes,
                    new ScheduledRuns(submissions.runs(), recipeMissions, engine, authServices.workspaces(), database,
                            new RunReader())));
            EventSweeper events = closing(new EventSweeper(database, new EventRetention(DbClock.DATABASE), artifacts,
                    settings.events(), UuidCreator::getTimeOrderedEpoch));
            events.start();
            BulkJobs bulk = new BulkJobs(DbClock.DATABASE);
            BulkDriver driver = closing(new BulkDriver(database, bulk, engine,
                    new RetryAdmission(authServices.workspaces(), submissions.admission())).start());
            WebhookServices webhooks = webhooks(database, secrets);
            WebhookDispatcher dispatcher = closing(new WebhookDispatcher(database, webhooks, outbound, clock,
                    seen.tracing()::ofRun, seen.deliveries()));
            CommandUpkeep commandUpkeep = closing(new CommandUpkeep(commands));
            engine.start(Map.of(DueWorkPoller.Kind.SCHEDULES, scheduleRunner::signal,
                    DueWorkPoller.Kind.WEBHOOKS, dispatcher::signal,
                    DueWorkPoller.Kind.COMMANDS, commandUpkeep::signal));
            HttpServer http = closing(new HttpServer(
                    HttpOptions.DEFAULTS.withHost(settings.httpHost()).withPort(settings.httpPort())
                            .withBounds(settings.http().connections(), settings.http().patience()),
                    new ApiServices(database, authServices, engine, engine.remoteWork(), new RunReader(),
                            new Explainer(DbClock.DATABASE, new RunStore(DbClock.DATABASE, plans::read,
                                    settings.artifacts().retention()),
                                    tool -> tools.find(tool).isPresent()),
                            new InboxReader(DbClock.DATABASE), missionsOf, submissions,
                            tools, artifacts, new ArtifactRetention(DbClock.DATABASE), money, roster,
                            UuidCreator::getTimeOrderedEpoch, secrets, new IdempotencyKeys(DbClock.DATABASE),
                            recipes,
                            new ScheduleServices(schedules, scheduledTimes, scheduleRunner),
                            new BulkServices(bulk, driver), commands,
                            webhooks,
                            closing(new WorkspacePurger(database, new RunReader(), engine)).start(),
                            computation, () -> engine.commits() && answers(database)),
                    new Observed(seen.http(), metrics::page, settings.metricsAccess())));
            http.start();
            baseUrl = http.url();
            files.writeUrl(baseUrl);
            stops.push(() -> files.removeUrl(baseUrl));
            apiKey = key.key();
            newKey = key.created();
        } catch (RuntimeException | IOException | StartupException | Error e) {
            close();
            throw e;
        }
    }

    /** The observers of the server's parts. */
    private record Seen(Observer engine, Tracing tracing, RequestListener http, DeliveryObserver deliveries) {}

    /** OpenTelemetry is not loaded unless traces are configured. */
    private Seen seen(Settings settings, Metrics metrics) {
        if (!Traces.wanted(settings.telemetry())) {
            return new Seen(metrics.engine(), Tracing.NONE, metrics.http(), metrics.deliveries());
        }
        Traces traces = closing(new Traces(settings.telemetry()));
        return new Seen(new Observers(metrics.engine(), traces.engine()), traces.tracing(),
                new RequestListener.Both(metrics.http(), traces.http()),
                new DeliveryObserver.Both(metrics.deliveries(), traces.deliveries()));
    }

    private static SecretStore secrets(Settings settings, Database database) throws IOException {
        List<SealingKey> keys = settings.secretKeys().isEmpty()
                ? List.of(SealingKey.ofFile(settings.dataDir().resolve("secret-key")))
                : settings.secretKeys();
        SecretStore secrets = new SecretStore(database, keys.getFirst(), keys.subList(1, keys.size()));
        int count = secrets.reseal();
        if (count > 0) {
            LOG.info("{} secrets were re-encrypted under the key {}", count, keys.getFirst().id());
        }
        return secrets;
    }

    private static WebhookServices webhooks(Database database, SecretStore secrets) {
        Endpoints endpoints = new Endpoints(database, secrets);
        endpoints.reseal();
        return new WebhookServices(endpoints, new Deliveries(database));
    }

    private DatabaseUrl databaseUrl(Settings settings) {
        String given = settings.databaseUrl();
        if (given != null) {
            closing(DataDirectory.open(settings.dataDir()));
            return DatabaseUrl.parse(given);
        }
        EmbeddedPostgres postgres =
                closing(EmbeddedPostgres.start(EmbeddedPostgresOptions.lasting(settings.dataDir())));
        postgres.whenLost(lost -> {
            failure = new StartupException(lost.code().name(), String.valueOf(lost.getMessage()), lost);
            over.countDown();
        });
        return postgres.url();
    }

    private static boolean answers(Database database) {
        try {
            return database.withConnection(connection -> connection.isValid(2));
        } catch (SqlFailure e) {
            return false;
        }
    }

    private <T extends AutoCloseable> T closing(T part) {
        stops.push(part::close);
        return part;
    }

    /** The API's address, without a trailing slash. */
    public URI baseUrl() {
        return baseUrl;
    }

    /** The key of the default workspace that the settings give or the data directory keeps. */
    public String apiKey() {
        return apiKey;
    }

    /** True when this start made the key: it is to be shown to the user once. */
    public boolean apiKeyIsNew() {
        return newKey;
    }

    /**
     * Waits until the server is closed or has lost its own database, at most so long.
     *
     * @return false when it goes on
     */
    public boolean awaitEnd(Duration patience) throws InterruptedException {
        return over.await(patience.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** Why it can do nothing but be closed and started again: its embedded database has ended; null while it can. */
    public @Nullable StartupException failure() {
        return failure;
    }

    /** Stops taking requests, hands leases back, commits what was accepted, stops the embedded database. */
    @Override
    public synchronized void close() {
        while (!stops.isEmpty()) {
            try {
                stops.pop().run();
            } catch (Exception e) {
                LOG.warn("stopping a part of the server failed", e);
            }
        }
        over.countDown();
    }
}
