package io.keelson.server.engine.store;

import static io.keelson.server.engine.store.sql.Column.flag;
import static io.keelson.server.engine.store.sql.Column.integer;
import static io.keelson.server.engine.store.sql.Column.money;
import static io.keelson.server.engine.store.sql.Column.uuid;

import io.keelson.server.base.db.DbClock;
import io.keelson.server.engine.store.CreditSlots.SlotChange;
import io.keelson.server.engine.store.sql.RowSetStatement;
import io.keelson.server.engine.store.sql.ViewLoader;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
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
             when matched and (u.decided or s.available >= 0 and s.available + u.available >= 0) then update
               set available = s.available + u.available, spent = s.spent + u.spent
             when matched then update
               set workspace_id = keelson_raise('KE002', 'a slot of a balance would be below zero')::uuid
             when not matched then insert (workspace_id)
                values (keelson_raise('KE002', 'a workspace has no such slot')::uuid)""",
            uuid("workspace_id", SlotChange::workspaceId), integer("slot", SlotChange::slot),
            money("available", SlotChange::available), money("spent", SlotChange::spent),
            flag("decided", SlotChange::decided));

    /**
     * Refuses reservations that begin and end in one commit, and so change no slot, if a slot does not have them. Takes no lock,
     * because the commit ends them.
     */
    static final RowSetStatement<SlotChange> HAS = new RowSetStatement<>("keelson_credit_change", """
            select keelson_raise('KE002', 'a slot of a balance does not have the credits')
              from {rows} left join credit_slots s on s.workspace_id = u.workspace_id and s.slot = u.slot
             where (s.available + u.available >= 0) is not true""",
            CHANGE.columns());

    private static final String LOCK = """
            select workspace_id, slot, available, withheld from credit_slots
             where workspace_id = any (?)
             order by workspace_id, slot
               for no key update""";

    /** Gives workspaces whose month has ended what their limit leaves in the new one. Their slots are locked. */
    private static final String NEW_MONTH = """
            select keelson_withhold(workspace_id, ?) from credit_months
             where workspace_id = any (?) and month < keelson_month(?)""";

    private static final String NEW_MONTHS = """
            select keelson_withhold(workspace_id, {now}) from credit_months
             where month < keelson_month({now})
             order by workspace_id limit ?""".replace("{now}", DbClock.SQL);

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

    /**
     * Locks before anything else, so that all commits take the slots in one order.
     *
     * @param now decides the month
     */
    static LockedCredits lock(Connection c, Collection<UUID> workspaces, Instant now) throws SQLException {
        LockedCredits locked = locked(c, workspaces);
        return monthsBegun(c, workspaces, now) ? locked(c, workspaces) : locked;
    }

    /** Begins the month of that many workspaces at most whose month has ended; returns their number. */
    static int beginMonths(Connection c, DbClock clock, int most) throws SQLException {
        int begun = 0;
        try (PreparedStatement months = c.prepareStatement(NEW_MONTHS)) {
            clock.bind(months, 1);
            clock.bind(months, 2);
            months.setInt(3, most);
            try (ResultSet row = months.executeQuery()) {
                while (row.next()) {
                    begun++;
                }
            }
        }
        return begun;
    }

    private static LockedCredits locked(Connection c, Collection<UUID> workspaces) throws SQLException {
        Map<UUID, SortedMap<Integer, BigDecimal>> available = new HashMap<>();
        Map<UUID, BigDecimal> withheld = new HashMap<>();
        ViewLoader.each(c, LOCK, workspaces, row -> {
            UUID workspace = ViewLoader.uuid(row, "workspace_id");
            available.computeIfAbsent(workspace, _ -> new TreeMap<>()).put(row.getInt("slot"),
                    row.getBigDecimal("available"));
            withheld.merge(workspace, row.getBigDecimal("withheld"), BigDecimal::add);
        });
        return new LockedCredits(available, withheld);
    }

    private static boolean monthsBegun(Connection c, Collection<UUID> workspaces, Instant now) throws SQLException {
        try (PreparedStatement month = c.prepareStatement(NEW_MONTH)) {
            OffsetDateTime at = now.atOffset(ZoneOffset.UTC);
            month.setObject(1, at);
            month.setArray(2, c.createArrayOf("uuid", workspaces.toArray()));
            month.setObject(3, at);
            try (ResultSet row = month.executeQuery()) {
                return row.next();
            }
        }
    }
}
