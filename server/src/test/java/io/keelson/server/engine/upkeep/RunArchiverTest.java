package io.keelson.server.engine.upkeep;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keelson.core.Breadth;
import io.keelson.server.base.artifact.ArtifactStore;
import io.keelson.server.base.artifact.LocalArtifactStore;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.SqlFailure;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.engine.store.archive.ArchiveContentReader;
import io.keelson.server.engine.store.archive.RunArchive;
import io.keelson.server.engine.store.retention.ArtifactRetention;
import io.keelson.server.engine.upkeep.RunArchiver.Ages;
import io.keelson.server.engine.upkeep.RunArchiver.Point;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A run is in the tables or in the archive, whole and once, at any end of the process, and comes back as it was. */
@Breadth.Spread
class RunArchiverTest {

    private static final Instant ENDED = Instant.parse("2026-01-01T00:00:00Z");
    private static final Ages AGES = new Ages(Duration.ofDays(90), Duration.ofDays(400));

    /** The process ends. */
    private static final class Died extends Error {
        private static final long serialVersionUID = 1L;
    }

    @TempDir
    private Path folder;
    private final Database database = TestDatabase.create();
    private final UUID workspace = UUID.randomUUID();
    private Instant now = ENDED.plus(Duration.ofDays(90));
    private final RunArchive archive = new RunArchive(() -> now);
    private LocalArtifactStore store;

    @BeforeEach
    void fill() throws IOException {
        store = new LocalArtifactStore(folder);
        sql("insert into workspaces (id, name) values ('" + workspace + "', 'w')");
    }

    @AfterEach
    void close() {
        database.close();
    }

    private RunArchiver archiver(RunArchiver.Observer observer) {
        return new RunArchiver(database, archive, store, AGES, UUID::randomUUID, observer);
    }

    private int sweep() {
        return archiver(RunArchiver.Observer.NONE).archive();
    }

    private void sql(String statement) {
        database.runInTransaction(c -> {
            try (var s = c.createStatement()) {
                s.execute(statement);
            }
        });
    }

    private long count(String rows) {
        return database.withConnection(c -> {
            try (var s = c.createStatement(); var row = s.executeQuery("select count(*) from " + rows)) {
                row.next();
                return row.getLong(1);
            }
        });
    }

    /** A run with a row in each table of runs, as far as a type has awkward values. */
    private UUID run(String externalId) {
        UUID run = UUID.randomUUID();
        UUID task = UUID.randomUUID();
        UUID step = UUID.randomUUID();
        sql("""
                insert into orchestration_runs (id, workspace_id, title, goal, created_by, state, state_type, completed_at,
                        created_at, plan, output, external_id, total_cost, tags)
                    values ('%1$s', '%2$s', 'näme', E'a\\tb\\n"\\\\', 'me', 'completed', 'terminal', '%5$s', '%5$s',
                        '{"b": 1.50, "a": null}', 'null', %6$s, 0.100000000000, '["x"]');
                insert into run_heads (run_id, version_id, last_seq, steps_completed, total_tokens, total_cost, updated_at)
                    values ('%1$s', 3, 20, 1, 7, 0.1, '%5$s');
                insert into run_attempts (run_id, attempt_number, state, started_at) values ('%1$s', 1, 'completed', '%5$s');
                insert into orchestration_tasks (id, run_id, workspace_id, task_type, title, state, state_type, completed_at,
                        key, sequence_number)
                    values ('%3$s', '%1$s', '%2$s', 'other', 't', 'completed', 'terminal', '%5$s', 'a', 1);
                insert into task_steps (id, run_id, task_id, workspace_id, attempt_of_run, name, kind, tool, position, input,
                        retry, timeout_ms, state, state_type, created_at, completed_at, output)
                    values ('%4$s', '%1$s', '%3$s', '%2$s', 1, 's', 'tool', 'echo', 1, '{}', '{}', 1, 'failed', 'terminal', '%5$s',
                        '%5$s', '"\\u2028"');
                insert into step_results (step_id, epoch, run_id, outcome, tokens, cost, recorded_at)
                    values ('%4$s', 1, '%1$s', 'failed', 0, 0.000000000001, '%5$s');
                insert into step_logs (step_id, lease_epoch, line, attempt, message, at)
                    values ('%4$s', 1, 1, 1, E'l\\u000bog', '%5$s');
                insert into step_progress (step_id, lease_epoch, progress, updated_at) values ('%4$s', 1, 0.1::float8 / 3, '%5$s');
                insert into gateway_tokens (token_sha256, workspace_id, run_id, task_id, step_id, lease_epoch, allowed)
                    values (decode('00ff5c' || replace('%1$s', '-', ''), 'hex'), '%2$s', '%1$s', '%3$s', '%4$s', 1, '[]');
                insert into artifacts (id, run_id, workspace_id, attempt, step_id, name, content_type, size_bytes, sha256,
                        storage_key, created_at, expires_at)
                    values (gen_random_uuid(), '%1$s', '%2$s', 1, '%4$s', 'a.txt', 'text/plain', 5, repeat('a', 64), 'key-%1$s',
                        '%5$s', '%5$s'::timestamptz + interval '200 days');
                insert into run_event_packs (run_id, first_seq, created_at, body)
                    values ('%1$s', 1, '%5$s', '[{"p": {"n": 1.0,  "a":2}, "e": "something"}]'), ('%1$s', 2, '%5$s', '[{"e": "more", "p": {}}]');
                """.formatted(run, workspace, task, step, ENDED, externalId == null ? "null" : "'" + externalId + "'"));
        return run;
    }

    private Map<String, List<String>> rows() {
        Map<String, List<String>> rows = new TreeMap<>();
        for (String table : List.of("orchestration_runs", "run_heads", "run_attempts", "orchestration_tasks",
                "task_steps",
                "step_results", "step_logs", "step_progress", "gateway_tokens", "artifacts", "run_event_packs",
                "run_event_packs_archive")) {
            rows.put(table, database.withConnection(c -> {
                try (var s = c.createStatement();
                        var row = s.executeQuery("select t::text from " + table + " t order by 1")) {
                    List<String> found = new ArrayList<>();
                    while (row.next()) {
                        found.add(row.getString(1));
                    }
                    return found;
                }
            }));
        }
        return rows;
    }

    private void restore(UUID run) {
        database.runInTransaction(c -> {
            RunArchive.Place place = RunArchive.find(c, workspace, run).orElseThrow();
            try {
                assertThat(archive.restore(c, place, new ArchiveContentReader(store).read(place), "me")).isTrue();
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
    }

    private List<String> orphans() throws IOException {
        List<String> keys = new ArrayList<>();
        store.storedBefore(Instant.parse("9999-01-01T00:00:00Z"), keys::addAll);
        return database.withConnection(c -> new ArtifactRetention(() -> now).unknown(c, keys));
    }

    @Test
    void restoredRunsEqualTheArchivedOnes() throws IOException {
        now = now.minusMillis(1);
        List<UUID> runs = List.of(run(null), run("mine"), run(null));
        assertThat(sweep()).isZero();
        Map<String, List<String>> before = rows();
        assertThat(before.get("orchestration_runs")).hasSize(3);

        now = now.plusMillis(1);
        assertThat(sweep()).isEqualTo(3);
        assertThat(sweep()).isZero();
        assertThat(rows().values()).allMatch(List::isEmpty);
        assertThat(count("archive_objects")).as("packed together").isEqualTo(1);
        assertThat(count("archived_files")).isEqualTo(3);
        assertThat(orphans()).isEmpty();

        runs.forEach(this::restore);
        assertThat(rows()).isEqualTo(before);
        assertThat(count("archive_objects")).isZero();
        assertThat(count("archived_files")).isZero();
        assertThat(orphans()).hasSize(1);
        assertThat(sweep()).as("restored ones stay").isZero();
        now = now.plus(Duration.ofDays(91));
        database.runInTransaction(c -> {
            try (var s = c.createStatement()) {
                s.execute("update restored_runs set restored_at = '" + ENDED + "'");
            }
        });
        assertThat(sweep()).isEqualTo(3);
    }

    @ParameterizedTest
    @EnumSource
    void aProcessThatEndsLosesAndDoublesNothing(Point point) throws IOException {
        run("mine");
        run(null);
        Map<String, List<String>> before = rows();
        RunArchiver.Observer dying = new RunArchiver.Observer() {
            @Override
            public void at(Point reached) {
                if (reached == point) {
                    throw new Died();
                }
            }
        };
        assertThatThrownBy(() -> archiver(dying).archive()).isInstanceOf(Died.class);
        boolean committed = point == Point.COMMITTED;
        assertThat(rows().values().stream().allMatch(List::isEmpty)).isEqualTo(committed);
        if (!committed) {
            assertThat(rows()).isEqualTo(before);
        }
        assertThat(count("archived_runs")).isEqualTo(committed ? 2 : 0);
        assertThat(sweep()).isEqualTo(committed ? 0 : 2);
        assertThat(count("archived_runs")).isEqualTo(2);
        assertThat(orphans()).as("of the first try").hasSize(committed || point == Point.READ ? 0 : 1);
        database.withConnection(c -> RunArchive.page(c, workspace, null, 10)).forEach(each -> restore(each.runId()));
        assertThat(rows()).isEqualTo(before);
    }

    /** Another server archives the same runs between two steps. */
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = {"REPLACED", "COMMITTED"})
    void twoServersMoveARunOnce(Point point) throws IOException {
        run("mine");
        int[] others = {0};
        RunArchiver.Observer other = new RunArchiver.Observer() {
            @Override
            public void at(Point reached) {
                if (reached == point) {
                    others[0] += sweep();
                }
            }
        };
        assertThat(archiver(other).archive()).isZero();
        assertThat(others[0]).isEqualTo(1);
        assertThat(count("archived_runs")).isEqualTo(1);
        assertThat(count("archive_objects")).isEqualTo(1);
        assertThat(orphans()).isEmpty();
    }

    /** A row that changes after it was read: the run stays, and moves with the next sweep. */
    @ParameterizedTest
    @ValueSource(strings = {"update artifacts set deleted_at = now()", "update run_heads set version_id = 9",
            "insert into step_logs select step_id, 9, 9, 9, 'late', at from step_logs",
            "update orchestration_runs set state = 'running', state_type = 'running', completed_at = null"})
    void aRunThatChangesStays(String change) throws IOException {
        run(null);
        RunArchiver.Observer changing = new RunArchiver.Observer() {
            @Override
            public void at(Point reached) {
                if (reached == Point.STORED) {
                    sql(change);
                }
            }
        };
        assertThat(archiver(changing).archive()).isZero();
        assertThat(count("orchestration_runs")).isEqualTo(1);
        assertThat(orphans()).isEmpty();
        assertThat(sweep()).isEqualTo(change.contains("'running'") ? 0 : 1);
    }

    @ParameterizedTest
    @ValueSource(strings = {
            "insert into timers (kind, subject, run_id, due_at) values ('x', gen_random_uuid(), '%1$s', now())",
            "insert into work_queue (task_id, lane, run_id, workspace_id, tool, priority, queued_at) values (gen_random_uuid(), 0, '%1$s', '%2$s', 't', 1, now())",
            "insert into proposals (id, workspace_id, run_id, attempt, task_id, step_id, title, created_at) values (gen_random_uuid(), '%2$s', '%1$s', 1, gen_random_uuid(), gen_random_uuid(), 't', now())",
            "insert into escalation_tickets (id, workspace_id, run_id, attempt, kind, severity, reason, message, opened_at) values (gen_random_uuid(), '%2$s', '%1$s', 1, 'failure', 'high', 'r', 'm', now())",
            "insert into orchestration_runs (id, workspace_id, title, goal, created_by, forked_from) values (gen_random_uuid(), '%2$s', 't', 'g', 'me', '%1$s')",
            "with o as (insert into orchestration_runs (id, workspace_id, title, goal, created_by) values (gen_random_uuid(), '%2$s', 't', 'g', 'me') returning id) insert into run_parents select '%1$s', '%2$s', id, gen_random_uuid(), 1, false, null, 0, false from o",
            "with o as (insert into orchestration_runs (id, workspace_id, title, goal, created_by) values (gen_random_uuid(), '%2$s', 't', 'g', 'me') returning id) insert into run_children select gen_random_uuid(), '%2$s', '%1$s', id, 'k', null, 0, 0, false from o",
            "insert into webhook_endpoints (id, workspace_id, url, events, key_id, sealed, from_id) values (gen_random_uuid(), '%2$s', 'https://x', '{run_completed}', 'k', '\\x00', 0); update webhook_feed set last_id = 0"})
    void aRunThatSomethingHoldsStays(String holding) {
        UUID run = run(null);
        sql(holding.formatted(run, workspace));
        assertThat(sweep()).isZero();
        assertThat(count("orchestration_runs where id = '" + run + "'")).isEqualTo(1);
    }

    /** The unique index of the tables cannot have the ids of archived runs. */
    @Test
    void externalIdStaysTaken() {
        UUID run = run("mine");
        assertThat(sweep()).isEqualTo(1);
        assertThatThrownBy(() -> run("mine")).isInstanceOfSatisfying(SqlFailure.class,
                refused -> assertThat(refused.sqlState()).isEqualTo("23505"));
        run("other");
        sql("update archived_runs set external_id = null"); // by a run that takes it over
        run("mine");
        restore(run);
        assertThat(count("orchestration_runs where external_id = 'mine'")).isEqualTo(1);
    }

    @Test
    void archivedRunsAreDeletedAfterTheirTime() throws IOException {
        run(null);
        assertThat(sweep()).isEqualTo(1);
        RunArchiver archiver = archiver(RunArchiver.Observer.NONE);
        assertThat(archiver.delete()).isZero();
        assertThat(count("archived_files")).isEqualTo(1);
        now = ENDED.plus(Duration.ofDays(200)).plus(Duration.ofHours(2));
        archiver.delete();
        assertThat(count("archived_files")).as("its artifact has expired").isZero();
        now = ENDED.plus(Duration.ofDays(400));
        assertThat(archiver.delete()).isEqualTo(1);
        assertThat(count("archived_runs")).isZero();
        assertThat(orphans()).hasSize(1);
        assertThat(count("archive_deletions where ended_before = '" + ENDED + "'")).isEqualTo(1);
    }
}
