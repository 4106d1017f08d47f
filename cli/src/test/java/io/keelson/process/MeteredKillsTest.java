package io.keelson.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.cli.CliProcess;
import io.keelson.client.plan.Mission;
import io.keelson.core.Breadth;
import io.keelson.process.KilledNode.Point;
import io.keelson.server.Invariants;
import io.keelson.server.base.db.CountingProxy.Write;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseOptions;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Servers are killed while they charge heartbeats and reports of workers: each lease costs what a server acknowledged at
 * least, what its worker sent at most, and the charges are the costs.
 */
@Breadth.InPart(3)
@Timeout(value = 60, unit = TimeUnit.MINUTES)
class MeteredKillsTest {
    private static final int NODES = 2;
    private static final long SEED = Long.getLong("keelson.kill.seed", 1);
    private static final int KILLS = Breadth.of(8, 200);

    /** The charge of a heartbeat, any charge, a result. */
    private static final List<Write> WRITES = List.of(new Write("billing_ledger", "/used/"),
            new Write("billing_ledger", "charge"), new Write("step_results", ""));

    @Test
    void leaseCostsWhatWasAcknowledgedAtLeast(@TempDir Path folder) throws Exception {
        DatabaseUrl url = TestDatabase.createUrl();
        Random random = new Random(SEED);
        try (Database database = new Database(url, DatabaseOptions.DEFAULTS.withPoolSize(4));
                KilledNodes nodes = new KilledNodes(NODES, folder, url, Map.of("KEELSON_INITIAL_CREDITS", "1000000"))) {
            try (MeteredWorkers workers = new MeteredWorkers(nodes::address);
                    Load load = new Load(nodes::client, MeteredKillsTest::mission)) {
                for (int kill = 0; kill < KILLS; kill++) {
                    int node = kill % NODES;
                    Point point = kill / NODES % 2 == 0 ? Point.BEFORE_COMMIT : Point.AFTER_COMMIT;
                    nodes.kill(node, point, WRITES.get(kill % WRITES.size()), random.nextInt(5));
                    nodes.awaitReady(node);
                }
                load.stop();
                String kept = load.assertKept(database);
                workers.stop();
                Invariants.hold(database);
                Map<String, BigDecimal> costs = costs(database);
                assertThat(workers.journal).isNotEmpty().allSatisfy((lease, spent) -> assertThat(
                        costs.getOrDefault(lease, BigDecimal.ZERO)).as(lease)
                        .isBetween(spent.acknowledged(), spent.sent()));
                assertThat(costs.keySet()).isSubsetOf(workers.journal.keySet());
                System.out.printf("metered kills: seed %d, %d kills, %s, %d leases%n", SEED, KILLS, kept,
                        workers.journal.size());
            }
            CliProcess.Result verified =
                    CliProcess.start(folder.resolve("node0"), Map.of(), "ledger", "verify", "--all").end();
            assertThat(verified.code()).as(verified.out() + verified.err()).isZero();
        }
    }

    private static Mission mission(String name) {
        return Mission.named(name).goal("pay").task("a", t -> t.step("one", MeteredWorkers.TOOL, Map.of()));
    }

    /** Costs of results by step and epoch. */
    private static Map<String, BigDecimal> costs(Database database) {
        return database.withConnection(c -> {
            try (var statement = c.createStatement();
                    var row = statement.executeQuery("select step_id || '/' || epoch, cost from work_results")) {
                Map<String, BigDecimal> costs = new HashMap<>();
                while (row.next()) {
                    costs.put(row.getString(1), row.getBigDecimal(2));
                }
                return costs;
            }
        });
    }
}
