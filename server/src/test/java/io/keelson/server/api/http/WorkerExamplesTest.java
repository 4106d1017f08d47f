package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** The workers in Python and Node that readers copy: a tool, a wrapped agent and an agent in turns. */
class WorkerExamplesTest {
    private static final Path EXAMPLES = Path.of("../examples/workers");

    @ParameterizedTest
    @CsvSource({"python3, python, worker.py wrapped_agent.py turn.py",
            "node, node, worker.mjs wrapped-agent.mjs turn.mjs"})
    void servesTheMission(String program, String folder, String files, @TempDir Path data) throws Exception {
        List<Process> workers = new ArrayList<>();
        try (ApiServer api = new ApiServer(data)) {
            assertThat(api.post("/api/v1/dispatch/register", """
                    {"worker_id": "ci", "tool_specs": [{"name": "text.words"}, {"name": "agent.write"},
                     {"name": "agent.turn"}]}""").status()).as("missions may name them before a worker is up")
                    .isEqualTo(204);
            String run = api.create(Files.readString(EXAMPLES.resolve("mission.json")).replaceFirst("\\{",
                    "{\"start\": true,"));
            for (String file : files.split(" ")) {
                ProcessBuilder worker = new ProcessBuilder(program, file).directory(EXAMPLES.resolve(folder).toFile())
                        .redirectErrorStream(true).redirectOutput(data.resolve(file + ".log").toFile());
                worker.environment().putAll(Map.of("KEELSON_URL", api.url().toString(), "KEELSON_API_KEY",
                        api.key(), "PYTHONDONTWRITEBYTECODE", "1"));
                workers.add(worker.start());
            }
            JsonNode ended = api.awaitState(run, "completed");
            assertThat(ended.get("output").toString()).isEqualTo("{\"turns\":2,\"words\":21}");
            assertThat(ended.get("credits_charged").decimalValue()).as("three calls of the wrapped agent's model")
                    .isEqualByComparingTo("0.03");
        } finally {
            workers.forEach(Process::destroyForcibly);
        }
    }
}
