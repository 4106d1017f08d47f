package io.keelson.server.engine.upkeep;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keelson.server.base.artifact.ArtifactOwner;
import io.keelson.server.base.artifact.ArtifactStore;
import io.keelson.server.base.artifact.LocalArtifactStore;
import io.keelson.server.base.artifact.StoredArtifact;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.engine.store.read.RunReader;
import io.keelson.server.engine.store.retention.ArtifactRetention;
import io.keelson.server.engine.store.retention.Uploads;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Artifacts end in three steps, record, content, note, after each of which a process may end. */
class ArtifactSweeperTest {

    private static final Instant ENDED = Instant.parse("2026-01-01T00:00:00Z");
    private static final Duration MONTH = Duration.ofDays(30);

    /** A process that ends just after the content of an artifact is gone. */
    private static final class Died extends Error {
        private static final long serialVersionUID = 1L;
    }

    private record DyingStore(ArtifactStore real) implements ArtifactStore {
        @Override
        public StoredArtifact put(ArtifactOwner owner, String name, String contentType, InputStream content)
                throws IOException {
            return real.put(owner, name, contentType, content);
        }

        @Override
        public InputStream open(String storageKey) throws IOException {
            return real.open(storageKey);
        }

        @Override
        public boolean delete(String storageKey) throws IOException {
            real.delete(storageKey);
            throw new Died();
        }

        @Override
        public void storedBefore(Instant time, Keys keys) throws IOException {
            real.storedBefore(time, keys);
        }

        @Override
        public long maxBytes() {
            return real.maxBytes();
        }
    }

    @TempDir
    private Path folder;
    private final Database database = TestDatabase.create();
    private final UUID workspace = UUID.randomUUID();
    private final ArtifactRetention life = new ArtifactRetention(() -> now());
    private Instant now = ENDED;
    private LocalArtifactStore store;
    private ArtifactSweeper sweeper;

    private Instant now() {
        return now;
    }

    @BeforeEach
    void open() throws IOException {
        sql("insert into workspaces (id, name) values ('" + workspace + "', 'w')");
        store = new LocalArtifactStore(folder);
        sweeper = sweeper(store);
    }

    @AfterEach
    void close() {
        database.close();
    }

    private ArtifactSweeper sweeper(ArtifactStore of) {
        return new ArtifactSweeper(database, life, of, MONTH, Clock.fixed(now, ZoneOffset.UTC));
    }

    @Test
    void retentionBeginsAtTheEndOfTheRun() throws IOException {
        UUID run = run(true);
        UUID usual = record(run, "usual", stored("abc"), null);
        UUID longer = record(run, "longer", stored("abc"), Duration.ofDays(90).toSeconds());
        UUID running = record(run(false), "running", stored("abc"), null);

        now = ENDED.plus(MONTH).minusSeconds(1);
        assertThat(sweeper.expire()).isZero();
        assertThat(text("expires_at at time zone 'UTC'", usual)).isEqualTo("2026-01-31 00:00:00");
        assertThat(text("expires_at at time zone 'UTC'", longer)).isEqualTo("2026-04-01 00:00:00");
        assertThat(text("expires_at", running)).isNull();

        now = ENDED.plus(MONTH);
        assertThat(bytes()).isEqualTo(9);
        assertThat(sweeper.expire()).isEqualTo(1);
        assertThat(sweeper.expire()).isZero();
        assertThat(text("deleted_at", usual)).isNotNull();
        assertThat(bytes()).isEqualTo(6);
    }

    /** The process ends after marking the record: another one removes the content once no reader has it open. */
    @Test
    void aCrashBetweenRecordAndContent() throws IOException {
        StoredArtifact content = stored("abc");
        UUID id = record(run(true), "a", content, null);
        now = ENDED.plus(MONTH);
        sweeper.expire();

        ArtifactSweeper next = sweeper(store);
        now = now.plus(ArtifactSweeper.GRACE).minusSeconds(1);
        assertThat(next.remove()).isZero();
        store.open(content.storageKey()).close();
        now = now.plusSeconds(1);
        assertThat(next.remove()).isEqualTo(1);
        assertThatThrownBy(() -> store.open(content.storageKey())).isInstanceOf(NoSuchFileException.class);
        assertThat(text("removed_at", id)).isNotNull();
        assertThat(next.remove()).isZero();
    }

    /** The process ends after the content is gone: another one notes it. */
    @Test
    void aCrashBetweenContentAndNote() throws IOException {
        UUID id = record(run(true), "a", stored("abc"), null);
        now = ENDED.plus(MONTH);
        sweeper.expire();
        now = now.plus(ArtifactSweeper.GRACE);
        assertThatThrownBy(() -> sweeper(new DyingStore(store)).remove()).isInstanceOf(Died.class);
        assertThat(text("removed_at", id)).isNull();

        assertThat(sweeper(store).remove()).isEqualTo(1);
        assertThat(text("removed_at", id)).isNotNull();
    }

    /** The process ends after storing the content, before writing a record: only the store has it. */
    @Test
    void aCrashBetweenContentAndRecord() throws IOException {
        StoredArtifact orphan = stored("orphan");
        StoredArtifact known = stored("known");
        record(run(false), "known", known, null);
        StoredArtifact uploaded = stored("uploaded");
        now = Files.getLastModifiedTime(folder.resolve(uploaded.storageKey())).toInstant();
        upload(uploaded);

        assertThat(sweeper(store).removeOrphans()).isZero();
        now = now.plus(ArtifactSweeper.ORPHAN_AGE).plusSeconds(60);
        upload(uploaded);
        assertThat(sweeper(store).removeOrphans()).isEqualTo(1);
        assertThatThrownBy(() -> store.open(orphan.storageKey())).isInstanceOf(NoSuchFileException.class);
        store.open(known.storageKey()).close();
        store.open(uploaded.storageKey()).close();

        now = now.plus(ArtifactSweeper.ORPHAN_AGE).plusSeconds(60);
        assertThat(sweeper(store).removeOrphans()).as("named by no result").isEqualTo(1);
        assertThat(sweeper(store).removeOrphans()).isZero();
        store.open(known.storageKey()).close();
    }

    /** A result reads the record of its upload at the end of the upload's time, and is committed after a sweep. */
    @Test
    void uploadThatAResultMayHaveReadKeepsItsContent() throws IOException {
        StoredArtifact uploaded = stored("uploaded");
        now = Files.getLastModifiedTime(folder.resolve(uploaded.storageKey())).toInstant();
        UUID id = upload(uploaded);
        now = now.plus(Uploads.MAX_AGE).minusSeconds(1);
        assertThat(mayBeNamed(id)).isTrue();
        now = now.plus(ArtifactSweeper.GRACE);
        assertThat(mayBeNamed(id)).isFalse();
        assertThat(sweeper(store).removeOrphans()).isZero();
        record(run(false), "late", uploaded, null);
        now = now.plus(ArtifactSweeper.GRACE);
        assertThat(sweeper(store).removeOrphans()).isZero();
        store.open(uploaded.storageKey()).close();
    }

    /** A store that cannot list unfinished uploads, or does not permit it. */
    @Test
    void contentWithoutARecordIsRemovedWithoutAListOfUploads() throws IOException {
        StoredArtifact orphan = stored("orphan");
        now = Files.getLastModifiedTime(folder.resolve(orphan.storageKey())).toInstant()
                .plus(ArtifactSweeper.ORPHAN_AGE).plusSeconds(60);
        assertThatThrownBy(() -> sweeper(new DyingStore(store)).removeOrphans()).isInstanceOf(Died.class);
        assertThat(store.size(orphan.storageKey())).isEqualTo(-1);
    }

    @Test
    void requestedArtifactIsKept() throws IOException {
        UUID id = record(run(true), "a", stored("abc"), null);
        assertThat(access(id)).isTrue();
        assertThat(text("expires_at", id)).as("its run has only just ended").isNull();
        now = ENDED.plus(MONTH).minusSeconds(1);
        sweeper.expire();
        assertThat(access(id)).isTrue();
        now = now.plus(Duration.ofMinutes(59));
        assertThat(sweeper.expire()).isZero();
        now = now.plus(Duration.ofMinutes(2));
        assertThat(sweeper.expire()).isEqualTo(1);
        assertThat(access(id)).isFalse();
    }

    /** The sweep runs between a request for the artifact and its response. */
    @Test
    void aSweepPassesOverWhatIsBeingAskedFor() throws IOException {
        UUID id = record(run(true), "a", stored("abc"), null);
        sweeper.expire();
        now = ENDED.plus(MONTH).minusSeconds(1);
        database.runInTransaction(c -> {
            assertThat(life.access(c, id, Duration.ofHours(1))).isTrue();
            now = now.plusSeconds(2);
            assertThat(sweeper.expire()).isZero();
        });
        assertThat(sweeper.expire()).isZero();
        assertThat(text("deleted_at", id)).isNull();
    }

    @Test
    void deletedArtifactUsesNoQuota() throws IOException {
        UUID run = run(false);
        UUID id = record(run, "a", stored("abc"), null);
        assertThat(bytes()).isEqualTo(3);
        assertThat(delete(UUID.randomUUID(), run, id)).isFalse();
        assertThat(delete(workspace, run, id)).isTrue();
        String first = text("deleted_at", id);
        now = now.plusSeconds(9);
        assertThat(delete(workspace, run, id)).isTrue();
        assertThat(text("deleted_at", id)).isEqualTo(first);
        assertThat(bytes()).isZero();
        assertThat(access(id)).isFalse();
    }

    private boolean delete(UUID in, UUID run, UUID id) {
        return database.inTransaction(c -> life.delete(c, in, run, id));
    }

    private boolean access(UUID id) {
        return database.inTransaction(c -> life.access(c, id, Duration.ofHours(1)));
    }

    private long bytes() {
        return database.withConnection(c -> new RunReader().storedBytes(c, workspace));
    }

    private StoredArtifact stored(String text) throws IOException {
        return store.put(new ArtifactOwner(workspace, UUID.randomUUID(), UUID.randomUUID(), 1, 1), "a", "text/plain",
                new ByteArrayInputStream(text.getBytes()));
    }

    private UUID run(boolean ended) {
        UUID id = UUID.randomUUID();
        sql("insert into orchestration_runs (id, workspace_id, title, goal, created_by, state, state_type, completed_at)"
                + " values ('" + id + "', '" + workspace + "', 't', 'g', 'tester', "
                + (ended ? "'completed', 'terminal', '" + ENDED + "')" : "'running', 'running', null)"));
        return id;
    }

    private UUID record(UUID run, String name, StoredArtifact content, @Nullable Long retention) {
        UUID id = UUID.randomUUID();
        sql("insert into artifacts (id, run_id, workspace_id, attempt, step_id, name, content_type, size_bytes, sha256,"
                + " storage_key, retention_seconds, created_at) values ('" + id + "', '" + run + "', '" + workspace
                + "', 1, gen_random_uuid(), '" + name + "', 'text/plain', " + content.sizeBytes() + ", '"
                + content.sha256() + "', '" + content.storageKey() + "', " + retention + ", '" + ENDED + "')");
        return id;
    }

    private boolean mayBeNamed(UUID upload) {
        Uploads uploads = new Uploads(() -> now());
        return database.withConnection(c -> uploads.find(c, workspace, List.of(upload)).containsKey(upload));
    }

    private UUID upload(StoredArtifact content) {
        UUID id = UUID.randomUUID();
        sql("delete from artifact_uploads");
        sql("insert into artifact_uploads (id, workspace_id, step_id, lease_epoch, name, content_type, size_bytes, sha256,"
                + " storage_key, created_at) values ('" + id + "', '" + workspace
                + "', gen_random_uuid(), 1, 'a', 'text/plain', 1, '" + content.sha256() + "', '" + content.storageKey()
                + "', '" + now + "')");
        return id;
    }

    private @Nullable String text(String column, UUID id) {
        return database.withConnection((Connection c) -> {
            try (Statement statement = c.createStatement();
                    ResultSet row = statement
                            .executeQuery("select " + column + " from artifacts where id = '" + id + "'")) {
                row.next();
                return row.getString(1);
            }
        });
    }

    private void sql(String sql) {
        database.runInTransaction(c -> {
            try (Statement statement = c.createStatement()) {
                statement.execute(sql);
            }
        });
    }
}
