package io.keelson.server.engine.store.retention;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The storage quotas of a run and its workspace. Recorded artifacts count, and reservations for running steps ({@code
 * artifact_reservations}). So the sums rise only by {@link #take}, serially in a workspace.
 */
public final class ArtifactQuota {

    /**
     * The remaining quota at one moment, in bytes; negative where a limit was set after the artifacts.
     *
     * @param most the workspace's limit ({@code storage_bytes}); null if absent
     * @param ofWorkspace null for no limit
     * @param current whether the given execution still runs; artifacts of an ended one are never recorded
     */
    public record Left(long ofRun, @Nullable Long most, @Nullable Long ofWorkspace, boolean current) {

        /** Whether that many bytes fit. */
        public boolean fits(long bytes) {
            return bytes <= ofRun && (ofWorkspace == null || bytes <= ofWorkspace);
        }
    }

    /** A stored artifact of a running step. */
    public record Item(UUID workspaceId, UUID runId, UUID stepId, int leaseEpoch, String storageKey, long sizeBytes) {}

    private static final String LOCK = "select pg_advisory_xact_lock(hashtextextended('keelson artifacts ' || ?, 0))";

    private static final String CLEAR = """
            delete from artifact_reservations a
             where a.workspace_id = ? and not exists (
                select from orchestration_steps s
                 where s.id = a.step_id and s.lease_epoch = a.lease_epoch and s.state = 'running')""";

    private static final String LEFT = """
            with bound as materialized (
                select max(most)::bigint as most from workspace_limits where workspace_id = ? and name = 'storage_bytes'),
            coming as materialized (
                select c.run_id, c.size_bytes from artifact_reservations c
                 where c.workspace_id = ?
                   and exists (select from orchestration_steps s
                        where s.id = c.step_id and s.lease_epoch = c.lease_epoch and s.state = 'running')
                   and not exists (select from artifacts a where a.storage_key = c.storage_key))
            select (select coalesce(sum(size_bytes), 0)::bigint from artifacts where run_id = ? and deleted_at is null)
                    + (select coalesce(sum(size_bytes), 0)::bigint from coming where run_id = ?) as of_run,
                bound.most,
                case when bound.most is not null then
                    (select coalesce(sum(size_bytes), 0)::bigint from artifacts
                      where workspace_id = ? and deleted_at is null)
                    + (select coalesce(sum(f.size_bytes), 0)::bigint from archived_files f
                        where f.workspace_id = ? and f.expires_at is not null)
                    + (select coalesce(sum(size_bytes), 0)::bigint from coming) end as of_workspace,
                exists (select from orchestration_steps s
                     where s.id = ? and s.lease_epoch = ? and s.state = 'running') as current
              from bound""";

    private static final String INSERT = """
            insert into artifact_reservations (storage_key, workspace_id, run_id, step_id, lease_epoch, size_bytes)
            values (?, ?, ?, ?, ?, ?)""";

    private static final String GIVE_BACK = "delete from artifact_reservations where storage_key = ?";

    /** The remaining quota at this moment; concurrent reservations may reduce it. */
    public Left left(Connection c, Item item, long mostOfRun) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(LEFT)) {
            statement.setObject(1, item.workspaceId);
            statement.setObject(2, item.workspaceId);
            statement.setObject(3, item.runId);
            statement.setObject(4, item.runId);
            statement.setObject(5, item.workspaceId);
            statement.setObject(6, item.workspaceId);
            statement.setObject(7, item.stepId);
            statement.setInt(8, item.leaseEpoch);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                Long most = row.getObject("most", Long.class);
                return new Left(mostOfRun - row.getLong("of_run"), most,
                        most == null ? null : most - row.getLong("of_workspace"), row.getBoolean("current"));
            }
        }
    }

    /**
     * Reserves the item's size if it fits; until the transaction ends no other reservation is made in the workspace.
     *
     * @return the remaining quota before: nothing was reserved if the item does not fit. An ended execution reserves
     *         nothing.
     */
    public Left take(Connection c, Item item, long mostOfRun) throws SQLException {
        execute(c, LOCK, item.workspaceId.toString());
        execute(c, CLEAR, item.workspaceId);
        Left left = left(c, item, mostOfRun);
        if (left.current && left.fits(item.sizeBytes)) {
            execute(c, INSERT, item.storageKey, item.workspaceId, item.runId, item.stepId, item.leaseEpoch,
                    item.sizeBytes);
        }
        return left;
    }

    /** Releases the reservation of an artifact that was removed before it was recorded. */
    public void giveBack(Connection c, String storageKey) throws SQLException {
        execute(c, GIVE_BACK, storageKey);
    }

    private static void execute(Connection c, String sql, Object... parameters) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(sql)) {
            for (int i = 0; i < parameters.length; i++) {
                statement.setObject(i + 1, parameters[i]);
            }
            statement.execute();
        }
    }
}
