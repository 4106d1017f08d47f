package io.keelson.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.client.plan.Mission;
import io.keelson.core.Breadth;
import io.keelson.process.KilledNode.Point;
import io.keelson.server.Invariants;
import io.keelson.server.base.db.CountingProxy.Write;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseOptions;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import java.nio.file.Path;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Three servers under load, of which one after the other is killed before a
 * commit, after a commit, and before a reply.
 */
@Timeout(value = 60, unit = TimeUnit.MINUTES)
@Breadth.InPart(2)
class KillPointsTest {
    private static final int KILLS = Breadth.of(Point.values().length, 100);
    private static final int NODES = 3;
    private static final Duration LEASE = Duration.ofSeconds(2);
    private static final Write ANY = new Write("run_heads", "");
    private static final long SEED = Long.getLong("keelson.kill.seed", 1);

    @Test
    void nothingIsLostOrDoneTwice(@TempDir Path folder) throws Exception {
        DatabaseUrl url = TestDatabase.createUrl();
        Random random = new Random(SEED);
        try (Database database = new Database(url, DatabaseOptions.DEFAULTS.withPoolSize(4));
                KilledNodes nodes = new KilledNodes(NODES, folder, url,
                        Map.of("KEELSON_LEASE_SECONDS", Long.toString(LEASE.toSeconds())))) {
            try (Load load = new Load(nodes::client, KillPointsTest::mission)) {
                for (int kill = 0; kill < KILLS; kill++) {
                    int node = random.nextInt(NODES);
                    nodes.kill(node, Point.values()[kill % Point.values().length], ANY, random.nextInt(20));
                    nodes.awaitReady(node);
                }
                load.stop();
                String kept = load.assertKept(database);
                Invariants.hold(database);
                long lost = count(database, "orchestration_events where event_type = 'step_lease_expired'");
                System.out.printf("kill points: seed %d, %d kills, %s, %d leases lost%n", SEED, KILLS, kept, lost);
                assertThat(lost).as("expired leases of killed nodes, seed %s", SEED).isPositive();
                assertThat(count(database, "work_queue")).as("work left in the queue, seed %s", SEED).isZero();
            }
        }
    }

    private static Mission mission(String name) {
        return Mission.named(name).goal("survive")
                .task("a", t -> t.step("work", "noop", Map.of("tokens", 3, "cost", 0.01)))
                .task("b", t -> t.step("nap", "wait", Map.of("seconds", 0.2)).step("more", "echo", Map.of("n", 1))
                        .dependsOn("a"))
                .task("c", t -> t.step("work", "noop", Map.of()).step("more", "noop", Map.of()).dependsOn("a"));
    }

    private static long count(Database database, String rows) {
        return database.withConnection(c -> {
            try (Statement statement = c.createStatement();
                    ResultSet row = statement.executeQuery("select count(*) from " + rows)) {
                row.next();
                return row.getLong(1);
            }
        });
    }
}
