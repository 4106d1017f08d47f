package io.keelson.server.db;

import java.time.Duration;

/**
 * Bounds of our use of the database.
 *
 * @param poolSize         most connections of the pool; those of {@link Database#committerConnection} come on top
 * @param lockTimeout      longest wait for a lock, in whole milliseconds
 * @param statementTimeout longest run of one statement, in whole milliseconds
 * @param idleTransaction  longest pause inside a transaction before the server ends it, in whole milliseconds
 * @param connectTimeout   longest wait for the server to answer and for a free connection of the pool
 */
public record DatabaseOptions(int poolSize, Duration lockTimeout, Duration statementTimeout, Duration idleTransaction,
        Duration connectTimeout) {

    public static final DatabaseOptions DEFAULTS = new DatabaseOptions(16, Duration.ofSeconds(10),
            Duration.ofSeconds(30), Duration.ofSeconds(60), Duration.ofSeconds(10));

    public DatabaseOptions withPoolSize(int connections) {
        return new DatabaseOptions(connections, lockTimeout, statementTimeout, idleTransaction, connectTimeout);
    }

    public DatabaseOptions withLockTimeout(Duration timeout) {
        return new DatabaseOptions(poolSize, timeout, statementTimeout, idleTransaction, connectTimeout);
    }

    /** What every new connection executes first. */
    String sessionSql() {
        return "set lock_timeout = " + lockTimeout.toMillis()
                + "; set statement_timeout = " + statementTimeout.toMillis()
                + "; set idle_in_transaction_session_timeout = " + idleTransaction.toMillis();
    }
}
