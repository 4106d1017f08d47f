package io.keelson.server.run;

import io.keelson.core.run.AgentRow;
import io.keelson.core.run.RunView;
import io.keelson.core.run.TaskRow;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Views on their way out of the database: every table adds its rows to those that are there already. */
final class Loading {

    /** Takes one row of a result. */
    @FunctionalInterface
    interface Row {
        void take(ResultSet row) throws SQLException;
    }

    final Map<UUID, RunView> views = new LinkedHashMap<>();
    final Map<UUID, AgentRow> agents = new HashMap<>();
    final Map<UUID, TaskRow> tasks = new HashMap<>();
    /** Runs with proposals that wait for an answer. */
    final List<UUID> proposing = new ArrayList<>();
    /** Runs that others have started, and runs that have started others. */
    final List<UUID> started = new ArrayList<>();
    final List<UUID> starting = new ArrayList<>();
    /** Runs that were sent signals. */
    final List<UUID> signalled = new ArrayList<>();

    RunView view(ResultSet row) throws SQLException {
        return Objects.requireNonNull(views.get(uuid(row, "run_id")));
    }

    /** Runs a query whose only parameter is a set of ids. */
    static void each(Connection c, String sql, Collection<UUID> ids, Row row) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(sql)) {
            BinaryParameter.bindIds(statement, 1, ids);
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    row.take(rows);
                }
            }
        }
    }

    static UUID uuid(ResultSet row, String column) throws SQLException {
        return row.getObject(column, UUID.class);
    }

    static @Nullable UUID uuidOrNull(ResultSet row, String column) throws SQLException {
        return row.getObject(column, UUID.class);
    }

    /** An array of times, none of them null. */
    static List<Instant> times(ResultSet row, String column) throws SQLException {
        List<Instant> times = new ArrayList<>();
        for (Object each : (Object[]) row.getArray(column).getArray()) {
            times.add(((Timestamp) each).toInstant());
        }
        return times;
    }
}
