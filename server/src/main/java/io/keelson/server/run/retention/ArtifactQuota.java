package io.keelson.server.run.retention;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * How much a run and its workspace may still store. What is recorded counts, and with it what is stored for steps at work
 * and is recorded with their results ({@code artifact_reservations}); so the sums never rise but by {@link #take}, one at a time
 * in a workspace.
 */
public final class ArtifactQuota {

    /**
     * What was left at one moment, in bytes; below zero where a bound came later than the artifacts.
     *
     * @param most that the workspace may store (its limit {@code storage_bytes}); null for no limit
     * @param ofWorkspace null for no limit
     * @param current whether the execution asked about is still at work; what one that is not stores is never recorded
     */
    public record Left(long ofRun, @Nullable Long most, @Nullable Long ofWorkspace, boolean current) {

        /** Whether so much may be stored. */
        public boolean fits(long bytes) {
            return bytes <= ofRun && (ofWorkspace == null || bytes <= ofWorkspace);
        }
    }

    /** Something stored for a step at work. */
    public record Item(UUID workspaceId, UUID runId, UUID stepId, int leaseEpoch, String storageKey, long sizeBytes) {}

    private static final String LOCK = "select pg_advisory_xact_lock(hashtextextended('keelson artifacts ' || ?, 0))";

    private static final String CLEAR = """
            delete from artifact_reservations a
             where a.workspace_id = ? and not exists (
                select from orchestration_steps s
                 where s.id = a.step_id and s.lease_epoch = a.lease_epoch and s.state = 'running')""";

    private static final String LEFT = """
            with bound as materialized (
                select max(most) as most from workspace_limits where workspace_id = ? and name = 'storage_bytes'),
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
                    + (select coalesce(sum(size_bytes), 0)::bigint from coming) end as of_workspace,
                exists (select from orchestration_steps s
                     where s.id = ? and s.lease_epoch = ? and s.state = 'running') as current
              from bound""";

    private static final String INSERT = """
            insert into artifact_reservations (storage_key, workspace_id, run_id, step_id, lease_epoch, size_bytes)
            values (?, ?, ?, ?, ?, ?)""";

    private static final String GIVE_BACK = "delete from artifact_reservations where storage_key = ?";

    /** What is left at this moment; others may take it meanwhile. */
    public Left left(Connection c, Item item, long mostOfRun) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(LEFT)) {
            statement.setObject(1, item.workspaceId);
            statement.setObject(2, item.workspaceId);
            statement.setObject(3, item.runId);
            statement.setObject(4, item.runId);
            statement.setObject(5, item.workspaceId);
            statement.setObject(6, item.stepId);
            statement.setInt(7, item.leaseEpoch);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                Long most = row.getObject("most", Long.class);
                return new Left(mostOfRun - row.getLong("of_run"), most,
                        most == null ? null : most - row.getLong("of_workspace"), row.getBoolean("current"));
            }
        }
    }

    /**
     * Takes the room if there is so much; in a transaction, until whose end nobody else of the workspace does.
     *
     * @return what was left before: nothing was taken where the item does not fit into it. What an execution stores that
     *     is over takes none.
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

    /** It was removed again before it was recorded. */
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
