package io.keelson.server.tenant.money;

import io.keelson.core.money.Amounts;
import io.keelson.server.base.db.DbClock;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** Reads and locks balances of workspaces. */
final class Balances {

    private static final String READ = "select available, reserved, spent from credit_balances where workspace_id = ?";

    /** Commits for runs lock heads of runs before slots of balances, these in the same order, and nothing after them. */
    private static final String LOCK = """
            select slot, funded, available + withheld as available, spent from credit_slots
             where workspace_id = ?
             order by slot
               for no key update""";

    private static final String WRITE =
            """
            update credit_slots set funded = ?, available = ?, withheld = 0, spent = ? where workspace_id = ? and slot = ?""";

    private static final String WITHHOLD = "select keelson_withhold(?, {now})".replace("{now}", DbClock.SQL);

    /**
     * A balance whose slots are locked.
     *
     * @param slots their numbers
     */
    record Locked(List<Integer> slots, WorkspaceBalance balance) {}

    private Balances() {}

    /** Nothing on every account when there is no such workspace. */
    static WorkspaceBalance read(Connection c, UUID workspace) throws SQLException {
        try (PreparedStatement read = c.prepareStatement(READ)) {
            read.setObject(1, workspace);
            try (ResultSet row = read.executeQuery()) {
                return row.next()
                        ? new WorkspaceBalance(row.getBigDecimal("available"), row.getBigDecimal("reserved"),
                                row.getBigDecimal("spent"))
                        : WorkspaceBalance.NONE;
            }
        }
    }

    /** Like {@link #read}, and locks all slots until the transaction ends. */
    static Locked lock(Connection c, UUID workspace) throws SQLException {
        List<Integer> slots = new ArrayList<>();
        WorkspaceBalance sum = WorkspaceBalance.NONE;
        try (PreparedStatement lock = c.prepareStatement(LOCK)) {
            lock.setObject(1, workspace);
            try (ResultSet row = lock.executeQuery()) {
                while (row.next()) {
                    slots.add(row.getInt("slot"));
                    sum = sum.plus(row.getBigDecimal("funded"), row.getBigDecimal("available"),
                            row.getBigDecimal("spent"));
                }
            }
        }
        return new Locked(slots, sum);
    }

    /** Writes the balance in equal shares to its slots, which are locked, and withholds what its limit of the month does not leave. */
    static void write(Connection c, DbClock clock, UUID workspace, List<Integer> slots, WorkspaceBalance balance)
            throws SQLException {
        if (slots.isEmpty()) {
            throw new IllegalStateException("workspace " + workspace + " has no balance");
        }
        List<BigDecimal> funded = Amounts.split(balance.funded(), slots.size());
        List<BigDecimal> available = Amounts.split(balance.available(), slots.size());
        List<BigDecimal> spent = Amounts.split(balance.spent(), slots.size());
        try (PreparedStatement write = c.prepareStatement(WRITE)) {
            for (int i = 0; i < slots.size(); i++) {
                write.setBigDecimal(1, funded.get(i));
                write.setBigDecimal(2, available.get(i));
                write.setBigDecimal(3, spent.get(i));
                write.setObject(4, workspace);
                write.setInt(5, slots.get(i));
                write.addBatch();
            }
            write.executeBatch();
        }
        try (PreparedStatement withhold = c.prepareStatement(WITHHOLD)) {
            withhold.setObject(1, workspace);
            clock.bind(withhold, 2);
            withhold.execute();
        }
    }
}
