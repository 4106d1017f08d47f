package io.keelson.server.annex.postgres;

import io.keelson.server.base.db.DatabaseException;
import io.keelson.server.base.db.DatabaseException.Code;
import io.keelson.server.base.db.DatabaseUrl;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A PostgreSQL that this JVM started on a data directory of its own, on a free port of the loopback address. It stops
 * when closed and when the JVM ends in any way.
 */
public final class EmbeddedPostgres implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(EmbeddedPostgres.class);
    private static final String DATABASE = "keelson";
    private static final int PORT_ATTEMPTS = 10;

    private final EmbeddedPostgresOptions options;
    private final DataDirectory directory;
    private final Cluster cluster;
    private final Postmaster postmaster;
    private final String secret;
    private final CompletableFuture<DatabaseException> lost = new CompletableFuture<>();
    private volatile boolean closing;

    private EmbeddedPostgres(EmbeddedPostgresOptions options, DataDirectory directory, Cluster cluster,
            Postmaster postmaster, String secret) {
        this.options = options;
        this.directory = directory;
        this.cluster = cluster;
        this.postmaster = postmaster;
        this.secret = secret;
    }

    /**
     * Unpacks, creates and starts PostgreSQL as needed; returns when connections are taken. A server that an earlier
     * JVM left behind on this directory is stopped first.
     *
     * @throws DatabaseException with every code that begins with DATA_DIR or EMBEDDED_POSTGRES, or PORT_UNAVAILABLE
     */
    public static EmbeddedPostgres start(EmbeddedPostgresOptions options) {
        return start(options, EmbeddedPostgres::freePort, Privileges.ways());
    }

    /** Whether a start has unpacked PostgreSQL's programs for these options, which takes some seconds once. */
    public static boolean unpacked(EmbeddedPostgresOptions options) {
        return PostgresBinaries.areIn(options.binaries());
    }

    /**
     * The database that another process has started on a data directory; empty if none takes connections.
     *
     * @throws DatabaseException DATA_DIR_NOT_WRITABLE if this user may not read the directory
     */
    public static Optional<DatabaseUrl> running(Path dataDirectory) {
        try {
            Path secret = DataDirectory.secretFile(dataDirectory);
            Optional<PostmasterFile> found = PostmasterFile.read(DataDirectory.cluster(dataDirectory));
            return found.isEmpty() || !found.get().ready() || !ProcessHandle.of(found.get().pid()).isPresent()
                    || !Files.exists(secret)
                            ? Optional.empty()
                            : Optional.of(url(found.get().port(), DATABASE, DatabasePassword.readOrCreate(secret)));
        } catch (IOException e) {
            throw DataDirectory.notWritable(dataDirectory, e);
        }
    }

    static EmbeddedPostgres start(EmbeddedPostgresOptions options, IntSupplier ports, List<Privileges> ways) {
        DataDirectory directory = DataDirectory.open(options.dataDirectory());
        try {
            PostgresBinaries binaries = PostgresBinaries.in(options.binaries());
            Privileges privileges = Privileges.choose(ways, binaries, directory.path());
            return start(options, ports, new Cluster(directory, binaries, privileges), directory);
        } catch (RuntimeException | Error failure) {
            directory.close();
            throw failure;
        }
    }

    private static EmbeddedPostgres start(EmbeddedPostgresOptions options, IntSupplier ports, Cluster cluster,
            DataDirectory directory) {
        cluster.stopLeftover();
        String secret = cluster.prepare(options.durable());
        Postmaster postmaster = startOnFreePort(cluster, options, ports);
        var started = new EmbeddedPostgres(options, directory, cluster, postmaster, secret);
        try {
            started.requireOwnDataAndDatabase();
            postmaster.onEnd(started::ended);
            return started;
        } catch (RuntimeException | Error failure) {
            postmaster.stop();
            throw failure;
        }
    }

    /** The URL of the server's own database. */
    public DatabaseUrl url() {
        return url(DATABASE);
    }

    /** The URL of another database of this PostgreSQL, whether it exists or not. */
    public DatabaseUrl url(String database) {
        return url(postmaster.port(), database, secret);
    }

    private static DatabaseUrl url(int port, String database, String secret) {
        return new DatabaseUrl("127.0.0.1:" + port, database, Cluster.SUPERUSER, secret, "requireAuth=scram-sha-256");
    }

    /**
     * Calls a listener once PostgreSQL has ended without a stop. It is not restarted: the cause, such as a full disk,
     * may need a person, and a restart of the server starts it, too.
     *
     * @param what receives DATA_DIR_FULL or EMBEDDED_POSTGRES_ENDED
     */
    public void whenLost(Consumer<DatabaseException> what) {
        var _ = lost.thenAccept(what);
    }

    /** False once PostgreSQL has ended, be it by itself. */
    public boolean isAlive() {
        return postmaster.isAlive();
    }

    /** Stops PostgreSQL, cutting off its clients, and gives the data directory free. */
    @Override
    public void close() {
        closing = true;
        try (directory) {
            postmaster.stop();
            cluster.stopLeftover();
            if (options.throwaway()) {
                FilePermissions.deleteTree(directory.path());
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot delete " + directory.path(), e);
        }
    }

    private void ended() {
        if (!closing) {
            DatabaseException failure = FullDisk.at(cluster.path())
                    ? FullDisk.failure(cluster.path(), null)
                    : new DatabaseException(Code.EMBEDDED_POSTGRES_ENDED, "The embedded PostgreSQL on "
                            + cluster.path() + " has ended, and not because it was asked to; " + cluster.logs()
                            + " may say why. What was committed is safe: start Keelson again.");
            LOG.error("{}", failure.getMessage());
            lost.complete(failure);
        }
    }

    private static Postmaster startOnFreePort(Cluster cluster, EmbeddedPostgresOptions options, IntSupplier ports) {
        Map<String, String> settings = options.settings(cluster.diskBytes());
        for (int attempt = 0; attempt < PORT_ATTEMPTS; attempt++) {
            Optional<Postmaster> started = Postmaster.start(cluster, ports.getAsInt(), settings, options.throwaway());
            if (started.isPresent()) {
                return started.get();
            }
        }
        throw new DatabaseException(Code.PORT_UNAVAILABLE, "All " + PORT_ATTEMPTS + " loopback ports tried for the"
                + " embedded PostgreSQL were taken by other programs. Start again, or set KEELSON_DATABASE_URL.");
    }

    static int freePort() {
        try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        } catch (IOException e) {
            throw new DatabaseException(Code.PORT_UNAVAILABLE, "This machine gives no loopback port (" + e + "). Free"
                    + " some, or set KEELSON_DATABASE_URL.", e);
        }
    }

    private void requireOwnDataAndDatabase() {
        try (Connection connection = url("postgres").connect(); Statement statement = connection.createStatement()) {
            Path served = Path.of(single(statement, "data_directory", "show data_directory").orElseThrow());
            if (!Files.isSameFile(served, cluster.path())) {
                throw new DatabaseException(Code.EMBEDDED_POSTGRES_FAILED, "Another PostgreSQL, that of " + served
                        + ", answers on port " + postmaster.port() + ". Start again.");
            }
            if (single(statement, "datname", "select datname from pg_database where datname = '" + DATABASE + "'")
                    .isEmpty()) {
                statement.execute("create database " + DATABASE);
            }
            hashSecretOnce(statement);
        } catch (SQLException | IOException e) {
            if (FullDisk.named(e.getMessage())) {
                throw FullDisk.failure(cluster.path(), e);
            }
            throw new DatabaseException(Code.EMBEDDED_POSTGRES_FAILED, "The embedded PostgreSQL on "
                    + cluster.path() + " started but cannot be used: " + e.getMessage(), e);
        }
    }

    /** Random, so thousands of hash rounds add no security, and each client would have to repeat them. */
    private void hashSecretOnce(Statement statement) throws SQLException {
        if (single(statement, "rolname", "select rolname from pg_authid where rolname = current_user"
                + " and rolpassword like 'SCRAM-SHA-256$1:%'").isEmpty()) {
            statement.execute("set password_encryption = 'scram-sha-256'");
            statement.execute("set scram_iterations = 1");
            statement.execute("alter role current_user password " + statement.enquoteLiteral(secret));
        }
    }

    private static Optional<String> single(Statement statement, String column, String sql) throws SQLException {
        try (ResultSet rows = statement.executeQuery(sql)) {
            return rows.next() ? Optional.of(rows.getString(column)) : Optional.empty();
        }
    }
}
