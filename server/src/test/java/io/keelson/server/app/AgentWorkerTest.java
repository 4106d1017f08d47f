package io.keelson.server.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.api.definition.Agent;
import io.keelson.api.run.Run;
import io.keelson.api.run.Step;
import io.keelson.client.AgentRequest;
import io.keelson.client.Json;
import io.keelson.client.Keelson;
import io.keelson.client.worker.Turn;
import io.keelson.client.worker.Worker;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** An agent that is served by the worker SDK, against a whole server. */
class AgentWorkerTest {
    private static final DatabaseUrl URL = TestDatabase.createUrl();

    @Test
    void anotherWorkerResumesFromTheCheckpoint(@TempDir Path folder) throws Exception {
        try (Server server = Server.start(Settings.load(Map.of("KEELSON_DATA_DIR", folder.toString(),
                "KEELSON_HTTP_PORT", "0", "KEELSON_DATABASE_URL", TestDatabase.text(URL)),
                folder, folder))) {
            Keelson keelson = Keelson.builder().url(server.baseUrl().toString()).apiKey(server.apiKey()).build();
            Agent agent = keelson.agents().create(AgentRequest.of("counter").tools(List.of("echo")).maxTurns(9)
                    .instructions("Count."));
            assertThat(keelson.agents().get(Integer.toString(agent.id()))).isEqualTo(agent);
            claim(keelson, 0, 30_000);
            Run run = keelson.agents().run("counter", "Count to three", Map.of("from", 1));

            JsonNode first = claim(keelson, 20_000, 30_000);
            JsonNode calls = Json.object().put("worker_id", "mortal").set("items", Json.of(List.of(Map.of("step_id",
                    first.get("step_id"), "lease_epoch", first.get("lease_epoch"), "output",
                    Map.of("tool_calls", List.of(Map.of("name", "echo", "input", Map.of("n", 1))))))));
            keelson.api().post("/dispatch/complete", calls);
            assertThat(claim(keelson, 20_000, 1_000).at("/input/transcript/0/results/0/output/n").intValue())
                    .isEqualTo(1);

            try (Worker _ = Worker.builder(keelson).agent(AgentWorkerTest::count).poll(Duration.ofMillis(200)).build()
                    .start()) {
                Run ended = keelson.runs().awaitEnd(run.id(), Duration.ofSeconds(60));
                assertThat(ended.state()).isEqualTo("completed");
                assertThat(keelson.runs().tasks(run.id()).getFirst().output().toString())
                        .isEqualTo("[1,2,3]");
            }
            keelson.agents().delete("counter");
            assertThat(keelson.agents().list(null, 10).items()).isEmpty();
        }
    }

    @Test
    void effectsThatWorkersAnnounceDecideHowTheirCallsAreMade(@TempDir Path folder) throws Exception {
        try (Server server = Server.start(Settings.load(Map.of("KEELSON_DATA_DIR", folder.resolve("data").toString(),
                "KEELSON_HTTP_PORT", "0", "KEELSON_DATABASE_URL", TestDatabase.text(TestDatabase.createUrl())),
                folder, folder))) {
            Keelson keelson = Keelson.builder().url(server.baseUrl().toString()).apiKey(server.apiKey()).build();
            Map<String, String> effects = Map.of("t.read", "read", "t.look", "read", "t.once", "once", "t.remove",
                    "destructive");
            ObjectNode announces = Json.object().put("worker_id", "marks");
            announces.set("tools", Json.of(List.copyOf(effects.keySet())));
            effects.forEach((tool, mark) -> announces.withArrayProperty("tool_specs").addObject().put("name", tool)
                    .put("effects", mark));
            keelson.api().post("/dispatch/claim", announces);
            keelson.agents().create(AgentRequest.of("marked").tools(List.copyOf(effects.keySet())).maxTurns(9)
                    .instructions("Go."));
            claim(keelson, 0, 30_000);
            Run run = keelson.agents().run("marked", "Go", Map.of());

            complete(keelson, claim(keelson, 20_000, 30_000),
                    Map.of("tool_calls", List.of(call("t.read"), call("t.look"))));
            JsonNode read = claim(keelson, "t.read", 20_000, 30_000);
            JsonNode look = claim(keelson, "t.look", 20_000, 30_000);
            assertThat(look.isObject()).as("claimed while the other call is at work").isTrue();
            complete(keelson, read, Map.of());
            complete(keelson, look, Map.of());

            complete(keelson, claim(keelson, 20_000, 30_000), Map.of("tool_calls", List.of(call("t.once"))));
            assertThat(claim(keelson, "t.once", 20_000, 1_000).isObject()).isTrue();
            JsonNode next = claim(keelson, 30_000, 30_000);
            assertThat(next.at("/input/transcript/1/results/0/error/code").asString()).isEqualTo("OUTCOME_UNKNOWN");
            assertThat(claim(keelson, "t.once", 0, 1_000).isMissingNode()).isTrue();

            complete(keelson, next, Map.of("tool_calls", List.of(call("t.remove"))));
            assertThat(claim(keelson, "t.remove", 0, 1_000).isMissingNode()).isTrue();
            Step asked = keelson.runs().steps(run.id()).stream().filter(step -> step.tool().equals("t.remove"))
                    .findFirst().orElseThrow();
            assertThat(asked.state()).isEqualTo("waiting_approval");
            keelson.steps().approve(asked.id(), null);
            complete(keelson, claim(keelson, "t.remove", 20_000, 30_000), Map.of());
            complete(keelson, claim(keelson, 20_000, 30_000), Map.of("output", "gone"));
            assertThat(keelson.runs().awaitEnd(run.id(), Duration.ofSeconds(60)).state()).isEqualTo("completed");
        }
    }

    private static Map<String, Object> call(String tool) {
        return Map.of("name", tool, "input", Map.of());
    }

    private static void complete(Keelson keelson, JsonNode step, Map<String, Object> output) {
        JsonNode answer = keelson.api().post("/dispatch/complete", Json.object().put("worker_id", "mortal").set("items",
                Json.of(List.of(Map.of("step_id", step.get("step_id"), "lease_epoch", step.get("lease_epoch"), "output",
                        output)))));
        assertThat(answer.toString()).doesNotContain("stale_lease");
    }

    /** Of a worker that sends nothing more. */
    private static JsonNode claim(Keelson keelson, int waitMillis, int leaseMillis) {
        return claim(keelson, "agent.turn", waitMillis, leaseMillis);
    }

    private static JsonNode claim(Keelson keelson, String tool, int waitMillis, int leaseMillis) {
        return keelson.api().post("/dispatch/claim", Json.object().put("worker_id", "mortal").put("max", 1)
                .put("wait_ms", waitMillis).put("lease_ms", leaseMillis).set("tools", Json.of(List.of(tool))))
                .path("items").path(0);
    }

    private static Turn.Answer count(Turn turn) {
        assertThat(turn.instructions()).isEqualTo("Count.");
        assertThat(turn.inputs().path("from").intValue()).isEqualTo(1);
        assertThat(turn.tools()).containsExactly("echo");
        List<Integer> numbers = turn.transcript().stream().flatMap(past -> past.results().stream())
                .map(result -> result.output().path("n").intValue()).toList();
        return numbers.size() == 3 ? Turn.done(numbers)
                : Turn.call("echo", Map.of("n", turn.number())).note("why", "it is next");
    }
}
