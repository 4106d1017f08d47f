package io.keelson.server.base.db;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.HikariPoolMXBean;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Collections;
import java.util.Map;
import java.util.UUID;
import java.util.WeakHashMap;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;

/**
 * Connections under row-level security. Each keeps its workspace until another one is set; without a workspace it sees
 * no rows.
 */
final class RequestPool implements AutoCloseable {

    private static final String NO_WORKSPACE = "; set keelson.workspace = '00000000-0000-0000-0000-000000000000'";
    private static final String NOT_ALLOWED = "42501";

    private final HikariDataSource pool;
    private final Map<PGConnection, UUID> assigned = Collections.synchronizedMap(new WeakHashMap<>());

    /**
     * @param config taken over
     * @param owner  a connection such as the engine has
     */
    RequestPool(HikariConfig config, Connection owner) throws SQLException {
        String role = role(owner);
        config.setConnectionInitSql(
                config.getConnectionInitSql() + NO_WORKSPACE + (role == null ? "" : "; set role " + role));
        config.setPoolName("keelson-requests");
        config.setMinimumIdle(0);
        this.pool = new HikariDataSource(config);
    }

    /** A role that bypasses row-level security needs another role for requests, and may not be allowed to create it. */
    private static @Nullable String role(Connection owner) throws SQLException {
        try (Statement statement = owner.createStatement();
                ResultSet row = statement.executeQuery("select keelson_request_role()")) {
            row.next();
            return row.getString(1);
        } catch (SQLException e) {
            if (NOT_ALLOWED.equals(e.getSQLState())) {
                return null;
            }
            throw e;
        }
    }

    @Nullable HikariPoolMXBean use() {
        return pool.getHikariPoolMXBean();
    }

    Connection connection(UUID workspace) throws SQLException {
        Connection connection = pool.getConnection();
        try {
            assign(connection, workspace);
            return connection;
        } catch (SQLException | RuntimeException e) {
            connection.close();
            throw e;
        }
    }

    private void assign(Connection connection, UUID workspace) throws SQLException {
        PGConnection physical = connection.unwrap(PGConnection.class);
        if (workspace.equals(assigned.get(physical))) {
            return;
        }
        assigned.remove(physical);
        try (PreparedStatement set = connection.prepareStatement("select set_config('keelson.workspace', ?, false)")) {
            set.setString(1, workspace.toString());
            set.execute();
        }
        assigned.put(physical, workspace);
    }

    @Override
    public void close() {
        pool.close();
    }
}
