package io.keelson.cli.models;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.cli.CliProcess.Result;
import io.keelson.cli.InProcessCli;
import io.keelson.devmodel.TestModel;
import io.keelson.server.base.json.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** {@code keelson models check} against dev-model. */
class ModelsCheckTest {

    private static final String KEY = "sk-canary-31415";
    private static final String SCRIPT = """
            rules:
              - {when: {text: Count, nth: 2}, answer: {text: one two, finish: length, usage: {input: 9, output: 16}}}
              - {when: {text: Count, first: 1}, answer: {text: one two three four five six seven, drip_ms: 1}}
              - {when: {text: Count}, answer: {text: one two three four five six, drip_ms: 200}}
              - {when: {last_tool: double}, answer: {text: "It is 42."}}
              - {when: {system: choose numbers, nth: 2}, answer: {text: "7", usage: {input: 10, cache_read: 5000, output: 1}}}
              - {when: {text: ready}, answer: {text: ready}}
              - {when: {text: Double}, answer: {calls: [{tool: double, input: {number: 21}}]}}
              - {when: {text: from 1 to 9}, answer: {json: {number: 7}}}
              - {when: {text: Choose a number}, answer: {text: "7"}}
            """;

    @TempDir
    Path folder;

    private Result check(String wire, String base, String... more) {
        String[] all = new String[more.length + 9];
        System.arraycopy(new String[] {"models", "check", "m", "--url", base, "--wire", wire, "--key-env", "A_KEY"}, 0,
                all, 0, 9);
        System.arraycopy(more, 0, all, 9, more.length);
        return InProcessCli.run(Map.of("KEELSON_DATA_DIR", folder.toString(), "A_KEY", KEY), all);
    }

    @ParameterizedTest
    @CsvSource({"openai-responses, /v1", "openai-chat, /v1", "anthropic-messages, ''"})
    void everyWirePassesEveryProbe(String wire, String path) throws Exception {
        try (TestModel model = new TestModel(SCRIPT)) {
            Result result = check(wire, model.uri(path).toString(), "--json");

            JsonNode document = Json.read(result.out());
            assertThat(document.get("items").valueStream()
                    .collect(Collectors.toMap(each -> each.get("probe").asString(),
                            each -> each.get("result").asString())))
                    .as(result.out()).containsOnlyKeys("answer", "usage", "stream",
                            "output limit", "tool call", "tool result", "output schema", "cache", "cancel")
                    .allSatisfy((probe, found) -> assertThat(found).as(probe).isEqualTo("ok"));
            assertThat(result.code()).isZero();
            assertThat(result.out() + result.err()).doesNotContain("canary");
        }
    }

    @Test
    void refusedKeyEndsTheCheckWithTheProvidersWordsAndWithoutTheKey() throws Exception {
        try (TestModel model = new TestModel("""
                rules:
                  - answer: {status: 401, error: {type: invalid_request_error, code: invalid_api_key,
                      message: "Incorrect API key: %s"}}
                """.formatted(KEY))) {
            Result result = check("openai-chat", model.uri("/v1").toString());

            assertThat(result.code()).isEqualTo(1);
            assertThat(result.out()).contains("keelson ", "openai-chat at http://127.0.0.1", "answer", "failed",
                    "KEY_REFUSED").doesNotContain("canary");
            assertThat(model.journal()).hasSize(1);
        }
    }

    @ParameterizedTest
    @CsvSource({"telex, http://127.0.0.1:1, INVALID_WIRE", "openai-chat, ftp://127.0.0.1, INVALID_URL"})
    void wrongOptionsAreUsageErrors(String wire, String url, String code) {
        Result result = check(wire, url);

        assertThat(result.code()).isEqualTo(2);
        assertThat(result.err()).contains(code);
    }

    @Test
    void modelOfTheFileIsProbedWithItsKey() throws Exception {
        try (TestModel model = new TestModel("rules: [{answer: {text: ready}}]")) {
            Path file = Files.writeString(folder.resolve("models.yaml"), """
                    models:
                      small: {wire: openai-chat, base_url: "%s", model: m-small, family: f, api_key: {env: A_KEY},
                              context_tokens: 9, max_output_tokens: 9}
                    """.formatted(model.uri("/v1")));
            Map<String, String> environment =
                    Map.of("KEELSON_DATA_DIR", folder.toString(), "A_KEY", KEY, "KEELSON_MODELS", file.toString());

            Result result = InProcessCli.run(environment, "models", "check", "small");
            assertThat(result.code()).as("dev-model calls no tool by this script").isEqualTo(1);
            assertThat(result.out().lines()).anyMatch(line -> line.matches("tool call +failed .*"))
                    .anyMatch(line -> line.matches("answer +ok .*"));
            assertThat(model.journal()).allSatisfy(
                    request -> assertThat(request.get("model").stringValue()).isEqualTo("m-small"));
            Result unknown = InProcessCli.run(environment, "models", "check", "smal");
            assertThat(unknown.err()).contains("MODEL_NOT_FOUND", "small").doesNotContain("canary");
        }
    }
}
