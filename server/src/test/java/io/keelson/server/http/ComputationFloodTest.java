package io.keelson.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.db.TestDatabase;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Endless computations of one workspace, while others work. */
class ComputationFloodTest {

    private static final String ENDLESS = "reduce range(1e9) as $i (0; . + $i)";
    private static final Duration PROMPT = Duration.ofSeconds(1);

    @TempDir
    Path folder;

    @Test
    void othersAreServedMeanwhileAndTheRunsBudgetEnds() throws Exception {
        try (ApiServer api = new ApiServer(folder, TestDatabase.createUrl(),
                Map.of("KEELSON_RUN_COMPUTE_SECONDS", "12"))) {
            String flood = api.create(flood());
            Awaitility.await().atMost(Duration.ofSeconds(30)).pollInterval(Duration.ofMillis(20)).until(() -> api
                    .get("/api/v1/runs/" + flood + "/steps").json().get("items").valueStream()
                    .filter(step -> step.get("state").stringValue().equals("running")).count() > 2);
            String stranger = api.stranger();
            long start = System.nanoTime();
            String run = api.post("/api/v1/runs", """
                    {"name": "small", "start": true, "plan": {"tasks": [
                      {"id": "one", "steps": [{"name": "sum", "tool": "json.transform",
                        "input": {"expression": "[range(10)] | add"}}]},
                      {"id": "two", "depends_on": ["one"], "when": "${ .tasks.one.output == 45 }", "steps": [
                        {"name": "text", "tool": "text.template",
                         "input": {"template": "{{n}}", "data": {"n": "${ .tasks.one.output + 1 }"}}}]}]},
                     "output": "${ .tasks.two.output }"}""", "Authorization", stranger).json().get("id")
                    .stringValue();
            Awaitility.await().atMost(Duration.ofSeconds(20)).pollInterval(Duration.ofMillis(50)).until(() -> {
                long asked = System.nanoTime();
                assertThat(api.get("/healthz").status()).isEqualTo(200);
                assertThat(Duration.ofNanos(System.nanoTime() - asked)).isLessThan(PROMPT);
                return api.get("/api/v1/runs/" + run, "Authorization", stranger).json().get("state").stringValue()
                        .equals("completed");
            });
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(5));
            assertThat(api.run(flood).get("state").stringValue()).isEqualTo("running");
            Awaitility.await().atMost(Duration.ofSeconds(90)).until(() -> !api.run(flood).get("state").stringValue()
                    .equals("running"));
            assertThat(api.get("/api/v1/runs/" + flood + "/steps").text()).contains("EXPRESSION_TIMEOUT",
                    "RUN_COMPUTATION_SPENT");
        }
    }

    /** Lines of 4 MB took the YAML parser 14 s. */
    @Test
    void hugeMissionsAreRefusedWithoutParsingThem() throws Exception {
        try (ApiServer api = new ApiServer(folder, TestDatabase.createUrl())) {
            String line = "x".repeat(2 << 20);
            for (String yaml : List.of("name: " + line, "name: a # " + line, "a: 1\n".repeat(1 << 20))) {
                assertRefused(api, yaml, "application/yaml", 413, "TOO_LARGE");
            }
            assertRefused(api, "name: " + "x".repeat(1 << 19), "application/yaml", 422, "LINE_TOO_LONG");
            assertRefused(api, "{\"name\": \"a\", \"input\": {\"x\": \"" + line + "\"}}", "application/json", 413,
                    "TOO_LARGE");
        }
    }

    private static void assertRefused(ApiServer api, String body, String type, int status, String code) {
        for (String path : List.of("/api/v1/runs", "/api/v1/recipes")) {
            long asked = System.nanoTime();
            ApiServer.Answer answer =
                    api.send("POST", path, body.getBytes(StandardCharsets.UTF_8), "Content-Type", type);
            assertThat(answer.status()).as(answer.text()).isEqualTo(status);
            assertThat(answer.json().get("code").stringValue()).isEqualTo(code);
            assertThat(Duration.ofNanos(System.nanoTime() - asked)).isLessThan(Duration.ofSeconds(20));
        }
    }

    /** 20 tasks that compute endlessly before their steps, and 40 in their steps. */
    private static String flood() {
        return IntStream.range(0, 60).mapToObj(i -> """
                {"id": "t%d", %s "steps": [{"name": "s", "tool": "json.transform", "retry": {"max_attempts": 1},
                 "input": {"expression": "%s"}}]}""".formatted(i,
                i < 20 ? "\"when\": \"${ " + ENDLESS + " }\"," : "", ENDLESS))
                .collect(Collectors.joining(",", """
                        {"name": "flood", "start": true, "config": {"agent_failure_mode": "continue"},
                         "plan": {"tasks": [""", "]}}"));
    }
}
