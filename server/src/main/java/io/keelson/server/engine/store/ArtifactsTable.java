package io.keelson.server.engine.store;

import static io.keelson.server.engine.store.sql.Column.bigint;
import static io.keelson.server.engine.store.sql.Column.integer;
import static io.keelson.server.engine.store.sql.Column.text;
import static io.keelson.server.engine.store.sql.Column.time;
import static io.keelson.server.engine.store.sql.Column.uuid;

import io.keelson.core.decide.ChangeSet.Artifact;
import io.keelson.core.decide.RunRow;
import io.keelson.server.engine.store.sql.RowSetStatement;
import io.keelson.server.engine.store.sql.ViewLoader;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.UUID;

/** {@code artifacts}: records of files whose bytes are in the artifact store. */
final class ArtifactsTable {
    static final RowSetStatement<Artifact> INSERT = new RowSetStatement<>("keelson_artifact_new", """
            insert into artifacts (id, run_id, workspace_id, attempt, step_id, name, content_type, size_bytes, sha256,
                storage_key, retention_seconds, created_at, task_id)
            select id, run_id, workspace_id, attempt, step_id, name, content_type, size_bytes, sha256, storage_key,
                retention_seconds, {now}, (select s.task_id from task_steps s where s.id = u.step_id)
              from {rows}""",
            uuid("id", Artifact::id), uuid("run_id", Artifact::runId), uuid("workspace_id", Artifact::workspaceId),
            integer("attempt", Artifact::attempt), uuid("step_id", Artifact::stepId),
            text("name", a -> a.stored().name()), text("content_type", a -> a.stored().contentType()),
            bigint("size_bytes", a -> a.stored().sizeBytes()), text("sha256", a -> a.stored().sha256()),
            text("storage_key", a -> a.stored().storageKey()),
            bigint("retention_seconds", a -> a.stored().retentionSeconds()));

    /** After the insertion: the artifacts that the new ones replace are deleted. */
    static final RowSetStatement<Artifact> REPLACE = new RowSetStatement<>("keelson_artifact_successor", """
            update artifacts a set deleted_at = {now}
              from {rows}
             where a.run_id = u.run_id and a.attempt = u.attempt and a.name = u.name and a.id <> u.id
               and a.deleted_at is null""",
            uuid("id", Artifact::id), uuid("run_id", Artifact::runId), integer("attempt", Artifact::attempt),
            text("name", a -> a.stored().name()));

    /** @param retention of artifacts without one of their own */
    record Ended(RunRow run, Duration retention) {}

    /** In the transaction that ends the run. */
    static final RowSetStatement<Ended> END = new RowSetStatement<>("keelson_artifact_end", """
            update artifacts a
               set expires_at = u.ended_at + coalesce(a.retention_seconds, u.retention_seconds) * interval '1 second'
              from {rows}
             where a.run_id = u.run_id and a.expires_at is null""",
            uuid("run_id", e -> e.run.id()), time("ended_at", e -> e.run.completedAt()),
            bigint("retention_seconds", e -> e.retention.toSeconds()));

    private static final String LOAD = """
            select a.run_id, a.name, a.step_id
              from artifacts a
              join orchestration_runs r on r.id = a.run_id and r.attempt_number = a.attempt
             where a.run_id = any (?)
             order by a.deleted_at nulls last""";

    private ArtifactsTable() {}

    static void load(Connection c, Collection<UUID> runIds, ViewLoader loader) throws SQLException {
        ViewLoader.each(c, LOAD, runIds,
                row -> loader.view(row).addArtifact(row.getString("name"), ViewLoader.uuid(row, "step_id")));
    }
}
