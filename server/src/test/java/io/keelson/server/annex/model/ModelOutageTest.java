package io.keelson.server.annex.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.api.run.Event;
import io.keelson.api.run.Run;
import io.keelson.client.AgentRequest;
import io.keelson.client.EscalationQuery;
import io.keelson.client.Keelson;
import io.keelson.client.RunRequest;
import io.keelson.core.Breadth;
import io.keelson.devmodel.TestModel;
import io.keelson.server.app.Server;
import io.keelson.server.app.Settings;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A provider that is out of order while all kinds of work need it, with the default configuration of runs. */
class ModelOutageTest {
    private static final DatabaseUrl URL = TestDatabase.createUrl();
    private static final Duration LIMIT = Duration.ofSeconds(120);
    private static final String GENERATE = """
            {"tool": "model.generate", "input": {"model": "small", "prompt": "Say it"}}""";
    private static final String FAN_OUT = """
            {"id": "each", "for_each": "${ [range(%d)] }", "steps": [%s]}""";
    private static final String SCRIPT = """
            rules:
              - {when: {text: "Mark the output"}, answer: {json: {marks: [{criterion: 1, evidence: "", mark: 5}], feedback: "",
                  confidence: 0.9, task_wrong: false}}}
              - {when: {text: "GOAL"}, answer: {json: {tasks: [{id: a, title: A, steps: [{tool: echo, input: {n: 1}}],
                  verify: [{kind: jq, expression: "true"}]}]}}}
              - {when: {model: cut, first: 8}, answer: {reset: true}}
              - {when: {model: ill, first: 8}, answer: {status: 500}}
              - {when: {model: half, first: 8}, answer: {text: "a text", cut_after_bytes: 400}}
              - {when: {model: page, first: 8}, answer: {status: 502}}
              - {answer: {text: done}}
            """;

    /** Holds the port of the provider: connections to it are refused. */
    private final Socket stopped = new Socket();
    private Server server;
    private Keelson keelson;

    @BeforeEach
    void start(@TempDir Path folder) throws Exception {
        stopped.setReuseAddress(true);
        stopped.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        StringBuilder models = new StringBuilder("models:\n");
        for (String name : List.of("small", "judge", "planner", "cut", "ill", "half")) {
            boolean reports = name.equals("half");
            models.append("""
                      %s: {wire: %s, base_url: "%s", model: %1$s, family: %1$s, context_tokens: 90000,
                        max_output_tokens: 1000, prices: {input: 1, output: 10}}
                    """.formatted(name, reports ? "anthropic-messages" : "openai-chat",
                    provider(reports ? "" : "/v1")));
        }
        Files.writeString(folder.resolve("models.yaml"), models);
        server = Server.start(Settings.load(Map.of("KEELSON_DATA_DIR", folder.resolve("data").toString(),
                "KEELSON_HTTP_PORT", "0", "KEELSON_DATABASE_URL", TestDatabase.text(URL), "KEELSON_MODELS",
                "models.yaml", "KEELSON_ALLOW_PRIVATE_ADDRESSES", "true"), folder, folder));
        keelson = Keelson.builder().url(server.baseUrl().toString()).apiKey(server.apiKey()).build();
    }

    private String provider(String path) {
        return "http://127.0.0.1:" + stopped.getLocalPort() + path;
    }

    @AfterEach
    void stop() throws Exception {
        server.close();
        stopped.close();
    }

    private Run run(String tasks, String more) {
        return keelson.runs().create(RunRequest.of(Json.read("""
                {"name": "outage", "start": true%s%s}""".formatted(
                tasks.isEmpty() ? "" : ", \"plan\": {\"tasks\": [" + tasks + "]}", more))));
    }

    private String http(String more) {
        return """
                {"tool": "http.request", "input": {"url": "%s"%s}}""".formatted(provider("/v1/chat/completions"), more);
    }

    private List<Event> events(Run run) {
        return keelson.runs().events(run.id(), 0, 500).items();
    }

    private long count(Run run, String type) {
        return events(run).stream().filter(event -> event.eventType().equals(type)).count();
    }

    private void completesWithoutAPerson(String name, Run run) {
        assertThat(keelson.runs().awaitEnd(run.id(), LIMIT).state()).as(name).isEqualTo("completed");
        assertThat(count(run, "escalation_opened")).as(name).isZero();
        assertThat(count(run, "step_retrying")).as(name + ": a deferral is no attempt").isZero();
    }

    @Test
    void allWorkWaitsUntilTheProviderAnswersAgain() throws Exception {
        IntStream.range(0, 8).forEach(i -> keelson.agents()
                .create(AgentRequest.of(Json.read("{\"slug\": \"a" + i + "\", \"model\": \"small\"}"))));
        String agents = IntStream.range(0, 8).mapToObj(i -> """
                {"id": "t%d", "title": "Work", "suggested_agent": {"agent_name": "a%1$d"}}""".formatted(i))
                .reduce((one, other) -> one + ", " + other).orElseThrow();
        String post = ", \"method\": \"POST\", \"json\": {\"model\": \"page\", \"messages\": "
                + "[{\"role\": \"user\", \"content\": \"a\"}]}";
        Map<String, Run> runs = new LinkedHashMap<>();
        runs.put("one model.generate", run("{\"id\": \"a\", \"steps\": [" + GENERATE + "]}", ""));
        runs.put("fan-out of 3", run(FAN_OUT.formatted(3, GENERATE), ""));
        runs.put("fan-out of 8", run(FAN_OUT.formatted(8, GENERATE), ""));
        runs.put("8 agents of the roster", run(agents, ""));
        runs.put("one agent", run("""
                {"id": "t", "title": "Work", "suggested_agent": {"agent_name": "a0"}}""", ""));
        runs.put("full_auto", run(FAN_OUT.formatted(8, GENERATE), """
                , "config": {"autonomy": {"level": "full_auto"}}"""));
        runs.put("planner", run("", """
                , "goal": "GOAL", "config": {"autonomy": {"level": "full_auto"},
                  "model_preferences": {"planner": "planner"}}"""));
        runs.put("judge", run("""
                {"id": "t", "steps": [{"tool": "echo", "input": {"n": 1}}],
                 "verify": [{"kind": "model", "model": "judge", "criteria": [{"criterion": "Good"}]}]}""", ""));
        runs.put("8 times http.request", run(FAN_OUT.formatted(8, http(post)), ""));
        runs.forEach((name, run) -> Awaitility.await(name).atMost(LIMIT)
                .until(() -> count(run, "step_deferred") > 0));
        assertThat(keelson.escalations().list(EscalationQuery.all()).items()).isEmpty();
        try (TestModel _ = new TestModel(SCRIPT, stopped.getLocalPort())) {
            runs.forEach(this::completesWithoutAPerson);
        }
    }

    /** Eight requests are under way when the provider breaks off, or answers with errors of its own. */
    @Test
    @Breadth.InPart(3)
    void answersThatBreakOffAndErrorsOfTheProviderAreOutagesToo() throws Exception {
        try (TestModel _ = new TestModel(SCRIPT, stopped.getLocalPort())) {
            Map<String, Run> runs = new LinkedHashMap<>();
            for (String model : List.of("cut", "ill")) {
                runs.put(model, run(FAN_OUT.formatted(8, GENERATE.replace("small", model)), ""));
            }
            Run half = run(FAN_OUT.formatted(8, GENERATE.replace("small", "half")), "");
            runs.forEach(this::completesWithoutAPerson);
            runs.forEach((name, run) -> assertThat(count(run, "step_deferred")).as(name).isPositive());
            assertThat(keelson.runs().awaitEnd(half.id(), LIMIT).state())
                    .as("begun answers are paid for and bought again")
                    .isEqualTo("completed");
            assertThat(count(half, "escalation_opened")).isZero();
        }
    }
}
