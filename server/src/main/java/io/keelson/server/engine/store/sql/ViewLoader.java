package io.keelson.server.engine.store.sql;

import io.keelson.core.decide.AgentRow;
import io.keelson.core.decide.RunView;
import io.keelson.core.decide.StoredField;
import io.keelson.core.decide.TaskRow;
import io.keelson.core.money.Amounts;
import io.keelson.server.base.db.Rows;
import java.math.BigDecimal;
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

/** Views being loaded from the database: each table adds its rows to those already present. */
public final class ViewLoader {

    /** Reads one row of a result. */
    @FunctionalInterface
    public interface Row {
        void take(ResultSet row) throws SQLException;
    }

    public final Map<UUID, RunView> views = new LinkedHashMap<>();
    public final Map<UUID, AgentRow> agents = new HashMap<>();
    public final Map<UUID, TaskRow> tasks = new HashMap<>();
    /** Runs with pending proposals. */
    public final List<UUID> proposing = new ArrayList<>();
    /** Child runs, and runs that have children. */
    public final List<UUID> started = new ArrayList<>();
    public final List<UUID> starting = new ArrayList<>();
    /** Runs whose tasks have budgets. */
    public final List<UUID> budgeted = new ArrayList<>();
    /** Runs with votes. */
    public final List<UUID> voted = new ArrayList<>();
    /** Runs that are undone. */
    public final List<UUID> undone = new ArrayList<>();
    /** Runs with calls of other servers that wait. */
    public final List<UUID> calling = new ArrayList<>();
    /** Runs with requests of programs that have not ended. */
    public final List<UUID> requesting = new ArrayList<>();
    /** Runs that stay with versions of workers. */
    public final List<UUID> pinned = new ArrayList<>();
    /** Runs that have received signals. */
    public final List<UUID> signalled = new ArrayList<>();

    public RunView view(ResultSet row) throws SQLException {
        return Objects.requireNonNull(views.get(uuid(row, "run_id")));
    }

    /** Runs a query whose only parameter is a set of ids. */
    public static void each(Connection c, String sql, Collection<UUID> ids, Row row) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(sql)) {
            BinaryParameter.bindIds(statement, 1, ids);
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    row.take(rows);
                }
            }
        }
    }

    /** Sets the fields of a row from their columns. */
    public static <R> void restore(ResultSet row, List<StoredField<R, ?>> fields, R target) throws SQLException {
        for (StoredField<R, ?> field : fields) {
            field.restore(target, field.type() == Instant.class ? Rows.optionalTime(row, field.column())
                    : row.getObject(field.column(), field.type()));
        }
    }

    public static UUID uuid(ResultSet row, String column) throws SQLException {
        return row.getObject(column, UUID.class);
    }

    public static @Nullable UUID uuidOrNull(ResultSet row, String column) throws SQLException {
        return row.getObject(column, UUID.class);
    }

    /** A cost with the decimal places that decisions give it, not the column's; not null. */
    public static BigDecimal cost(ResultSet row, String column) throws SQLException {
        return Amounts.exact(row.getBigDecimal(column));
    }

    /** Reads an array of times without nulls. */
    public static List<Instant> times(ResultSet row, String column) throws SQLException {
        List<Instant> times = new ArrayList<>();
        for (Object each : (Object[]) row.getArray(column).getArray()) {
            times.add(((Timestamp) each).toInstant());
        }
        return times;
    }
}
