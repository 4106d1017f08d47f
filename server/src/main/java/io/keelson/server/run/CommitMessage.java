package io.keelson.server.run;

import io.keelson.server.run.SetStatement.Moment;
import io.keelson.server.run.SetStatement.Part;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.postgresql.core.TransactionState;
import org.postgresql.jdbc.PgConnection;

/**
 * All that a batch writes, and its COMMIT, in one message: a way there and back costs as much as a statement. The
 * statements are executed in their order. Once one is refused, PostgreSQL passes over all that follow in the message,
 * the COMMIT included.
 */
final class CommitMessage {
    /**
     * Up to so many rows, a message has only the statements that have rows. In bigger ones a group of statements is there
     * as a whole or not at all: every selection has plans of its own, and many rows come in many selections.
     */
    private static final int FEW_ROWS = 60;

    private final List<Part<?>> parts;

    CommitMessage(List<List<Part<?>>> groups) {
        boolean few = groups.stream().flatMap(List::stream).mapToInt(part -> part.rows().size()).sum() <= FEW_ROWS;
        this.parts = groups.stream().filter(group -> !group.stream().allMatch(Part::empty)).flatMap(List::stream)
                .filter(part -> !few || !part.empty()).toList();
    }

    /**
     * Returns when all is committed; where it throws, nothing is, or the connection is lost and the outcome unknown.
     *
     * @param c with auto-commit off, in a transaction or not
     */
    void send(Connection c, Moment moment) throws SQLException {
        if (c.unwrap(PgConnection.class).getTransactionState() != TransactionState.IDLE) {
            send(c, moment, Stream.empty());
            return;
        }
        // The driver's own BEGIN would be answered apart from the rest; with auto-commit on it sends none.
        c.setAutoCommit(true);
        try {
            send(c, moment, Stream.of("begin"));
        } finally {
            if (!c.isClosed()) {
                c.setAutoCommit(false);
            }
        }
    }

    private void send(Connection c, Moment moment, Stream<String> first) throws SQLException {
        Stream<String> writes = parts.stream().map(part -> part.statement().sql());
        String sql = Stream.of(first, writes, Stream.of("commit")).flatMap(each -> each)
                .collect(Collectors.joining(";\n"));
        try (PreparedStatement statement = c.prepareStatement(sql)) {
            int position = 1;
            for (Part<?> part : parts) {
                position = part.bind(statement, position, moment);
            }
            statement.execute();
        }
    }
}
