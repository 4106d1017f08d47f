package io.keelson.server.engine.store.retention;

import io.keelson.server.base.db.DbClock;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.UUID;

/** {@code upload_slots}: limits concurrent uploads of a workspace, on all servers together. */
public final class UploadSlots {

    /** Maximum per workspace. */
    public static final int MAX_UPLOADS = 10;
    /** A slot expires after this time without a sign of its upload; longer than the longest pause of a sender. */
    public static final Duration LEASE = Duration.ofMinutes(3);

    private static final String LOCK = "select pg_advisory_xact_lock(hashtextextended('keelson uploads ' || ?, 0))";

    private static final String TAKE =
            now("""
            insert into upload_slots as p (workspace_id, slot, holder, expires_at)
            select ?, free.slot, ?, {now} + ? * interval '1 millisecond'
              from (select n.slot from generate_series(1, ?) as n (slot)
                     where not exists (select from upload_slots held
                        where held.workspace_id = ? and held.slot = n.slot and held.expires_at > (select {now}))
                     order by n.slot limit 1) free
            on conflict (workspace_id, slot) do update set holder = excluded.holder, expires_at = excluded.expires_at""");

    private static final String KEEP = now("""
            update upload_slots set expires_at = {now} + ? * interval '1 millisecond'
             where workspace_id = ? and holder = ?""");

    private static final String LEAVE = "delete from upload_slots where workspace_id = ? and holder = ?";

    private final DbClock clock;

    public UploadSlots(DbClock clock) {
        this.clock = clock;
    }

    /** False when all slots are held; in a transaction. */
    public boolean take(Connection c, UUID workspaceId, UUID holder) throws SQLException {
        try (PreparedStatement lock = c.prepareStatement(LOCK)) {
            lock.setString(1, workspaceId.toString());
            try (ResultSet locked = lock.executeQuery()) {
                locked.next();
            }
        }
        try (PreparedStatement take = c.prepareStatement(TAKE)) {
            take.setObject(1, workspaceId);
            take.setObject(2, holder);
            clock.bind(take, 3);
            take.setLong(4, LEASE.toMillis());
            take.setInt(5, MAX_UPLOADS);
            take.setObject(6, workspaceId);
            clock.bind(take, 7);
            return take.executeUpdate() == 1;
        }
    }

    /** Extends the slot; false when it is lost. */
    public boolean keep(Connection c, UUID workspaceId, UUID holder) throws SQLException {
        try (PreparedStatement keep = c.prepareStatement(KEEP)) {
            clock.bind(keep, 1);
            keep.setLong(2, LEASE.toMillis());
            keep.setObject(3, workspaceId);
            keep.setObject(4, holder);
            return keep.executeUpdate() == 1;
        }
    }

    public void leave(Connection c, UUID workspaceId, UUID holder) throws SQLException {
        try (PreparedStatement leave = c.prepareStatement(LEAVE)) {
            leave.setObject(1, workspaceId);
            leave.setObject(2, holder);
            leave.executeUpdate();
        }
    }

    private static String now(String sql) {
        return sql.replace("{now}", DbClock.SQL);
    }
}
