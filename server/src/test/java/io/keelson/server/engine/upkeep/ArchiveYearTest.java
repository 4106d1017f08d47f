package io.keelson.server.engine.upkeep;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.base.artifact.LocalArtifactStore;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseOptions;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.engine.store.archive.ArchiveContentReader;
import io.keelson.server.engine.store.archive.RunArchive;
import io.keelson.server.engine.upkeep.RunArchiver.Ages;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Weeks of a simulated year at a constant load, of which the archive keeps four in the tables. Rows have the times of the simulation, so
 * that nothing is aged by updates; `vacuum` executes once a week, as autovacuum would.
 */
@Timeout(value = 30, unit = TimeUnit.MINUTES)
@Breadth.InPart(3)
class ArchiveYearTest {

    private static final int WEEKS = Breadth.of(14, 52);
    private static final int RUNS_OF_A_WEEK = Breadth.of(40, 300);
    private static final int FILLED = 8;
    private static final Instant BEGIN = Instant.parse("2026-01-01T00:00:00Z");
    private static final Duration WEEK = Duration.ofDays(7);
    private static final String TABLES =
            "{orchestration_runs,run_heads,run_attempts,orchestration_tasks,task_steps,run_event_packs}";

    private Instant now = BEGIN;

    /** Runs with three tasks of two steps, and six packs of events. */
    private static final String RUNS = """
            with runs as (
                insert into orchestration_runs (id, workspace_id, title, goal, created_by, state, state_type, created_at, completed_at, plan)
                select gen_random_uuid(), '%1$s', 'nightly', 'g', 'me', 'completed', 'terminal', '%2$s', '%2$s',
                    jsonb_build_object('tasks', repeat(md5(n::text), 40))
                  from generate_series(1, %3$d) n returning id),
            heads as (
                insert into run_heads (run_id, version_id, last_seq, steps_completed, total_tokens, total_cost, updated_at)
                select id, 9, 18, 6, 100, 0.5, '%2$s' from runs),
            tries as (
                insert into run_attempts (run_id, attempt_number, state, started_at) select id, 1, 'completed', '%2$s' from runs),
            tasks as (
                insert into orchestration_tasks (id, run_id, workspace_id, task_type, title, state, state_type, completed_at, key,
                    sequence_number)
                select gen_random_uuid(), id, '%1$s', 'other', 't', 'completed', 'terminal', '%2$s', 'k' || n, n
                  from runs cross join generate_series(1, 3) n returning id, run_id),
            steps as (
                insert into task_steps (id, run_id, task_id, workspace_id, attempt_of_run, name, kind, tool, position, input, retry,
                    timeout_ms, state, state_type, created_at, completed_at, output)
                select gen_random_uuid(), run_id, id, '%1$s', 1, 's', 'tool', 'echo', n, '{}', '{}', 1, 'failed', 'terminal', '%2$s',
                    '%2$s', to_jsonb(repeat(md5(id::text), 20))
                  from tasks cross join generate_series(1, 2) n)
            insert into run_event_packs (run_id, first_seq, created_at, body)
            select id, n * 3 - 2, '%2$s', '[{"e":"a","p":{"from":"running","to":"completed"}},{"e":"b","p":{}},{"e":"c","p":{}}]'
              from runs cross join generate_series(1, 6) n""";

    @Test
    void theTablesStayInSize(@TempDir Path folder) throws Exception {
        DatabaseUrl url = TestDatabase.createUrl();
        LocalArtifactStore store = new LocalArtifactStore(folder);
        RunArchive archive = new RunArchive(() -> now);
        UUID workspace = UUID.randomUUID();
        try (Database database = new Database(url, DatabaseOptions.DEFAULTS.withPoolSize(2))) {
            database.runInTransaction(
                    c -> execute(c, "insert into workspaces (id, name) values ('" + workspace + "', 'w')"));
            RunArchiver archiver =
                    new RunArchiver(database, archive, store, new Ages(Duration.ofDays(28), null), UUID::randomUUID,
                            RunArchiver.Observer.NONE);
            long filled = 0;
            int archived = 0;
            long begun = System.nanoTime();
            for (int week = 1; week <= WEEKS; week++) {
                now = BEGIN.plus(WEEK.multipliedBy(week));
                String insert = RUNS.formatted(workspace, now, RUNS_OF_A_WEEK);
                database.runInTransaction(c -> execute(c, insert));
                archived += archiver.archive();
                database.withConnection(c -> {
                    execute(c, "vacuum analyze " + TABLES.replaceAll("[{}]", "") + ", archived_runs, archive_objects");
                    return true;
                });
                if (week == FILLED) {
                    filled = size(database);
                }
            }
            long last = size(database);
            long index = database.withConnection(c -> number(c, "select pg_total_relation_size('archived_runs')"));
            long objects = database.withConnection(c -> number(c, "select sum(size_bytes) from archive_objects"));
            System.out.printf(
                    "%d weeks of %d runs: tables %d bytes in week %d, %d at the end; %d archived with %d bytes of index "
                            + "and %d bytes of objects each; %d s%n",
                    WEEKS, RUNS_OF_A_WEEK, filled, FILLED, last, archived,
                    index / archived, objects / archived, (System.nanoTime() - begun) / 1_000_000_000);
            assertThat(archived).isEqualTo(RUNS_OF_A_WEEK * (WEEKS - 4));
            assertThat((double) last / filled).as("growth").isLessThan(1.1);

            List<RunArchive.Place> places = database.withConnection(c -> RunArchive.page(c, workspace, null, 20));
            for (RunArchive.Place each : places) {
                byte[] content = new ArchiveContentReader(store).read(each);
                assertThat(RunArchive.verify(each, content)).isEqualTo(1 + 1 + 1 + 3 + 6 + 6);
            }
        }
    }

    private static long size(Database database) {
        return database.withConnection(
                c -> number(c,
                        "select sum(pg_total_relation_size(t::regclass)) from unnest('" + TABLES + "'::text[]) t"));
    }

    private static void execute(Connection c, String sql) throws SQLException {
        try (var statement = c.createStatement()) {
            statement.execute(sql);
        }
    }

    private static long number(Connection c, String sql) throws SQLException {
        try (var statement = c.createStatement(); var row = statement.executeQuery(sql)) {
            row.next();
            return row.getLong(1);
        }
    }
}
