package io.keelson.server.money;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.UUID;

/** Reads and locks balances of workspaces. */
final class Balances {

    private static final String READ = "select available, reserved, spent from credit_balances where workspace_id = ?";

    /** Commits for runs lock heads of runs before balances, and nothing after them. */
    private static final String LOCK = READ + " for no key update";

    private static final String WRITE =
            "update credit_balances set available = ?, reserved = ?, spent = ? where workspace_id = ?";

    private Balances() {}

    /** Nothing on every account when there is no such workspace. */
    static WorkspaceBalance read(Connection c, UUID workspace) throws SQLException {
        return read(c, READ, workspace);
    }

    /** Like {@link #read}, and locks it until the transaction ends. */
    static WorkspaceBalance lock(Connection c, UUID workspace) throws SQLException {
        return read(c, LOCK, workspace);
    }

    /** Of a balance that is locked. */
    static void write(Connection c, UUID workspace, WorkspaceBalance balance) throws SQLException {
        try (PreparedStatement write = c.prepareStatement(WRITE)) {
            write.setBigDecimal(1, balance.available());
            write.setBigDecimal(2, balance.reserved());
            write.setBigDecimal(3, balance.spent());
            write.setObject(4, workspace);
            if (write.executeUpdate() != 1) {
                throw new IllegalStateException("workspace " + workspace + " has no balance");
            }
        }
    }

    private static WorkspaceBalance read(Connection c, String sql, UUID workspace) throws SQLException {
        try (PreparedStatement read = c.prepareStatement(sql)) {
            read.setObject(1, workspace);
            try (ResultSet row = read.executeQuery()) {
                return row.next() ? balance(row) : WorkspaceBalance.NONE;
            }
        }
    }

    private static WorkspaceBalance balance(ResultSet row) throws SQLException {
        return new WorkspaceBalance(row.getBigDecimal("available"), row.getBigDecimal("reserved"),
                row.getBigDecimal("spent"));
    }
}
