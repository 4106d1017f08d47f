package io.keelson.server.run;

import java.sql.SQLException;

/**
 * What was decided on is no longer what the database holds: a row to update is gone or has another version. Nothing of
 * the batch may be committed; with views loaded anew the same commands can be decided again.
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
