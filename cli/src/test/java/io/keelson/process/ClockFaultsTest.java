package io.keelson.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.ChildJvm;
import io.keelson.core.Breadth;
import io.keelson.server.app.Server;
import io.keelson.server.app.Settings;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseOptions;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.MovedClock;
import io.keelson.server.base.db.TestDatabase;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The clocks of servers are wrong and jump under load, and so does the clock of the database. Leases follow the clock of the database,
 * so the clock of a server ends none early.
 */
@Timeout(value = 30, unit = TimeUnit.MINUTES)
class ClockFaultsTest {

    private static final int TRIES = Integer.getInteger("keelson.faults", 5);
    private static final Duration WRONG = Duration.ofMinutes(10);
    private static final Duration FAR = Duration.ofHours(1);
    private static final String FAR_CLOCKS =
            "clock: processes of servers and a worker 1 hour ahead and behind, changed over";
    private static final Duration PAUSE = Duration.ofSeconds(10);
    /** A machine with much other work delays heartbeats. */
    private static final Map<String, String> LEASE = Map.of("KEELSON_LEASE_SECONDS", "20");

    @TempDir
    private Path folder;

    @Test
    @Breadth.InPart(2)
    void serversWithWrongClocks() throws Exception {
        DatabaseUrl url = TestDatabase.createUrl();
        AtomicReference<Duration> ahead = new AtomicReference<>(WRONG);
        AtomicReference<Duration> behind = new AtomicReference<>(WRONG.negated());
        try (FaultTrials trials = new FaultTrials();
                Server first = server("first", trials.settings(of(url)), ahead);
                Server second = server("second", trials.settings(of(url)), behind);
                Database database = new Database(url, DatabaseOptions.DEFAULTS.withPoolSize(2))) {
            trials.load("first-", first::baseUrl, first.apiKey());
            trials.load("second-", second::baseUrl, second.apiKey());
            trials.run("clock: servers 10 minutes ahead and behind, changed over", () -> {
                ahead.set(WRONG.negated());
                behind.set(WRONG);
                return System.nanoTime();
            });
            trials.end(database, PAUSE);
            assertNoLeaseLost(database);
        }
    }

    /** Processes of servers and of {@code keelson worker}: leases and time limits hold at any of their clocks. */
    @Test
    @Breadth.InPart(5)
    void processesWithWrongClocks() throws Exception {
        Path library = FakedTime.library().orElse(null);
        Assumptions.assumeTrue(library != null, "LEFT OUT: the package faketime is absent");
        DatabaseUrl url = TestDatabase.createUrl();
        FakedTime ahead = new FakedTime(library, folder.resolve("ahead"), FAR);
        FakedTime behind = new FakedTime(library, folder.resolve("behind"), FAR.negated());
        try (FaultTrials trials = new FaultTrials(", {\"name\": \"far\", \"tool\": \"test.date\"}");
                ServerProcess first = ServerProcess.start(folder.resolve("first"), trials.settings(of(url)),
                        ahead.command());
                ServerProcess second = ServerProcess.start(folder.resolve("second"), trials.settings(of(url)),
                        behind.command());
                Database database = new Database(url, DatabaseOptions.DEFAULTS.withPoolSize(2))) {
            String key = Files.readString(folder.resolve("first/api-key")).strip();
            Process worker = worker(first, key, behind);
            try {
                Awaitility.await().atMost(Duration.ofMinutes(1))
                        .until(() -> Files.readString(folder.resolve("worker.log")).contains("serves"));
                assertWrong(first, FAR);
                assertWrong(second, FAR.negated());
                trials.load("first-", first::url, key);
                trials.load("second-", second::url, key);
                for (int i = 0; i < Breadth.of(1, TRIES); i++) {
                    trials.run(FAR_CLOCKS, () -> changeOver(ahead, behind));
                    trials.run(FAR_CLOCKS, () -> changeOver(behind, ahead));
                }
                trials.end(database, PAUSE);
                assertNoLeaseLost(database);
            } finally {
                worker.destroyForcibly().waitFor();
            }
        }
    }

    private static long changeOver(FakedTime back, FakedTime forth) throws IOException {
        back.set(FAR.negated());
        forth.set(FAR);
        return System.nanoTime();
    }

    private Process worker(ServerProcess server, String key, FakedTime clock) throws IOException {
        List<String> command = new ArrayList<>(clock.command());
        command.addAll(ChildJvm.command());
        command.addAll(List.of("io.keelson.cli.Main", "worker", "--tool", "test.date", "--slots", "4", "--", "date"));
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().keySet().removeIf(name -> name.startsWith("KEELSON_"));
        builder.environment().putAll(Map.of("KEELSON_URL", server.url().toString(), "KEELSON_API_KEY", key,
                "KEELSON_DATA_DIR", folder.resolve("worker").toString()));
        return builder.redirectErrorStream(true).redirectOutput(folder.resolve("worker.log").toFile()).start();
    }

    /** The answers of a server have the time of its clock. */
    private static void assertWrong(ServerProcess server, Duration ahead) throws Exception {
        String date = HttpClient.newHttpClient().send(HttpRequest.newBuilder(server.url().resolve("/healthz")).build(),
                HttpResponse.BodyHandlers.discarding()).headers().firstValue("Date").orElseThrow();
        Instant there = ZonedDateTime.parse(date, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant();
        assertThat(Duration.between(Instant.now().plus(ahead), there).abs()).isLessThan(Duration.ofMinutes(1));
    }

    /** Leases of work under way end by a jump ahead, and nothing is done twice; after a move back they end later. */
    @Test
    void theClockOfTheDatabaseJumps() throws Exception {
        Assumptions.assumeTrue(Breadth.all(), "with ./check --all");
        DatabaseUrl url = TestDatabase.createUrl();
        MovedClock clock = new MovedClock(url);
        AtomicReference<Duration> right = new AtomicReference<>(Duration.ZERO);
        try (FaultTrials trials = new FaultTrials(); Server first = server("first", trials.settings(of(url)), right);
                Server second = server("second", trials.settings(of(url)), right);
                Database database = new Database(url, DatabaseOptions.DEFAULTS.withPoolSize(2))) {
            trials.load("first-", first::baseUrl, first.apiKey());
            trials.load("second-", second::baseUrl, second.apiKey());
            for (int i = 0; i < TRIES; i++) {
                trials.run("clock: the database jumps 10 minutes ahead", () -> move(clock, WRONG));
                trials.run("clock: the database goes back 10 minutes", () -> move(clock, WRONG.negated()));
            }
            trials.end(database, PAUSE);
        }
    }

    private static long move(MovedClock clock, Duration time) throws Exception {
        clock.move(time);
        return System.nanoTime();
    }

    private static void assertNoLeaseLost(Database database) {
        assertThat(FaultTrials.read(database,
                "select run_id::text from orchestration_events where event_type = 'step_lease_expired'"))
                .as("runs with a lease that ended early").isEmpty();
    }

    private static Map<String, String> of(DatabaseUrl url) {
        Map<String, String> all = new HashMap<>(LEASE);
        all.put("KEELSON_DATABASE_URL", TestDatabase.text(url));
        return all;
    }

    private Server server(String name, Map<String, String> settings, AtomicReference<Duration> ahead)
            throws Exception {
        Path data = folder.resolve(name);
        Map<String, String> all = new HashMap<>(settings);
        all.putAll(Map.of("KEELSON_DATA_DIR", data.toString(), "KEELSON_HTTP_PORT", "0"));
        InstantSource wall = () -> Instant.now().plus(ahead.get());
        return Server.start(Settings.load(all, data, data),
                new Server.Clocks(wall.withZone(ZoneOffset.UTC), System::nanoTime));
    }
}
