package io.keelson.server.testing;

import io.keelson.server.app.InvalidSettingsException;
import io.keelson.server.app.Server;
import io.keelson.server.app.Settings;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.problem.StartupException;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** A server in this process for tests: throwaway data, a {@link TestClock}, and a {@link FaultProxy} before it. */
public final class TestServer implements AutoCloseable {
    private static final String DATABASE = "KEELSON_DATABASE_URL";

    private final Path folder;
    private final DatabaseUrl database;
    private final Server server;
    private final TestClock clock;
    private final FaultProxy proxy;
    private final Runnable atExit = this::close;
    private boolean closed;

    private TestServer(Map<String, String> settings, int port, @Nullable Control control)
            throws StartupException, InvalidSettingsException, IOException, SQLException {
        folder = Files.createTempDirectory("keelson-test-server-");
        database = TestDatabases.create();
        AtomicReference<@Nullable Server> started = new AtomicReference<>();
        clock = new TestClock(database, () -> moved(started.get()));
        Map<String, String> all = new LinkedHashMap<>(settings);
        all.put("KEELSON_DATA_DIR", folder.toString());
        all.put("KEELSON_HTTP_PORT", "0");
        all.put(DATABASE, "postgresql://" + database.user() + ":" + encoded(database.password()) + "@"
                + database.hosts() + "/" + database.database());
        try {
            server = Server.start(Settings.load(all, folder, Path.of("").toAbsolutePath()),
                    clock.clocks());
        } catch (StartupException | InvalidSettingsException | RuntimeException e) {
            discard(folder, database);
            throw e;
        }
        started.set(server);
        try {
            proxy = new FaultProxy(server.baseUrl(), port, control);
        } catch (IOException e) {
            server.close();
            discard(folder, database);
            throw e;
        }
        TestDatabases.atExit(atExit);
    }

    private static String encoded(@Nullable String password) {
        return URLEncoder.encode(String.valueOf(password), StandardCharsets.UTF_8);
    }

    private static void moved(@Nullable Server server) throws InterruptedException {
        if (server != null) {
            server.clockMoved();
        }
    }

    /** Requests below {@code /test/}, which the proxy does not pass on to the server. */
    @FunctionalInterface
    public interface Control {
        /**
         * Answers a request.
         *
         * @param action method and path, such as {@code POST /test/clock}
         * @param body null if the request has none
         * @throws IllegalArgumentException if the request is wrong
         */
        JsonNode answer(String action, @Nullable JsonNode body)
                throws InterruptedException;
    }

    /**
     * Starts a server on a free port.
     *
     * @param settings of the server, {@code KEELSON_…}; the database is always a throwaway one
     * @throws StartupException with the reason, {@code TEST_DATABASE_GIVEN} if the settings name a database
     */
    public static TestServer start(Map<String, String> settings) throws StartupException {
        return start(settings, 0, null);
    }

    /**
     * Starts a server whose requests below {@code /test/} have effect.
     *
     * @param port that it listens at; 0 for a free one
     * @param control null for a server without such requests
     */
    public static TestServer start(Map<String, String> settings, int port, @Nullable Control control)
            throws StartupException {
        if (settings.containsKey(DATABASE)) {
            throw new StartupException("TEST_DATABASE_GIVEN",
                    "A test server has a throwaway database of its own. Unset " + DATABASE + ".", null);
        }
        try {
            return new TestServer(settings, port, control);
        } catch (InvalidSettingsException e) {
            throw new StartupException("SETTING_INVALID", String.valueOf(e.getMessage()), e);
        } catch (IOException | SQLException e) {
            throw new StartupException("TEST_SERVER_FAILED", "The test server did not start: " + e.getMessage(), e);
        }
    }

    /** The address for clients and workers, on which faults act. */
    public URI url() {
        return proxy.url();
    }

    /** The key of the default workspace, which creates workspaces. */
    public String operatorKey() {
        return server.apiKey();
    }

    /** The clock of the server. */
    public TestClock clock() {
        return clock;
    }

    /** Has the next requests of workers fail so; those to models fail by their own {@link NamedFault#PROVIDER_500}. */
    public void fault(NamedFault fault, @Nullable String tool, int times) {
        proxy.add(fault, tool, times);
    }

    /** Ends all faults that are left. */
    public void clearFaults() {
        proxy.clear();
    }

    /** Ends the server. The end of the JVM does so while the server still has its database; another thread that closes it waits. */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        TestDatabases.cancelAtExit(atExit);
        proxy.close();
        try {
            server.close();
        } finally {
            discard(folder, database);
        }
    }

    private static void discard(Path folder, DatabaseUrl database) {
        TestDatabases.delete(folder);
        try {
            TestDatabases.drop(database);
        } catch (SQLException e) {
            throw new IllegalStateException("the test's database was not dropped", e);
        }
    }
}
