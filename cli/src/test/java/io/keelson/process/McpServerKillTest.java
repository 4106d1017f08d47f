package io.keelson.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.client.Keelson;
import io.keelson.client.plan.Mission;
import io.keelson.core.Breadth;
import io.keelson.server.api.http.McpPeer;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** A run that an MCP client has started: its task survives the server. */
@Breadth.InPart(2)
class McpServerKillTest {
    private static final String TASKS =
            "{\"extensions\": {\"io.modelcontextprotocol/tasks\": {}}, \"elicitation\": {\"form\": {}}}";
    private static final String ONCE = """
            {"name": "mission_start", "arguments": {"recipe": "signed", "idempotency_key": "once"}}""";

    @TempDir
    private Path folder;

    private Path data() {
        return folder.resolve("data");
    }

    @Test
    void aTaskIsFoundByItsIdAfterTheServerWasKilled(@TempDir Path folder) throws Exception {
        Map<String, String> settings = Map.of("KEELSON_DATABASE_URL", TestDatabase.text(TestDatabase.createUrl()),
                "KEELSON_LEASE_SECONDS", "2");
        String run;
        try (ServerProcess first = ServerProcess.start(data(), settings)) {
            Keelson keelson = first.client();
            keelson.recipes().create(Mission.of((ObjectNode) Json.read("""
                    {"name": "signed", "plan": {"tasks": [{"id": "ask", "title": "Ask", "steps": [
                      {"name": "sign-off", "kind": "approval", "input": {"question": "Go on?"}}]}]}}""")));
            JsonNode created = peer(first).modern("tools/call", ONCE).result();
            assertThat(created.path("resultType").asString()).isEqualTo("task");
            run = created.path("taskId").asString();
            first.kill();
        }
        try (ServerProcess second = ServerProcess.start(data(), settings)) {
            McpPeer peer = peer(second);
            String task = "{\"taskId\": \"%s\"}".formatted(run);
            JsonNode asked = Awaitility.await().atMost(Duration.ofSeconds(60)).until(
                    () -> peer.modern("tasks/get", task).result(),
                    found -> found.path("status").asString().equals("input_required"));
            String key = asked.path("inputRequests").propertyNames().iterator().next();
            peer.modern("tasks/update",
                    """
                    {"taskId": "%s", "inputResponses": {"%s": {"action": "accept", "content": {"decision": "accept"}}}}"""
                            .formatted(run, key))
                    .result();
            JsonNode done = Awaitility.await().atMost(Duration.ofSeconds(60)).until(
                    () -> peer.modern("tasks/get", task).result(),
                    found -> found.path("status").asString().equals("completed"));
            assertThat(done.at("/result/structuredContent/status").asString()).isEqualTo("completed");
            assertThat(peer.modern("tools/call", ONCE).result().path("taskId").asString()).isEqualTo(run);
        }
    }

    private McpPeer peer(ServerProcess server) throws IOException {
        return new McpPeer(server.url(), "Bearer " + Files.readString(data().resolve("api-key")).strip(), TASKS);
    }
}
