package io.keelson.server.db;

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
 * Connections behind the fence between workspaces. Each knows its workspace until it is told another one; while it has not
 * been told any it sees no rows.
 */
final class RequestPool implements AutoCloseable {

    private static final String NOBODY = "; set keelson.workspace = '00000000-0000-0000-0000-000000000000'";
    private static final String NOT_ALLOWED = "42501";

    private final HikariDataSource pool;
    private final Map<PGConnection, UUID> told = Collections.synchronizedMap(new WeakHashMap<>());

    /**
     * @param config taken over
     * @param owner  a connection such as the engine has
     */
    RequestPool(HikariConfig config, Connection owner) throws SQLException {
        String role = role(owner);
        config.setConnectionInitSql(
                config.getConnectionInitSql() + NOBODY + (role == null ? "" : "; set role " + role));
        config.setPoolName("keelson-requests");
        config.setMinimumIdle(0);
        this.pool = new HikariDataSource(config);
    }

    /** Who is above all fences needs a role that is not, and may not be allowed to make it. */
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
            tell(connection, workspace);
            return connection;
        } catch (SQLException | RuntimeException e) {
            connection.close();
            throw e;
        }
    }

    private void tell(Connection connection, UUID workspace) throws SQLException {
        PGConnection physical = connection.unwrap(PGConnection.class);
        if (workspace.equals(told.get(physical))) {
            return;
        }
        told.remove(physical);
        try (PreparedStatement set = connection.prepareStatement("select set_config('keelson.workspace', ?, false)")) {
            set.setString(1, workspace.toString());
            set.execute();
        }
        told.put(physical, workspace);
    }

    @Override
    public void close() {
        pool.close();
    }
}
