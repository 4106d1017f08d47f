package io.keelson.server.run;

import static io.keelson.server.run.sql.Column.money;
import static io.keelson.server.run.sql.Column.uuid;

import io.keelson.core.decide.ChangeSet.Balance;
import io.keelson.core.money.LockedBalances;
import io.keelson.server.run.sql.RowSetStatement;
import io.keelson.server.run.sql.ViewLoader;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;

/** {@code credit_balances}, as far as runs change them. Several are locked in the order of their ids. */
final class BalancesTable {
    /** The SQLSTATE of a commit that would overdraw a balance. */
    static final String TOO_LOW = "KE002";

    static final RowSetStatement<Balance> CHANGE = new RowSetStatement<>("keelson_balance", """
            merge into credit_balances b using {rows} on b.workspace_id = u.workspace_id
             when matched and b.available + u.available >= 0 then update
               set available = b.available + u.available, reserved = b.reserved + u.reserved, spent = b.spent + u.spent
             when matched then update
               set workspace_id = keelson_raise('KE002', 'a balance would be below zero')::uuid
             when not matched then insert (workspace_id)
                values (keelson_raise('KE002', 'a workspace has no balance')::uuid)""",
            uuid("workspace_id", Balance::workspaceId), money("available", Balance::available),
            money("reserved", Balance::reserved), money("spent", Balance::spent));

    private static final String LOCK = """
            select workspace_id, available from credit_balances
             where workspace_id = any (?)
             order by workspace_id
               for no key update""";

    private BalancesTable() {}

    static LockedBalances lock(Connection c, Collection<UUID> workspaces) throws SQLException {
        Map<UUID, BigDecimal> available = new HashMap<>();
        ViewLoader.each(c, LOCK, workspaces,
                row -> available.put(ViewLoader.uuid(row, "workspace_id"), row.getBigDecimal("available")));
        return new LockedBalances(available);
    }
}
