package io.keelson.server.run;

import static io.keelson.server.run.sql.Column.integer;
import static io.keelson.server.run.sql.Column.money;
import static io.keelson.server.run.sql.Column.uuid;

import io.keelson.server.run.CreditSlots.SlotChange;
import io.keelson.server.run.sql.RowSetStatement;
import io.keelson.server.run.sql.ViewLoader;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;

/** {@code credit_slots}, as far as runs change them. Several are locked in the order of workspaces and slots. */
final class CreditSlotsTable {
    /** The SQLSTATE of a commit that would overdraw a slot. */
    static final String TOO_LOW = "KE002";

    static final RowSetStatement<SlotChange> CHANGE = new RowSetStatement<>("keelson_credit_change", """
            merge into credit_slots s using {rows} on s.workspace_id = u.workspace_id and s.slot = u.slot
             when matched and s.available + u.available >= 0 then update
               set available = s.available + u.available, spent = s.spent + u.spent
             when matched then update
               set workspace_id = keelson_raise('KE002', 'a slot of a balance would be below zero')::uuid
             when not matched then insert (workspace_id)
                values (keelson_raise('KE002', 'a workspace has no such slot')::uuid)""",
            uuid("workspace_id", SlotChange::workspaceId), integer("slot", SlotChange::slot),
            money("available", SlotChange::available), money("spent", SlotChange::spent));

    private static final String LOCK = """
            select workspace_id, slot, available from credit_slots
             where workspace_id = any (?)
             order by workspace_id, slot
               for no key update""";

    /** The first slot that no other connection has taken for its life; any slot when all are taken. */
    private static final String TAKE = """
            select coalesce((select slot from generate_series(0, 3) slot
                where pg_try_advisory_lock(hashtext('keelson_credit_slot'), slot) limit 1), pg_backend_pid() % 4)""";

    private CreditSlotsTable() {}

    static int take(Connection c) throws SQLException {
        try (Statement statement = c.createStatement(); ResultSet row = statement.executeQuery(TAKE)) {
            row.next();
            return row.getInt(1);
        }
    }

    static LockedCredits lock(Connection c, Collection<UUID> workspaces) throws SQLException {
        Map<UUID, SortedMap<Integer, BigDecimal>> available = new HashMap<>();
        ViewLoader.each(c, LOCK, workspaces,
                row -> available.computeIfAbsent(ViewLoader.uuid(row, "workspace_id"), _ -> new TreeMap<>())
                        .put(row.getInt("slot"), row.getBigDecimal("available")));
        return new LockedCredits(available);
    }
}
