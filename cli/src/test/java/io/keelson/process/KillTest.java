package io.keelson.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.api.run.Event;
import io.keelson.api.run.Run;
import io.keelson.api.run.Step;
import io.keelson.client.Keelson;
import io.keelson.client.RunRequest;
import io.keelson.client.plan.Mission;
import io.keelson.core.Breadth;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** kill -9 during work, on the embedded database: no step is lost or done twice, and no process is left behind. */
@ExtendWith(Breadth.InFailures.class)
@Timeout(value = 60, unit = TimeUnit.MINUTES)
class KillTest {
    private static final int TASKS = 200;
    private static final int KILLS = Breadth.of(1, 50);
    private static final int KILLS_OF_CHAINS = Breadth.of(4, 200);
    private static final int CHAINED_TASKS = Breadth.of(30, 100);
    /** A step takes some milliseconds. */
    private static final int ADDITIONS = 3_000;
    private static final int CHAINED_STEPS = 12;
    private static final long SEED = Long.getLong("keelson.kill.seed", 1 + Breadth.part());
    private static final Map<String, String> QUICK = Map.of("KEELSON_LEASE_SECONDS", "2");
    /** Fewer slots than runs, which are queued therefore. */
    private static final Map<String, String> NARROW =
            Map.of("KEELSON_LEASE_SECONDS", "2", "KEELSON_EXECUTOR_SLOTS", "2");
    /** Runs that are created after each start. */
    private static final int QUEUED = 20;

    @TempDir
    Path folder;

    @Test
    void runSurvivesKillsAtRandomMoments() throws Exception {
        survives(mission(), 3 * TASKS, KILLS, 20, QUICK, 0);
    }

    /** Kills between the execution and the report of steps: unreported steps are executed again. Beside the run, others are queued. */
    @Test
    @Breadth.InPart(6)
    void runsOfChainsSurviveKillsAtRandomMoments() throws Exception {
        survives(chains(), CHAINED_TASKS * CHAINED_STEPS, KILLS_OF_CHAINS, 60, NARROW, QUEUED);
    }

    private void survives(Mission mission, int steps, int kills, int between, Map<String, String> settings, int queued)
            throws Exception {
        Random random = new Random(SEED);
        List<String> runs = new ArrayList<>();
        int before = 0;
        QueuedRuns others = new QueuedRuns();
        for (int kill = 0; kill < kills; kill++) {
            ServerProcess server = ServerProcess.start(folder, settings);
            if (runs.isEmpty() || server.client().runs().get(runs.getLast()).ended()) {
                runs.add(server.client().runs().create(RunRequest.of(mission.toJson()).start()).id());
            }
            String run = runs.getLast();
            others.create(server.client(), queued);
            int enough = server.client().runs().get(run).stepsCompleted() + 1 + random.nextInt(between);
            awaitSteps(server.client(), run, enough);
            before += server.client().runs().get(run).ended() ? 0 : 1;
            server.kill();
        }
        System.out.printf("random kills: seed %d, %d kills, %d before the end of one of %d runs%n", SEED, kills, before,
                runs.size());
        try (ServerProcess server = ServerProcess.start(folder, settings)) {
            for (String run : runs) {
                Run ended = server.client().runs().awaitEnd(run, Duration.ofMinutes(3));
                assertThat(ended.state()).as("seed %s, %s kills: %s", SEED, kills, ended.errorMessage())
                        .isEqualTo("completed");
                assertSound(server.client(), run, steps);
            }
            assertSound(server.client(), others, queued);
        }
        assertThat(leftBehind()).as("PostgreSQL left behind").isEmpty();
    }

    private static void awaitSteps(Keelson client, String run, int steps) {
        Awaitility.await().atMost(Duration.ofMinutes(2)).pollInterval(Duration.ofMillis(20)).until(() -> {
            Run now = client.runs().get(run);
            return now.stepsCompleted() >= steps || now.ended();
        });
    }

    /** 200 tasks in twenty chains of ten, each with a pause that holds no worker and a piece of work. */
    private static Mission mission() {
        Mission mission = Mission.named("two hundred").goal("survive");
        for (int i = 0; i < TASKS; i++) {
            int task = i;
            mission.task("t" + i, t -> {
                t.step("work", "noop", Map.of()).step("nap", "wait", Map.of("seconds", 0.3))
                        .step("more", "echo", Map.of("n", task));
                return task < 20 ? t : t.dependsOn("t" + (task - 20));
            });
        }
        return mission;
    }

    /** Tasks in a row, each a chain of steps that compute for some milliseconds and use the step before them. */
    private static Mission chains() {
        Mission mission = Mission.named("chains").goal("survive");
        for (int i = 0; i < CHAINED_TASKS; i++) {
            int task = i;
            mission.task("t" + i, t -> {
                t.step("s0", "noop", Map.of("output", task));
                for (int s = 1; s < CHAINED_STEPS; s++) {
                    t.step("s" + s, "json.transform",
                            Map.of("expression", "reduce range(" + ADDITIONS + ") as $i (.; . + 1)", "input",
                                    "${ .steps.s" + (s - 1) + ".output }"));
                }
                return task == 0 ? t : t.dependsOn("t" + (task - 1));
            });
        }
        return mission;
    }

    private static void assertSound(Keelson client, QueuedRuns others, int created)
            throws InterruptedException {
        List<String> ids = others.ids();
        int early = 0;
        for (String id : ids) {
            assertThat(client.runs().awaitEnd(id, Duration.ofMinutes(3)).state()).isEqualTo("completed");
            early += QueuedRuns.isOfOneCommit(assertSound(client, id, QueuedRuns.STEPS)) ? 1 : 0;
        }
        System.out.printf("queued runs: %d, of which %d have one commit behind their creation%n", ids.size(), early);
        assertThat(early).isGreaterThanOrEqualTo(Math.min(1, created));
    }

    private static List<Event> assertSound(Keelson client, String run, int expected) {
        List<Step> steps = client.runs().steps(run);
        assertThat(steps).hasSize(expected).allMatch(step -> step.state().equals("completed"));
        List<Event> events = new ArrayList<>();
        long after = 0;
        for (List<Event> page = page(client, run, after); !page.isEmpty(); page = page(client, run, after)) {
            events.addAll(page);
            after = page.getLast().seq();
        }
        Map<UUID, Integer> ends = new HashMap<>();
        for (int i = 0; i < events.size(); i++) {
            assertThat(events.get(i).seq()).as("no gap").isEqualTo(i + 1L);
            if (events.get(i).eventType().equals("step_completed")) {
                ends.merge(UUID.fromString(events.get(i).stepId()), 1, Integer::sum);
            }
        }
        assertThat(ends).hasSize(expected);
        assertThat(ends.values()).as("each step has exactly one result").containsOnly(1);
        return events;
    }

    private static List<Event> page(Keelson client, String run, long after) {
        return client.runs().events(run, after, 500).items();
    }

    private List<String> leftBehind() {
        return ProcessHandle.allProcesses().map(process -> process.info().commandLine().orElse(""))
                .filter(line -> line.contains(folder.toString())).toList();
    }
}
