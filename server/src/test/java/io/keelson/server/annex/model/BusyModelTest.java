package io.keelson.server.annex.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.api.run.Run;
import io.keelson.client.Keelson;
import io.keelson.client.RunRequest;
import io.keelson.devmodel.TestModel;
import io.keelson.server.app.Server;
import io.keelson.server.app.Settings;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Turns that wait for a busy model keep no turns of other models from being taken. */
class BusyModelTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final String SCRIPT = """
            rules:
              - {name: pause, when: {model: busy, first: 1}, answer: {status: 429, headers: {retry-after: "1"}}}
              - {name: probe, when: {model: busy, first: 1}, answer: {text: "late", delay_ms: 4000}}
              - {name: answer, answer: {text: "done"}}
            """;

    @Test
    void aServerThatPreparesOneRequestAtATimeServesOtherModelsDuringAProbe(@TempDir Path folder) throws Exception {
        try (TestModel model = new TestModel(SCRIPT)) {
            Files.writeString(folder.resolve("models.yaml"), """
                    models:
                      busy: {wire: openai-chat, base_url: "%1$s/v1", family: f, context_tokens: 9000, model: busy,
                          max_output_tokens: 500, prices: {input: 1, output: 1}}
                      free: {wire: openai-chat, base_url: "%1$s/v1", family: f, context_tokens: 9000, model: free,
                          max_output_tokens: 500, prices: {input: 1, output: 1}}
                    """.formatted(model.uri("")));
            try (Server server = Server.start(Settings.load(Map.of("KEELSON_DATA_DIR",
                    folder.resolve("data").toString(), "KEELSON_HTTP_PORT", "0", "KEELSON_DATABASE_URL",
                    TestDatabase.text(TestDatabase.createUrl()), "KEELSON_MODELS", "models.yaml",
                    "KEELSON_EXECUTOR_SLOTS", "1"), folder, folder))) {
                Keelson keelson =
                        Keelson.builder().url(server.baseUrl().toString()).apiKey(server.apiKey()).build();
                Run probing = run(keelson, "busy");
                Awaitility.await().atMost(LIMIT).until(() -> rules(model).contains("probe"));
                List<Run> waiting = List.of(run(keelson, "busy"), run(keelson, "busy"));
                Awaitility.await().atMost(LIMIT).until(() -> waiting.stream().allMatch(run -> keelson.runs()
                        .steps(run.id()).stream().anyMatch(step -> step.state().equals("running"))));
                Run other = run(keelson, "free");
                assertThat(keelson.runs().awaitEnd(other.id(), LIMIT).state()).isEqualTo("completed");
                assertThat(model.journal().stream().filter(line -> line.path("rule").asString("").equals("probe"))
                        .map(line -> line.get("outcome").stringValue())).as("the probe has no answer")
                        .containsExactly("open");
                assertThat(keelson.runs().awaitEnd(probing.id(), LIMIT).state()).isEqualTo("completed");
                waiting.forEach(run -> assertThat(keelson.runs().awaitEnd(run.id(), LIMIT).state())
                        .isEqualTo("completed"));
            }
        }
    }

    private static List<String> rules(TestModel model) throws Exception {
        return model.journal().stream().map(line -> line.path("rule").asString("")).toList();
    }

    private static Run run(Keelson keelson, String model) {
        return keelson.runs().create(RunRequest.of(Json.read("""
                {"name": "one", "start": true, "plan": {"tasks": [{"id": "t", "title": "Work",
                 "suggested_agent": {"type": "contractor", "agent_name": "c", "model": "%s"}}]}}""".formatted(model))));
    }
}
