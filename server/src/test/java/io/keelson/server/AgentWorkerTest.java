package io.keelson.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.client.Agent;
import io.keelson.client.AgentRequest;
import io.keelson.client.Json;
import io.keelson.client.Keelson;
import io.keelson.client.Run;
import io.keelson.client.worker.Turn;
import io.keelson.client.worker.Worker;
import io.keelson.server.db.DatabaseUrl;
import io.keelson.server.db.TestDatabase;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

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

    /** Of a worker that is never heard of again. */
    private static JsonNode claim(Keelson keelson, int waitMillis, int leaseMillis) {
        return keelson.api().post("/dispatch/claim", Json.object().put("worker_id", "mortal").put("max", 1)
                .put("wait_ms", waitMillis).put("lease_ms", leaseMillis).set("tools", Json.of(List.of("agent.turn"))))
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
