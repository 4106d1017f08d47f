package io.keelson.server.run;

import io.keelson.server.run.SetStatement.Part;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Set statements that usually come together and then go to the database in one message: the way there and back costs
 * as much as a small statement. They are executed in their order.
 */
final class SetGroup {
    private final List<SetStatement<?>> statements;
    private final String sql;

    SetGroup(SetStatement<?>... statements) {
        this.statements = List.of(statements);
        this.sql = this.statements.stream().map(SetStatement::sql).collect(Collectors.joining(";\n"));
    }

    /**
     * @param parts rows for each of the group's statements, in their order
     * @throws StaleViewException when rows that must be touched were not
     */
    void execute(Connection c, Instant now, Part<?>... parts) throws SQLException {
        long present = List.of(parts).stream().filter(part -> !part.empty()).count();
        if (present > 1) {
            together(c, now, parts);
            return;
        }
        for (Part<?> part : parts) {
            if (!part.empty()) {
                alone(c, now, part);
            }
        }
    }

    private static <T> void alone(Connection c, Instant now, Part<T> part) throws SQLException {
        part.check(part.statement().execute(c, part.rows(), now));
    }

    private void together(Connection c, Instant now, Part<?>... parts) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(sql)) {
            int position = 1;
            for (int i = 0; i < parts.length; i++) {
                if (parts[i].statement() != statements.get(i)) {
                    throw new IllegalArgumentException("part " + i + " is of another statement");
                }
                position = bind(statement, position, parts[i], now);
            }
            statement.execute();
            for (int i = 0; i < parts.length; i++) {
                parts[i].check(statement.getUpdateCount());
                statement.getMoreResults();
            }
        }
    }

    private static <T> int bind(PreparedStatement statement, int position, Part<T> part, Instant now)
            throws SQLException {
        return part.statement().bind(statement, position, part.rows(), now);
    }
}
