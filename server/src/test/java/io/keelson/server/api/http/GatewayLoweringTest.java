package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.devmodel.TestModel;
import io.keelson.server.annex.model.ModelEndpoint;
import io.keelson.server.annex.model.WireKind;
import io.keelson.server.annex.model.wire.PassedKind;
import io.keelson.server.annex.model.wire.PassedRequest;
import io.keelson.server.annex.model.wire.PassingClient;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import io.keelson.server.base.outbound.OutboundClient;
import java.math.BigDecimal;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Requests of programs over one wire to models with another one: lowered, charged, recorded, and replayed with their ids. */
@Breadth.Spread
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class GatewayLoweringTest {
    private static final String SCRIPT = """
            rules:
              - {name: call, when: {text: weather, turn: 1}, answer: {text: "let me see", calls: [{tool: weather, input: {city: Rome}}], usage: {input: 100, output: 50}}}
              - {name: only call, when: {text: silent, turn: 1}, answer: {calls: [{tool: weather, input: {city: Rome}}, {tool: weather, input: {city: Oslo}}], usage: {input: 100, output: 50}}}
              - {name: long, when: {text: long}, answer: {text: "cut", finish: length, usage: {input: 100, output: 50}}}
              - {name: no, when: {text: forbidden}, answer: {refusal: "I must not", usage: {input: 100, output: 50}}}
              - {name: hello, when: {text: hello}, answer: {text: "one two three four five six seven eight nine ten eleven twelve", usage: {input: 100, output: 50}}}
              - {name: any, answer: {text: "it is done", usage: {input: 100, output: 50}}}
            """;
    private static final String MODEL = """
              %s: {wire: %s, base_url: "%s", model: provider-%s, family: f, context_tokens: 100000, max_output_tokens: 10000,
                prices: {input: 1, output: 10}}
            """;
    private static final String COST = "0.0006";
    private static final String SCHEMA = "{\"type\": \"object\", \"properties\": {\"city\": {\"type\": \"string\"}}}";

    private final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final OutboundClient outbound = new OutboundClient(true);
    private TestModel model;
    private ApiServer api;

    /** A wire of programs. */
    private enum Form {
        CHAT("/gateway/openai/v1/chat/completions", WireKind.OPENAI_CHAT),
        RESPONSES("/gateway/openai/v1/responses", WireKind.OPENAI_RESPONSES),
        MESSAGES("/gateway/anthropic/v1/messages", WireKind.ANTHROPIC_MESSAGES);

        private final String path;
        private final WireKind wire;

        Form(String path, WireKind wire) {
            this.path = path;
            this.wire = wire;
        }

        ObjectNode body(String model, String text) {
            ObjectNode body = Json.object().put("model", model).put("temperature", 0.5);
            ObjectNode tool = body.putArray("tools").addObject();
            JsonNode schema = Json.read(SCHEMA);
            switch (this) {
                case CHAT -> {
                    tool.put("type", "function").putObject("function").put("name", "weather")
                            .put("description", "The weather").set("parameters", schema);
                    body.putArray("messages").addObject().put("role", "system").put("content", "Be brief.");
                }
                case RESPONSES -> {
                    tool.put("type", "function").put("name", "weather").put("description", "The weather")
                            .put("strict", true).set("parameters", schema);
                    body.put("instructions", "Be brief.");
                }
                case MESSAGES -> {
                    tool.put("name", "weather").put("description", "The weather").set("input_schema", schema);
                    body.put("max_tokens", 500).put("system", "Be brief.");
                }
            }
            body.withArrayProperty(this == RESPONSES ? "input" : "messages").addObject().put("role", "user")
                    .put("content", text);
            return body;
        }

        /** The request with the answer and the results of its calls. */
        ObjectNode next(ObjectNode before, JsonNode answer) {
            ObjectNode body = before.deepCopy();
            ArrayNode all = body.withArrayProperty(this == RESPONSES ? "input" : "messages");
            switch (this) {
                case CHAT -> {
                    all.add(answer.at("/choices/0/message"));
                    ids(answer).forEach(id -> all.addObject().put("role", "tool").put("tool_call_id", id)
                            .put("content", "sun"));
                }
                case RESPONSES -> {
                    answer.get("output").forEach(all::add);
                    ids(answer).forEach(id -> all.addObject().put("type", "function_call_output").put("call_id", id)
                            .put("output", "sun"));
                }
                case MESSAGES -> {
                    all.addObject().put("role", "assistant").set("content", answer.get("content"));
                    ArrayNode results = all.addObject().put("role", "user").putArray("content");
                    ids(answer).forEach(id -> results.addObject().put("type", "tool_result").put("tool_use_id", id)
                            .put("content", "sun"));
                }
            }
            return body;
        }

        List<String> ids(JsonNode answer) {
            return switch (this) {
                case CHAT -> answer.at("/choices/0/message/tool_calls").valueStream()
                        .map(call -> call.get("id").stringValue()).toList();
                case RESPONSES -> answer.get("output").valueStream()
                        .filter(item -> item.get("type").stringValue().equals("function_call"))
                        .map(call -> call.get("call_id").stringValue()).toList();
                case MESSAGES -> answer.get("content").valueStream()
                        .filter(block -> block.get("type").stringValue().equals("tool_use"))
                        .map(call -> call.get("id").stringValue()).toList();
            };
        }

        String text(JsonNode answer) {
            return switch (this) {
                case CHAT -> answer.at("/choices/0/message/content").asString("");
                case RESPONSES -> answer.at("/output/0/content/0/text").asString("");
                case MESSAGES -> answer.at("/content/0/text").asString("");
            };
        }

        /** Why the answer has ended. */
        String end(JsonNode answer) {
            return switch (this) {
                case CHAT -> answer.at("/choices/0/finish_reason").stringValue();
                case RESPONSES -> answer.get("status").stringValue();
                case MESSAGES -> answer.get("stop_reason").stringValue();
            };
        }

        String terminal() {
            return switch (this) {
                case CHAT -> "data: [DONE]";
                case RESPONSES -> "event: response.completed";
                case MESSAGES -> "event: message_stop";
            };
        }
    }

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        model = new TestModel(SCRIPT);
        Files.writeString(folder.resolve("models.yaml"), "models:\n"
                + MODEL.formatted("c", "openai-chat", model.uri("/v1"), "c")
                + MODEL.formatted("r", "openai-responses", model.uri("/v1"), "r")
                + MODEL.formatted("a", "anthropic-messages", model.uri(""), "a"));
        api = new ApiServer(Files.createDirectory(folder.resolve("data")), TestDatabase.createUrl(),
                Map.of("KEELSON_MODELS", folder.resolve("models.yaml").toString()));
    }

    @AfterAll
    void stop() throws Exception {
        http.close();
        outbound.close();
        api.close();
        model.close();
    }

    private HttpResponse<String> post(ToolProgram program, Form form, ObjectNode body) throws Exception {
        return http.send(HttpRequest.newBuilder(URI.create(api.url() + form.path)).timeout(Duration.ofSeconds(30))
                .header("Authorization", "Bearer " + program.item.at("/gateway/token").stringValue())
                .header("Content-Type", "application/json").header("anthropic-version", "2023-06-01")
                .POST(BodyPublishers.ofString(body.toString())).build(),
                BodyHandlers.ofString());
    }

    private JsonNode answer(ToolProgram program, Form form, ObjectNode body) throws Exception {
        HttpResponse<String> answer = post(program, form, body);
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        return Json.read(answer.body());
    }

    /** A new request, whose streamed answer a client of the wire reads. */
    private JsonNode read(ToolProgram program, Form form, ObjectNode body) throws Exception {
        ModelEndpoint gateway = new ModelEndpoint("m", form.wire, URI.create(api.url() + form.path.replaceFirst(
                "/(chat/completions|responses|v1/messages)$", "")), "m",
                program.item.at("/gateway/token").stringValue(), Map.of());
        return new PassingClient(outbound, Clock.systemUTC(), System::nanoTime).send(gateway,
                new PassedRequest(PassedKind.ANSWER, Json.write(body.deepCopy().put("stream", true)), Map.of(), true,
                        500,
                        Duration.ofSeconds(30)),
                (data, event, text) -> {}).get().document();
    }

    @ParameterizedTest
    @CsvSource({"CHAT, a", "CHAT, r", "RESPONSES, a", "RESPONSES, c", "MESSAGES, c", "MESSAGES, r"})
    void textsAndCallsGoOverAnyWire(Form form, String name) throws Exception {
        ToolProgram program = new ToolProgram(api, http, "true", "");
        for (String text : List.of("weather", "silent")) {
            ObjectNode asked = form.body(name, text);
            JsonNode read = read(program, form, asked);
            assertThat(model.newest().at("/body/model").stringValue()).isEqualTo("provider-" + name);
            assertThat(model.newest().at("/body/temperature").doubleValue()).isEqualTo(0.5);
            program.again();
            JsonNode recorded = answer(program, form, asked);
            assertThat(form.text(recorded)).isEqualTo(text.equals("silent") ? "" : "let me see")
                    .isEqualTo(form.text(read));
            assertThat(form.ids(recorded)).hasSize(text.equals("silent") ? 2 : 1).isEqualTo(form.ids(read));
            assertThat(form.end(recorded)).isIn("tool_calls", "completed", "tool_use").isEqualTo(form.end(read));
            assertThat(read.get("id")).isEqualTo(recorded.get("id"));
            assertThat(read.toString()).contains("Rome");
            program.again();
            assertThat(post(program, form, asked.deepCopy().put("stream", true)).body()).contains(form.terminal(),
                    text.equals("silent") ? "Oslo" : "see", recorded.get("id").stringValue());
            int before = model.journal().size();
            JsonNode next = answer(program, form, form.next(asked, recorded));
            assertThat(model.journal()).hasSize(before + 1);
            assertThat(form.text(next)).isEqualTo("it is done");
            assertThat(form.end(next)).isIn("stop", "completed", "end_turn");
        }
        assertThat(api.get("/api/v1/runs/" + program.run).json().get("credits_charged").decimalValue())
                .isEqualByComparingTo(new BigDecimal(COST).multiply(new BigDecimal(4)));
    }

    /** The text of a stream comes in its parts, which are the recorded text. */
    @ParameterizedTest
    @CsvSource({"CHAT, a", "CHAT, r", "RESPONSES, a", "RESPONSES, c", "MESSAGES, c", "MESSAGES, r"})
    void theTextOfAStreamComesInItsParts(Form form, String name) throws Exception {
        ToolProgram program = new ToolProgram(api, http, "true", "");
        String streamed = post(program, form, form.body(name, "hello").put("stream", true)).body();
        List<JsonNode> events = streamed.lines().filter(line -> line.startsWith("data: {"))
                .map(line -> Json.read(line.substring(6))).toList();
        List<String> parts = events.stream().map(event -> switch (form) {
            case CHAT -> event.at("/choices/0/delta/content").asString("");
            case RESPONSES -> event.path("type").asString("").equals("response.output_text.delta")
                    ? event.get("delta").stringValue()
                    : "";
            case MESSAGES -> event.at("/delta/text").asString("");
        }).filter(part -> !part.isEmpty()).toList();
        assertThat(String.join("", parts)).isEqualTo(
                "one two three four five six seven eight nine ten eleven twelve");
        assertThat(parts).hasSizeGreaterThan(1);
        if (form == Form.RESPONSES) {
            assertThat(events.stream().map(event -> event.get("sequence_number").intValue()))
                    .containsExactlyElementsOf(IntStream.range(0, events.size()).boxed().toList());
        }
    }

    @ParameterizedTest
    @CsvSource({"CHAT, a, length", "RESPONSES, a, incomplete", "MESSAGES, c, max_tokens"})
    void anAnswerThatIsCutSaysSo(Form form, String name, String end) throws Exception {
        ToolProgram program = new ToolProgram(api, http, "true", "");
        JsonNode cut = answer(program, form, form.body(name, "long"));
        assertThat(form.end(cut)).isEqualTo(end);
        assertThat(form.text(cut)).isEqualTo("cut");
        assertThat(answer(program, form, form.body(name, "forbidden")).toString()).contains("I must not");
    }

    /** The provider of another wire gets the earlier response whole. */
    @Test
    void anEarlierResponseIsSentWhole() throws Exception {
        ToolProgram program = new ToolProgram(api, http, "true", "");
        JsonNode first = answer(program, Form.RESPONSES, Form.RESPONSES.body("a", "weather"));
        ObjectNode next = Form.RESPONSES.body("a", "").put("previous_response_id", first.get("id").stringValue());
        next.putArray("input").addObject().put("type", "function_call_output")
                .put("call_id", Form.RESPONSES.ids(first).getFirst()).put("output", "sun");
        assertThat(Form.RESPONSES.text(answer(program, Form.RESPONSES, next))).isEqualTo("it is done");
        assertThat(model.newest().at("/body/messages")).hasSize(3);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            CHAT      | a | "response_format": {"type": "json_object"}                     | response_format
            CHAT      | a | "logit_bias": {"1": 2}                                         | logit_bias
            CHAT      | a | "parallel_tool_calls": false                                   | parallel_tool_calls
            CHAT      | r | "stop": "end"                                                  | 'stop'
            CHAT      | a | "tool_choice": {"type": "function", "function": {"name": "w"}} | tool_choice
            CHAT      | a | "messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}] | image_url
            RESPONSES | a | "reasoning": {"effort": "high"}                                | reasoning
            RESPONSES | a | "previous_response_id": "resp_unknown"                         | previous_response_id
            RESPONSES | c | "input": [{"type": "item_reference", "id": "rs_1"}]            | item_reference
            RESPONSES | c | "tools": [{"type": "local_shell"}]                             | tools.type
            MESSAGES  | c | "thinking": {"type": "enabled", "budget_tokens": 2000}         | thinking
            MESSAGES  | r | "stop_sequences": ["end"]                                      | stop_sequences
            """)
    void whatDoesNotFitIsRefusedAndNotSent(Form form, String name, String member, String named) throws Exception {
        ToolProgram program = new ToolProgram(api, http, "true", "");
        int before = model.journal().size();
        ObjectNode body = form.body(name, "hello");
        body.setAll((ObjectNode) Json.read("{" + member + "}"));
        HttpResponse<String> refused = post(program, form, body);
        assertThat(refused.statusCode()).as(refused.body()).isEqualTo(400);
        JsonNode error = Json.read(refused.body()).get("error");
        assertThat(error.get("code").stringValue()).isEqualTo("unsupported_parameter");
        assertThat(error.get("message").stringValue()).contains("the model '" + name + "' has the wire", named);
        assertThat(model.journal()).hasSize(before);
        assertThat(api.get("/api/v1/runs/" + program.run).json().get("credits_charged").decimalValue()).isZero();
    }
}
