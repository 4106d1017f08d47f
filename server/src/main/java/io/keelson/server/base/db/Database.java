package io.keelson.server.base.db;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.HikariPoolMXBean;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The way to the database: a pool of connections with bounded waits, and connections of their own for the committers.
 * Safe for any number of threads, virtual ones included.
 */
public final class Database implements AutoCloseable {

    /**
     * Plans cached while tables were empty read whole tables later on; the committers' statements all go by index, so
     * their plans are pinned (record 11). Of a table with a page of rows, reading all by an index costs no more than
     * looking one up, unless each row has its price.
     */
    private static final String COMMITTER_SQL = "set plan_cache_mode = force_generic_plan; set enable_seqscan = off;"
            + " set enable_hashjoin = off; set enable_mergejoin = off; set cpu_tuple_cost = 1";

    /**
     * The locks of a committer stop the commits of other servers. A server that is frozen or cut off during a transaction keeps them
     * for these times at most. Between the statements of one message only the limit of the transaction ends it, which PostgreSQL 17
     * introduced.
     */
    private static final String COMMITTER_LIMITS = "; set idle_in_transaction_session_timeout = 10000;"
            + " select set_config('transaction_timeout', '30000', false)"
            + " where current_setting('transaction_timeout', true) is not null";

    private final DatabaseUrl url;
    private final DatabaseOptions options;
    private final Connector connector;
    private final HikariDataSource pool;
    private final ReentrantLock opening = new ReentrantLock();
    private volatile @Nullable RequestPool requests;

    /**
     * Checks that the database can be used, and opens the pool.
     *
     * @throws DatabaseException DATABASE_UNREACHABLE, DATABASE_REFUSED, DATABASE_TOO_OLD, DATABASE_NOT_UTF8,
     *         DATABASE_READ_ONLY or DATABASE_POOLED
     */
    public Database(DatabaseUrl url, DatabaseOptions options) {
        this.url = url;
        this.options = options;
        this.connector = new Connector(url, options);
        try {
            DatabaseRequirements.check(url, connector.properties());
        } catch (DatabaseException e) {
            connector.close();
            throw e;
        }
        this.pool = new HikariDataSource(poolConfig());
    }

    /** How a pool is used at the moment; all in connections, waiting in callers. */
    public record PoolUse(String pool, int active, int idle, int waiting, int most) {

        static PoolUse of(String name, @Nullable HikariPoolMXBean pool, int most) {
            return pool == null ? new PoolUse(name, 0, 0, 0, most)
                    : new PoolUse(name, pool.getActiveConnections(), pool.getIdleConnections(),
                            pool.getThreadsAwaitingConnection(), most);
        }
    }

    /** The use of the engine's own connections. */
    public PoolUse engineUse() {
        return PoolUse.of("engine", pool.getHikariPoolMXBean(), options.poolSize());
    }

    /** Use of the connections with row-level security. */
    public PoolUse requestUse() {
        RequestPool open = requests;
        return PoolUse.of("requests", open == null ? null : open.use(), options.poolSize());
    }

    /** Opens a database by its URL with {@link DatabaseOptions#DEFAULTS}. */
    public static Database open(String url) {
        return new Database(DatabaseUrl.parse(url), DatabaseOptions.DEFAULTS);
    }

    public DatabaseUrl url() {
        return url;
    }

    /**
     * Does the work in one transaction (read committed): committed when it returns, rolled back when it throws. Within a
     * {@link Tenancy} it sees the rows of its workspace only.
     *
     * @throws SqlFailure where a statement or the commit fails
     */
    public <T extends @Nullable Object> T inTransaction(TxFunction<T> work) {
        if (undone() != null) {
            return withConnection(work);
        }
        return withConnection(connection -> {
            connection.setAutoCommit(false);
            try {
                T result = work.apply(connection);
                connection.commit();
                return result;
            } catch (Throwable failure) {
                rollback(connection, failure);
                throw failure;
            }
        });
    }

    /** {@link #inTransaction} for work that gives nothing back. */
    public void runInTransaction(TxAction work) {
        this.<@Nullable Object>inTransaction(connection -> {
            work.run(connection);
            return null;
        });
    }

    /** The connection of a thread's {@link #undone} work, for the same workspace only. */
    private record Undone(Database database, Connection connection, @Nullable UUID workspace) {}

    private static final ScopedValue<Undone> UNDONE = ScopedValue.newInstance();

    /**
     * Does the work of this thread on one connection, within one transaction that is rolled back at its end. Other threads do not see
     * its changes; work for another workspace has connections of its own.
     *
     * @param before changes rows, which the work sees
     * @throws SqlFailure where a statement fails
     */
    public <T extends @Nullable Object, X extends Throwable> T undone(TxAction before,
            ScopedValue.CallableOp<T, X> work) throws X {
        UUID workspace = Tenancy.workspace();
        try (Connection connection = workspace == null ? pool.getConnection() : requests().connection(workspace)) {
            connection.setAutoCommit(false);
            try {
                try (Statement statement = connection.createStatement()) {
                    statement.execute("set transaction isolation level repeatable read"); // as some reads demand
                }
                before.run(connection);
                return ScopedValue.where(UNDONE, new Undone(this, connection, workspace)).call(work);
            } finally {
                connection.rollback();
                connection.setAutoCommit(true);
            }
        } catch (SQLException e) {
            throw new SqlFailure(e);
        }
    }

    private @Nullable Connection undone() {
        Undone here = UNDONE.isBound() ? UNDONE.get() : null;
        return here != null && here.database == this && Objects.equals(here.workspace, Tenancy.workspace())
                ? here.connection
                : null;
    }

    /**
     * Does the work on a connection where every statement commits by itself. Within a {@link Tenancy} it sees the rows of
     * its workspace only.
     *
     * @throws SqlFailure where a statement fails or no connection becomes free in time
     */
    public <T extends @Nullable Object> T withConnection(TxFunction<T> work) {
        Connection one = undone();
        if (one != null) {
            try {
                return work.apply(one);
            } catch (SQLException e) {
                throw new SqlFailure(e);
            }
        }
        UUID workspace = Tenancy.workspace();
        try (Connection connection = workspace == null ? pool.getConnection() : requests().connection(workspace)) {
            return work.apply(connection);
        } catch (SQLException e) {
            throw new SqlFailure(e);
        }
    }

    /**
     * Whether row-level security applies to connections within a {@link Tenancy}. It does not if the database user bypasses it
     * and may not create the role that does not.
     */
    public boolean rlsEnforced() {
        return Tenancy.within(new UUID(0, 0), () -> withConnection(connection -> {
            try (Statement statement = connection.createStatement();
                    ResultSet row = statement.executeQuery("select row_security_active('orchestration_runs')")) {
                return row.next() && row.getBoolean(1);
            }
        }));
    }

    /** Opened on first use: row-level security exists only with the schema. */
    private RequestPool requests() throws SQLException {
        RequestPool open = requests;
        if (open != null) {
            return open;
        }
        opening.lock();
        try (Connection owner = pool.getConnection()) {
            open = requests;
            if (open == null) {
                open = new RequestPool(poolConfig(), owner);
                requests = open;
            }
            return open;
        } finally {
            opening.unlock();
        }
    }

    /** A connection outside the pool for one long-lived thread; the caller closes it. Every statement commits. */
    public Connection dedicatedConnection() {
        return dedicated("");
    }

    /** A connection outside the pool for a committer, which closes it: plans pinned to indexes, auto-commit off. */
    public Connection committerConnection() {
        Connection connection = dedicated("; " + COMMITTER_SQL + COMMITTER_LIMITS);
        try {
            connection.setAutoCommit(false);
            return connection;
        } catch (SQLException e) {
            throw new SqlFailure(e);
        }
    }

    /**
     * Does the work on a new connection to the primary, on which no answer takes longer.
     *
     * @throws SqlFailure if no primary answers
     */
    public <T extends @Nullable Object> T probe(Duration answer, TxFunction<T> work) {
        try (Connection connection = connector.openPrimary(answer)) {
            return work.apply(connection);
        } catch (SQLException e) {
            throw new SqlFailure(e);
        }
    }

    /**
     * Ends connections whose peer is dead: threads that wait for it get a failure at once.
     *
     * @param openedBefore a moment of {@link System#nanoTime}
     * @return their number
     */
    public int abandon(long openedBefore) {
        return connector.sockets().closeOlderThan(openedBefore);
    }

    /** True where no connection is left and the database accepts none. */
    public boolean isGone() {
        if (engineUse().active() + engineUse().idle() > 0) {
            return false;
        }
        try {
            connector.open().close();
            return false;
        } catch (SQLException e) {
            return true;
        }
    }

    /** Callers get no connection any more, without a wait for one. */
    @Override
    public void close() {
        RequestPool open = requests;
        if (open != null) {
            open.close();
        }
        pool.close();
        connector.close();
    }

    private Connection dedicated(String moreSql) {
        try {
            Connection connection = connector.open();
            try (Statement statement = connection.createStatement()) {
                statement.execute(options.sessionSql() + moreSql);
                return connection;
            } catch (SQLException e) {
                connection.close();
                throw e;
            }
        } catch (SQLException e) {
            throw new SqlFailure(e);
        }
    }

    private HikariConfig poolConfig() {
        var config = new HikariConfig();
        config.setPoolName("keelson");
        config.setDataSource(connector);
        config.setConnectionInitSql(options.sessionSql());
        config.setMaximumPoolSize(options.poolSize());
        config.setMinimumIdle(1);
        config.setInitializationFailTimeout(-1); // the first use of a connection reports the failure
        config.setConnectionTimeout(options.connectTimeout().toMillis());
        return config;
    }

    private static void rollback(Connection connection, Throwable failure) {
        try {
            connection.rollback();
        } catch (SQLException e) {
            failure.addSuppressed(e);
        }
    }
}
