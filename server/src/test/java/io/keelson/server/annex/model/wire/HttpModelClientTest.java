package io.keelson.server.annex.model.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.keelson.core.Breadth;
import io.keelson.core.money.Tokens;
import io.keelson.devmodel.TestModel;
import io.keelson.server.annex.model.Call;
import io.keelson.server.annex.model.CallResult;
import io.keelson.server.annex.model.Finish;
import io.keelson.server.annex.model.Message;
import io.keelson.server.annex.model.ModelAnswer;
import io.keelson.server.annex.model.ModelEndpoint;
import io.keelson.server.annex.model.ModelException;
import io.keelson.server.annex.model.ModelException.Kind;
import io.keelson.server.annex.model.ModelRequest;
import io.keelson.server.annex.model.TextListener;
import io.keelson.server.annex.model.ToolChoice;
import io.keelson.server.annex.model.ToolSchema;
import io.keelson.server.annex.model.WireKind;
import io.keelson.server.base.json.DocumentMemory;
import io.keelson.server.base.json.Json;
import io.keelson.server.base.outbound.OutboundClient;
import java.net.URI;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;

/** Requests over each wire to a dev-model, with a stream and without. */
@Breadth.Spread
class HttpModelClientTest {
    /** Bytes between two cuts of an answer. */
    private static final int CUTS = Breadth.of(97, 1);
    private static final String KEY = "sk-canary-4711";
    private static final Clock CLOCK = Clock.fixed(Instant.parse("2026-01-01T00:00:00Z"), ZoneOffset.UTC);
    private static final OutboundClient OUTBOUND = new OutboundClient(true);
    private static final HttpModelClient CLIENT = new HttpModelClient(OUTBOUND, CLOCK, System::nanoTime);
    private static final ToolSchema LOOK =
            new ToolSchema("look", "Looks.", Json.read("{\"type\":\"object\",\"properties\":{\"at\":{}}}"));

    @AfterAll
    static void close() {
        OUTBOUND.close();
    }

    static Stream<Arguments> wires() {
        return Stream.of(WireKind.values())
                .flatMap(wire -> Stream.of(Arguments.of(wire, false), Arguments.of(wire, true)));
    }

    private static ModelEndpoint endpoint(TestModel model, WireKind wire) {
        return new ModelEndpoint("small", wire, model.uri(wire == WireKind.ANTHROPIC_MESSAGES ? "" : "/v1"), "m", KEY,
                Map.of());
    }

    private static ModelRequest request(Message... messages) {
        return new ModelRequest("Be brief.", List.of(messages), List.of(LOOK), ToolChoice.AUTO, null, 100);
    }

    private static CompletableFuture<ModelAnswer> send(TestModel model, WireKind wire, boolean stream,
            ModelRequest request) {
        return CLIENT.send(endpoint(model, wire), request, Duration.ofSeconds(20),
                stream ? text -> {} : TextListener.NONE);
    }

    private static ModelException failure(TestModel model, WireKind wire, boolean stream) {
        Throwable failure =
                catchThrowable(() -> send(model, wire, stream, request(new Message.User("Hi"))).get());
        assertThat(failure).isInstanceOf(ExecutionException.class);
        assertThat(failure.getCause()).isInstanceOf(ModelException.class);
        assertThat(failure.toString()).doesNotContain(KEY);
        return (ModelException) failure.getCause();
    }

    @ParameterizedTest
    @MethodSource("wires")
    void textsHaveTheirTokensInParts(WireKind wire, boolean stream) throws Exception {
        try (TestModel model = new TestModel("""
                rules:
                  - answer: {text: "Fine, thanks. And you?", thinking: "A greeting.", model: m-2026,
                      usage: {input: 7, cache_read: 5, cache_write: 3, output: 11, reasoning: 4}}
                """)) {
            StringBuilder heard = new StringBuilder();
            ModelAnswer answer = CLIENT.send(endpoint(model, wire), request(new Message.User("How are you?")),
                    Duration.ofSeconds(20), stream ? heard::append : TextListener.NONE).get();

            assertThat(answer.text()).isEqualTo("Fine, thanks. And you?");
            assertThat(heard.toString()).isEqualTo(stream ? answer.text() : "");
            assertThat(answer.finish()).isEqualTo(Finish.STOP);
            assertThat(answer.calls()).isEmpty();
            assertThat(answer.modelAnswered()).isEqualTo("m-2026");
            assertThat(answer.requestId()).isNotNull();
            JsonNode billed = model.journal().getLast().get("billed");
            assertThat(answer.usage()).isEqualTo(new Tokens(billed.get("input").asLong(),
                    billed.get("cache_read").asLong(), billed.get("cache_write").asLong(),
                    billed.get("output").asLong(), billed.get("reasoning").asLong()));
        }
    }

    @ParameterizedTest
    @MethodSource("wires")
    void callsAndTheirResultsGoOnInTheConversation(WireKind wire, boolean stream) throws Exception {
        try (TestModel model = new TestModel("""
                rules:
                  - when: {turn: 1}
                    answer: {text: "I look.", thinking: "Where?", calls: [{tool: look, input: {at: moon}},
                      {tool: look, arguments: "{\\"at\\": "}]}
                  - when: {last_tool: look, text: cheese}
                    answer: {text: "Cheese."}
                """)) {
            Message.User asked = new Message.User("What is the moon made of?");
            ModelAnswer called = send(model, wire, stream, request(asked)).get();

            assertThat(called.finish()).isEqualTo(Finish.CALLS);
            assertThat(called.text()).isEqualTo("I look.");
            assertThat(called.calls()).extracting(Call::name).containsExactly("look", "look");
            assertThat(called.calls().getFirst().input()).isEqualTo(Json.read("{\"at\":\"moon\"}"));
            if (wire != WireKind.ANTHROPIC_MESSAGES || stream) {
                assertThat(called.calls().getLast().input()).isNull();
            }

            for (JsonNode raw : new JsonNode[] {called.raw(), null}) {
                ModelAnswer ended = send(model, wire, stream, request(asked,
                        new Message.Assistant(called.text(), called.calls(), raw),
                        new Message.ToolResults(called.calls().stream()
                                .map(call -> new CallResult(call.id(), call.name(), "cheese", false)).toList())))
                        .get();
                assertThat(ended.text()).isEqualTo("Cheese.");
            }
        }
    }

    @ParameterizedTest
    @MethodSource("wires")
    void reasonsToStop(WireKind wire, boolean stream) throws Exception {
        try (TestModel model = new TestModel("""
                rules:
                  - when: {request: 1}
                    answer: {finish: length, calls: [{tool: look, arguments: "{\\"at\\""}]}
                  - when: {request: 2}
                    answer: {refusal: "I do not answer that."}
                  - when: {request: 3}
                    answer: {finish: length, text: "Once upon"}
                """)) {
            ModelRequest request = request(new Message.User("Hi"));
            ModelAnswer half = send(model, wire, stream, request).get();
            assertThat(half.finish()).isEqualTo(Finish.LENGTH);
            assertThat(half.calls()).hasSize(1).allMatch(call -> call.input() == null);
            ModelAnswer refused = send(model, wire, stream, request).get();
            assertThat(refused.finish()).isEqualTo(Finish.REFUSAL);
            assertThat(refused.text()).isEqualTo("I do not answer that.");
            assertThat(send(model, wire, stream, request).get().finish()).isEqualTo(Finish.LENGTH);
        }
    }

    /** Providers enforce the first schema; the others are the input of a tool. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "{'type':'object','properties':{'title':{'type':'string','minLength':3}},'required':['title']}",
            "{'type':'object','properties':{'title':{'type':'string'},'more':{}},'required':['title']}",
            "{'type':'array','minItems':1,'items':{'type':'integer','minimum':2}}"})
    void outputsFollowTheirSchema(String schema) throws Exception {
        try (TestModel model = new TestModel("rules: []")) {
            for (WireKind wire : WireKind.values()) {
                for (boolean stream : new boolean[] {false, true}) {
                    ModelAnswer answer = send(model, wire, stream, new ModelRequest("", List.of(new Message.User("Hi")),
                            List.of(), ToolChoice.AUTO, Json.read(schema.replace('\'', '"')), 100)).get();
                    assertThat(answer.calls()).isEmpty();
                    assertThat(answer.finish()).isEqualTo(Finish.STOP);
                    JsonNode output = Json.read(answer.text());
                    assertThat(output.isArray() ? output.get(0).isInt() : output.path("title").isString())
                            .as(answer.text()).isTrue();
                }
            }
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', nullValues = "-", value = {
            "{status: 429, headers: {retry-after: '7'}} | DEFERRED | PT7S",
            "{status: 429, headers: {retry-after-ms: '1500'}} | DEFERRED | PT1.5S",
            "{status: 429, headers: {retry-after: 'Thu, 01 Jan 2026 00:01:00 GMT'}} | DEFERRED | PT1M",
            "{status: 429, headers: {retry-after: 'soon'}} | DEFERRED | -",
            "{status: 529} | DEFERRED | -", "{status: 503} | DEFERRED | -",
            "{status: 429, error: {type: insufficient_quota, code: insufficient_quota}} | QUOTA | -",
            "{status: 429, headers: {x-should-retry: 'false'}} | QUOTA | -", "{status: 402} | QUOTA | -",
            "{status: 401} | KEY_REFUSED | -", "{status: 403} | KEY_REFUSED | -",
            "{status: 401, error: {message: 'Incorrect API key: sk-canary-4711'}} | KEY_REFUSED | -",
            "{status: 400} | BAD_REQUEST | -", "{status: 404} | BAD_REQUEST | -",
            "{status: 500, headers: {x-should-retry: 'false'}} | BAD_REQUEST | -",
            "{status: 400, error: {message: 'prompt is too long: 9 tokens'}} | CONTEXT_OVERFLOW | -",
            "{status: 400, error: {code: context_length_exceeded, message: 'the maximum context length is 9'}} | CONTEXT_OVERFLOW | -",
            "{status: 500} | UNAVAILABLE | -", "{status: 502} | UNAVAILABLE | -", "{status: 504} | UNAVAILABLE | -"})
    void errorsByCodeBeforeStatus(String answer, Kind kind, Duration pause) throws Exception {
        try (TestModel model = new TestModel("rules: [{answer: " + answer + "}]")) {
            for (WireKind wire : WireKind.values()) {
                ModelException failure = failure(model, wire, true);
                assertThat(failure.kind()).as(wire.wire()).isEqualTo(kind);
                assertThat(failure.retryAfter()).isEqualTo(pause);
                assertThat(failure.getMessage()).doesNotContain(KEY);
            }
            assertThat(model.journal()).as("no request is repeated").hasSize(WireKind.values().length);
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|',
            value = {"{body: '{\"choices\": ['}", "{body: '<html>busy</html>', headers: {content-type: text/html}}",
                    "{body: ''}", "{body: '{}'}", "{body: '[]'}", "{body: 'null'}"})
    void answersThatFollowNoWireAreUnreadable(String answer) throws Exception {
        try (TestModel model = new TestModel("rules: [{answer: " + answer + "}]")) {
            for (WireKind wire : WireKind.values()) {
                assertThat(failure(model, wire, false).kind()).as(wire.wire()).isEqualTo(Kind.UNREADABLE);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(value = WireKind.class, names = {"OPENAI_CHAT", "ANTHROPIC_MESSAGES"})
    void aStreamEndsAtTheTokensOfOutputThatWereAskedFor(WireKind wire) throws Exception {
        try (TestModel model = new TestModel("rules: [{answer: {text: '" + "word ".repeat(4_000) + "'}}]")) {
            ModelException longer = failure(model, wire, true);
            assertThat(longer.kind()).isEqualTo(Kind.UNREADABLE);
            assertThat(longer).hasMessageContaining("more than the tokens of output that were asked for");
        }
    }

    /** A thread of the HTTP client reads the answer, within the memory of the thread that has sent the request. */
    @ParameterizedTest
    @MethodSource("wires")
    void anAnswerTakesTheMemoryOfItsSender(WireKind wire, boolean stream) throws Exception {
        DocumentMemory memory = new DocumentMemory(400);
        try (TestModel model = new TestModel("rules: [{answer: {text: Fine}}]");
                DocumentMemory.Share share = memory.share(new UUID(0, 1), Duration.ZERO)) {
            ModelException full = share.within(() -> failure(model, wire, stream));
            assertThat(full.kind()).isEqualTo(Kind.UNREADABLE);
            assertThat(full).hasMessageContaining("too many large documents are in memory");
        }
    }

    /** Each event fits, the document that they become does not. */
    @ParameterizedTest
    @EnumSource(value = WireKind.class, names = {"OPENAI_CHAT", "ANTHROPIC_MESSAGES"})
    void aStreamTakesMemoryAsItsDocumentGrows(WireKind wire) throws Exception {
        DocumentMemory memory = new DocumentMemory(15_000);
        ModelRequest request = new ModelRequest("", List.of(new Message.User("Hi")), List.of(), ToolChoice.AUTO, null,
                10_000);
        try (TestModel model = new TestModel("rules: [{answer: {text: '" + "word ".repeat(2_000) + "'}}]");
                DocumentMemory.Share share = memory.share(new UUID(0, 1), Duration.ZERO)) {
            assertThat(send(model, wire, true, request).get().text()).hasSizeGreaterThan(9_000);
            CompletableFuture<ModelAnswer> sent = share.within(() -> send(model, wire, true, request));
            assertThat(catchThrowable(sent::get)).hasMessageContaining("too many large documents are in memory");
        }
    }

    @ParameterizedTest
    @MethodSource("wires")
    void cutAnswersAreNoAnswers(WireKind wire, boolean stream) throws Exception {
        String answer = "calls: [{tool: look, input: {at: moon}}], usage: {input: 7, output: 3}";
        int bytes;
        try (TestModel model = new TestModel("rules: [{answer: {" + answer + "}}]")) {
            send(model, wire, stream, request(new Message.User("Hi"))).get();
            bytes = model.journal().getLast().get("bytes_sent").asInt();
        }
        StringBuilder rules = new StringBuilder("rules:\n");
        for (int cut = 0; cut < bytes; cut += CUTS) {
            rules.append("  - {when: {request: ").append(cut / CUTS + 1).append("}, answer: {").append(answer)
                    .append(", cut_after_bytes: ").append(cut).append("}}\n");
        }
        try (TestModel model = new TestModel(rules.toString())) {
            for (int cut = 0; cut < bytes; cut += CUTS) {
                CompletableFuture<ModelAnswer> sent = send(model, wire, stream, request(new Message.User("Hi")));
                Throwable failure = catchThrowable(sent::get);
                if (failure == null) {
                    assertThat(sent.get().calls()).as("whole after " + cut + " of " + bytes).hasSize(1);
                    assertThat(stream && cut > bytes / 2).as("after " + cut + " of " + bytes).isTrue();
                } else {
                    assertThat(((ModelException) failure.getCause()).kind()).as("after " + cut)
                            .isIn(Kind.INTERRUPTED, Kind.UNREADABLE);
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("wires")
    void cancellationClosesTheConnection(WireKind wire, boolean stream) throws Exception {
        try (TestModel model = new TestModel("rules: [{answer: {text: 'slow', first_byte_ms: 30000}}]")) {
            CompletableFuture<ModelAnswer> sent = send(model, wire, stream, request(new Message.User("Hi")));
            Awaitility.await().atMost(10, TimeUnit.SECONDS).until(() -> !model.journal().isEmpty());
            sent.cancel(true);
            Awaitility.await().atMost(5, TimeUnit.SECONDS)
                    .until(() -> !model.journal().getLast().path("delivered").asBoolean(true));
        }
    }

    @ParameterizedTest
    @EnumSource(WireKind.class)
    void privateAddressesAreRefused(WireKind wire) throws Exception {
        try (TestModel model = new TestModel("rules: []"); OutboundClient guarded = new OutboundClient(false)) {
            Throwable failure = catchThrowable(() -> new HttpModelClient(guarded, CLOCK, System::nanoTime)
                    .send(endpoint(model, wire), request(new Message.User("Hi")), Duration.ofSeconds(5), text -> {})
                    .get());
            assertThat(failure).hasRootCauseInstanceOf(ModelException.class)
                    .hasMessageContaining("not a public address");
            assertThat(model.journal()).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource(WireKind.class)
    void requestsGrowAtTheirEndOnly(WireKind wire) {
        ModelEndpoint endpoint =
                new ModelEndpoint("small", wire, URI.create("https://example.org"), "m", KEY, Map.of());
        Message.User asked = new Message.User("Go");
        Message.Assistant called =
                new Message.Assistant("I look.", List.of(WireJson.call("1", "look", "{\"at\":\"moon\"}")), null);
        Message.ToolResults results = new Message.ToolResults(List.of(new CallResult("1", "look", "nothing", true)));
        String before = text(wire, endpoint, request(asked));
        String after = text(wire, endpoint, request(asked, called, results));
        assertThat(after).startsWith(before.substring(0, before.length() - 2)).doesNotContain(KEY);
    }

    /** Without the marks of Anthropic's cache, which move. */
    private static String text(WireKind wire, ModelEndpoint endpoint, ModelRequest request) {
        return Wire.of(wire).body(endpoint, request, true).toString()
                .replace(",\"cache_control\":{\"type\":\"ephemeral\"}", "");
    }
}
