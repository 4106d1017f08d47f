package io.keelson.server.engine.store.read;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Optional;
import java.util.UUID;

/** Reads parts of the results of agents' calls, which a transcript shows by their beginning and their end. */
public final class LongResults {

    private static final String PART = """
            select substr(o.text, ?, ?) as part, length(o.text) as chars
              from orchestration_steps s cross join lateral (select s.output::text as text offset 0) o
             where s.id = ? and s.workspace_id = ? and s.task_id = ? and s.kind = 'call' and s.state = 'completed'""";

    /** @param chars of the whole result as JSON text */
    public record Part(String text, long chars) {}

    private LongResults() {}

    /**
     * A part of a call's result; empty when the task has no such call.
     *
     * @param from characters before the part
     * @param length of the part at most
     */
    public static Optional<Part> part(Connection c, UUID workspaceId, UUID taskId, UUID stepId, int from, int length)
            throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(PART)) {
            statement.setInt(1, from + 1);
            statement.setInt(2, length);
            statement.setObject(3, stepId);
            statement.setObject(4, workspaceId);
            statement.setObject(5, taskId);
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? Optional.of(new Part(row.getString("part"), row.getLong("chars")))
                        : Optional.empty();
            }
        }
    }
}
