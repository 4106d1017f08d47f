package io.keelson.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.app.Server;
import io.keelson.server.app.Settings;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseOptions;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.MovedClock;
import io.keelson.server.base.db.TestDatabase;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
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
