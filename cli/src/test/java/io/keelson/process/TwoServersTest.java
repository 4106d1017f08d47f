package io.keelson.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.api.run.Run;
import io.keelson.client.Keelson;
import io.keelson.client.RunRequest;
import io.keelson.client.plan.Mission;
import io.keelson.core.Breadth;
import io.keelson.server.base.db.TestDatabase;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Two servers on one database: when one is killed in the middle of its work, the other takes it over. */
@Timeout(value = 20, unit = TimeUnit.MINUTES)
@Breadth.InPart(5)
class TwoServersTest {
    private static final Duration LEASE = Duration.ofSeconds(3);
    private static final int TASKS = 12;

    @TempDir
    Path folder;

    @Test
    void theOtherServerFinishesTheWorkOfAKilledOne() throws Exception {
        Map<String, String> shared = Map.of("KEELSON_DATABASE_URL", TestDatabase.text(TestDatabase.createUrl()),
                "KEELSON_LEASE_SECONDS", Long.toString(LEASE.toSeconds()), "KEELSON_ALLOWED_PROGRAMS", "sleep",
                "KEELSON_ALLOWED_FOLDERS", folder.toString());
        try (ServerProcess doomed = ServerProcess.start(folder.resolve("one"), shared);
                ServerProcess other = ServerProcess.start(folder.resolve("two"), shared)) {
            String run = doomed.client().runs().create(RunRequest.of(mission().toJson()).start()).id();
            awaitRunning(doomed.client(), run);
            doomed.kill();
            Keelson client = other.client();
            Awaitility.await().atMost(Duration.ofMinutes(2)).pollInterval(Duration.ofMillis(20))
                    .until(() -> client.runs().steps(run).stream().allMatch(step -> step.leaseEpoch() >= 2));
            Run ended = client.runs().awaitEnd(run, Duration.ofMinutes(1));
            assertThat(ended.state()).isEqualTo("completed");
            assertThat(client.runs().steps(run)).hasSize(TASKS)
                    .allMatch(step -> step.leaseEpoch() >= 2 && step.attempt() == 1);
        }
    }

    private static void awaitRunning(Keelson client, String run) {
        Awaitility.await().atMost(Duration.ofMinutes(2)).pollInterval(Duration.ofMillis(20))
                .until(() -> client.runs().steps(run).stream().allMatch(step -> step.state().equals("running")));
    }

    /** Steps that are all at work for longer than it takes to kill the server, and short ones when done again. */
    private static Mission mission() {
        Mission mission = Mission.named("taken over").goal("survive");
        for (int i = 0; i < TASKS; i++) {
            mission.task("t" + i, t -> t.step("work", "process.run", Map.of("argv", new String[] {"sleep", "2"})));
        }
        return mission;
    }
}
