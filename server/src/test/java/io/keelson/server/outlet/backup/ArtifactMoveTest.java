package io.keelson.server.outlet.backup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keelson.server.base.artifact.ArtifactOwner;
import io.keelson.server.base.artifact.ArtifactStore;
import io.keelson.server.base.artifact.CopyableStore;
import io.keelson.server.base.artifact.LocalArtifactStore;
import io.keelson.server.base.artifact.StoredArtifact;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseOptions;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.outlet.backup.BackupException.Code;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Statement;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ArtifactMoveTest {

    private static final int FILES = 5;

    /** A target that ends after some copies, as a killed command does. */
    private record Ending(CopyableStore store, int[] left) implements CopyableStore {
        @Override
        public void copyIn(String storageKey, InputStream content, String sha256) throws IOException {
            if (left[0]-- == 0) {
                throw new IOException("ended");
            }
            store.copyIn(storageKey, content, sha256);
        }

        @Override
        public long size(String storageKey) throws IOException {
            return store.size(storageKey);
        }

        @Override
        public String place() {
            return store.place();
        }

        @Override
        public StoredArtifact put(ArtifactOwner owner, String name, String contentType, InputStream content)
                throws IOException {
            return store.put(owner, name, contentType, content);
        }

        @Override
        public InputStream open(String storageKey) throws IOException {
            return store.open(storageKey);
        }

        @Override
        public boolean delete(String storageKey) throws IOException {
            return store.delete(storageKey);
        }

        @Override
        public void storedBefore(Instant time, ArtifactStore.Keys keys) throws IOException {
            store.storedBefore(time, keys);
        }

        @Override
        public long maxBytes() {
            return store.maxBytes();
        }
    }

    @TempDir
    Path folder;

    private final DatabaseUrl url = TestDatabase.createUrl();
    private final Database database = new Database(url, DatabaseOptions.DEFAULTS.withPoolSize(2));
    private final UUID workspace = UUID.randomUUID();
    private final List<String> keys = new ArrayList<>();
    private LocalArtifactStore source;
    private LocalArtifactStore target;

    @BeforeEach
    void store() throws IOException {
        source = new LocalArtifactStore(folder.resolve("source"));
        target = new LocalArtifactStore(folder.resolve("target"));
        sql("insert into workspaces (id, name) values ('" + workspace + "', 'w')");
        for (int i = 0; i < FILES; i++) {
            StoredArtifact stored = source.put(new ArtifactOwner(workspace, UUID.randomUUID(), UUID.randomUUID(), 1, 1),
                    "a", "text/plain", new ByteArrayInputStream(("content " + i).getBytes()));
            keys.add(stored.storageKey());
            sql("insert into artifact_uploads (id, workspace_id, step_id, lease_epoch, name, content_type, size_bytes,"
                    + " sha256, storage_key, created_at) values (gen_random_uuid(), '" + workspace
                    + "', gen_random_uuid(), 1, 'a', 'text/plain', " + stored.sizeBytes() + ", '" + stored.sha256()
                    + "', '" + stored.storageKey() + "', now())");
        }
    }

    @AfterEach
    void close() {
        database.close();
    }

    @Test
    void interruptedMoveContinuesAndRemovesTheSourceLast() throws IOException {
        assertThatThrownBy(() -> move(new Ending(target, new int[] {2})).run(true))
                .isInstanceOfSatisfying(BackupException.class,
                        e -> assertThat(e.code()).isEqualTo(Code.ARTIFACTS_MOVE_INTERRUPTED));
        assertThat(present(source)).isEqualTo(FILES);
        assertThat(present(target)).isEqualTo(2);

        ArtifactMove.Result result = move(target).run(true);
        assertThat(result.files()).isEqualTo(FILES);
        assertThat(result.copied()).isEqualTo(FILES - 2);
        assertThat(result.removed()).isEqualTo(FILES);
        assertThat(present(source)).isZero();
        try (InputStream content = target.open(keys.getLast())) {
            assertThat(content.readAllBytes()).isEqualTo("content 4".getBytes());
        }
        assertThat(new ArtifactMove(url, target, source, BackupProgress.NONE).run(false).copied()).isEqualTo(FILES);
    }

    @Test
    void damagedCopyIsReplaced() throws IOException {
        move(target).run(false);
        Files.writeString(folder.resolve("target").resolve(keys.getFirst()), "changed 0");
        assertThat(move(target).run(false).copied()).isOne();
        assertThat(move(target).run(false).copied()).isZero();
    }

    @Test
    void damagedAndMissingSourcesAreNamedAndNothingIsRemoved() throws IOException {
        Files.writeString(folder.resolve("source").resolve(keys.get(1)), "changed 1");
        source.delete(keys.get(2));
        ArtifactMove.Result result = move(target).run(false);
        assertThat(result.missing()).containsExactlyInAnyOrder(keys.get(1), keys.get(2));
        assertThat(result.files()).isEqualTo(FILES - 2);
        assertThatThrownBy(() -> move(target).run(true)).isInstanceOfSatisfying(BackupException.class,
                e -> assertThat(e.code()).isEqualTo(Code.ARTIFACTS_MOVE_INCOMPLETE));
        assertThat(present(source)).isEqualTo(FILES - 1);
    }

    private ArtifactMove move(CopyableStore to) {
        return new ArtifactMove(url, source, to, BackupProgress.NONE);
    }

    private long present(CopyableStore store) throws IOException {
        long present = 0;
        for (String key : keys) {
            present += store.size(key) < 0 ? 0 : 1;
        }
        return present;
    }

    private void sql(String sql) {
        database.runInTransaction(c -> {
            try (Statement statement = c.createStatement()) {
                statement.execute(sql);
            }
        });
    }
}
