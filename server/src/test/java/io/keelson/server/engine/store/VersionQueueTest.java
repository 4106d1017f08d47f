package io.keelson.server.engine.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.core.decide.ChangeSet.Lot;
import io.keelson.core.run.VersionRule;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.engine.store.RunStore.Candidate;
import io.keelson.server.engine.store.RunStore.Search;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import tools.jackson.databind.JsonNode;

/** Searches of a version while 100,000 steps wait for versions that no worker serves. */
@Breadth.InPart(2)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class VersionQueueTest {
    private static final UUID WORKSPACE = new UUID(1, 1);
    private static final String TOOL = "v.tool";
    /** A tool without a rule. */
    private static final String FREE = "v.free";
    private static final int TIMED = 100;
    /** Times of a search without a rule. The current version has 90 lots, of which a search looks into each. */
    private static final double MAX_TIMES = 10;
    /** Rows that one node of a plan may read for a search of 20 steps. */
    private static final double MAX_ROWS = 1_000;

    private final Database database = TestDatabase.create();
    private final RunStore store = new RunStore(() -> null, text -> {
        throw new IllegalStateException(text);
    }, Duration.ofDays(1));
    private SeenPlans plans;

    @BeforeAll
    void fill() throws SQLException {
        plans = new SeenPlans(database.dedicatedConnection());
        Connection c = plans.connection();
        RunFixtures.execute(c, "insert into workspaces (id, name) values ('" + WORKSPACE + "', 'versions')");
        RunFixtures.execute(c, "insert into tool_versions (workspace_id, tool, current, ramping, percent, updated_by)"
                + " values ('" + WORKSPACE + "', '" + TOOL + "', '1', '2', 10, 'test')");
        // Runs that stay with a version which is gone, and runs of the current one, which has no workers.
        queue(c, 50_000, "'=0'", "md5('pinned' || n)::uuid");
        queue(c, 50_000, "null", "(left(md5('a' || n), 24) || lpad(to_hex(10 + n % 90), 8, '0'))::uuid");
        queue(c, 300, "null", "(left(md5('b' || n), 24) || lpad(to_hex(n % 10), 8, '0'))::uuid");
        queue(c, FREE, 50_000, "null", "md5('free' || n)::uuid");
        while (store.versions().refresh(c)) {
            // sorts a portion of what was queued without a lot
        }
        RunFixtures.execute(c, "analyze");
        plans.take();
    }

    private static void queue(Connection c, int count, String lot, String run) throws SQLException {
        queue(c, TOOL, count, lot, run);
    }

    private static void queue(Connection c, String tool, int count, String lot, String run) throws SQLException {
        RunFixtures.execute(c, """
                insert into work_queue (task_id, lane, run_id, workspace_id, tool, priority, queued_at, lot)
                select gen_random_uuid(), 0, %s, '%s', '%s', 100, '2026-01-01'::timestamptz + n * interval '1 second', %s
                  from generate_series(1, %d) n""".formatted(run, WORKSPACE, tool, lot, count));
    }

    @AfterAll
    void close() throws SQLException {
        plans.connection().close();
        database.close();
    }

    private List<Candidate> search(String version) throws SQLException {
        return store.candidates(plans.connection(),
                new Search(WORKSPACE, List.of(TOOL, "v.other"), 20, new WorkspaceRoundRobin(), version));
    }

    @Test
    void searchReadsOnlyTheLotsOfItsVersion() throws SQLException {
        for (String version : List.of("0", "1", "2", "3")) {
            plans.take();
            // PostgreSQL plans a statement five times with its values and may then keep a generic plan.
            for (int i = 0; i < 7; i++) {
                assertThat(search(version)).as(version).hasSize(version.equals("3") ? 0 : 20);
            }
            assertThat(plans.take().stream().flatMap(seen -> seen.nodes().stream())
                    .filter(node -> node.path("Relation Name").asString("").equals("work_queue")))
                    .isNotEmpty().allSatisfy(node -> assertThat(rowsRead(node)).as(node.toPrettyString())
                            .isLessThanOrEqualTo(MAX_ROWS));
        }
    }

    /** Searches with and without a rule by turns, so that load of the machine changes both. */
    @Test
    void searchTakesAFewTimesThatWithoutARule() throws SQLException {
        try (Connection c = database.dedicatedConnection()) {
            Map<String, List<Long>> times = new TreeMap<>();
            for (int i = 0; i < TIMED; i++) {
                for (String version : List.of("", "0", "1", "2")) {
                    Search search = new Search(WORKSPACE, List.of(version.isEmpty() ? FREE : TOOL), 20,
                            new WorkspaceRoundRobin(), version.isEmpty() ? "1" : version);
                    long begun = System.nanoTime();
                    assertThat(store.candidates(c, search)).hasSize(20);
                    times.computeIfAbsent(version, _ -> new ArrayList<>()).add(System.nanoTime() - begun);
                }
            }
            double free = median(times.get(""));
            times.forEach((version, all) -> System.out.printf("search of 20 steps%s: %.2f ms, %.1f times%n",
                    version.isEmpty() ? " without a rule" : ", version " + version, median(all) / 1e6,
                    median(all) / free));
            assertThat(median(times.get("1")) / free).isLessThan(MAX_TIMES);
        }
    }

    private static double median(List<Long> nanos) {
        return nanos.stream().sorted().skip(nanos.size() / 2).findFirst().orElseThrow();
    }

    private static double rowsRead(JsonNode node) {
        return (node.path("Actual Rows").asDouble() + node.path("Rows Removed by Filter").asDouble())
                * node.path("Actual Loops").asDouble();
    }

    @Test
    void eachVersionFindsItsOldestSteps() throws SQLException {
        Set<UUID> ramped = new HashSet<>();
        search("2").forEach(found -> ramped.add(found.runId()));
        assertThat(ramped).hasSize(20).allMatch(run -> VersionRule.bucket(run) < 10);
        assertThat(ramped).isEqualTo(oldest("lot in ('00', '01', '02', '03', '04', '05', '06', '07', '08', '09')"));
        assertThat(search("1")).allMatch(found -> VersionRule.bucket(found.runId()) >= 10);
        assertThat(search("0")).extracting(Candidate::runId)
                .containsExactlyInAnyOrderElementsOf(oldest("lot = '=0'"));
    }

    /** The database divides runs as the engine does. */
    @Test
    void lotsAreTheSameInSql() throws SQLException {
        for (int i = 0; i < 500; i++) {
            UUID run = UUID.randomUUID();
            try (PreparedStatement statement =
                    plans.connection().prepareStatement("select keelson_run_lot('" + run + "')");
                    ResultSet row = statement.executeQuery()) {
                row.next();
                assertThat(row.getString(1)).isEqualTo(Lot.of(VersionRule.bucket(run), "1").name());
            }
        }
    }

    private Set<UUID> oldest(String condition) throws SQLException {
        Set<UUID> runs = new HashSet<>();
        try (PreparedStatement statement = plans.connection().prepareStatement(
                "select run_id from work_queue where " + condition + " order by queued_at limit 20");
                ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                runs.add(row.getObject(1, UUID.class));
            }
        }
        return runs;
    }
}
