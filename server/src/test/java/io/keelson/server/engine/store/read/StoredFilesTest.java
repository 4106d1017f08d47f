package io.keelson.server.engine.store.read;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.TestDatabase;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class StoredFilesTest {

    private final Database database = TestDatabase.create();
    private final UUID workspace = UUID.randomUUID();
    private final UUID run = UUID.randomUUID();

    @BeforeEach
    void insertRun() {
        sql("insert into workspaces (id, name) values ('" + workspace + "', 'w')");
        sql("insert into orchestration_runs (id, workspace_id, title, goal, created_by, state, state_type) values ('"
                + run + "', '" + workspace + "', 't', 'g', 'tester', 'running', 'running')");
    }

    @AfterEach
    void close() {
        database.close();
    }

    @Test
    void pagesHaveAllFilesOnceInTheOrderOfTheirKeys() {
        artifact("e", false);
        artifact("a", false);
        upload("a");
        upload("c");
        upload("d");
        sql("insert into event_exports (id, workspace_id, run_id, first_seq, last_seq, events, size_bytes, sha256,"
                + " storage_key, exported_at) values (gen_random_uuid(), '" + workspace + "', '" + run
                + "', 1, 1, 1, 1, repeat('0', 64), 'b', now())");
        assertThat(keys(2)).containsExactly("a", "b", "c", "d", "e");
        assertThat(database.withConnection(StoredFiles::count)).isEqualTo(5);
    }

    @Test
    void removedContentOfAnUploadIsNotRequired() {
        artifact("a", true);
        upload("a");
        assertThat(keys(2)).isEmpty();
        assertThat(database.withConnection(StoredFiles::count)).isZero();
    }

    private List<String> keys(int limit) {
        List<String> keys = new ArrayList<>();
        List<StoredFiles.File> page;
        do {
            String last = keys.isEmpty() ? null : keys.getLast();
            page = database.withConnection(c -> StoredFiles.page(c, last, limit));
            page.forEach(file -> keys.add(file.storageKey()));
        } while (page.size() == limit);
        return keys;
    }

    private void artifact(String key, boolean removed) {
        sql("insert into artifacts (id, run_id, workspace_id, attempt, step_id, name, content_type, size_bytes, sha256,"
                + " storage_key, created_at, deleted_at, removed_at) values (gen_random_uuid(), '" + run + "', '"
                + workspace + "', 1, gen_random_uuid(), '" + key + "', 'text/plain', 1, repeat('0', 64), '" + key
                + "', now(), " + (removed ? "now(), now())" : "null, null)"));
    }

    private void upload(String key) {
        sql("insert into artifact_uploads (id, workspace_id, step_id, lease_epoch, name, content_type, size_bytes, sha256,"
                + " storage_key, created_at) values (gen_random_uuid(), '" + workspace
                + "', gen_random_uuid(), 1, 'a', 'text/plain', 1, repeat('0', 64), '" + key + "', now())");
    }

    private void sql(String sql) {
        database.runInTransaction(c -> {
            try (Statement statement = c.createStatement()) {
                statement.execute(sql);
            }
        });
    }
}
