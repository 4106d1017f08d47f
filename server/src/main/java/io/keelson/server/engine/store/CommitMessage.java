package io.keelson.server.engine.store;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.keelson.server.engine.store.sql.RowSetStatement.Moment;
import io.keelson.server.engine.store.sql.RowSetStatement.Part;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.postgresql.core.TransactionState;
import org.postgresql.jdbc.PgConnection;

/**
 * All writes of a batch, and its COMMIT, in one message: a round trip costs as much as a statement. Statements run in
 * order. After a refused one, PostgreSQL skips the rest of the message, the COMMIT included.
 */
final class CommitMessage {
    /**
     * Up to this number of rows, a message has only the statements with rows. In a larger one a group of statements is
     * complete or absent: every selection has plans of its own, and many rows come in many selections.
     */
    private static final int FEW_ROWS = 60;

    /** Message texts by their statements: the driver identifies a prepared statement by its text. */
    private static final Cache<List<String>, String> TEXTS = Caffeine.newBuilder().maximumSize(1_000).build();

    private final List<Part<?>> parts = new ArrayList<>();
    private final boolean alone;

    /**
     * @param alone true when it is of one run only. Single rows of others are sent in the form of many: own forms would
     *              make more texts than the driver keeps prepared
     */
    CommitMessage(List<List<Part<?>>> groups, boolean alone) {
        this.alone = alone;
        int rows = 0;
        for (List<Part<?>> group : groups) {
            for (Part<?> part : group) {
                rows += part.rows().size();
            }
        }
        for (List<Part<?>> group : groups) {
            add(group, rows <= FEW_ROWS);
        }
    }

    private void add(List<Part<?>> group, boolean few) {
        boolean wanted = false;
        for (Part<?> part : group) {
            wanted |= !part.empty();
        }
        for (Part<?> part : group) {
            if (few ? !part.empty() : wanted) {
                parts.add(part);
            }
        }
    }

    /**
     * Returns when all is committed. If it throws, nothing is committed, or the connection is lost and the outcome
     * unknown.
     *
     * @param c with auto-commit off, in a transaction or not
     */
    void send(Connection c, Moment moment) throws SQLException {
        if (c.unwrap(PgConnection.class).getTransactionState() != TransactionState.IDLE) {
            send(c, moment, false);
            return;
        }
        // The driver would send its own BEGIN in a separate message; with auto-commit on it sends none.
        c.setAutoCommit(true);
        try {
            send(c, moment, true);
        } finally {
            if (!c.isClosed()) {
                c.setAutoCommit(false);
            }
        }
    }

    private void send(Connection c, Moment moment, boolean begins) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(text(begins))) {
            int position = 1;
            for (Part<?> part : parts) {
                position = part.bind(statement, position, alone, moment);
            }
            statement.execute();
        }
    }

    private String text(boolean begins) {
        List<String> statements = new ArrayList<>(parts.size() + 2);
        if (begins) {
            statements.add("begin");
        }
        for (Part<?> part : parts) {
            statements.add(part.sql(alone));
        }
        statements.add("commit");
        return TEXTS.get(statements, each -> String.join(";\n", each));
    }
}
