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
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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
    /** Weeks in the tables. */
    private static final int KEPT = 4;
    private static final int FILLED = 8;
    private static final int ROWS = 1 + 1 + 1 + 3 + 6 + 6;
    private static final Instant BEGIN = Instant.parse("2026-01-01T00:00:00Z");
    private static final Duration WEEK = Duration.ofDays(7);
    private static final String TABLES =
            "{orchestration_runs,run_heads,run_attempts,orchestration_tasks,task_steps,run_event_packs}";

    /** Ordered by time, as servers make them. Pages of indexes by such ids become free as a whole. */
    private static final String ID = """
            (lpad(to_hex((extract(epoch from timestamptz '%2$s') * 1000)::bigint), 12, '0') || '7' || substr(md5(random()::text), 1, 3)
                || '8' || substr(md5(random()::text), 1, 15))::uuid""";

    /** Runs with three tasks of two steps, and six packs of events. */
    private static final String RUNS = """
            with runs as (
                insert into orchestration_runs (id, workspace_id, title, goal, created_by, state, state_type, created_at, completed_at, plan)
                select %4$s, '%1$s', 'nightly', 'g', 'me', 'completed', 'terminal', '%2$s', '%2$s',
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
                select %4$s, id, '%1$s', 'other', 't', 'completed', 'terminal', '%2$s', 'k' || n, n
                  from runs cross join generate_series(1, 3) n returning id, run_id),
            steps as (
                insert into task_steps (id, run_id, task_id, workspace_id, attempt_of_run, name, kind, tool, position, input, retry,
                    timeout_ms, state, state_type, created_at, completed_at, output)
                select %4$s, run_id, id, '%1$s', 1, 's', 'tool', 'echo', n, '{}', '{}', 1, 'failed', 'terminal', '%2$s',
                    '%2$s', to_jsonb(repeat(md5(id::text), 20))
                  from tasks cross join generate_series(1, 2) n)
            insert into run_event_packs (run_id, first_seq, created_at, body)
            select id, n * 3 - 2, '%2$s', '[{"e":"a","p":{"from":"running","to":"completed"}},{"e":"b","p":{}},{"e":"c","p":{}}]'
              from runs cross join generate_series(1, 6) n""";

    private Instant now = BEGIN;

    /**
     * The end of a week.
     *
     * @param pages that the pass of the archive has read, from memory or not
     * @param millis that it took, besides the other work of the machine
     */
    private record Figures(int week, long tables, long indexes, long archived, long pages, long millis) {}

    @Test
    void theTablesStayInSize(@TempDir Path folder) throws Exception {
        DatabaseUrl url = TestDatabase.createUrl();
        LocalArtifactStore store = new LocalArtifactStore(folder);
        RunArchive archive = new RunArchive(() -> now);
        UUID workspace = UUID.randomUUID();
        try (Database database = new Database(url, DatabaseOptions.DEFAULTS.withPoolSize(1))) {
            database.runInTransaction(
                    c -> execute(c, "insert into workspaces (id, name) values ('" + workspace + "', 'w')"));
            RunArchiver archiver =
                    new RunArchiver(database, archive, store, new Ages(Duration.ofDays(28), null), UUID::randomUUID,
                            RunArchiver.Observer.NONE);
            List<Figures> weeks = new ArrayList<>();
            Map<UUID, List<String>> samples = new LinkedHashMap<>();
            for (int week = 1; week <= WEEKS; week++) {
                now = BEGIN.plus(WEEK.multipliedBy(week));
                String insert = RUNS.formatted(workspace, now, RUNS_OF_A_WEEK, ID.replace("%2$s", now.toString()));
                database.runInTransaction(c -> execute(c, insert));
                UUID sample = database.withConnection(c -> UUID.fromString(texts(c,
                        "select id::text from orchestration_runs order by created_at desc, id limit 1").getFirst()));
                samples.put(sample, rows(database, sample));
                long pages = pages(database);
                long begun = System.nanoTime();
                int moved = archiver.archive();
                long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun);
                long read = pages(database) - pages;
                assertThat(moved).as("week %s", week).isEqualTo(week > KEPT ? RUNS_OF_A_WEEK : 0);
                database.withConnection(c -> {
                    execute(c, "vacuum analyze " + TABLES.replaceAll("[{}]", "") + ", archived_runs, archive_objects");
                    return true;
                });
                weeks.add(new Figures(week, size(database, "pg_table_size"), size(database, "pg_indexes_size"),
                        database.withConnection(c -> number(c, "select pg_total_relation_size('archived_runs')")),
                        read, millis));
            }
            long archived = (long) RUNS_OF_A_WEEK * (WEEKS - KEPT);
            long objects = database.withConnection(c -> number(c, "select sum(size_bytes) from archive_objects"));
            System.out.println(
                    "| week | tables, kB | indexes, kB | `archived_runs`, kB | pages of a pass | its time, ms |");
            weeks.stream().filter(each -> each.week % 4 == 0).forEach(each -> System.out.printf(
                    "| %d | %d | %d | %d | %d | %d |%n", each.week, each.tables >> 10, each.indexes >> 10,
                    each.archived >> 10, each.pages, each.millis));
            System.out.printf("%d runs archived, with %d bytes of archived_runs and %d bytes of objects each%n",
                    archived,
                    weeks.getLast().archived / archived, objects / archived);
            Figures filled = weeks.get(FILLED - 1);
            assertThat((double) weeks.getLast().tables / filled.tables).as("growth of tables").isLessThan(1.1);
            assertThat((double) weeks.getLast().indexes / filled.indexes).as("growth of indexes").isLessThan(1.1);
            assertThat((double) weeks.getLast().pages / filled.pages).as("growth of a pass").isLessThan(1.2);
            for (UUID run : samples.keySet()) {
                if (rows(database, run).isEmpty()) {
                    RunArchive.Place place =
                            database.withConnection(c -> RunArchive.find(c, workspace, run)).orElseThrow();
                    byte[] content = new ArchiveContentReader(store).read(place);
                    assertThat(RunArchive.verify(place, content)).isEqualTo(ROWS);
                    database.runInTransaction(c -> {
                        try {
                            assertThat(archive.restore(c, place, content, "me")).isTrue();
                        } catch (IOException e) {
                            throw new UncheckedIOException(e);
                        }
                    });
                }
                assertThat(rows(database, run)).as("rows of run %s", run).isEqualTo(samples.get(run)).hasSize(ROWS);
            }
        }
    }

    private static long pages(Database database) {
        database.withConnection(c -> texts(c, "select pg_stat_force_next_flush()"));
        return database.withConnection(c -> number(c,
                "select blks_hit + blks_read from pg_stat_database where datname = current_database()"));
    }

    private static long size(Database database, String function) {
        return database.withConnection(c -> number(c,
                "select sum(" + function + "(t::regclass)) from unnest('" + TABLES + "'::text[]) t"));
    }

    /** All rows of a run, as texts. */
    private static List<String> rows(Database database, UUID run) {
        return database.withConnection(c -> {
            List<String> rows = new ArrayList<>();
            for (String table : TABLES.replaceAll("[{}]", "").split(",")) {
                String column = table.equals("orchestration_runs") ? "id" : "run_id";
                rows.addAll(texts(c,
                        "select t::text from %s t where %s = '%s' order by 1".formatted(table, column, run)));
            }
            return rows;
        });
    }

    private static List<String> texts(Connection c, String sql) throws SQLException {
        try (var statement = c.createStatement(); var row = statement.executeQuery(sql)) {
            List<String> found = new ArrayList<>();
            while (row.next()) {
                found.add(row.getString(1));
            }
            return found;
        }
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
