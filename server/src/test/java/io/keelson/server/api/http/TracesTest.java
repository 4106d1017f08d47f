package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.keelson.core.Breadth;
import io.keelson.devmodel.TestModel;
import io.keelson.server.app.trace.TraceAttribute;
import io.keelson.server.base.db.TestDatabase;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** The spans that a collector gets over OTLP, read from the wire by hand. */
@Breadth.Spread
class TracesTest {

    private record Sent(String trace, String id, String parent, String name, long start, long end,
            Map<String, String> attributes) {}

    private final List<Sent> spans = new CopyOnWriteArrayList<>();

    private static final String CALLER = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    private static final String CALLERS_TRACE = CALLER.substring(3, 35);
    private static final String CALLERS_SPAN = CALLER.substring(36, 52);

    private HttpServer collector;
    /** What was called on behalf of runs: the header that it bore. */
    private final List<String> called = new CopyOnWriteArrayList<>();

    @BeforeEach
    void collect() throws IOException {
        collector = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        collector.createContext("/v1/traces", exchange -> {
            read(ByteBuffer.wrap(exchange.getRequestBody().readAllBytes()));
            exchange.getResponseHeaders().add("Content-Type", "application/x-protobuf");
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
        collector.createContext("/called", exchange -> {
            called.add(String.valueOf(exchange.getRequestHeaders().getFirst("traceparent")));
            exchange.getRequestBody().readAllBytes();
            exchange.sendResponseHeaders(204, -1);
            exchange.close();
        });
        collector.start();
    }

    @AfterEach
    void stop() {
        collector.stop(0);
    }

    private String url() {
        return "http://127.0.0.1:" + collector.getAddress().getPort();
    }

    private ApiServer traced(Path folder) throws Exception {
        return new ApiServer(folder, TestDatabase.createUrl(), Map.of("OTEL_EXPORTER_OTLP_ENDPOINT", url(),
                "OTEL_BSP_SCHEDULE_DELAY", "50", "KEELSON_ALLOW_PRIVATE_ADDRESSES", "true"));
    }

    private List<Sent> of(String trace) {
        return spans.stream().filter(span -> span.trace.equals(trace)).toList();
    }

    private String calls() {
        return """
                {"name": "calls", "plan": {"tasks": [
                  {"id": "one", "steps": [{"name": "a", "tool": "http.request", "input": {"url": "%s/called"}}]},
                  {"id": "two", "steps": [{"name": "b", "tool": "test.remote", "input": {}}]}]}}""".formatted(url());
    }

    private static JsonNode claimed(ApiServer api, int seconds) {
        return api.post("/api/v1/dispatch/claim", "{\"worker_id\": \"w\", \"tools\": [\"test.remote\"], \"wait_ms\": "
                + seconds + "}").json().get("items");
    }

    /** The spans of the run and of its work belong to the caller's trace. */
    @Test
    void aRunBelongsToItsCallersTrace(@TempDir Path folder) throws Exception {
        try (ApiServer api = traced(folder)) {
            claimed(api, 0);
            String run = api.post("/api/v1/runs", calls(), "traceparent", CALLER).json().get("id").stringValue();
            api.post("/api/v1/runs/" + run + "/start", "{}");
            JsonNode item = claimed(api, 20_000).get(0);
            api.post("/api/v1/dispatch/complete", "{\"worker_id\": \"w\", \"items\": [{\"step_id\": "
                    + item.get("step_id") + ", \"lease_epoch\": 1, \"output\": 1}]}");
            api.awaitState(run, "completed");
            Awaitility.await().until(() -> of(CALLERS_TRACE).size() >= 6);

            Map<String, Sent> named = of(CALLERS_TRACE).stream().collect(Collectors.toMap(Sent::name, span -> span));
            assertThat(named).containsOnlyKeys("run calls", "task one", "step a", "task two", "step b",
                    "POST /api/v1/runs");
            assertThat(named.get("run calls").parent).isEqualTo(CALLERS_SPAN);
            assertThat(named.get("POST /api/v1/runs").parent).isEqualTo(CALLERS_SPAN);
            assertThat(named.get("task one").parent).isEqualTo(named.get("run calls").id);
            assertThat(called).containsExactly("00-" + CALLERS_TRACE + "-" + named.get("step a").id + "-01");
            assertThat(item.get("traceparent").stringValue())
                    .isEqualTo("00-" + CALLERS_TRACE + "-" + named.get("step b").id + "-01");
            assertThat(spans).filteredOn(span -> span.name.equals("POST /api/v1/dispatch/claim"))
                    .allSatisfy(span -> assertThat(span.parent).isEmpty())
                    .first()
                    .satisfies(span -> assertThat(span.attributes).containsEntry("http.response.status_code", "200")
                            .containsEntry("http.route", "/api/v1/dispatch/claim"));
            requireDocumented();
        }
    }

    /** Webhook deliveries are spans below the run. */
    @Test
    void deliveriesBelongToTheRun(@TempDir Path folder) throws Exception {
        try (ApiServer api = traced(folder)) {
            api.post("/api/v1/webhooks", "{\"url\": \"" + url() + "/called\", \"events\": [\"run.completed\"]}");
            api.post("/api/v1/runs", "{\"name\": \"delivered\", \"start\": true, \"plan\": {\"tasks\": []}}",
                    "traceparent",
                    CALLER);
            Awaitility.await().until(() -> of(CALLERS_TRACE).size() >= 3);

            Map<String, Sent> named = of(CALLERS_TRACE).stream().collect(Collectors.toMap(Sent::name, span -> span));
            Sent delivery = named.get("deliver run.completed");
            assertThat(delivery.parent).isEqualTo(named.get("run delivered").id);
            assertThat(delivery.attributes).containsEntry("keelson.outcome", "delivered");
            assertThat(called).containsExactly("00-" + CALLERS_TRACE + "-" + delivery.id + "-01");
            requireDocumented();
        }
    }

    /** The start request's trace counts if the run has none; a malformed header is ignored. */
    @Test
    void startRequestMayCarryTheTrace(@TempDir Path folder) throws Exception {
        try (ApiServer api = traced(folder)) {
            String run = api.post("/api/v1/runs", "{\"name\": \"later\", \"plan\": {\"tasks\": []}}", "traceparent",
                    CALLER.replace("00-", "ff-")).json().get("id").stringValue();
            api.post("/api/v1/runs/" + run + "/start", "{}", "traceparent", CALLER);
            api.awaitState(run, "completed");

            Awaitility.await().until(() -> of(CALLERS_TRACE).size() >= 2);
            assertThat(of(CALLERS_TRACE)).extracting(Sent::name).containsExactlyInAnyOrder("run later",
                    "POST /api/v1/runs/{id}/start");
        }
    }

    /** Without tracing, the run's trace header is passed on unchanged; a run without one has none. */
    @Test
    void withoutSpansTheHeaderGoesThrough(@TempDir Path folder) throws Exception {
        try (ApiServer api = new ApiServer(folder, TestDatabase.createUrl(),
                Map.of("KEELSON_ALLOW_PRIVATE_ADDRESSES", "true"))) {
            claimed(api, 0);
            String started = calls().replace("\"calls\",", "\"calls\", \"start\": true,");
            api.post("/api/v1/runs", started, "traceparent", CALLER);
            assertThat(claimed(api, 20_000).get(0).get("traceparent").stringValue()).isEqualTo(CALLER);
            api.post("/api/v1/runs", started);
            assertThat(claimed(api, 20_000).get(0).get("traceparent").isNull()).isTrue();
            Awaitility.await().until(() -> called.size() == 2);
            assertThat(called).containsExactlyInAnyOrder(CALLER, "null");
        }
    }

    @Test
    void aRunIsATrace(@TempDir Path folder) throws Exception {
        try (ApiServer api = traced(folder)) {
            String good = api.create("""
                    {"name": "good", "start": true, "plan": {"tasks": [{"id": "one", "title": "One", "steps": [
                      {"name": "a", "tool": "echo", "input": {}}, {"name": "b", "tool": "echo", "input": {}}]}]}}""");
            String bad = api.create("""
                    {"name": "bad", "start": true, "plan": {"tasks": [{"id": "one", "title": "One", "steps": [
                      {"name": "a", "tool": "fail", "input": {"message": "no"}, "retry": {"max_attempts": 1}}]}]}}""");
            api.awaitState(good, "completed");
            api.awaitState(bad, "failed");
            Awaitility.await()
                    .until(() -> of(good.replace("-", "")).size() == 4 && of(bad.replace("-", "")).size() == 3);

            List<Sent> trace = of(good.replace("-", ""));
            Map<String, Sent> named = trace.stream().collect(Collectors.toMap(Sent::name, span -> span));
            assertThat(named).containsOnlyKeys("run good", "task one", "step a", "step b");
            assertThat(named.get("run good").parent).isEmpty();
            assertThat(named.get("task one").parent).isEqualTo(named.get("run good").id);
            assertThat(named.get("step a").parent).isEqualTo(named.get("task one").id);
            assertThat(named.get("step b").parent).isEqualTo(named.get("task one").id);
            assertThat(named.get("step b").attributes).containsEntry("keelson.run.id", good)
                    .containsEntry("keelson.task.key", "one").containsEntry("keelson.tool", "echo")
                    .containsEntry("keelson.step.attempt", "1").containsEntry("keelson.outcome", "completed");
            assertThat(trace).allSatisfy(span -> assertThat(span.end).isGreaterThanOrEqualTo(span.start));
            assertThat(spans).filteredOn(span -> span.trace.equals(bad.replace("-", "")))
                    .hasSize(3).allSatisfy(span -> assertThat(span.attributes).containsKey("error.type"));
            requireDocumented();
            assertThat(spans).flatExtracting(span -> span.attributes.keySet()).contains("keelson.run.name",
                    "keelson.state", "keelson.error.class", "keelson.lease.holder");
        }
    }

    /** Spans of an agent by the conventions for generative AI: every part of the usage, and none of the content. */
    @Test
    void agentsHaveTheNamesOfTheConventions(@TempDir Path folder) throws Exception {
        try (TestModel model = new TestModel("""
                rules:
                  - {when: {turn: 1}, answer: {text: "CANARY", calls: [{tool: echo, input: {canary: CANARY}}],
                      usage: {input: 40, cache_read: 30, cache_write: 20, output: 10}}}
                  - {answer: {text: "CANARY"}}
                """)) {
            Path models = Files.writeString(folder.resolve("models.yaml"), """
                    models:
                      small: {wire: anthropic-messages, base_url: "%s", model: m, family: f, context_tokens: 9000,
                        max_output_tokens: 500, prices: {input: 1, output: 1}}
                    """.formatted(model.uri("")));
            try (ApiServer api = new ApiServer(folder.resolve("data"), TestDatabase.createUrl(),
                    Map.of("OTEL_EXPORTER_OTLP_ENDPOINT", url(), "OTEL_BSP_SCHEDULE_DELAY", "50", "KEELSON_MODELS",
                            models.toString(), "KEELSON_TRACES_GENAI", "latest"))) {
                String run = api.post("/api/v1/runs", """
                        {"name": "agents", "goal": "CANARY", "start": true, "plan": {"tasks": [{"id": "one", "title": "CANARY",
                          "suggested_agent": {"type": "contractor", "agent_name": "scribe", "model": "small",
                            "instructions": "CANARY", "tools": ["echo"]}}]}}""", "traceparent", CALLER).json().get("id")
                        .stringValue();
                api.awaitState(run, "completed");
                Awaitility.await().until(() -> of(CALLERS_TRACE).size() >= 6);

                List<Sent> sent = of(CALLERS_TRACE);
                assertThat(sent).extracting(Sent::name).containsExactlyInAnyOrder("run agents", "invoke_agent scribe",
                        "chat small", "execute_tool echo", "chat small", "POST /api/v1/runs");
                Sent first = sent.stream().filter(span -> span.name.equals("chat small"))
                        .min(Comparator.comparingLong(Sent::start)).orElseThrow();
                assertThat(first.attributes).containsEntry("gen_ai.operation.name", "chat")
                        .containsEntry("gen_ai.agent.name", "scribe").containsEntry("gen_ai.request.model", "small")
                        .containsEntry("gen_ai.usage.input_tokens", "90")
                        .containsEntry("gen_ai.usage.cache_read.input_tokens", "30")
                        .containsEntry("gen_ai.usage.cache_creation.input_tokens", "20")
                        .containsEntry("gen_ai.usage.output_tokens", "10");
                assertThat(spans.toString()).doesNotContain("CANARY");
                requireDocumented();
                assertThat(api.get("/metrics").text())
                        .contains("keelson_model_tokens_total{model=\"small\",part=\"cache_read\"} 30.0",
                                "keelson_model_first_text_seconds_count{model=\"small\"} 2")
                        .containsPattern("keelson_model_cost_usd_total\\{model=\"small\"} \\d");
            }
        }
    }

    /** Answers of models to a program are spans below its step, or below the span that it names. */
    @Test
    void answersToProgramsAreSpans(@TempDir Path folder) throws Exception {
        try (TestModel model = new TestModel(
                "rules: [{answer: {text: CANARY, usage: {input: 40, cache_read: 30, output: 10}}}]")) {
            Path models = Files.writeString(folder.resolve("models.yaml"), """
                    models:
                      small: {wire: openai-chat, base_url: "%s/v1", model: m, family: f, context_tokens: 9000,
                        max_output_tokens: 500, prices: {input: 1, output: 1}}
                    """.formatted(model.uri("")));
            for (String conventions : List.of("off", "latest")) {
                spans.clear();
                try (ApiServer api = new ApiServer(folder.resolve(conventions), TestDatabase.createUrl(),
                        Map.of("OTEL_EXPORTER_OTLP_ENDPOINT", url(), "OTEL_BSP_SCHEDULE_DELAY", "50",
                                "KEELSON_MODELS", models.toString(), "KEELSON_TRACES_GENAI", conventions))) {
                    String specs = ", \"tool_specs\": [{\"name\": \"test.remote\", \"gateway\": true}]";
                    api.post("/api/v1/dispatch/claim", "{\"worker_id\": \"w\", \"tools\": [\"test.remote\"]" + specs
                            + "}");
                    String run = api.create(ApiServer.REMOTE);
                    JsonNode item = api.post("/api/v1/dispatch/claim", "{\"worker_id\": \"w\", \"tools\": "
                            + "[\"test.remote\"], \"wait_ms\": 20000" + specs + "}").json().at("/items/0");
                    for (String[] trace : new String[][] {{}, {"traceparent", CALLER}}) {
                        assertThat(chat(api, item, "request " + trace.length, trace)).isEqualTo(200);
                    }
                    assertThat(chat(api, item, "request 0")).as("a further request").isEqualTo(200);
                    String name = conventions.equals("off") ? "model small" : "chat small";
                    Awaitility.await().until(() -> spans.stream().filter(span -> span.name.equals(name)).count() == 3);
                    List<Sent> sent = spans.stream().filter(span -> span.name.equals(name)).toList();
                    assertThat(sent).extracting(Sent::trace).containsExactlyInAnyOrder(CALLERS_TRACE,
                            run.replace("-", ""), run.replace("-", ""));
                    assertThat(sent).extracting(Sent::parent).containsExactlyInAnyOrder(CALLERS_SPAN,
                            item.get("traceparent").stringValue().substring(36, 52),
                            item.get("traceparent").stringValue().substring(36, 52));
                    assertThat(sent).allSatisfy(span -> assertThat(span.attributes)
                            .containsEntry("keelson.step.id", item.get("step_id").stringValue())
                            .containsEntry("keelson.tokens", "80").containsEntry("gen_ai.request.model", "small"));
                    if (conventions.equals("latest")) {
                        assertThat(sent).allSatisfy(span -> assertThat(span.attributes)
                                .containsEntry("gen_ai.operation.name", "chat")
                                .containsEntry("gen_ai.usage.input_tokens", "70"));
                    }
                    assertThat(spans.toString()).doesNotContain("CANARY");
                    requireDocumented();
                }
            }
        }
    }

    private static int chat(ApiServer api, JsonNode item, String text, String... headers) {
        List<String> all = new ArrayList<>(List.of("Authorization",
                "Bearer " + item.at("/gateway/token").stringValue(), "Content-Type", "application/json"));
        all.addAll(List.of(headers));
        return api.send("POST", "/gateway/openai/v1/chat/completions",
                ("{\"model\": \"small\", \"messages\": [{\"role\": \"user\", \"content\": \"" + text + "\"}]}")
                        .getBytes(StandardCharsets.UTF_8),
                all.toArray(String[]::new)).status();
    }

    private void requireDocumented() {
        for (Sent span : spans) {
            String first = span.name.split(" ")[0];
            String kind = switch (first) {
                case "chat", "execute_tool", "plan" -> "step";
                case "invoke_agent" -> "task";
                default -> Character.isUpperCase(first.charAt(0)) ? "request" : first;
            };
            Set<String> documented = Stream.of(TraceAttribute.values())
                    .filter(each -> each.spans().anyMatch(kind::equals)).map(TraceAttribute::sent)
                    .collect(Collectors.toSet());
            assertThat(documented).as(span.name).containsAll(span.attributes.keySet());
        }
    }

    /** ExportTraceServiceRequest, ResourceSpans and ScopeSpans down to Span, whose fields 1 to 9 are of interest. */
    private void read(ByteBuffer request) {
        fields(request, (export, resource) -> fields(resource, (inResource, scope) -> {
            if (inResource == 2) {
                fields(scope, (inScope, span) -> {
                    if (inScope == 2) {
                        spans.add(span(span));
                    }
                });
            }
        }));
    }

    private static Sent span(ByteBuffer bytes) {
        Map<Integer, byte[]> plain = new TreeMap<>();
        Map<String, String> attributes = new TreeMap<>();
        fields(bytes, (number, value) -> {
            if (number == 9) {
                String[] pair = new String[2];
                fields(value, (part, content) -> {
                    if (part == 1) {
                        pair[0] = StandardCharsets.UTF_8.decode(content).toString();
                    } else {
                        fields(content, (type, any) -> pair[1] = type == 1
                                ? StandardCharsets.UTF_8.decode(any).toString()
                                : Long.toString(any.getLong()));
                    }
                });
                attributes.put(pair[0], pair[1]);
            } else {
                byte[] copy = new byte[value.remaining()];
                value.get(copy);
                plain.put(number, copy);
            }
        });
        HexFormat hex = HexFormat.of();
        return new Sent(hex.formatHex(plain.get(1)), hex.formatHex(plain.get(2)),
                hex.formatHex(plain.getOrDefault(4, new byte[0])), new String(plain.get(5), StandardCharsets.UTF_8),
                ByteBuffer.wrap(plain.get(7)).getLong(), ByteBuffer.wrap(plain.get(8)).getLong(), attributes);
    }

    /** Fields of a protobuf message; numbers are handed over as eight bytes. */
    private static void fields(ByteBuffer message, BiConsumer<Integer, ByteBuffer> each) {
        message.order(ByteOrder.LITTLE_ENDIAN);
        while (message.hasRemaining()) {
            int key = (int) varint(message);
            ByteBuffer value = switch (key & 7) {
                case 0 -> number(varint(message));
                case 1 -> number(message.getLong());
                case 2 -> {
                    int length = (int) varint(message);
                    ByteBuffer part = message.slice(message.position(), length);
                    message.position(message.position() + length);
                    yield part;
                }
                case 5 -> number(message.getInt());
                default -> throw new AssertionError("wire type of " + key);
            };
            each.accept(key >>> 3, value);
        }
    }

    private static ByteBuffer number(long value) {
        return ByteBuffer.allocate(8).putLong(0, value);
    }

    private static long varint(ByteBuffer bytes) {
        long value = 0;
        for (int shift = 0;; shift += 7) {
            byte next = bytes.get();
            value |= (long) (next & 0x7f) << shift;
            if (next >= 0) {
                return value;
            }
        }
    }
}
