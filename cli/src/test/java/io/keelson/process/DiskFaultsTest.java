package io.keelson.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.Lapse;
import io.keelson.server.app.Server;
import io.keelson.server.app.Settings;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseOptions;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The disk of the artifacts is full under load for a while. */
@Timeout(value = 60, unit = TimeUnit.MINUTES)
class DiskFaultsTest {

    private static final int TRIES = Integer.getInteger("keelson.faults", Breadth.of(1, 5));
    private static final Duration FULL = Duration.ofSeconds(2);
    private static final Duration PAUSE = Duration.ofSeconds(10);

    @TempDir
    private Path folder;

    @BeforeEach
    void canMount() throws Exception {
        Assumptions.assumeTrue(SmallDisk.available(), "LEFT OUT: only root can mount a file system in memory");
    }

    /** Steps that store an artifact are deferred. */
    @Test
    @Breadth.InPart(0)
    void theDiskOfTheArtifacts() throws Exception {
        DatabaseUrl url = TestDatabase.createUrl();
        Path data = Files.createDirectories(folder.resolve("one"));
        try (SmallDisk disk = new SmallDisk(folder.resolve("disk"), "4m");
                FaultTrials trials = new FaultTrials(", {\"name\": \"write\", \"tool\": \"artifact.write\","
                        + " \"input\": {\"name\": \"report.txt\", \"content\": \"" + "x".repeat(8_000) + "\"}}")) {
            Files.createSymbolicLink(data.resolve("artifacts"), Files.createDirectory(disk.folder().resolve("kept")));
            try (Server server = server("one", trials, TestDatabase.text(url));
                    Database database = new Database(url, DatabaseOptions.DEFAULTS.withPoolSize(2))) {
                trials.load("one-", server::baseUrl, server.apiKey());
                for (int i = 0; i < TRIES; i++) {
                    trials.run("disk: that of the artifacts is full", () -> {
                        disk.fill();
                        Lapse.of(FULL);
                        disk.free();
                        return System.nanoTime();
                    });
                }
                trials.end(database, PAUSE);
                assertThat(FaultTrials.read(database, "select id::text from orchestration_runs r where not exists ("
                        + "select from artifacts a where a.run_id = r.id)")).as("runs without artifact").isEmpty();
            }
        }
    }

    private Server server(String name, FaultTrials trials, String databaseUrl) throws Exception {
        Path data = folder.resolve(name);
        Map<String, String> all = new HashMap<>(trials.settings(Map.of("KEELSON_DATABASE_URL", databaseUrl)));
        all.putAll(Map.of("KEELSON_DATA_DIR", data.toString(), "KEELSON_HTTP_PORT", "0"));
        return Server.start(Settings.load(all, data, data));
    }
}
