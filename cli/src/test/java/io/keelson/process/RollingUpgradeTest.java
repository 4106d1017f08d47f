package io.keelson.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.client.Keelson;
import io.keelson.core.Breadth;
import io.keelson.server.Invariants;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseOptions;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Servers of the last release are replaced one by one by servers of this commit, under load and with kills, and back if the schema
 * allows it. {@code -Dkeelson.upgrade.from=COMMIT} selects another build than the last release.
 */
@Breadth.InPart(1)
@Timeout(value = 20, unit = TimeUnit.MINUTES)
class RollingUpgradeTest {

    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final int NO_RELEASE = 3;
    private static final int RUNS = Breadth.of(10, 30);
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final String SCHEMA =
            "select string_agg(version || ' ' || checksum, ',' order by installed_rank) from flyway_schema_history"
                    + " where version is not null";

    @TempDir
    private Path folder;

    @Test
    void serversAreReplacedOneByOneUnderLoad() throws Exception {
        Path released = releasedJar();
        DatabaseUrl url = TestDatabase.createEmptyUrl();
        Map<String, String> settings = Map.of("KEELSON_DATABASE_URL", TestDatabase.text(url), "KEELSON_LEASE_SECONDS",
                "5", "KEELSON_SECRET_KEY", "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=");
        List<ServerProcess> servers = new ArrayList<>();
        try (Database database = new Database(url, DatabaseOptions.DEFAULTS.withPoolSize(2));
                AcknowledgedRuns load = new AcknowledgedRuns()) {
            for (int i = 0; i < 2; i++) {
                ServerProcess old = ServerProcess.start(folder.resolve("old" + i), settings, released);
                servers.add(old);
                load.add(client(old));
            }
            load.await(RUNS);
            String schema = read(database, SCHEMA).getFirst();
            for (int i = 0; i < 2; i++) {
                ServerProcess next = ServerProcess.start(folder.resolve("new" + i), settings);
                servers.add(next);
                load.add(client(next));
                load.await(RUNS);
                servers.get(i).killNow();
                load.await(RUNS);
            }
            boolean back = read(database, SCHEMA).getFirst().equals(schema);
            System.out.printf("rolling upgrade: %d runs, back %s%n", load.await(0).size(), back);
            if (back) {
                for (int i = 2; i < 4; i++) {
                    ServerProcess old = ServerProcess.start(folder.resolve("back" + i), settings, released);
                    servers.add(old);
                    load.add(client(old));
                    load.await(RUNS);
                    servers.get(i).killNow();
                    load.await(RUNS);
                }
            }
            Set<String> acknowledged = load.await(RUNS);
            load.close();
            Awaitility.await().atMost(LIMIT).until(() -> read(database,
                    "select id::text from orchestration_runs where state_type <> 'terminal'").isEmpty());
            assertThat(
                    new TreeSet<>(read(database, "select id::text from orchestration_runs where state = 'completed'")))
                    .isEqualTo(new TreeSet<>(read(database, "select id::text from orchestration_runs")))
                    .containsAll(acknowledged);
            Invariants.hold(database);
        } finally {
            for (ServerProcess each : servers) {
                each.killNow();
            }
        }
    }

    private static Keelson client(ServerProcess server) throws Exception {
        return server.client(server.url().toString(), Duration.ofSeconds(10));
    }

    private static Path releasedJar() throws Exception {
        List<String> command = new ArrayList<>(List.of(ROOT.resolve("scripts/released-jar").toString()));
        String from = System.getProperty("keelson.upgrade.from");
        if (from != null) {
            command.add(from);
        }
        Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        String path = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        int code = process.waitFor();
        Assumptions.assumeTrue(code != NO_RELEASE, "there is no release yet, or -Dkeelson.upgrade.from is missing");
        assertThat(code).isZero();
        return Path.of(path);
    }

    private static List<String> read(Database database, String sql) {
        return database.withConnection(c -> {
            List<String> rows = new ArrayList<>();
            try (Statement statement = c.createStatement(); ResultSet row = statement.executeQuery(sql)) {
                while (row.next()) {
                    rows.add(row.getString(1));
                }
            }
            return rows;
        });
    }
}
