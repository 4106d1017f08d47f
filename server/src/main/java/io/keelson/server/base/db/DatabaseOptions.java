package io.keelson.server.base.db;

import java.time.Duration;

/**
 * Bounds of our use of the database.
 *
 * @param poolSize most connections of the pool; connections of {@link Database#committerConnection} come on top
 * @param lockTimeout longest wait for a lock, in whole milliseconds
 * @param statementTimeout longest run of one statement, in whole milliseconds; zero: unlimited, as for the two others
 * @param idleTransaction longest pause inside a transaction before the server ends it, in whole milliseconds
 * @param connectTimeout longest wait for the server to answer and for a free connection of the pool
 */
public record DatabaseOptions(int poolSize, Duration lockTimeout, Duration statementTimeout, Duration idleTransaction,
        Duration connectTimeout) {

    public static final DatabaseOptions DEFAULTS = new DatabaseOptions(16, Duration.ofSeconds(10),
            Duration.ofSeconds(30), Duration.ofSeconds(60), Duration.ofSeconds(10));

    /** For migrations, whose statements take as long as tables are large. */
    static final DatabaseOptions UNLIMITED =
            new DatabaseOptions(1, Duration.ZERO, Duration.ZERO, Duration.ZERO, DEFAULTS.connectTimeout);

    /** Settings that a database or a role may have for other programs; PostgreSQL 17 introduced transaction_timeout. */
    private static final String NEUTRAL_SQL = "; set idle_session_timeout = 0"
            + "; set default_transaction_isolation = 'read committed'"
            + "; select set_config('transaction_timeout', '0', false)"
            + " where current_setting('transaction_timeout', true) is not null";

    public DatabaseOptions withPoolSize(int connections) {
        return new DatabaseOptions(connections, lockTimeout, statementTimeout, idleTransaction, connectTimeout);
    }

    public DatabaseOptions withLockTimeout(Duration timeout) {
        return new DatabaseOptions(poolSize, timeout, statementTimeout, idleTransaction, connectTimeout);
    }

    /** The first statement of each new connection. */
    String sessionSql() {
        return "set lock_timeout = " + lockTimeout.toMillis()
                + "; set statement_timeout = " + statementTimeout.toMillis()
                + "; set idle_in_transaction_session_timeout = " + idleTransaction.toMillis()
                + NEUTRAL_SQL;
    }
}
