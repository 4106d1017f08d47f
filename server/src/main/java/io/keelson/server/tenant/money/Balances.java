package io.keelson.server.tenant.money;

import io.keelson.core.money.Amounts;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.base.db.RecordColumns;
import io.keelson.server.base.db.Sql;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** Reads and locks balances of workspaces. */
final class Balances {

    private static final Sql READ = Sql.of("""
            select available, reserved, spent from credit_balances where workspace_id = :workspace""");

    /** Commits for runs lock heads of runs before slots of balances, these in the same order, and nothing after them. */
    private static final Sql LOCK = Sql.of("""
            select slot, funded, available + withheld as available, spent from credit_slots
             where workspace_id = :workspace
             order by slot
               for no key update""");

    private static final Sql WRITE = Sql.of("""
            update credit_slots set funded = :funded, available = :available, withheld = 0, spent = :spent
             where workspace_id = :workspace and slot = :slot""");

    private static final Sql WITHHOLD = Sql.of("select keelson_withhold(:workspace, {now})");

    /**
     * A balance whose slots are locked.
     *
     * @param slots their numbers
     */
    record Locked(List<Integer> slots, WorkspaceBalance balance) {}

    private record Slot(int slot, BigDecimal funded, BigDecimal available, BigDecimal spent) {}

    private Balances() {}

    /** Nothing on every account when there is no such workspace. */
    static WorkspaceBalance read(Connection c, UUID workspace) throws SQLException {
        return READ.on(c).set("workspace", workspace).first(RecordColumns.of(WorkspaceBalance.class))
                .orElse(WorkspaceBalance.NONE);
    }

    /** Like {@link #read}, and locks all slots until the transaction ends. */
    static Locked lock(Connection c, UUID workspace) throws SQLException {
        List<Integer> slots = new ArrayList<>();
        WorkspaceBalance sum = WorkspaceBalance.NONE;
        for (Slot each : LOCK.on(c).set("workspace", workspace).all(RecordColumns.of(Slot.class))) {
            slots.add(each.slot);
            sum = sum.plus(each.funded, each.available, each.spent);
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
        for (int i = 0; i < slots.size(); i++) {
            WRITE.on(c).set(new Slot(slots.get(i), funded.get(i), available.get(i), spent.get(i)))
                    .set("workspace", workspace).update();
        }
        WITHHOLD.on(c).set("workspace", workspace).at(clock).exists();
    }
}
