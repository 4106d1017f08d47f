package io.keelson.server.engine.store;

import java.sql.SQLException;

/**
 * The view of a decision does not match the database: a row to update is gone or has another version. Nothing of the
 * batch may be committed; the commands can be decided again on reloaded views.
 */
public final class StaleViewException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    StaleViewException(SQLException refusal) {
        super(refusal.getMessage(), refusal);
    }

    StaleViewException(String table, int expected, int found) {
        super(table + ": " + expected + " rows to change, " + found + " found as expected");
    }
}
