package io.keelson.server.base.db;

import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.time.Duration;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * Opens connections. A wait for an answer is short until a connection is open, so that a host that accepts connections and does not
 * answer delays the next host of the URL little; from then on it is as long as a statement may take.
 */
final class Connector implements DataSource, AutoCloseable {
    private static final org.slf4j.Logger LOG = LoggerFactory.getLogger(Connector.class);
    /** Longest wait for an answer of one of several hosts during the opening of a connection. */
    private static final Duration HOST_TIMEOUT = Duration.ofSeconds(3);
    /** Beyond the statement timeout, so that only a dead network ends a wait this way. */
    private static final Duration SOCKET_GRACE = Duration.ofSeconds(30);
    /** Time in which a caller of the pool tries again, because the pool waits longer and longer after failures. */
    private static final Duration RETRY_TIME = Duration.ofSeconds(5);
    private static final Duration RETRY_DELAY = Duration.ofMillis(500);
    /** Time in which new connections begin with the last known primary. */
    private static final Duration PREFERRED_TIME = Duration.ofSeconds(30);

    private record Preferred(String host, long foundAt) {}

    private final DatabaseUrl url;
    private final DatabaseOptions options;
    private final TrackedSockets.Registry sockets = new TrackedSockets.Registry();
    /** The latest host that was found to be the primary; null if absent. */
    private volatile @Nullable Preferred preferred;

    Connector(DatabaseUrl url, DatabaseOptions options) {
        this.url = url;
        this.options = options;
    }

    /** The sockets of its connections. */
    TrackedSockets.Registry sockets() {
        return sockets;
    }

    /** Properties of the driver, with user and password. */
    Properties properties() {
        return properties(url.hosts().contains(",") && HOST_TIMEOUT.compareTo(options.connectTimeout()) < 0
                ? HOST_TIMEOUT
                : options.connectTimeout());
    }

    private Properties properties(Duration answer) {
        var properties = new Properties();
        properties.setProperty("ApplicationName", "keelson");
        properties.setProperty("reWriteBatchedInserts", "true");
        properties.setProperty("prepareThreshold", "1");
        properties.setProperty("tcpKeepAlive", "true");
        String seconds = Long.toString(Math.max(1, answer.toSeconds()));
        properties.setProperty("connectTimeout", seconds);
        properties.setProperty("socketTimeout", seconds);
        properties.setProperty("socketFactory", TrackedSockets.class.getName());
        properties.setProperty("socketFactoryArg", sockets.id());
        properties.putAll(url.credentials());
        return properties;
    }

    private Connection connect() throws SQLException {
        Preferred first = preferred;
        if (first != null && System.nanoTime() - first.foundAt < PREFERRED_TIME.toNanos()) {
            try {
                return url.withHosts(first.host).connect(properties());
            } catch (SQLException e) {
                LOG.debug("no connection to {}", first.host, e);
                preferred = null;
            }
        }
        return url.connect(properties());
    }

    /** Opens a connection, once. */
    Connection open() throws SQLException {
        Connection connection = connect();
        try {
            if (!url.parameters().contains("socketTimeout=")) {
                Duration statement = options.statementTimeout().plus(SOCKET_GRACE);
                connection.setNetworkTimeout(Runnable::run, Math.toIntExact(statement.toMillis()));
            }
            return connection;
        } catch (SQLException e) {
            connection.close();
            throw e;
        }
    }

    /**
     * Opens a connection to the primary, on which no answer takes longer: tries all hosts of the URL at once. For some time other
     * connections are opened to the same host first.
     */
    Connection openPrimary(Duration answer) throws SQLException {
        List<String> hosts = List.of(url.hosts().split(","));
        CompletableFuture<Connection> first = new CompletableFuture<>();
        AtomicInteger open = new AtomicInteger(hosts.size());
        for (String host : hosts) {
            Thread.ofVirtual().name("database-probe").start(() -> {
                try {
                    Connection found = primary(host, answer);
                    if (first.complete(found)) {
                        preferred = new Preferred(host, System.nanoTime());
                    } else {
                        found.close();
                    }
                } catch (SQLException | RuntimeException e) {
                    if (open.decrementAndGet() == 0) {
                        first.completeExceptionally(e);
                    }
                }
            });
        }
        try {
            return first.get();
        } catch (ExecutionException e) {
            throw e.getCause() instanceof SQLException failure ? failure : new SQLException(e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SQLException(e);
        }
    }

    private Connection primary(String host, Duration answer) throws SQLException {
        Properties properties = properties(answer);
        // the driver remembers the role of each host for some seconds
        properties.setProperty("hostRecheckSeconds", "0");
        Connection connection = url.withHosts(host).connect(properties);
        try {
            if (!DatabasePeer.of(connection).standby()) {
                return connection;
            }
        } catch (SQLException e) {
            connection.close();
            throw e;
        }
        connection.close();
        throw new SQLException(host + " is a standby", SqlFailure.READ_ONLY);
    }

    /** Opens a connection for the pool; tries again for a while if no database answers. */
    @Override
    public Connection getConnection() throws SQLException {
        long end = System.nanoTime() + RETRY_TIME.toNanos();
        while (true) {
            try {
                return open();
            } catch (SQLException e) {
                if (!new SqlFailure(e).unavailable() || System.nanoTime() - end > 0 || isInterruptedInPause()) {
                    throw e;
                }
            }
        }
    }

    private static boolean isInterruptedInPause() {
        try {
            TimeUnit.NANOSECONDS.sleep(RETRY_DELAY.toNanos());
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return true;
        }
    }

    @Override
    public Connection getConnection(String user, String password) throws SQLException {
        throw new SQLFeatureNotSupportedException();
    }

    @Override
    public @Nullable PrintWriter getLogWriter() {
        return null;
    }

    @Override
    public void setLogWriter(@Nullable PrintWriter out) {
        // the driver logs by itself
    }

    @Override
    public void setLoginTimeout(int seconds) {
        // the wait for each host is bounded
    }

    /** The wait of the pool's end for a connection that is being opened. */
    @Override
    public int getLoginTimeout() {
        return Math.toIntExact(HOST_TIMEOUT.toSeconds());
    }

    @Override
    public Logger getParentLogger() throws SQLFeatureNotSupportedException {
        throw new SQLFeatureNotSupportedException();
    }

    @Override
    public <T> T unwrap(Class<T> type) throws SQLException {
        throw new SQLFeatureNotSupportedException();
    }

    @Override
    public boolean isWrapperFor(Class<?> type) {
        return false;
    }

    @Override
    public void close() {
        sockets.close();
    }
}
