package io.keelson.server.base.db;

import java.sql.SQLException;

/** A statement failed: the database refused it, was too slow, or is gone. The transaction was rolled back. */
public final class SqlFailure extends RuntimeException {

    /** The error of PostgreSQL for a write in a read-only transaction. */
    public static final String READ_ONLY = "25006";

    private final String sqlState;

    public SqlFailure(SQLException cause) {
        super(cause.getMessage(), cause);
        this.sqlState = cause.getSQLState() == null ? "" : cause.getSQLState();
    }

    /** The five characters of PostgreSQL's appendix A; empty where the driver gives none. */
    public String sqlState() {
        return sqlState;
    }

    /** Whether the same work may succeed if done again: deadlock, serialization, lock timeout, lost connection. */
    public boolean transientFailure() {
        return sqlState.startsWith("08") || sqlState.startsWith("57P")
                || sqlState.equals("40001") || sqlState.equals("40P01") || sqlState.equals("55P03");
    }

    /** Whether the database did not answer or took no changes, and may do so later. */
    public boolean unavailable() {
        return transientFailure() || sqlState.isEmpty() || sqlState.startsWith("53") || sqlState.startsWith("57")
                || sqlState.equals(READ_ONLY);
    }
}
