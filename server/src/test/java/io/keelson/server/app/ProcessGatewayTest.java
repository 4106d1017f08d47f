package io.keelson.server.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.api.http.ApiServer;
import io.keelson.server.base.db.TestDatabase;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Programs of {@code process.run} that use models and tools. */
class ProcessGatewayTest {

    private static final String MISSION = """
            {"name": "program", "start": true, "plan": {"tasks": [{"id": "t", "steps": [{"tool": "process.run", "input": {
              "gateway": %s, "parse": "lines", "argv": ["sh", "-c",
                "echo \\"token $KEELSON_STEP_TOKEN\\"; curl -s -H \\"Authorization: Bearer $OPENAI_API_KEY\\" \\"$OPENAI_BASE_URL/models\\"; true"]}}]}]},
             "output": "${ .tasks.t.output.lines }"}""";

    private static final String ASKS = """
            {"name": "asks", "start": true, "plan": {"tasks": [{"id": "t", "steps": [{"tool": "process.run", "input": {
              "gateway": true, "parse": "lines", "argv": ["sh", "-c",
                "curl -s -H \\"Authorization: Bearer $KEELSON_STEP_TOKEN\\" -H 'Content-Type: application/json' -d '%s' $KEELSON_MCP_URL"]}}]}]},
             "output": "${ .tasks.t.output.lines }"}""".formatted("""
            {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
             "params": {"name": "ask_person", "arguments": {"question": "Go on?"}}}""".replace("\n", "")
            .replace("\"", "\\\""));

    @TempDir
    private Path folder;

    @Test
    void programHasAccessToTheGatewayWhereItsStepSaysSo() throws Exception {
        try (ApiServer api = new ApiServer(Files.createDirectory(folder.resolve("data")), TestDatabase.createUrl(),
                Map.of("KEELSON_ALLOWED_PROGRAMS", "sh", "KEELSON_ALLOWED_FOLDERS",
                        Files.createDirectory(folder.resolve("work")).toString()))) {
            assertThat(lines(api, true)).hasSize(2).startsWith("token [secret]")
                    .last().asString().contains("\"object\":\"list\"");
            assertThat(lines(api, false)).containsExactly("token ");
        }
    }

    @Test
    void programThatWaitsForAPersonIsEndedUntilTheAnswer() throws Exception {
        try (ApiServer api = new ApiServer(Files.createDirectory(folder.resolve("data")), TestDatabase.createUrl(),
                Map.of("KEELSON_PARK_SECONDS", "1", "KEELSON_ALLOWED_PROGRAMS", "sh", "KEELSON_ALLOWED_FOLDERS",
                        Files.createDirectory(folder.resolve("work")).toString()))) {
            String run = api.create(ASKS);
            api.awaitStep(run, "waiting");
            JsonNode question = api.get("/api/v1/inbox?run_id=" + run).json().at("/items/0");
            api.post("/api/v1/inbox/" + question.get("id").stringValue() + "/accept", "{\"answer\": \"yes\"}");
            assertThat(api.awaitState(run, "completed").get("output").toString()).contains("yes");
            JsonNode step = api.get("/api/v1/runs/" + run + "/steps").json().at("/items/0");
            assertThat(step.get("attempt").intValue()).isEqualTo(1);
            assertThat(step.get("lease_epoch").intValue()).isEqualTo(2);
        }
    }

    private static List<String> lines(ApiServer api, boolean gateway) {
        JsonNode run = api.awaitState(api.create(MISSION.formatted(gateway)), "completed");
        return run.get("output").valueStream().map(JsonNode::stringValue).toList();
    }
}
