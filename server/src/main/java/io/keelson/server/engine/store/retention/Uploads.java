package io.keelson.server.engine.store.retention;

import io.keelson.core.run.NewArtifact;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.engine.store.sql.BinaryParameter;
import io.keelson.server.engine.store.sql.ViewLoader;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;

/** {@code artifact_uploads}: uploads of workers for running steps, until a result names them. */
public final class Uploads {

    /** Time in which a result may name an upload. */
    public static final Duration MAX_AGE = Duration.ofDays(1);

    /** An upload of one execution. */
    public record Uploaded(UUID stepId, int leaseEpoch, NewArtifact artifact) {}

    private static final String INSERT = """
            insert into artifact_uploads (id, workspace_id, step_id, lease_epoch, name, content_type, size_bytes, sha256,
                storage_key, retention_seconds, created_at)
            values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, {now})""".replace("{now}", DbClock.SQL);

    private static final String FIND = """
            select id, step_id, lease_epoch, name, content_type, size_bytes, sha256, storage_key, retention_seconds
              from artifact_uploads
             where workspace_id = ? and id = any (?) and created_at > {now} - ? * interval '1 millisecond'"""
            .replace("{now}", DbClock.SQL);

    private final DbClock clock;

    public Uploads(DbClock clock) {
        this.clock = clock;
    }

    public void add(Connection c, UUID id, UUID workspaceId, Uploaded upload) throws SQLException {
        NewArtifact artifact = upload.artifact();
        try (PreparedStatement statement = c.prepareStatement(INSERT)) {
            statement.setObject(1, id);
            statement.setObject(2, workspaceId);
            statement.setObject(3, upload.stepId());
            statement.setInt(4, upload.leaseEpoch());
            statement.setString(5, artifact.name());
            statement.setString(6, artifact.contentType());
            statement.setLong(7, artifact.sizeBytes());
            statement.setString(8, artifact.sha256());
            statement.setString(9, artifact.storageKey());
            statement.setObject(10, artifact.retentionSeconds());
            clock.bind(statement, 11);
            statement.executeUpdate();
        }
    }

    /** The uploads of these ids that a result of the workspace may name. */
    public Map<UUID, Uploaded> find(Connection c, UUID workspaceId, Collection<UUID> ids) throws SQLException {
        try (PreparedStatement statement = c.prepareStatement(FIND)) {
            statement.setObject(1, workspaceId);
            BinaryParameter.bindIds(statement, 2, ids);
            clock.bind(statement, 3);
            statement.setLong(4, MAX_AGE.toMillis());
            Map<UUID, Uploaded> found = new HashMap<>();
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    found.put(ViewLoader.uuid(row, "id"), new Uploaded(ViewLoader.uuid(row, "step_id"),
                            row.getInt("lease_epoch"), new NewArtifact(row.getString("name"),
                                    row.getString("content_type"), row.getLong("size_bytes"), row.getString("sha256"),
                                    row.getString("storage_key"), row.getObject("retention_seconds", Long.class))));
                }
            }
            return found;
        }
    }
}
