package io.keelson.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.client.Keelson;
import io.keelson.client.KeelsonException;
import io.keelson.client.RunRequest;
import io.keelson.client.plan.Mission;
import io.keelson.core.Breadth;
import io.keelson.process.KilledNode.Point;
import io.keelson.server.Invariants;
import io.keelson.server.annex.s3.ObjectStoreProcess;
import io.keelson.server.base.db.CountingProxy.Write;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseOptions;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The archiver is killed at each step of a move, and the server at each step of a restore: each run is in the tables or in the archive,
 * whole and once, and comes back with all its rows as they were.
 */
@Timeout(value = 30, unit = TimeUnit.MINUTES)
@Breadth.InPart(0)
class ArchiveKillsTest {

    private static final Duration LONG = Duration.ofMinutes(1);
    private static final String AGE = "90";
    private static final Write RESTORED = new Write("delete from archived_runs where id", "");
    /** Points of a move in their order. At those with a table, the process waits for a lock of it within the last transaction. */
    private static final List<String> MOVES = Breadth.all()
            ? List.of("READ", "HALF", "STORED", "VERIFIED", "lock archived_runs", "lock task_steps", "REPLACED",
                    "COMMITTED")
            : List.of("lock task_steps", "COMMITTED");
    private static final List<String> RESTORES = Breadth.all()
            ? List.of("lock task_steps", "BEFORE_COMMIT", "AFTER_COMMIT", "BEFORE_REPLY")
            : List.of("BEFORE_COMMIT");
    private static final String WAITING = """
            select count(*) from pg_locks l join pg_database d on d.oid = l.database
             where d.datname = current_database() and not l.granted and l.relation = '%s'::regclass""";
    /** All tables but those of the archive, audit logs, and passing rows of uploads. */
    private static final String TABLES = """
            select relname from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace
               and relname not in ('archived_runs', 'archived_files', 'archive_objects', 'restored_runs', 'artifact_reservations')
               and relname not like '%audit%'
             order by 1""";

    @TempDir
    private Path folder;

    static Stream<String> places() {
        return Breadth.all() ? Stream.of("folder", "s3") : Stream.of("folder");
    }

    /** A database with ended runs and all that is needed to look at it. */
    private record World(Database database, Map<String, String> settings, Map<String, List<String>> runs) {

        private List<String> texts(String query) {
            return database.withConnection(c -> {
                try (var statement = c.createStatement(); var row = statement.executeQuery(query)) {
                    List<String> found = new ArrayList<>();
                    while (row.next()) {
                        found.add(row.getString(1));
                    }
                    return found;
                }
            });
        }

        private long count(String rows) {
            return Long.parseLong(texts("select count(*) from " + rows).getFirst());
        }

        /** All rows of all tables that name the run, its tasks or its steps. */
        private List<String> rows(String run) {
            List<String> ids = texts("""
                    select '%1$s' union select id::text from orchestration_tasks where run_id = '%1$s'
                    union select id::text from task_steps where run_id = '%1$s'""".formatted(run));
            List<String> rows = new ArrayList<>();
            for (String table : texts(TABLES)) {
                texts("select t::text from " + table + " t where t::text ~ '" + String.join("|", ids) + "' order by 1")
                        .forEach(row -> rows.add(table + " " + row));
            }
            return rows;
        }

        /** A run is in one of the two places. Returns the number of archived ones. */
        private int archived() {
            int archived = 0;
            for (Map.Entry<String, List<String>> run : runs.entrySet()) {
                boolean there = count("archived_runs where id = '" + run.getKey() + "'") == 1;
                assertThat(count("orchestration_runs where id = '" + run.getKey() + "'")).isEqualTo(there ? 0 : 1);
                if (!there) {
                    List<String> now = rows(run.getKey());
                    assertThat(now.stream().filter(row -> !run.getValue().contains(row))).as("new rows").isEmpty();
                    assertThat(run.getValue().stream().filter(row -> !now.contains(row))).as("lost rows").isEmpty();
                    assertThat(now).hasSameSizeAs(run.getValue());
                }
                archived += there ? 1 : 0;
            }
            return archived;
        }

        /** Restored runs may be archived again at once. */
        private void forgetRestores() {
            database.runInTransaction(c -> {
                try (Statement statement = c.createStatement()) {
                    statement.execute("delete from restored_runs");
                }
            });
        }

        /** A pass of another server, after which all runs are archived. */
        private void archiveAll() throws Exception {
            new ArchiverProcess(settings, "none").await("end");
            assertThat(archived()).isEqualTo(runs.size());
        }

        /** A lock that statements which change a table wait for. */
        private Connection lock(String table) throws SQLException {
            Connection holder = database.dedicatedConnection();
            holder.setAutoCommit(false);
            try (Statement statement = holder.createStatement()) {
                statement.execute("lock table " + table + " in share mode");
            }
            return holder;
        }

        private void awaitWaiting(String table) {
            Awaitility.await().atMost(LONG).pollInterval(Duration.ofMillis(20))
                    .until(() -> !texts(WAITING.formatted(table)).equals(List.of("0")));
        }
    }

    @ParameterizedTest
    @MethodSource("places")
    void killsLoseAndDoubleNoRun(String place) throws Exception {
        DatabaseUrl url = TestDatabase.createUrl();
        Map<String, String> settings = new HashMap<>(
                place.equals("s3") ? ObjectStoreProcess.shared().variables() : Map.of());
        Path data = folder.resolve("data");
        try (Database database = new Database(url, DatabaseOptions.DEFAULTS.withPoolSize(2));
                KilledNode node = new KilledNode(data, url, settings)) {
            node.awaitReady();
            settings.put("KEELSON_DATA_DIR", data.toString());
            settings.put("KEELSON_DATABASE_URL", TestDatabase.text(url));
            settings.put("KEELSON_ARCHIVE_AFTER", AGE);
            World world = new World(database, settings, new TreeMap<>());
            for (String name : List.of("one", "two")) {
                String run = node.client().runs().execute(RunRequest.of(mission(name).toJson()).start(), LONG).id();
                Awaitility.await().atMost(LONG).until(() -> world.count(
                        "agent_reports where run_id = '" + run + "'") >= 2);
                age(database, run);
                world.runs.put(run, world.rows(run));
                assertThat(world.runs.get(run)).hasSizeGreaterThan(20);
            }
            for (String point : MOVES) {
                killedMove(world, point);
                world.archiveAll();
                restoreAll(world, node.client());
            }
            for (String point : RESTORES) {
                world.archiveAll();
                killedRestore(world, node, point);
                restoreAll(world, node.client());
            }
            Invariants.hold(database);
        }
    }

    private static void killedMove(World world, String point) throws Exception {
        String table = point.startsWith("lock ") ? point.substring("lock ".length()) : null;
        if (table == null) {
            ArchiverProcess process = new ArchiverProcess(world.settings, point);
            process.await(point);
            process.kill();
        } else {
            try (Connection held = world.lock(table)) {
                ArchiverProcess process = new ArchiverProcess(world.settings, "none");
                world.awaitWaiting(table);
                process.kill();
                held.rollback();
            }
        }
        assertThat(world.archived()).as("after a kill at %s", point)
                .isEqualTo(point.equals("COMMITTED") ? world.runs.size() : 0);
    }

    private static void killedRestore(World world, KilledNode node, String point) throws Exception {
        String run = world.runs.keySet().iterator().next();
        Keelson client = node.client();
        if (point.startsWith("lock ")) {
            String table = point.substring("lock ".length());
            try (Connection held = world.lock(table)) {
                Runnable kill = node.doom();
                Thread asking = Thread.ofVirtual().start(() -> restore(client, run));
                world.awaitWaiting(table);
                kill.run();
                held.rollback();
                asking.join();
            }
        } else {
            node.doom(Point.valueOf(point), RESTORED, 0);
            Thread asking = Thread.ofVirtual().start(() -> restore(client, run));
            node.awaitDeath();
            asking.join();
        }
        boolean committed = point.startsWith("AFTER") || point.equals("BEFORE_REPLY");
        assertThat(world.archived()).as("after a kill at %s", point)
                .isEqualTo(world.runs.size() - (committed ? 1 : 0));
        node.restart();
        node.awaitReady();
        assertThat(node.client().runs().get(run).state()).isEqualTo("completed");
    }

    /** The server may be killed meanwhile. */
    private static void restore(Keelson client, String run) {
        try {
            client.archive().restore(run);
        } catch (KeelsonException e) {
            assertThat(e.status()).isZero();
        }
    }

    private static void restoreAll(World world, Keelson client) {
        for (String run : world.runs.keySet()) {
            assertThat(client.archive().restore(run).state()).isEqualTo("completed");
        }
        assertThat(world.archived()).isZero();
        assertThat(world.count("archive_objects")).isZero();
        world.forgetRestores();
    }

    private static void age(Database database, String run) {
        database.runInTransaction(c -> {
            try (Statement statement = c.createStatement()) {
                statement.execute("""
                        update orchestration_runs set created_at = created_at - interval '100 days',
                            started_at = started_at - interval '100 days', completed_at = completed_at - interval '100 days'
                         where id = '%s'""".formatted(run));
            }
        });
    }

    private static Mission mission(String name) {
        return Mission.named(name).goal("be kept")
                .task("a", task -> task
                        .step("write", "artifact.write", Map.of("name", name + ".txt", "content", "ä\n\"\\ of " + name))
                        .step("say", "echo", Map.of("text", "x".repeat(100))))
                .task("b", task -> task.step("work", "noop", Map.of("tokens", 30, "cost", 0.25)).dependsOn("a"));
    }
}
