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

/** Programs of {@code process.run} that use models. */
class ProcessGatewayTest {

    private static final String MISSION = """
            {"name": "program", "start": true, "plan": {"tasks": [{"id": "t", "steps": [{"tool": "process.run", "input": {
              "gateway": %s, "parse": "lines", "argv": ["sh", "-c",
                "echo \\"token $KEELSON_STEP_TOKEN\\"; curl -s -H \\"Authorization: Bearer $OPENAI_API_KEY\\" \\"$OPENAI_BASE_URL/models\\"; true"]}}]}]},
             "output": "${ .tasks.t.output.lines }"}""";

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

    private static List<String> lines(ApiServer api, boolean gateway) {
        JsonNode run = api.awaitState(api.create(MISSION.formatted(gateway)), "completed");
        return run.get("output").valueStream().map(JsonNode::stringValue).toList();
    }
}
