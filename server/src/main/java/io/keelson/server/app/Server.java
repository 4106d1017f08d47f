package io.keelson.server.app;

import io.keelson.server.annex.model.registry.Models;
import io.keelson.server.annex.model.wiring.ModelConfiguration;
import io.keelson.server.annex.postgres.DataDirectory;
import io.keelson.server.annex.postgres.EmbeddedPostgres;
import io.keelson.server.annex.postgres.EmbeddedPostgresOptions;
import io.keelson.server.api.http.ApiServices;
import io.keelson.server.api.http.HttpServer;
import io.keelson.server.api.http.HttpStartException;
import io.keelson.server.base.background.BackgroundTask;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseException;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.SqlFailure;
import io.keelson.server.base.problem.StartupException;
import io.keelson.server.tenant.auth.AuthServices;
import io.keelson.server.tenant.auth.Bootstrap;
import io.keelson.server.tenant.auth.Caller;
import io.keelson.server.tenant.auth.LocalCredentials;
import io.keelson.server.tenant.secret.SealingKey;
import java.io.IOException;
import java.net.URI;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The whole server, wired by constructors: database, store, engine, HTTP. Started parts stop in the reverse order, also
 * when a later part cannot start.
 */
public final class Server implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Server.class);

    private final Closer closer = new Closer();
    private final CountDownLatch over = new CountDownLatch(1);
    private final List<BackgroundTask> tasks = new ArrayList<>();
    private final Runnable moved;
    private final URI baseUrl;
    private final @Nullable AuthServices links;
    private final String apiKey;
    private volatile @Nullable StartupException failure;
    /** Null before it is open and after it is closed. */
    private @Nullable Database database;

    /**
     * The clocks of a server besides the database's.
     *
     * @param steady in nanoseconds, for the pauses that models request
     */
    public record Clocks(Clock wall, LongSupplier steady) {

        /** The machine's clocks. */
        public static Clocks machine() {
            return new Clocks(machineClock(), System::nanoTime);
        }
    }

    /**
     * Starts a server and returns when it accepts requests.
     *
     * @throws StartupException with the reason
     */
    public static Server start(Settings settings) throws StartupException {
        return start(settings, Clocks.machine());
    }

    private static Clock machineClock() {
        return Clock.systemUTC();
    }

    /** Starts a server with given clocks, such as the clocks of a test. */
    public static Server start(Settings settings, Clocks clocks) throws StartupException {
        try {
            return new Server(settings, clocks);
        } catch (DatabaseException e) {
            throw new StartupException(e.code().name(), String.valueOf(e.getMessage()), e);
        } catch (SqlFailure e) {
            if (!e.unavailable()) {
                throw e;
            }
            throw new StartupException(DatabaseException.Code.DATABASE_UNREACHABLE.name(),
                    "The database did not answer while the server started: " + e.getMessage(), e);
        } catch (HttpStartException e) {
            throw new StartupException(e.code().name(), String.valueOf(e.getMessage()), e);
        } catch (IOException e) {
            throw DataFolder.unusable(settings.dataDir(), e);
        }
    }

    private Server(Settings settings, Clocks clocks) throws IOException, StartupException {
        try {
            HttpServer.prepare();
            HttpServer.requireUsable(settings.http().host(), settings.http().port());
            DataFolder.create(settings.dataDir());
            DataFolder.warnings(settings.dataDir(), settings.tools().folders()).forEach(LOG::warn);
            Clock clock = clocks.wall();
            Models models = ModelConfiguration.read(settings.models());
            List<SealingKey> keys = SecretKeys.of(settings);
            Storage unobserved = Storage.open(settings, keys, databaseUrl(settings), closer);
            database = unobserved.database();
            Observation observation = Observation.of(settings.telemetry(), unobserved.database(), closer);
            Storage storage = unobserved.observed(observation.metrics().artifacts());
            LocalCredentials files = new LocalCredentials(settings.dataDir());
            Bootstrap.GivenKey given = settings.keys().bootstrap();
            apiKey = given == null
                    ? Bootstrap.ensureKey(storage.database(), storage.auth().holders(), files)
                    : Bootstrap.ensureGiven(storage.database(), given);
            storage.money().ledger().first(Bootstrap.DEFAULT_WORKSPACE, settings.initialCredits());
            ModelConfiguration.setPrices(models, storage.money().prices());
            ProgramGateway programs = new ProgramGateway(database);
            EngineParts engine =
                    EngineParts.of(settings, models, storage, observation, clock, clocks.steady(), programs,
                            closer);
            ApiServices.Background background =
                    Background.start(settings, storage, engine, observation, clock, tasks, closer);
            moved = () -> {
                engine.engine().clockMoved();
                storage.auth().holders().clear();
            };
            HttpServer http =
                    closer.register(ApiWiring.server(settings.http(), storage, engine, background, observation, clock));
            http.start();
            baseUrl = http.url();
            programs.listensAt(baseUrl);
            engine.notices().listensAt(baseUrl);
            files.writeUrl(baseUrl);
            closer.register(() -> files.removeUrl(baseUrl));
            links = settings.http().dashboard() ? storage.auth() : null;
        } catch (RuntimeException | IOException | StartupException | Error e) {
            close();
            throw e;
        }
    }

    private DatabaseUrl databaseUrl(Settings settings) {
        String given = settings.databaseUrl();
        if (given != null) {
            closer.register(DataDirectory.open(settings.dataDir()));
            return DatabaseUrl.parse(given);
        }
        EmbeddedPostgres postgres =
                closer.register(EmbeddedPostgres.start(EmbeddedPostgresOptions.lasting(settings.dataDir())));
        postgres.whenLost(lost -> {
            failure = new StartupException(lost.code().name(), String.valueOf(lost.getMessage()), lost);
            over.countDown();
        });
        return postgres.url();
    }

    /** The API's address, without a trailing slash. */
    public URI baseUrl() {
        return baseUrl;
    }

    /**
     * A new link to the dashboard that signs one browser in within a minute, with the server's own key; null where there is no
     * dashboard, or the key has ended.
     */
    public @Nullable String dashboardLink() {
        Caller holder = links == null ? null : links.holders().find(apiKey);
        return links == null || holder == null ? null
                : baseUrl + "/ui/#code="
                        + links.sessions().link(holder.workspaceId(), holder.keyId(), holder.scopes()).code();
    }

    /**
     * Executes all background work once, in order, as after a test has moved the clocks. Work that fails is repeated by
     * itself.
     */
    public void clockMoved() throws InterruptedException {
        moved.run();
        for (BackgroundTask task : tasks) {
            try {
                task.runOnce();
            } catch (RuntimeException e) {
                LOG.warn("background task {} failed after a move of the clock", task.name(), e);
                task.nudge();
            }
        }
    }

    /** The key of the default workspace that the settings give or the data directory keeps. */
    public String apiKey() {
        return apiKey;
    }

    /**
     * Waits until the server is closed or has lost its embedded database.
     *
     * @param timeout maximum time to wait
     * @return false when the time is over and the server still runs
     */
    public boolean awaitEnd(Duration timeout) throws InterruptedException {
        return over.await(timeout.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** Why it can do nothing but be closed and started again: its embedded database has ended; null while it can. */
    public @Nullable StartupException failure() {
        return failure;
    }

    /** Stops taking requests, hands leases back, commits accepted commands, stops the embedded database. */
    @Override
    public synchronized void close() {
        Database open = database;
        if (open != null && (failure != null || open.isGone())) {
            // Otherwise each part would wait for a connection in turn.
            open.close();
        }
        database = null;
        closer.close();
        over.countDown();
    }
}
