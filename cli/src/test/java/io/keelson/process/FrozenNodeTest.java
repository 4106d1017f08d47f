package io.keelson.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.api.run.Run;
import io.keelson.api.run.Step;
import io.keelson.client.Keelson;
import io.keelson.client.RunRequest;
import io.keelson.client.plan.Mission;
import io.keelson.core.Breadth;
import io.keelson.server.Invariants;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseOptions;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import java.nio.file.Path;
import java.sql.ResultSet;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A node is paused during its work until its leases have expired and another node
 * has done the work; its late reports change nothing.
 */
@Timeout(value = 60, unit = TimeUnit.MINUTES)
@Breadth.InPart(4)
class FrozenNodeTest {
    private static final int PAUSES = Breadth.of(2, 200);
    private static final int TASKS = 5;
    /** All that a late report could change. */
    private static final List<String> TABLES = List.of("orchestration_runs", "run_heads", "run_agents",
            "orchestration_tasks", "orchestration_steps", "orchestration_events", "step_results", "work_queue");

    @Test
    void lateReportsChangeNothing(@TempDir Path folder) throws Exception {
        DatabaseUrl url = TestDatabase.createUrl();
        Map<String, String> shared = Map.of("KEELSON_DATABASE_URL", TestDatabase.text(url), "KEELSON_LEASE_SECONDS",
                "2", "KEELSON_ALLOWED_PROGRAMS", "sleep", "KEELSON_ALLOWED_FOLDERS", folder.toString());
        try (Database database = new Database(url, DatabaseOptions.DEFAULTS.withPoolSize(2));
                ServerProcess one = ServerProcess.start(folder.resolve("one"), shared);
                ServerProcess two = ServerProcess.start(folder.resolve("two"), shared)) {
            for (int pause = 0; pause < PAUSES; pause++) {
                boolean first = pause % 2 == 0;
                freeze(first ? one : two, first ? two : one, database);
            }
            Invariants.hold(database);
            System.out.printf("frozen node: %d pauses, %d leases lost%n", PAUSES, PAUSES * TASKS);
        }
    }

    private static void freeze(ServerProcess frozen, ServerProcess other, Database database) throws Exception {
        Keelson client = other.client();
        String run = frozen.client().runs().create(RunRequest.of(mission().toJson()).start()).id();
        Awaitility.await().atMost(Duration.ofMinutes(1)).pollInterval(Duration.ofMillis(10))
                .until(() -> client.runs().steps(run).stream().allMatch(step -> step.state().equals("running")));
        signal("-STOP", frozen);
        List<String> before;
        try {
            Run ended = client.runs().awaitEnd(run, Duration.ofMinutes(1));
            assertThat(ended.state()).isEqualTo("completed");
            List<Step> steps = client.runs().steps(run);
            // More than once where the machine starves the other, too, for longer than a lease.
            assertThat(steps).as("each step was taken over").hasSize(TASKS)
                    .allMatch(step -> step.leaseEpoch() >= 2 && step.attempt() == 1);
            before = contents(database, run);
        } finally {
            signal("-CONT", frozen);
        }
        Keelson awake = frozen.client();
        String proof = awake.runs().create(RunRequest.of(Mission.named("awake").goal("tell")
                .task("a", t -> t.step("work", "noop", Map.of())).toJson()).start()).id();
        assertThat(awake.runs().awaitEnd(proof, Duration.ofMinutes(1)).state()).isEqualTo("completed");
        Awaitility.await().atMost(Duration.ofMinutes(1)).pollInterval(Duration.ofMillis(20))
                .until(() -> frozen.process().children().findAny().isEmpty());
        assertThat(contents(database, run)).isEqualTo(before);
    }

    /** Steps that are all at work when the node is stopped, and done when it continues. */
    private static Mission mission() {
        Mission mission = Mission.named("taken over").goal("survive");
        for (int i = 0; i < TASKS; i++) {
            mission.task("t" + i, t -> t.step("work", "process.run", Map.of("argv", new String[] {"sleep", "1"})));
        }
        return mission;
    }

    private static void signal(String signal, ServerProcess to) throws Exception {
        assertThat(new ProcessBuilder("kill", signal, Long.toString(to.pid())).start().waitFor()).isZero();
    }

    private static List<String> contents(Database database, String run) {
        return database.withConnection(c -> {
            List<String> rows = new ArrayList<>();
            for (String table : TABLES) {
                String id = table.equals("orchestration_runs") ? "id" : "run_id";
                try (var statement = c.createStatement(); ResultSet row = statement.executeQuery("select t::text from "
                        + table + " t where " + id + " = '" + run + "' order by 1")) {
                    while (row.next()) {
                        rows.add(table + " " + row.getString(1));
                    }
                }
            }
            return rows;
        });
    }
}
