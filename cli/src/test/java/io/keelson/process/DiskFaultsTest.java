package io.keelson.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.FaultyLink;
import io.keelson.server.Lapse;
import io.keelson.server.annex.postgres.EmbeddedPostgres;
import io.keelson.server.annex.postgres.FaultyPostgres;
import io.keelson.server.app.Server;
import io.keelson.server.app.Settings;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseOptions;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A disk is full under load for a while: that of a server's data folder, of its database, of the database's log, or of all of them.
 * Runs have inputs and outputs of 150 kB, which PostgreSQL cannot compress, so that tables and log grow.
 */
@Timeout(value = 60, unit = TimeUnit.MINUTES)
class DiskFaultsTest {

    private static final int TRIES = Integer.getInteger("keelson.faults", Breadth.of(1, 5));
    /** Longer than a lease. */
    private static final Duration FULL = Duration.ofSeconds(4);
    private static final Duration PAUSE = Duration.ofSeconds(10);
    private static final Duration LIMIT = Duration.ofMinutes(1);
    private static final String FULL_CODE = "503 DATABASE_FULL";
    private static final Map<String, String> LOG = Map.of("max_wal_size", "64MB", "min_wal_size", "32MB");

    @TempDir
    private Path folder;

    @BeforeEach
    void canMount() throws Exception {
        Assumptions.assumeTrue(SmallDisk.available(), "LEFT OUT: only root can mount a file system in memory");
    }

    /** Steps that store an artifact are deferred, and the other work of the server continues. */
    @Test
    @Breadth.InPart(0)
    void theDiskOfTheDataFolder() throws Exception {
        DatabaseUrl url = TestDatabase.createUrl();
        try (SmallDisk disk = new SmallDisk(folder.resolve("disk"), "16m");
                FaultTrials trials = new FaultTrials(", {\"name\": \"write\", \"tool\": \"artifact.write\","
                        + " \"input\": {\"name\": \"report.txt\", \"content\": \"" + "x".repeat(8_000) + "\"}}");
                Server server = server(disk.folder().resolve("one"), trials, TestDatabase.text(url));
                Database database = new Database(url, DatabaseOptions.DEFAULTS.withPoolSize(2))) {
            trials.load("one-", server::baseUrl, server.apiKey());
            for (int i = 0; i < TRIES; i++) {
                trials.run("disk: that of the data folder is full", () -> {
                    disk.fill();
                    Lapse.of(FULL);
                    disk.free();
                    return System.nanoTime();
                });
            }
            trials.end(database, PAUSE);
            assertThat(FaultTrials.read(database, "select run_id::text from orchestration_events where event_type ="
                    + " 'step_deferred'")).as("runs with a deferred step").isNotEmpty();
            assertThat(FaultTrials.read(database, "select id::text from orchestration_runs r where not exists ("
                    + "select from artifacts a where a.run_id = r.id)")).as("runs without artifact").isEmpty();
        }
    }

    /** Tables cannot grow: servers refuse with DATABASE_FULL, and continue by themselves. */
    @Test
    @Breadth.InPart(2)
    void theDiskOfTheDatabase() throws Exception {
        try (SmallDisk disk = new SmallDisk(folder.resolve("disk"), "400m");
                FaultyPostgres postgres = FaultyPostgres.start(disk.folder().resolve("postgres"), LOG)) {
            postgres.moveLog(Files.createDirectory(folder.resolve("log")));
            try (FaultTrials trials = new FaultTrials(large());
                    Server first = server(folder.resolve("first"), trials, postgres.text(postgres.url().hosts()));
                    Server second = server(folder.resolve("second"), trials, postgres.text(postgres.url().hosts()));
                    Database database = new Database(postgres.url(), DatabaseOptions.DEFAULTS.withPoolSize(2))) {
                RepeatedRuns load = trials.load("first-", first::baseUrl, first.apiKey());
                trials.load("second-", second::baseUrl, second.apiKey());
                for (int i = 0; i < TRIES; i++) {
                    trials.run("disk: that of the database is full", () -> {
                        load.forgetCodes();
                        disk.fill();
                        Awaitility.await().atMost(LIMIT).until(() -> load.codes().contains(FULL_CODE));
                        Lapse.of(FULL);
                        disk.free();
                        return System.nanoTime();
                    });
                }
                assertThat(postgres.isAlive()).isTrue();
                trials.end(database, PAUSE);
            }
        }
    }

    /** PostgreSQL ends when its log cannot grow; an operator frees the disk and starts it again. */
    @Test
    @Breadth.InPart(6)
    void theDiskOfTheLog() throws Exception {
        try (SmallDisk disk = new SmallDisk(folder.resolve("disk"), "200m");
                FaultyPostgres postgres = FaultyPostgres.start(folder.resolve("postgres"), LOG)) {
            postgres.moveLog(Files.createDirectory(disk.folder().resolve("log")));
            try (FaultyLink link = new FaultyLink(postgres::address); FaultTrials trials = new FaultTrials(large());
                    Server first = server(folder.resolve("first"), trials, postgres.text(link.authority()));
                    Server second = server(folder.resolve("second"), trials, postgres.text(link.authority()))) {
                trials.load("first-", first::baseUrl, first.apiKey());
                trials.load("second-", second::baseUrl, second.apiKey());
                for (int i = 0; i < TRIES; i++) {
                    trials.run("disk: that of the database's log is full", () -> {
                        disk.fill();
                        useUpLog(postgres.url());
                        Awaitility.await().atMost(LIMIT).until(() -> !postgres.isAlive());
                        disk.free();
                        postgres.begin();
                        return System.nanoTime();
                    });
                }
                try (Database database = new Database(postgres.url(), DatabaseOptions.DEFAULTS.withPoolSize(2))) {
                    trials.end(database, PAUSE);
                }
            }
        }
    }

    /**
     * One disk for everything. While the log has files to write to, the server refuses and continues by itself. When it needs another
     * one, the server ends with DATA_DIR_FULL, also at a start, and continues after a start with space.
     */
    @Test
    @Breadth.InPart(3)
    void theDiskOfAServerWithItsDatabase() throws Exception {
        try (SmallDisk disk = new SmallDisk(folder.resolve("disk"), "600m");
                FaultTrials trials = new FaultTrials(large())) {
            Path data = disk.folder().resolve("data");
            AtomicReference<ServerProcess> server = new AtomicReference<>(start(data, trials));
            try {
                RepeatedRuns load = trials.load("one-", () -> server.get().url(),
                        Files.readString(data.resolve("api-key")).strip());
                for (int i = 0; i < TRIES; i++) {
                    if (Breadth.all()) {
                        trials.run("disk: that of a server with its database is full", () -> {
                            load.forgetCodes();
                            disk.fill();
                            Awaitility.await().atMost(LIMIT).until(() -> load.codes().contains(FULL_CODE));
                            Lapse.of(FULL);
                            disk.free();
                            return System.nanoTime();
                        });
                    }
                    trials.run("disk: that of a server with its database is full, and its log grows", () -> {
                        DatabaseUrl url = EmbeddedPostgres.running(data).orElseThrow();
                        disk.fill();
                        useUpLog(url);
                        assertThat(server.get().exitCode()).isOne();
                        assertThat(server.get().log()).contains("DATA_DIR_FULL");
                        assertThat(ServerProcess.launch(data, trials.settings(Map.of())).exitCode()).isOne();
                        disk.free();
                        server.set(start(data, trials));
                        return System.nanoTime();
                    });
                }
                try (Database database = new Database(EmbeddedPostgres.running(data).orElseThrow(),
                        DatabaseOptions.DEFAULTS.withPoolSize(2))) {
                    trials.end(database, PAUSE);
                }
            } finally {
                server.get().close();
            }
        }
    }

    /** Begins further files of the log until PostgreSQL ends for want of space. */
    private static void useUpLog(DatabaseUrl url) {
        try (Connection connection = url.connect(); Statement statement = connection.createStatement()) {
            while (true) {
                statement.execute("select pg_logical_emit_message(true, 'log', 'x'), pg_switch_wal()");
            }
        } catch (SQLException e) {
            // PostgreSQL ended
        }
    }

    /** A step with an input and an output that no compression shortens. */
    private static String large() {
        byte[] bytes = new byte[112_500];
        new Random(1).nextBytes(bytes);
        return ", {\"name\": \"large\", \"tool\": \"echo\", \"input\": {\"text\": \""
                + Base64.getEncoder().encodeToString(bytes)
                + "\"}}";
    }

    private static ServerProcess start(Path data, FaultTrials trials) throws IOException {
        return ServerProcess.start(data, trials.settings(Map.of()));
    }

    private static Server server(Path data, FaultTrials trials, String databaseUrl) throws Exception {
        Map<String, String> all = new HashMap<>(trials.settings(Map.of("KEELSON_DATABASE_URL", databaseUrl)));
        all.putAll(Map.of("KEELSON_DATA_DIR", data.toString(), "KEELSON_HTTP_PORT", "0"));
        return Server.start(Settings.load(all, data, data));
    }
}
