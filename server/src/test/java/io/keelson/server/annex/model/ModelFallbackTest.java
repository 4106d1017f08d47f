package io.keelson.server.annex.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.api.run.Event;
import io.keelson.api.run.Run;
import io.keelson.client.Keelson;
import io.keelson.client.RunRequest;
import io.keelson.core.Breadth;
import io.keelson.devmodel.TestModel;
import io.keelson.server.app.Server;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Models that stay busy, and the models that take their place. */
@Breadth.Spread
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ModelFallbackTest {
    private static final DatabaseUrl URL = TestDatabase.createUrl();
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final String SCRIPT = """
            rules:
              - {when: {model: busy}, answer: {status: 503, headers: {retry-after: "600"}}}
              - {when: {model: tired, turn: 1}, answer: {thinking: "hm", calls: [{tool: echo, input: {n: 1}}], usage: {input: 1000, output: 10}}}
              - {when: {model: tired}, answer: {status: 429, headers: {retry-after: "600"}}}
              - {when: {model: strict}, answer: {status: 400, error: {code: invalid_request, message: "no"}}}
              - {when: {model: shy}, answer: {refusal: "I do not do this"}}
              - {when: {model: spare, text: "GOAL"}, answer: {json: {tasks: [{id: a, title: A, steps: [{tool: echo, input: {n: 1}}],
                  verify: [{kind: jq, expression: "true"}]}]}, usage: {input: 1000, output: 100}}}
              - {when: {text: "Mark the output"}, answer: {json: {marks: [{criterion: 1, evidence: "", mark: 5}], feedback: "",
                  confidence: 0.9, task_wrong: false}, usage: {input: 1000, output: 100}}}
              - {when: {model: spare}, answer: {text: done, usage: {input: 1000, output: 100}}}
              - {when: {model: third}, answer: {text: third, usage: {input: 1000, output: 100}}}
            """;

    private TestModel model;
    private Server server;
    private Keelson keelson;

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        model = new TestModel(SCRIPT);
        StringBuilder models = new StringBuilder("models:\n");
        for (String name : List.of("busy", "tired", "strict", "shy")) {
            models.append(entry(name, "openai-chat", "/v1", "one",
                    ", fallback: [spare, third], fallback_after_seconds: 2"));
        }
        models.append(entry("judge", "openai-chat", "/v1", "two", ", fallback: [spare, third]"));
        models.append(entry("lone", "openai-chat", "/v1", "two", ""));
        models.append(entry("spare", "anthropic-messages", "", "two", ""));
        models.append(entry("third", "openai-responses", "/v1", "three", ""));
        Files.writeString(folder.resolve("models.yaml"), models);
        server = ModelServer.start(folder, URL);
        keelson = Keelson.builder().url(server.baseUrl().toString()).apiKey(server.apiKey()).build();
    }

    /** Prices: 1 and 10, of the family two 2 and 20. */
    private String entry(String name, String wire, String path, String family, String more) {
        String prices = family.equals("two") ? "{input: 2, output: 20}" : "{input: 1, output: 10}";
        return """
                  %s: {wire: %s, base_url: "%s", model: %1$s, family: %s, context_tokens: 90000, max_output_tokens: 1000,
                    prices: %s%s}
                """.formatted(name, wire, model.uri(path), family, prices, more);
    }

    @AfterAll
    void stop() throws Exception {
        server.close();
        model.close();
    }

    private Run run(String body) {
        Run run = keelson.runs().create(RunRequest.of(Json.read(body)));
        return keelson.runs().awaitEnd(run.id(), LIMIT);
    }

    private Run agent(String model, String more) {
        return run("""
                {"name": "agent", "start": true, "plan": {"tasks": [{"id": "t", "title": "Work", "tools_needed": ["echo"],
                 "suggested_agent": {"type": "contractor", "agent_name": "c", "model": "%s"}%s}]}}"""
                .formatted(model, more));
    }

    private List<JsonNode> fallbacks(Run run) {
        return keelson.runs().events(run.id(), 0, 500).items().stream()
                .filter(event -> event.eventType().equals("model_fallback")).map(Event::payload).toList();
    }

    private List<String> charges(Run run) {
        return keelson.ledger().ofRun(run.id()).stream().filter(row -> row.transactionType().equals("charge"))
                .map(row -> row.model() + " " + row.amount().stripTrailingZeros().toPlainString()).toList();
    }

    private static String shown(JsonNode fallback) {
        return fallback.get("requested_model").stringValue() + " " + fallback.get("fallback_model").stringValue() + " "
                + fallback.get("reason").stringValue();
    }

    private long asked(String name) throws Exception {
        return model.journal().stream().filter(line -> line.path("model").asString("").equals(name)).count();
    }

    @Test
    void anAgentOfABusyModelGoesOnWithTheFallbackAfterItsTime() throws Exception {
        Run run = agent("busy", "");
        assertThat(run.state()).isEqualTo("completed");
        assertThat(fallbacks(run).stream().map(ModelFallbackTest::shown)).containsExactly("busy spare MODEL_BUSY");
        assertThat(charges(run)).containsExactly("spare 0.004");
        assertThat(keelson.runs().steps(run.id()).getFirst().attempt()).as("a deferral is no attempt").isEqualTo(1);
    }

    @Test
    void theTurnsBeforeAreReadOnTheOtherWire() throws Exception {
        Run run = agent("tired", "");
        assertThat(run.state()).isEqualTo("completed");
        assertThat(fallbacks(run).stream().map(ModelFallbackTest::shown)).containsExactly("tired spare MODEL_BUSY");
        assertThat(charges(run)).containsExactlyInAnyOrder("tired 0.0011", "spare 0.004");
        JsonNode sent = model.journal().stream().filter(line -> line.path("model").asString("").equals("spare"))
                .filter(line -> line.path("body").toString().contains("tool_result")).findFirst().orElseThrow();
        assertThat(sent.path("wire").asString()).isEqualTo("anthropic-messages");
        assertThat(sent.at("/body/messages/1/content").toString()).contains("tool_use").doesNotContain("hm");
    }

    @ParameterizedTest
    @ValueSource(strings = {"strict", "shy"})
    void aRefusedRequestOrAnswerHasNoFallback(String name) throws Exception {
        long before = asked("spare");
        Run run = agent(name, "");
        assertThat(run.state()).isEqualTo("failed");
        assertThat(fallbacks(run)).isEmpty();
        assertThat(asked("spare")).isEqualTo(before);
    }

    @Test
    void aPlannerAndAnAnswerHaveFallbacks() {
        Run planned = run("""
                {"name": "goal", "goal": "GOAL", "start": true, "config": {"autonomy": {"level": "full_auto"},
                 "model_preferences": {"planner": "busy"}}}""");
        assertThat(planned.state()).isEqualTo("completed");
        assertThat(fallbacks(planned).stream().map(ModelFallbackTest::shown)).containsExactly("busy spare MODEL_BUSY");
        assertThat(charges(planned)).containsExactly("spare 0.004");

        Run answer = run("""
                {"name": "answer", "start": true, "plan": {"tasks": [{"id": "t", "steps": [{"tool": "model.generate",
                 "input": {"model": "busy", "prompt": "Answer"}}]}]}}""");
        assertThat(answer.state()).isEqualTo("completed");
        assertThat(fallbacks(answer).stream().map(ModelFallbackTest::shown)).containsExactly("busy spare MODEL_BUSY");
        assertThat(charges(answer)).containsExactly("spare 0.004");
    }

    /** The author's fallback is of the judge's family: the judge's first fallback is, too, and its second is not. */
    @Test
    void aJudgeOfTheFamilyOfTheAuthorsFallbackGivesWay() {
        Run run = agent("busy",
                ", \"verify\": [{\"kind\": \"model\", \"model\": \"judge\", \"criteria\": [{\"criterion\": \"Good\"}]}]");
        assertThat(run.state()).isEqualTo("completed");
        assertThat(fallbacks(run).stream().map(ModelFallbackTest::shown)).containsExactly("busy spare MODEL_BUSY",
                "judge third not independent");
        assertThat(charges(run)).containsExactlyInAnyOrder("spare 0.004", "third 0.002");
    }

    @Test
    void aJudgeWithoutAnIndependentFallbackDoesNotJudge() {
        Run started = keelson.runs().create(RunRequest.of(Json.read("""
                {"name": "agent", "start": true, "plan": {"tasks": [{"id": "t", "title": "Work",
                 "suggested_agent": {"type": "contractor", "agent_name": "c", "model": "busy"},
                 "verify": [{"kind": "model", "model": "lone", "criteria": [{"criterion": "Good"}]}]}]}}""")));
        Awaitility.await().atMost(LIMIT)
                .until(() -> keelson.runs().steps(started.id()).stream()
                        .anyMatch(step -> "JUDGE_NOT_INDEPENDENT".equals(step.errorCode())));
        assertThat(charges(started)).containsExactly("spare 0.004");
        keelson.runs().cancel(started.id(), null);
    }
}
