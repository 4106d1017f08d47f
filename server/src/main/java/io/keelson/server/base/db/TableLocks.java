package io.keelson.server.base.db;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Waits for locks of tables that others use. All statements behind a waiting strong lock wait, too, so such a statement
 * waits half a second at most and is tried again later. PostgreSQL looks for deadlocks after a second, so it never ends
 * a transaction of others.
 */
final class TableLocks {

    /** The first statement of connections on which these statements are executed. */
    static final String SESSION_SQL = DatabaseOptions.UNLIMITED.sessionSql() + "; set lock_timeout = '500ms'";

    private static final Logger LOG = LoggerFactory.getLogger(TableLocks.class);
    private static final String NOT_AVAILABLE = "55P03";
    /** With half a second of waiting and one without: five minutes. */
    private static final int TRIES = 200;

    private final Connection pauses;

    /** @param pauses a connection that is used for nothing else meanwhile */
    TableLocks(Connection pauses) {
        this.pauses = pauses;
    }

    /** A statement that may be executed again after it failed. */
    interface Attempt {

        int execute() throws SQLException;
    }

    /**
     * Executes the attempt until the lock is granted; returns its result.
     *
     * @throws SQLException with the state 55P03 when others held the lock all the time
     */
    int await(Attempt attempt) throws SQLException {
        for (int tried = 1;; tried++) {
            try {
                return attempt.execute();
            } catch (SQLException | RuntimeException e) {
                if (!isLocked(e) || tried == TRIES) {
                    throw e;
                }
                LOG.debug("A table is in use, and is tried again in a second", e);
                if (tried % 10 == 0) {
                    LOG.warn("The migration waits for a table that another transaction uses: {}", message(e));
                }
                try (Statement statement = pauses.createStatement()) {
                    statement.execute("select pg_sleep(1)");
                }
            }
        }
    }

    private static boolean isLocked(Throwable failure) {
        return cause(failure) != null;
    }

    private static String message(Throwable failure) {
        SQLException cause = cause(failure);
        return String.valueOf(cause == null ? failure.getMessage() : cause.getMessage());
    }

    private static @Nullable SQLException cause(Throwable failure) {
        for (Throwable each = failure; each != null; each = each.getCause()) {
            if (each instanceof SQLException sql && NOT_AVAILABLE.equals(sql.getSQLState())) {
                return sql;
            }
        }
        return null;
    }
}
