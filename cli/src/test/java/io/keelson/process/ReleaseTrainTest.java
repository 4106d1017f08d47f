package io.keelson.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.api.run.Step;
import io.keelson.client.Keelson;
import io.keelson.client.KeelsonException;
import io.keelson.client.RunRequest;
import io.keelson.core.Breadth;
import io.keelson.process.KilledNode.Point;
import io.keelson.server.Invariants;
import io.keelson.server.base.db.CountingProxy.Write;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseOptions;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.mission.plan.Documents;
import io.keelson.server.mission.plan.Format;
import io.keelson.server.mission.plan.ReadResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Runs examples/release-train from its goal to its order, once undisturbed and once with the server killed at up to
 * five points and restarted on the same data folder. Only times may differ.
 */
@Breadth.InPart(0)
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class ReleaseTrainTest {
    private static final Path MISSION = Path.of("../examples/release-train/release-train.yaml");
    private static final Duration TIMEOUT = Duration.ofMinutes(1);

    /** Where the server is killed. */
    private record Kill(Point point, Write write) {}

    /** The planner's first answer arrived and is not recorded. */
    private static final Kill PLANNED = new Kill(Point.BEFORE_COMMIT, event("step_completed"));
    /** The agent requested a tool call, which has not started. */
    private static final Kill TURNED = new Kill(Point.AFTER_COMMIT, new Write("insert into task_steps", "echo"));
    /** The verifier rejected the notes; the agent is killed, too. */
    private static final Kill REJECTED = new Kill(Point.AFTER_COMMIT, event("task_verification_failed"));
    /** The order is placed, and neither its command nor its step is recorded. */
    private static final Kill PLACED = new Kill(Point.AFTER_COMMIT, new Write("insert into simulated_effects", ""));
    /** All tasks are completed, and the run is about to be. */
    private static final Kill ENDED = new Kill(Point.BEFORE_COMMIT, event("run_completed"));

    @Test
    void killsChangeNothingButTheTime(@TempDir Path folder) throws Exception {
        DatabaseUrl url = TestDatabase.createUrl();
        try (Database database = new Database(url, DatabaseOptions.DEFAULTS.withPoolSize(2));
                KilledNode node = new KilledNode(folder, url,
                        Map.of("KEELSON_LEASE_SECONDS", "2", "KEELSON_PROVIDER_TIMEOUT_SECONDS", "1"))) {
            node.awaitReady();
            try (TrainProcess worker = new TrainProcess(node.address(), folder.resolve("worker.log"))) {
                List<String> undisturbed = undisturbed(node);
                List<String> killed = killed(node, worker);
                assertThat(String.join("\n", killed)).isEqualTo(String.join("\n", undisturbed));
            }
            assertThat(node.client().api().get("/orders").get("items")).as("one order of each run").hasSize(2);
            Invariants.hold(database);
        }
    }

    private static List<String> undisturbed(KilledNode node) throws IOException {
        Keelson client = node.client();
        String run = create(client);
        client.runs().start(run);
        awaitPlan(client, run);
        client.runs().approve(run, "a good plan");
        awaitSignal(client, run);
        client.runs().approve(run, "the line is clear");
        return end(client, run);
    }

    private static List<String> killed(KilledNode node, TrainProcess worker) throws Exception {
        String run = create(node.client());
        send(node, worker, () -> node.client().runs().start(run), PLANNED);
        awaitPlan(node.client(), run);
        send(node, worker, () -> node.client().runs().approve(run, "a good plan"), TURNED, REJECTED);
        awaitSignal(node.client(), run);
        send(node, worker, () -> node.client().runs().approve(run, "the line is clear"), PLACED, ENDED);
        return end(node.client(), run);
    }

    /** Sends a request, and kills and restarts the server at the points that follow it. */
    private static void send(KilledNode node, TrainProcess worker, Request request, Kill... points) throws Exception {
        List<Kill> kills = List.of(points);
        doomAtNext(node, kills, 0);
        send(request);
        for (int killed = 0; killed < kills.size(); killed++) {
            node.awaitDeath();
            if (kills.get(killed).equals(REJECTED)) {
                worker.killAndRestart();
            }
            doomAtNext(node, kills, killed + 1);
            node.restart();
        }
        node.awaitReady();
    }

    private static void doomAtNext(KilledNode node, List<Kill> kills, int next) {
        if (next < kills.size()) {
            node.doom(kills.get(next).point(), kills.get(next).write(), 0);
        }
    }

    private static String create(Keelson client) throws IOException {
        JsonNode mission = ((ReadResult.Ok<JsonNode>) Documents.read(Files.readAllBytes(MISSION), Format.YAML)).value();
        ((ObjectNode) mission).put("start", false);
        Awaitility.await().atMost(TIMEOUT).pollInterval(Duration.ofMillis(20)).until(
                () -> client.workers().stream().anyMatch(worker -> worker.tools().contains("plan")));
        return client.runs().create(RunRequest.of(mission)).id();
    }

    private interface Request {
        void send() throws Exception;
    }

    /** Sends a request that the server accepts before it is killed; the response may be lost. */
    private static void send(Request request) throws Exception {
        try {
            request.send();
        } catch (KeelsonException e) {
            assertThat(e.status()).as("no refusal: " + e.getMessage()).isZero();
        }
    }

    private static void awaitPlan(Keelson client, String run) {
        Awaitility.await().atMost(TIMEOUT).pollInterval(Duration.ofMillis(20))
                .until(() -> client.runs().get(run).state().equals("awaiting_approval"));
    }

    private static void awaitSignal(Keelson client, String run) {
        Awaitility.await().atMost(TIMEOUT).pollInterval(Duration.ofMillis(20)).until(
                () -> client.runs().steps(run).stream().map(Step::state).anyMatch("waiting_approval"::equals));
    }

    private static List<String> end(Keelson client, String run) {
        assertThat(client.runs().awaitEnd(run, TIMEOUT).state()).isEqualTo("completed");
        return Story.of(client, run);
    }

    private static Write event(String type) {
        return new Write("insert into run_event_packs", type);
    }
}
