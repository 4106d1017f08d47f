package io.keelson.server.engine.store.retention;

import io.keelson.server.base.db.DbClock;
import io.keelson.server.engine.store.sql.BinaryParameter;
import io.keelson.server.engine.store.sql.ViewLoader;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.UUID;

/**
 * Ends artifacts: some time after their run, or on request. Expired ones are marked, and
 * their content is removed later. {@link #unknown} finds content without a record.
 */
public final class ArtifactRetention {

    /** An artifact whose content is to be removed from the store. */
    public record Removable(UUID id, String storageKey) {}

    private static final String DATE = """
            update artifacts a
               set expires_at = r.completed_at + coalesce(a.retention_seconds, ?) * interval '1 second'
              from orchestration_runs r
             where r.id = a.run_id and r.state_type = 'terminal' and a.expires_at is null""";

    private static final String EXPIRE = now("""
            update artifacts set deleted_at = {now} where deleted_at is null and id = any (array(
                select id from artifacts where deleted_at is null and expires_at <= {now}
                 order by expires_at limit ? for update skip locked))""");

    private static final String REMOVABLE = now("""
            select id, storage_key from artifacts
             where deleted_at is not null and removed_at is null
               and deleted_at <= {now} - ? * interval '1 millisecond'
             order by deleted_at limit ?""");

    private static final String REMOVED = now("update artifacts set removed_at = {now} where id = any (?)");

    private static final String UNKNOWN = """
            select k from unnest(?) k
             where not exists (select from artifacts a where a.storage_key = k and a.removed_at is null)
               and not exists (select from artifact_uploads u where u.storage_key = k)
               and not exists (select from event_exports x where x.storage_key = k)
               and not exists (select from archive_objects o where o.storage_key = k)
               and not exists (select from archived_files f where f.storage_key = k)""";

    private static final String DROP_UPLOADS = now("""
            delete from artifact_uploads where created_at < {now} - ? * interval '1 millisecond'""");

    private static final String DELETE = now("""
            update artifacts set deleted_at = coalesce(deleted_at, {now})
             where workspace_id = ? and run_id = ? and id = ?""");

    /** Sees the artifact before a concurrent mark; its content then stays for the grace. */
    private static final String ACCESS = now("""
            with pushed as (
                update artifacts set expires_at = {now} + ? * interval '1 millisecond'
                 where id = ? and deleted_at is null and expires_at > {now}
                   and expires_at < {now} + ? * interval '1 millisecond')
            select deleted_at is null and (expires_at is null or expires_at > {now}) from artifacts where id = ?""");

    private final DbClock clock;

    public ArtifactRetention(DbClock clock) {
        this.clock = clock;
    }

    /**
     * Dates the artifacts of ended runs.
     *
     * @param retention after the end of the run, for artifacts without their own
     */
    public int date(Connection c, Duration retention) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(DATE)) {
            statement.setLong(1, retention.toSeconds());
            return statement.executeUpdate();
        }
    }

    /** Marks expired ones, up to a maximum; returns their number. */
    public int expire(Connection c, int most) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(EXPIRE)) {
            clock.bind(statement, 1);
            clock.bind(statement, 2);
            statement.setInt(3, most);
            return statement.executeUpdate();
        }
    }

    /** Artifacts that still have content and were marked so long ago that no read of them can be in progress. */
    public List<Removable> removable(Connection c, Duration grace, int most) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(REMOVABLE)) {
            clock.bind(statement, 1);
            statement.setLong(2, grace.toMillis());
            statement.setInt(3, most);
            List<Removable> found = new ArrayList<>();
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    found.add(new Removable(ViewLoader.uuid(row, "id"), row.getString("storage_key")));
                }
            }
            return found;
        }
    }

    /** Records that the content is gone. */
    public void removed(Connection c, Collection<UUID> ids) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(REMOVED)) {
            clock.bind(statement, 1);
            BinaryParameter.bindIds(statement, 2, ids);
            statement.executeUpdate();
        }
    }

    /** The store's keys without a record: content that was never recorded, or whose record is gone. */
    public List<String> unknown(Connection c, List<String> keys) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(UNKNOWN)) {
            statement.setArray(1, c.createArrayOf("text", keys.toArray()));
            List<String> found = new ArrayList<>();
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    found.add(row.getString(1));
                }
            }
            return found;
        }
    }

    /** Deletes upload records older than that; afterwards unused uploads count as unknown. */
    public void dropUploads(Connection c, Duration age) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(DROP_UPLOADS)) {
            clock.bind(statement, 1);
            statement.setLong(2, age.toMillis());
            statement.executeUpdate();
        }
    }

    /** Marks one for removal; false for an unknown artifact. Idempotent. */
    public boolean delete(Connection c, UUID workspaceId, UUID runId, UUID id) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(DELETE)) {
            clock.bind(statement, 1);
            statement.setObject(2, workspaceId);
            statement.setObject(3, runId);
            statement.setObject(4, id);
            return statement.executeUpdate() > 0;
        }
    }

    /** Keeps the artifact for at least that time, for a read; false when it is marked. */
    public boolean access(Connection c, UUID id, Duration atLeast) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(ACCESS)) {
            clock.bind(statement, 1);
            statement.setLong(2, atLeast.toMillis());
            statement.setObject(3, id);
            clock.bind(statement, 4);
            clock.bind(statement, 5);
            statement.setLong(6, atLeast.toMillis());
            clock.bind(statement, 7);
            statement.setObject(8, id);
            try (ResultSet row = statement.executeQuery()) {
                return row.next() && row.getBoolean(1);
            }
        }
    }

    private static String now(String sql) {
        return sql.replace("{now}", DbClock.SQL);
    }
}
