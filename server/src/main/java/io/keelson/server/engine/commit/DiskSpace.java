package io.keelson.server.engine.commit;

import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.SqlFailure;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * Tracks whether the database's disk is full: from the first commit refused for lack of space until a trial write
 * succeeds. Small changes still fit on a full disk, so they prove nothing.
 */
final class DiskSpace {
    private static final String FULL = "53100";

    /** 400 KB that go with the transaction. */
    private static final String TRIAL = """
            create temp table keelson_room (filler text) on commit drop;
            insert into keelson_room select repeat(md5(i::text), 30) from generate_series(1, 400) i""";

    private final Database database;
    private volatile boolean full;

    DiskSpace(Database database) {
        this.database = database;
    }

    /** A commit was refused; returns whether for lack of space. */
    boolean refused(Exception failure) {
        Throwable cause = failure instanceof SqlFailure wrapped ? wrapped.getCause() : failure;
        boolean space = cause instanceof SQLException sql && FULL.equals(sql.getSQLState());
        if (space) {
            full = true;
        }
        return space;
    }

    /** Whether there is space; after a refusal tries a write. */
    boolean left() {
        if (full) {
            full = !tried();
        }
        return !full;
    }

    private boolean tried() {
        try {
            database.runInTransaction(c -> {
                try (Statement trial = c.createStatement()) {
                    trial.execute(TRIAL);
                }
            });
            return true;
        } catch (SqlFailure e) {
            return !e.sqlState().equals(FULL);
        }
    }
}
