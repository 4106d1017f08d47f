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
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/**
 * Servers are killed at each point of the paying path, before its commit and after: nothing is charged twice, no grant is
 * lost, and the books are right. Runs come in steadily, grants too, and each grant is repeated until it is answered.
 */
@ExtendWith(Breadth.InFailures.class)
@Timeout(value = 60, unit = TimeUnit.MINUTES)
@Breadth.InPart({1, 3, 5})
class PayingKillsTest {
    private static final int NODES = 2;
    private static final long SEED = Long.getLong("keelson.kill.seed", 1);

    /** What is being booked, as the rows of the ledger tell, by their type or by the end of their key; a slot of the balance; a result. */
    private static final List<Write> BOOKED = Breadth.of(Stream.concat(
            Stream.of("charge", "grant", "/extend/", "/settle", "/reserve")
                    .map(row -> new Write("billing_ledger", row)),
            Stream.of(new Write("credit_slots", ""), new Write("step_results", ""))).toList());
    private static final int KILLS = Breadth.of(2 * BOOKED.size(), 200);

    @Test
    void ledgerIsConsistent(@TempDir Path folder) throws Exception {
        DatabaseUrl url = TestDatabase.createUrl();
        Random random = new Random(SEED);
        try (Database database = new Database(url, DatabaseOptions.DEFAULTS.withPoolSize(4));
                KilledNodes nodes = new KilledNodes(NODES, folder, url,
                        Map.of("KEELSON_LEASE_SECONDS", "2", "KEELSON_INITIAL_CREDITS", "1000000"))) {
            try (Load load = new Load(nodes::client, PayingKillsTest::mission);
                    Grants grants = new Grants(nodes::client)) {
                for (int kill = 0; kill < KILLS; kill++) {
                    int node = kill % NODES;
                    Write booked = BOOKED.get(kill % BOOKED.size());
                    nodes.kill(node, kill / BOOKED.size() % 2 == 0 ? Point.BEFORE_COMMIT : Point.AFTER_COMMIT,
                            booked, random.nextInt(5));
                    nodes.awaitReady(node);
                }
                load.stop();
                int granted = grants.stop();
                String kept = load.assertKept(database);
                Invariants.hold(database);
                int runs = count(database, "select count(*) from orchestration_runs");
                assertThat(count(database, "select count(*) from billing_ledger where transaction_type = 'charge'"))
                        .as("charges, five for each run").isEqualTo(5 * runs);
                assertThat(count(database, """
                        select count(*) from billing_ledger l join work_results w on w.step_id = l.step_id
                           and l.idempotency_key = w.step_id || '/' || w.attempt and l.usage = w.usage
                         where w.outcome = 'failed' and w.error_code = 'MODEL_REFUSED' and l.amount = 0.15"""))
                        .as("charges of failed tries, one for each run").isEqualTo(runs);
                assertThat(
                        count(database, "select count(*) from billing_ledger where idempotency_key like '%/extend/%'"))
                        .as("extensions, one for each run").isEqualTo(runs);
                assertThat(
                        count(database, "select sum(amount)::int from billing_ledger where transaction_type = 'grant'"))
                        .as("granted").isEqualTo(1_000_000 + Grants.AMOUNT * granted);
                System.out.printf("paying kills: seed %d, %d kills, %s, %d grants%n", SEED, KILLS, kept, granted);
            }
            CliProcess.Result verified =
                    CliProcess.start(folder.resolve("node0"), Map.of(), "ledger", "verify", "--all").end();
            assertThat(verified.code()).as(verified.out() + verified.err()).isZero();
            System.out.print(verified.out());
        }
    }

    /** An answer that was billed and refused, and then a good one; both cost 0.15. */
    private static final Map<String, Object> REFUSED = Map.of("code", "MODEL_REFUSED", "class", "quality", "times", 1,
            "cost", 0.15, "usage", Map.of("input", 7, "cache_read", 50, "output", 3));

    /** Costs 1.7, of which 1 is reserved at first. */
    private static Mission mission(String name) {
        return Mission.named(name).goal("pay")
                .task("a", t -> t.step("one", "noop", Map.of("cost", 0.7)).step("two", "noop", Map.of("cost", 0.6)))
                .task("b", t -> t.step("one", "noop", Map.of("tokens", 9, "cost", 0.1)).dependsOn("a"))
                .task("c", t -> t.step("one", "fail", REFUSED).dependsOn("a"));
    }

    private static int count(Database database, String sql) {
        return database.withConnection(c -> {
            try (var statement = c.createStatement(); var row = statement.executeQuery(sql)) {
                row.next();
                return row.getInt(1);
            }
        });
    }
}
