package io.keelson.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.client.plan.Mission;
import io.keelson.server.Invariants;
import io.keelson.server.base.db.CountingProxy.Write;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseOptions;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * Workers and servers are killed at each point of a worker's chain: no run is lost, each step has one result, its own, and is charged
 * once. Executed steps without a recorded result are executed again.
 */
@EnabledIfSystemProperty(named = "keelson.long", matches = "true")
@Timeout(value = 60, unit = TimeUnit.MINUTES)
class ChainKillsTest {
    private static final long SEED = Long.getLong("keelson.kill.seed", 1);
    private static final int KILLS = 200;
    private static final int NODES = 2;
    private static final int STEPS = 6;
    private static final int LAST_STEPS = 3;
    /** Queries over all rows take longer than a server's statements may. */
    private static final DatabaseOptions UNLIMITED =
            new DatabaseOptions(1, Duration.ZERO, Duration.ZERO, Duration.ZERO, Duration.ofSeconds(10));
    /** The commit that charges a chain. */
    private static final Write CHARGES = new Write("billing_ledger", "charge");

    private enum Point {
        /** The worker has some results of a chain, and none is reported. */
        WORKER_WITHIN_CHAIN,
        /** The worker has all results, and none is reported. */
        WORKER_BEFORE_REPORT,
        /** The server has recorded the results, and the worker has no answer. */
        WORKER_BEFORE_ANSWER,
        /** The server has decided the chain, and PostgreSQL has not got the commit. */
        SERVER_BEFORE_COMMIT,
        /** PostgreSQL has committed the chain, and neither server nor worker know. */
        SERVER_AFTER_COMMIT
    }

    @Test
    void eachStepOfAChainCountsOnce(@TempDir Path folder) throws Exception {
        DatabaseUrl url = TestDatabase.createUrl();
        Random random = new Random(SEED);
        List<KilledWorker> workers = new ArrayList<>();
        try (Database database = new Database(url, UNLIMITED);
                KilledNodes nodes = new KilledNodes(NODES, folder, url, Map.of("KEELSON_INITIAL_CREDITS", "1000000"))) {
            for (int i = 0; i < NODES; i++) { // a price that is set at another server arrives within seconds
                nodes.client(i).prices().setTool(ChainWorker.TOOL, new BigDecimal("0.01"));
                workers.add(new KilledWorker(folder.resolve("node" + i), nodes.address(i)));
            }
            try (Load load = new Load(nodes::client, ChainKillsTest::mission)) {
                int within = 0;
                for (int kill = 0; kill < KILLS; kill++) {
                    Point point = Point.values()[kill % Point.values().length];
                    within += point == Point.WORKER_WITHIN_CHAIN ? 1 : 0;
                    kill(point, kill % NODES, nodes, workers, random);
                }
                load.stop();
                String kept = load.assertKept(database);
                Invariants.hold(database);
                assertThat(rows(database, WRONG)).as("wrong steps, seed %s", SEED).isEmpty();
                List<String> executed = new ArrayList<>();
                for (KilledWorker worker : workers) {
                    executed.addAll(Files.readAllLines(worker.executed()));
                }
                int steps = new HashSet<>(executed).size();
                System.out.printf("kills of chains: seed %d, %d kills, %s, %d steps, %d executions%n", SEED, KILLS,
                        kept,
                        steps, executed.size());
                assertThat(rows(database, "select 1 from task_steps")).hasSize(steps);
                assertThat(executed.size() - steps).as("further executions").isGreaterThanOrEqualTo(within);
            }
        } finally {
            for (KilledWorker worker : workers) {
                worker.close();
            }
        }
    }

    private static void kill(Point point, int number, KilledNodes nodes, List<KilledWorker> workers, Random random)
            throws Exception {
        nodes.awaitReady(number);
        switch (point) {
            case WORKER_WITHIN_CHAIN -> workers.get(number).killAtStep(1 + random.nextInt(STEPS - 1));
            case WORKER_BEFORE_REPORT -> workers.get(number).killBeforeReport();
            case WORKER_BEFORE_ANSWER -> workers.get(number).killBeforeAnswer();
            case SERVER_BEFORE_COMMIT -> nodes.kill(number, KilledNode.Point.BEFORE_COMMIT, CHARGES, random.nextInt(5));
            case SERVER_AFTER_COMMIT -> nodes.kill(number, KilledNode.Point.AFTER_COMMIT, CHARGES, random.nextInt(5));
        }
    }

    /** A step's input is its number from 0, its output the square. */
    private static Mission mission(String name) {
        return Mission.named(name).goal("survive").task("a", t -> {
            for (int n = 0; n < STEPS; n++) {
                t.step("s" + n, ChainWorker.TOOL, Map.of("n", n));
            }
            return t;
        }).task("b", t -> {
            for (int n = 0; n < LAST_STEPS; n++) {
                t.step("s" + n, ChainWorker.TOOL, Map.of("n", n));
            }
            return t.dependsOn("a");
        });
    }

    /** Steps without exactly one result and one charge, and steps whose output is not the square of their input. */
    private static final String WRONG = """
            with results as (select step_id, count(*) from work_results where outcome = 'completed' group by 1),
                events as (select step_id, count(*) from orchestration_events where event_type = 'step_completed' group by 1),
                charges as (select step_id, count(*) from billing_ledger where transaction_type = 'charge' group by 1)
            select s.id from task_steps s left join results r on r.step_id = s.id left join events e on e.step_id = s.id
                left join charges c on c.step_id = s.id
             where s.state <> 'completed' or r.count is distinct from 1 or e.count is distinct from 1
                or c.count is distinct from 1 or s.output <> to_jsonb(((s.input ->> 'n')::int * (s.input ->> 'n')::int))
            """;

    private static List<String> rows(Database database, String query) {
        return database.withConnection(c -> {
            try (var statement = c.createStatement(); var row = statement.executeQuery(query)) {
                List<String> rows = new ArrayList<>();
                while (row.next()) {
                    rows.add(row.getString(1));
                }
                return rows;
            }
        });
    }
}
