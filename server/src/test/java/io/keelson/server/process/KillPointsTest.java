package io.keelson.server.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.client.plan.Mission;
import io.keelson.server.Invariants;
import io.keelson.server.db.CountingProxy.Write;
import io.keelson.server.db.Database;
import io.keelson.server.db.DatabaseOptions;
import io.keelson.server.db.DatabaseUrl;
import io.keelson.server.db.TestDatabase;
import io.keelson.server.process.KilledNode.Point;
import java.nio.file.Path;
import java.sql.ResultSet;
import java.time.Duration;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * T1 of the specification (reliability §3): three servers under load, of which one after the other is killed before a
 * commit, after a commit, and before a reply.
 */
@Timeout(value = 60, unit = TimeUnit.MINUTES)
class KillPointsTest {
    private static final int KILLS = Amount.of(6, 100);
    private static final int NODES = 3;
    private static final Duration LEASE = Duration.ofSeconds(2);
    /** A second between two looks, and what busy machines need; what is forgotten is so for ever. */
    private static final Duration SOON = Duration.ofSeconds(30);
    private static final Write ANY = new Write("run_heads", "");
    private static final long SEED = Long.getLong("keelson.kill.seed", 1);

    private final AtomicLong longest = new AtomicLong();

    @Test
    void nothingIsLostOrDoneTwice(@TempDir Path folder) throws Exception {
        DatabaseUrl url = TestDatabase.createUrl();
        Random random = new Random(SEED);
        try (Database database = new Database(url, DatabaseOptions.DEFAULTS.withPoolSize(4));
                ScheduledExecutorService watch = Executors.newSingleThreadScheduledExecutor();
                KilledNodes nodes = new KilledNodes(NODES, folder, url,
                        Map.of("KEELSON_LEASE_SECONDS", Long.toString(LEASE.toSeconds())))) {
            watch.scheduleWithFixedDelay(() -> lookForForgottenLeases(database), 0, 100, TimeUnit.MILLISECONDS);
            try (Load load = new Load(nodes::client, KillPointsTest::mission)) {
                for (int kill = 0; kill < KILLS; kill++) {
                    int node = random.nextInt(NODES);
                    nodes.kill(node, Point.values()[kill % 3], ANY, random.nextInt(20));
                    nodes.awaitReady(node);
                }
                load.stop();
                String kept = load.assertKept(database);
                Invariants.hold(database);
                long lost = expired(database);
                System.out.printf("kill points: %d kills, %s, %d leases lost, longest unattended for %d ms%n", KILLS,
                        kept, lost, longest.get());
                assertThat(lost).as("leases that nodes took with them").isPositive();
                assertThat(longest.get()).as("ms for which a lease that had run out was not acted upon, seed %s", SEED)
                        .isLessThan(SOON.toMillis());
            }
        }
    }

    private static Mission mission(String name) {
        return Mission.named(name).goal("survive")
                .task("a", t -> t.step("work", "noop", Map.of("tokens", 3, "cost", 0.01)))
                .task("b", t -> t.step("nap", "wait", Map.of("seconds", 0.2)).step("more", "echo", Map.of("n", 1))
                        .dependsOn("a"))
                .task("c", t -> t.step("work", "noop", Map.of()).dependsOn("a"));
    }

    private void lookForForgottenLeases(Database database) {
        long late = database.withConnection(c -> one(c.createStatement().executeQuery("""
                select coalesce(max(extract(epoch from clock_timestamp() - lease_expires_at)) * 1000, 0)::bigint
                  from work_queue where holder is not null""")));
        longest.accumulateAndGet(late, Math::max);
    }

    private static long expired(Database database) {
        return database.withConnection(c -> one(c.createStatement().executeQuery(
                "select count(*) from orchestration_events where event_type = 'step_lease_expired'")));
    }

    private static long one(ResultSet row) throws java.sql.SQLException {
        try (row; var statement = row.getStatement()) {
            row.next();
            return row.getLong(1);
        }
    }
}
