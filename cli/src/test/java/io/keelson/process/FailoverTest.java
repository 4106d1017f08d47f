package io.keelson.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.cli.CliProcess;
import io.keelson.cli.CliProcess.Result;
import io.keelson.cli.InProcessCli;
import io.keelson.core.Breadth;
import io.keelson.server.Invariants;
import io.keelson.server.ServerProxy;
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
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Two servers under load, on a PostgreSQL with a standby that takes its place. */
@Timeout(value = 3, unit = TimeUnit.MINUTES)
class FailoverTest {

    private static final Duration NOTICED = Duration.ofSeconds(5);
    private static final Duration CONTINUED = Duration.ofSeconds(5);
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final int RUNS = 20;

    private final HttpClient http = HttpClient.newHttpClient();

    @Test
    @Breadth.InPart(4)
    void aStandbyWithoutTheLatestCommitsStopsTheServersUntilAnOperatorAccepts(@TempDir Path folder) throws Exception {
        try (TwoPostgres databases = TwoPostgres.start(folder.resolve("databases"));
                Server one = server(folder.resolve("one"), databases);
                Server two = server(folder.resolve("two"), databases)) {
            Set<String> kept;
            Set<String> all;
            try (AcknowledgedRuns load =
                    new AcknowledgedRuns(AcknowledgedRuns.client(one), AcknowledgedRuns.client(two))) {
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
            Map<String, String> shell = Map.of("KEELSON_DATA_DIR", folder.resolve("one").toString());
            Result doctor = doctor(folder.resolve("one"), databases);
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
                assertThat(present.containsAll(all)).as("the standby lacks acknowledged runs").isFalse();
                Invariants.hold(database);
            }
            assertThat(InProcessCli.run(shell, "ledger", "verify").code()).isZero();
            assertThat(doctor(folder.resolve("one"), databases).out()).doesNotContain("DATABASE_WENT_BACK");
        }
    }

    @Test
    @Breadth.InPart(0)
    void aFrozenPrimaryOfAUrlWithTwoHostsStopsAServerUntilThereIsANewOne(@TempDir Path folder) throws Exception {
        try (TwoPostgres databases = TwoPostgres.start(folder.resolve("databases"));
                Server server = server(folder.resolve("one"), databases)) {
            freeze(databases, server, () -> {});
        }
    }

    /** As behind a proxy, which leaves the connections to the frozen primary open. */
    @Test
    @Breadth.InPart(3)
    void aFrozenPrimaryBehindOneAddressStopsAServerUntilThereIsANewOne(@TempDir Path folder) throws Exception {
        AtomicReference<String> target = new AtomicReference<>();
        try (TwoPostgres databases = TwoPostgres.start(folder.resolve("databases"));
                ServerProxy address = new ServerProxy(() -> URI.create("tcp://" + target.get()))) {
            target.set(databases.primary().hosts());
            try (Server server = server(folder.resolve("one"), databases.text(address.url().getAuthority()))) {
                freeze(databases, server, () -> target.set(databases.standby().hosts()));
            }
        }
    }

    /** @param redirect leads new connections to the new primary */
    private void freeze(TwoPostgres databases, Server server, Runnable redirect) throws Exception {
        databases.replicateSynchronously();
        Set<String> acknowledged;
        try (AcknowledgedRuns load = new AcknowledgedRuns(AcknowledgedRuns.client(server))) {
            load.await(RUNS);
            databases.freezePrimary();
            databases.promote();
            redirect.run();
            long promoted = System.nanoTime();
            load.await(2);
            Duration pause = Duration.ofNanos(System.nanoTime() - promoted);
            System.out.printf("failover: continued after %d ms%n", pause.toMillis());
            assertThat(pause).isLessThan(CONTINUED);
            acknowledged = load.await(RUNS);
        }
        try (Database database = new Database(databases.standby(), DatabaseOptions.DEFAULTS.withPoolSize(2))) {
            Awaitility.await().atMost(LIMIT).until(() -> runs(database, "state_type <> 'terminal'").isEmpty());
            assertThat(runs(database, "state = 'completed'")).isEqualTo(runs(database, "true"))
                    .containsAll(acknowledged);
            Invariants.hold(database);
        }
        assertThat(get(server, "/metrics").body()).contains("keelson_database_went_back 0.0");
    }

    /** In a process of its own, because it changes where the log of the process goes. */
    private static Result doctor(Path folder, TwoPostgres databases) throws Exception {
        return CliProcess.start(folder, Map.of("KEELSON_DATABASE_URL", databases.text()), "doctor").end();
    }

    private static Server server(Path folder, TwoPostgres databases) throws Exception {
        return server(folder, databases.text());
    }

    private static Server server(Path folder, String databaseUrl) throws Exception {
        return Server.start(Settings.load(Map.of("KEELSON_DATA_DIR", folder.toString(), "KEELSON_HTTP_PORT", "0",
                "KEELSON_DATABASE_URL", databaseUrl, "KEELSON_LEASE_SECONDS", "2"), folder, folder));
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
