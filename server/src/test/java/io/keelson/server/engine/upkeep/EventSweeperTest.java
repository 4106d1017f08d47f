package io.keelson.server.engine.upkeep;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keelson.server.base.artifact.ArtifactOwner;
import io.keelson.server.base.artifact.ArtifactStore;
import io.keelson.server.base.artifact.LocalArtifactStore;
import io.keelson.server.base.artifact.StoredArtifact;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.SqlFailure;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.engine.store.read.FeedReader;
import io.keelson.server.engine.store.read.RunReader;
import io.keelson.server.engine.store.retention.ArtifactRetention;
import io.keelson.server.engine.store.retention.EventRetention;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.ResultSet;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Events move to the archive and then to files; after a crash at any point, each is in one place. */
class EventSweeperTest {

    private static final Instant ENDED = Instant.parse("2026-01-01T00:00:00Z");
    private static final EventSweeper.Ages AGES = new EventSweeper.Ages(Duration.ofDays(30), Duration.ofDays(180));
    private static final int EVENTS = 2_500;

    /** A process that ends just after a file is stored. */
    private static final class Died extends Error {
        private static final long serialVersionUID = 1L;
    }

    private record DyingStore(ArtifactStore real) implements ArtifactStore {
        @Override
        public StoredArtifact put(ArtifactOwner owner, String name, String contentType, InputStream content)
                throws IOException {
            real.put(owner, name, contentType, content);
            throw new Died();
        }

        @Override
        public InputStream open(String storageKey) throws IOException {
            return real.open(storageKey);
        }

        @Override
        public boolean delete(String storageKey) throws IOException {
            return real.delete(storageKey);
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
    private Instant now = ENDED;
    private final EventRetention life = new EventRetention(() -> now);
    private LocalArtifactStore store;
    private EventSweeper sweeper;
    private UUID old;
    private UUID open;

    @BeforeEach
    void fill() throws IOException {
        store = new LocalArtifactStore(folder);
        sweeper = sweeper(store);
        sql("insert into workspaces (id, name) values ('" + workspace + "', 'w')");
        old = run("'completed', 'terminal', '" + ENDED + "'");
        open = run("'running', 'running', null");
    }

    @AfterEach
    void close() {
        database.close();
    }

    private EventSweeper sweeper(ArtifactStore of) {
        return new EventSweeper(database, life, of, AGES, UUID::randomUUID);
    }

    private UUID run(String state) {
        UUID run = UUID.randomUUID();
        sql("""
                insert into orchestration_runs (id, workspace_id, title, goal, created_by, state, state_type, completed_at)
                values ('%s', '%s', 't', 'g', 'me', %s)""".formatted(run, workspace, state));
        events(run, 1, EVENTS);
        return run;
    }

    private void events(UUID run, int first, int last) {
        sql("""
                insert into run_event_packs (run_id, first_seq, created_at, body)
                select '%s', n, '%s', (select json_agg(json_build_object('e', 'something', 'p', json_build_object('n', m)))
                       from generate_series(n, n + 9) m)
                  from generate_series(%d, %d, 10) n"""
                .formatted(run, ENDED, first, last));
    }

    private void sql(String statement) {
        database.runInTransaction(c -> {
            try (var s = c.createStatement()) {
                s.execute(statement);
            }
        });
    }

    private long count(String table, UUID run) {
        return database.withConnection(c -> {
            try (var s = c.createStatement();
                    ResultSet row = s.executeQuery("select count(*) from " + table + " where run_id = '" + run + "'")) {
                row.next();
                return row.getLong(1);
            }
        });
    }

    private List<Long> read(UUID run) {
        return database.withConnection(c -> new RunReader().events(c, workspace, run, 0, 10_000).items()).stream()
                .map(event -> event.get("seq").longValue()).toList();
    }

    private static List<Long> numbers(int first, int last) {
        return LongStream.rangeClosed(first, last).boxed().toList();
    }

    private List<Long> exported(UUID run) throws IOException {
        List<Long> found = new ArrayList<>();
        for (EventRetention.Export each : database.withConnection(c -> EventRetention.exports(c, workspace, run))) {
            try (InputStream in = store.open(each.file().storageKey())) {
                new String(in.readAllBytes(), StandardCharsets.UTF_8).lines()
                        .forEach(line -> found.add(JsonMapper.shared().readTree(line).get("seq").longValue()));
            }
        }
        return found;
    }

    @Test
    void eventsMoveWhenTheirTimeHasCome() throws IOException {
        now = ENDED.plus(AGES.hot()).minusSeconds(1);
        assertThat(sweeper.archive()).isZero();
        now = ENDED.plus(AGES.hot());
        assertThat(sweeper.archive()).isEqualTo(EVENTS);
        assertThat(sweeper.archive()).isZero();
        assertThat(count("orchestration_events", old)).isZero();
        assertThat(count("orchestration_events", open)).isEqualTo(EVENTS);
        assertThat(read(old)).isEqualTo(numbers(1, EVENTS));
        assertThat(sweeper.export()).isZero();

        now = ENDED.plus(AGES.archive());
        assertThat(sweeper.export()).isEqualTo(1);
        assertThat(sweeper.export()).isZero();
        assertThat(count("orchestration_events_archive", old)).isZero();
        assertThat(read(old)).isEmpty();
        assertThat(exported(old)).isEqualTo(numbers(1, EVENTS));
        assertThat(count("orchestration_events", open)).isEqualTo(EVENTS);
    }

    /** The process ends between two portions: the next one continues. */
    @Test
    void crashWhileEventsAreArchived() {
        now = ENDED.plus(AGES.hot());
        database.runInTransaction(c -> life.archive(c, old, 700));
        assertThat(read(old)).isEqualTo(numbers(1, EVENTS));

        assertThat(sweeper(store).archive()).isEqualTo(EVENTS - 700);
        assertThat(read(old)).isEqualTo(numbers(1, EVENTS));
    }

    /** The process ends after storing the file, before recording it: the events stay, and the file is an orphan. */
    @Test
    void aCrashBetweenFileAndNote() throws IOException {
        now = ENDED.plus(AGES.archive());
        sweeper.archive();
        assertThatThrownBy(() -> sweeper(new DyingStore(store)).export()).isInstanceOf(Died.class);
        assertThat(read(old)).isEqualTo(numbers(1, EVENTS));

        assertThat(sweeper.export()).isEqualTo(1);
        assertThat(exported(old)).isEqualTo(numbers(1, EVENTS));
        List<String> keys = new ArrayList<>();
        store.storedBefore(Instant.parse("9999-01-01T00:00:00Z"), keys::addAll);
        assertThat(keys).hasSize(2);
        List<String> unknown = database.withConnection(c -> new ArtifactRetention(() -> now).unknown(c, keys));
        assertThat(unknown).hasSize(1)
                .doesNotContain(
                        database.withConnection(c -> EventRetention.exports(c, workspace, old)).getFirst().file()
                                .storageKey());
    }

    /** A run that is retried meanwhile keeps what it has from then on. */
    @Test
    void aRunThatIsOpenedAgain() throws IOException {
        now = ENDED.plus(AGES.archive());
        database.runInTransaction(c -> life.archive(c, old, 700));
        sql("update orchestration_runs set state = 'running', state_type = 'running', completed_at = null where id = '"
                + old + "'");
        events(old, EVENTS + 1, EVENTS + 10);

        assertThat(sweeper.archive()).isZero();
        assertThat(sweeper.export()).isZero();
        assertThat(read(old)).isEqualTo(numbers(1, EVENTS + 10));
    }

    @Test
    void theFeedHasThemFromTheArchiveToo() {
        now = ENDED.plus(AGES.hot());
        sweeper.archive();

        List<ObjectNode> all = database.withConnection(c -> FeedReader.events(c, workspace, 0, 1_000L * EVENTS));
        assertThat(all).hasSize(2 * EVENTS);
    }

    /** No other statement may delete or change an event. */
    @Test
    void theTablesStayAppendOnly() {
        now = ENDED.plus(AGES.hot());
        sweeper.archive();
        for (String statement : List.of("delete from run_event_packs", "delete from run_event_packs_archive",
                "update run_event_packs_archive set body = body", "truncate run_event_packs_archive",
                "delete from orchestration_runs")) {
            assertThatThrownBy(() -> sql(statement)).isInstanceOf(SqlFailure.class).hasMessageContaining("append-only");
        }
        for (String view : List.of("orchestration_events", "orchestration_events_archive")) {
            assertThatThrownBy(() -> sql("delete from " + view)).isInstanceOf(SqlFailure.class);
        }
    }
}
