package io.keelson.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.cli.CliProcess.Result;
import io.keelson.cli.InProcessCli;
import io.keelson.client.Keelson;
import io.keelson.client.KeelsonException;
import io.keelson.client.RunRequest;
import io.keelson.client.plan.Mission;
import io.keelson.core.Breadth;
import io.keelson.server.Invariants;
import io.keelson.server.annex.postgres.TwoPostgres;
import io.keelson.server.app.Server;
import io.keelson.server.app.Settings;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseOptions;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Two servers under load, on a PostgreSQL with a standby that takes its place. */
@Timeout(value = 3, unit = TimeUnit.MINUTES)
class FailoverTest {

    private static final Duration NOTICED = Duration.ofSeconds(5);
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final int RUNS = 20;

    private final HttpClient http = HttpClient.newHttpClient();

    /** Creates runs until it is closed, and keeps the ids of those that were acknowledged. */
    private static final class Load implements AutoCloseable {
        private final Collection<String> acknowledged = new ConcurrentLinkedQueue<>();
        private final List<Thread> threads = new ArrayList<>();
        private volatile boolean closed;

        Load(List<Server> servers) {
            for (Server server : servers) {
                Keelson client = Keelson.builder().url(server.baseUrl().toString()).apiKey(server.apiKey())
                        .timeout(Duration.ofSeconds(5)).build();
                threads.add(Thread.ofVirtual().start(() -> create(client)));
            }
        }

        private void create(Keelson client) {
            while (!closed) {
                try {
                    acknowledged.add(client.runs().create(RunRequest.of(mission().toJson()).start()).id());
                } catch (KeelsonException e) {
                    closed |= !e.isTransient();
                }
            }
        }

        /** Waits for more acknowledged runs, and returns all. */
        Set<String> await(int more) {
            int least = acknowledged.size() + more;
            Awaitility.await().atMost(LIMIT).until(() -> acknowledged.size() >= least);
            return new TreeSet<>(acknowledged);
        }

        @Override
        public void close() throws InterruptedException {
            closed = true;
            for (Thread thread : threads) {
                thread.join();
            }
        }
    }

    private static Mission mission() {
        return Mission.named("load").goal("survive").task("a", t -> t.step("one", "noop", Map.of())
                .step("nap", "wait", Map.of("seconds", 0.2)).step("two", "noop", Map.of()));
    }

    @Test
    @Breadth.InPart(4)
    void aStandbyWithoutTheLatestCommitsStopsTheServersUntilAnOperatorAccepts(@TempDir Path folder) throws Exception {
        try (TwoPostgres databases = TwoPostgres.start(folder.resolve("databases"));
                Server one = server(folder.resolve("one"), databases);
                Server two = server(folder.resolve("two"), databases)) {
            Set<String> kept;
            Set<String> all;
            try (Load load = new Load(List.of(one, two))) {
                kept = load.await(RUNS);
                databases.holdReplication();
                all = load.await(RUNS);
                databases.killPrimary();
            }
            databases.promote();
            long promoted = System.nanoTime();
            for (Server each : List.of(one, two)) {
                Awaitility.await().atMost(NOTICED).until(() -> readiness(each).contains("DATABASE_WENT_BACK"));
                System.out.printf("failover: noticed after %d ms%n",
                        Duration.ofNanos(System.nanoTime() - promoted).toMillis());
                assertThat(get(each, "/readyz").statusCode()).isEqualTo(503);
                assertThat(get(each, "/metrics").body()).contains("keelson_database_went_back 1.0");
            }
            Map<String, String> shell = Map.of("KEELSON_DATA_DIR", folder.resolve("one").toString(),
                    "KEELSON_DATABASE_URL", databases.text());
            Result doctor = InProcessCli.run(shell, "doctor");
            assertThat(doctor.out()).contains("DATABASE_WENT_BACK: event ");
            assertThat(doctor.code()).isEqualTo(1);
            assertThat(InProcessCli.run(shell, "database").out()).contains(" of run ");

            Result accepted = InProcessCli.run(shell, "database", "accept", "--yes");
            assertThat(accepted.code()).as(accepted.err()).isZero();
            for (Server each : List.of(one, two)) {
                Awaitility.await().atMost(LIMIT).until(() -> get(each, "/readyz").statusCode() == 200);
                assertThat(get(each, "/metrics").body()).contains("keelson_database_went_back 0.0");
            }
            try (Database database =
                    new Database(databases.url(), DatabaseOptions.DEFAULTS.withPoolSize(2))) {
                Awaitility.await().atMost(LIMIT).until(() -> runs(database, "state_type <> 'terminal'").isEmpty());
                Set<String> present = runs(database, "state = 'completed'");
                assertThat(present).isEqualTo(runs(database, "true")).containsAll(kept);
                assertThat(all).as("runs of commits that the standby lacks").isNotEqualTo(present)
                        .containsAll(present);
                Invariants.hold(database);
            }
            assertThat(InProcessCli.run(shell, "ledger", "verify").code()).isZero();
            assertThat(InProcessCli.run(shell, "doctor").out()).doesNotContain("DATABASE_WENT_BACK");
        }
    }

    private static Server server(Path folder, TwoPostgres databases) throws Exception {
        return Server.start(Settings.load(Map.of("KEELSON_DATA_DIR", folder.toString(), "KEELSON_HTTP_PORT", "0",
                "KEELSON_DATABASE_URL", databases.text(), "KEELSON_LEASE_SECONDS", "2"), folder, folder));
    }

    private String readiness(Server server) throws Exception {
        return get(server, "/readyz").body();
    }

    private HttpResponse<String> get(Server server, String path) throws Exception {
        return http.send(HttpRequest.newBuilder(URI.create(server.baseUrl() + path)).build(),
                BodyHandlers.ofString());
    }

    private static Set<String> runs(Database database, String where) {
        return database.withConnection(c -> {
            Set<String> ids = new TreeSet<>();
            try (Statement statement = c.createStatement();
                    ResultSet row = statement.executeQuery("select id from orchestration_runs where " + where)) {
                while (row.next()) {
                    ids.add(row.getString(1));
                }
            }
            return ids;
        });
    }
}
