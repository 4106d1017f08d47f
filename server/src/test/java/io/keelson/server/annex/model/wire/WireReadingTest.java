package io.keelson.server.annex.model.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.keelson.core.Breadth;
import io.keelson.core.money.Tokens;
import io.keelson.server.annex.model.AnswerText;
import io.keelson.server.annex.model.Call;
import io.keelson.server.annex.model.Finish;
import io.keelson.server.annex.model.Message;
import io.keelson.server.annex.model.ModelAnswer;
import io.keelson.server.annex.model.ModelEndpoint;
import io.keelson.server.annex.model.ModelException;
import io.keelson.server.annex.model.ModelRequest;
import io.keelson.server.annex.model.TextListener;
import io.keelson.server.annex.model.ToolChoice;
import io.keelson.server.annex.model.ToolSchema;
import io.keelson.server.annex.model.WireKind;
import io.keelson.server.base.json.Json;
import io.keelson.server.base.outbound.OutboundClient;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;

/** Answers are read from the documented shapes, and from those of compatible providers; no connection is made. */
@Breadth.Spread
class WireReadingTest {
    private static final Clock CLOCK = Clock.fixed(Instant.parse("2026-01-01T00:00:00Z"), ZoneOffset.UTC);
    private static final OutboundClient OUTBOUND = new OutboundClient(false);
    private static final HttpModelClient CLIENT = new HttpModelClient(OUTBOUND, CLOCK, () -> 0);
    private static final String SECRET = "header-canary-4711";

    @AfterAll
    static void close() {
        OUTBOUND.close();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "OPENAI_RESPONSES | {'type': 'response.output_text.delta', 'delta': 'TEXT'}",
            "OPENAI_RESPONSES | {'type': 'response.function_call_arguments.delta', 'delta': 'TEXT'}",
            "OPENAI_CHAT | {'choices': [{'delta': {'content': 'TEXT'}}]}",
            "ANTHROPIC_MESSAGES | {'type': 'content_block_delta', 'delta': {'type': 'text_delta', 'text': 'TEXT'}}"},
            quoteCharacter = '"')
    void streamLongerThanTheOutputAskedForIsRefused(WireKind kind, String event) throws Exception {
        StreamedDocument document = Wire.of(kind).streamed(100);
        if (kind == WireKind.ANTHROPIC_MESSAGES) {
            document.add(json("{'type': 'message_start', 'message': {'content': []}}"));
            document.add(json("{'type': 'content_block_start', 'content_block': {'type': 'text', 'text': ''}}"));
        }
        JsonNode part = json(event.replace("TEXT", "x".repeat(60)));
        document.add(part);
        assertThatThrownBy(() -> document.add(part)).isInstanceOf(UnreadableException.class)
                .hasMessageContaining("longer than 100 bytes");
    }

    private static JsonNode json(String text) {
        return Json.read(text.replace('\'', '"'));
    }

    private static ModelEndpoint endpoint(WireKind wire, String model) {
        return new ModelEndpoint("small", wire, URI.create("https://example.org"), model, "sk-canary",
                Map.of("x-tenant-key", SECRET));
    }

    private static ModelAnswer read(WireKind wire, String type, byte[] body) throws IOException, ModelException {
        return exchange(wire).read(200, Map.of("content-type", type), new ByteArrayInputStream(body));
    }

    private static HttpModelClient.Exchange exchange(WireKind wire) {
        ModelRequest request = new ModelRequest("", List.of(), List.of(), ToolChoice.AUTO, null, 1);
        return CLIENT.new Exchange(endpoint(wire, "m"), LoweredRequest.of(request), TextListener.NONE);
    }

    private static ModelAnswer chat(String json) throws IOException, ModelException {
        return read(WireKind.OPENAI_CHAT, "application/json", json.replace('\'', '"').getBytes(StandardCharsets.UTF_8));
    }

    private static ModelAnswer chatStream(String... events) throws IOException, ModelException {
        String body = Arrays.stream(events).map(event -> "data: " + event.replace('\'', '"') + "\r\n\r\n")
                .collect(Collectors.joining());
        return read(WireKind.OPENAI_CHAT, "text/event-stream", body.getBytes(StandardCharsets.UTF_8));
    }

    /** The fixtures of answers that are not fetched later; their files are named after their wires. */
    static Stream<Path> fixtures() throws Exception {
        Path folder = Path.of("../devmodel/src/test/resources/io/keelson/devmodel/fixtures");
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> !file.toString().matches(".*(error|background).*")).sorted().toList().stream();
        }
    }

    private static WireKind wire(Path fixture) {
        return Arrays.stream(WireKind.values())
                .filter(wire -> fixture.getFileName().toString().startsWith(wire.wire())).findFirst().orElseThrow();
    }

    private static byte[] body(JsonNode response) {
        String text = response.isObject() ? response.toString()
                : response.valueStream()
                        .map(event -> (event.has("event") ? "event: " + event.get("event").asString() + "\n" : "")
                                + "data: "
                                + (event.get("data").isString() ? event.get("data").stringValue()
                                        : event.get("data").toString())
                                + "\n\n")
                        .collect(Collectors.joining());
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @ParameterizedTest
    @MethodSource("fixtures")
    void aDocumentedAnswerIsReadWholeOrNotAtAll(Path file) throws Exception {
        JsonNode fixture = Json.read(Files.readAllBytes(file));
        JsonNode stated = fixture.get("answer");
        WireKind wire = wire(file);
        byte[] body = body(fixture.get("response"));
        String type = fixture.get("response").isObject() ? "application/json" : "text/event-stream; charset=utf-8";

        ModelAnswer answer = read(wire, type, body);

        assertThat(answer.text()).isEqualTo(stated.path("refusal").asString(stated.path("text").asString("")));
        assertThat(answer.calls()).extracting(Call::name).isEqualTo(stated.path("calls").valueStream()
                .map(call -> call.get("tool").stringValue()).toList());
        assertThat(answer.usage().output()).isEqualTo(stated.at("/usage/output").asLong());
        assertThat(answer.usage().cacheRead()).isEqualTo(stated.at("/usage/cache_read").asLong());
        Tokens before = null;
        for (int bytes = 0; bytes < body.length; bytes++) {
            Tokens seen = seen(wire, type, Arrays.copyOf(body, bytes), answer);
            if (before == null) {
                before = seen;
            }
            assertThat(seen).as("reported within " + bytes + " bytes").isIn(before, answer.usage());
        }
        assertThat(before != null).as("a part of the answer reports tokens").isEqualTo(type.startsWith("text/event")
                && wire != WireKind.OPENAI_RESPONSES);
    }

    /** The tokens that a cut answer has reported; null for none. Where only its end mark is missing, it is the whole answer. */
    private static @Nullable Tokens seen(WireKind wire, String type, byte[] part, ModelAnswer whole) throws Exception {
        HttpModelClient.Exchange exchange = exchange(wire);
        AtomicReference<ModelAnswer> read = new AtomicReference<>();
        Throwable failure = catchThrowable(() -> read
                .set(exchange.read(200, Map.of("content-type", type), new ByteArrayInputStream(part))));
        if (failure == null) {
            assertThat(read.get().text()).isEqualTo(whole.text());
            assertThat(read.get().calls()).isEqualTo(whole.calls());
            return read.get().estimated() ? null : read.get().usage();
        }
        return failure instanceof ModelException known ? known.usage()
                : ((ModelException) exchange.failure(failure, Duration.ofSeconds(1))).usage();
    }

    @Test
    void tokensThatWereReportedBeforeTheCutAreKnown() throws Exception {
        JsonNode fixture = Json.read(Files.readAllBytes(fixtures()
                .filter(file -> file.toString().endsWith("anthropic-messages-calls-stream.json")).findFirst()
                .orElseThrow()));
        byte[] body = body(fixture.get("response"));
        HttpModelClient.Exchange exchange = exchange(WireKind.ANTHROPIC_MESSAGES);

        IOException cut = org.junit.jupiter.api.Assertions.assertThrows(IOException.class,
                () -> exchange.read(200, Map.of("content-type", "text/event-stream"),
                        new ByteArrayInputStream(Arrays.copyOf(body, body.length / 2))));
        ModelException failure = (ModelException) exchange.failure(cut, Duration.ofSeconds(1));

        assertThat(failure.kind()).isEqualTo(ModelException.Kind.INTERRUPTED);
        assertThat(failure.usage()).isEqualTo(new Tokens(100, 800, 50, 1, 0));
    }

    @Test
    void callsInALaterChoiceAreCalls() throws Exception {
        String usage = "'usage':{'prompt_tokens':9,'completion_tokens':3}";
        String call = "{'index':0,'id':'c1','function':{'name':'look','arguments':'{}'}}";
        ModelAnswer whole = chat("{'choices':[{'message':{'content':'I look.'},'finish_reason':'tool_calls'},"
                + "{'message':{'tool_calls':[" + call + "]},'finish_reason':'tool_calls'}]," + usage + "}");
        ModelAnswer streamed = chatStream("{'choices':[{'index':0,'delta':{'content':'I look.'}}]}",
                "{'choices':[{'index':1,'delta':{'tool_calls':[" + call + "]}}]}",
                "{'choices':[{'index':0,'delta':{},'finish_reason':'tool_calls'}]," + usage + "}", "[DONE]");

        for (ModelAnswer answer : List.of(whole, streamed)) {
            assertThat(answer.text()).isEqualTo("I look.");
            assertThat(answer.calls()).extracting(Call::id).containsExactly("c1");
            assertThat(answer.finish()).isEqualTo(Finish.CALLS);
            assertThat(answer.raw().at("/message/tool_calls/0/id").asString("")).isEqualTo("c1");
        }
    }

    @Test
    void callsOfOneIndexWithSeveralIdsAreSeveral() throws Exception {
        ModelAnswer answer = chatStream(
                "{'choices':[{'delta':{'tool_calls':[{'index':0,'id':'a','function':{'name':'look','arguments':'{}'}}]}}]}",
                "{'choices':[{'delta':{'tool_calls':[{'index':0,'id':'b','function':{'name':'look','arguments':'{'}}]}}]}",
                "{'choices':[{'delta':{'tool_calls':[{'index':0,'id':'b','function':{'arguments':'}'}}]}}]}",
                "{'choices':[{'delta':{},'finish_reason':'tool_calls'}],'usage':{'prompt_tokens':9,'completion_tokens':3}}",
                "[DONE]");

        assertThat(answer.calls()).extracting(Call::id).containsExactly("a", "b");
        assertThat(answer.calls()).extracting(Call::text).containsExactly("{}", "{}");
    }

    @Test
    void callsWithoutAnIdGetAnIdThatIsSentBack() throws Exception {
        ModelAnswer answer = chat("{'choices':[{'message':{'reasoning_content':'hm','tool_calls':["
                + "{'function':{'name':'look','arguments':'{}'}},{'id':'','function':{'name':'look','arguments':{'a':1}}}]},"
                + "'finish_reason':'stop'}],'usage':{'prompt_tokens':9,'completion_tokens':3}}");
        Message message = new Message.Assistant(answer.text(), answer.calls(), answer.raw());
        JsonNode sent = Wire.of(WireKind.OPENAI_CHAT).body(endpoint(WireKind.OPENAI_CHAT, "m"),
                LoweredRequest.of(new ModelRequest("", List.of(message), List.of(), ToolChoice.AUTO, null, 1))
                        .request(),
                false);

        assertThat(answer.calls()).extracting(Call::id).containsExactly("call_0", "call_1");
        assertThat(answer.calls().getLast().input()).isEqualTo(Json.read("{\"a\":1}"));
        assertThat(sent.at("/messages/0/tool_calls").valueStream().map(call -> call.get("id").stringValue()))
                .containsExactly("call_0", "call_1");
        assertThat(sent.at("/messages/0/reasoning_content").asString("")).isEqualTo("hm");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', value = {"{\"a\":1}|true", "|true", "{\"a\":1}{\"b\":2}|false",
            "{\"a\":1|false", "{\"a\":1,\"a\":2}|false", "[]|false", "\"a\"|false", "NaN|false"})
    void argumentsAreOneObjectOrNoInput(String arguments, boolean input) {
        assertThat(WireJson.call("c", "look", WireJson.arguments(Json.string(arguments == null ? "" : arguments)))
                .input() != null).isEqualTo(input);
    }

    @ParameterizedTest
    @CsvSource({"10,4,7,3,20,6,4,7", "10,4,7,3,,6,4,7", "10,4,7,3,17,6,4,7", "10,0,2,9,,10,0,11", "3,5,1,0,,3,5,1"})
    void tokensThatAreCountedApartAreChargedToo(long input, long cached, long output, long reasoning, Long total,
            long ofInput, long ofCache, long ofOutput) throws Exception {
        Tokens tokens = chat("{'choices':[{'message':{'content':'x'},'finish_reason':'stop'}],'usage':{'prompt_tokens':"
                + input + ",'completion_tokens':" + output + ",'prompt_tokens_details':{'cached_tokens':" + cached
                + "},'completion_tokens_details':{'reasoning_tokens':" + reasoning + "},'total_tokens':" + total + "}}")
                .usage();

        boolean apart = total != null && total == input + output + reasoning;
        assertThat(tokens).isEqualTo(new Tokens(ofInput, ofCache, 0, apart ? output + reasoning : ofOutput, reasoning));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"400 | [{'error':{'message':'API key not valid'}}] | KEY_REFUSED",
            "400 | {'error':{'type':'invalid_request_error','message':'You have reached your specified API usage limits.'}}"
                    + " | QUOTA",
            "413 | {'error':{'type':'request_too_large','message':'too large'}} | CONTEXT_OVERFLOW",
            "400 | {'error':{'message':'input length and max_tokens exceed context limit'}} | CONTEXT_OVERFLOW",
            "400 | {'error':'no " + SECRET + "'} | BAD_REQUEST", "502 | <html>sk-canary</html> | UNAVAILABLE"})
    void errorsAreToldByTheirWords(int status, String body, ModelException.Kind kind) {
        for (WireKind wire : WireKind.values()) {
            assertThatThrownBy(() -> exchange(wire).read(status, Map.of(),
                    new ByteArrayInputStream(body.replace('\'', '"').getBytes(StandardCharsets.UTF_8))))
                    .isInstanceOfSatisfying(ModelException.class,
                            e -> assertThat(e.kind()).isEqualTo(kind))
                    .hasMessageNotContainingAny(SECRET, "sk-canary");
        }
    }

    @ParameterizedTest
    @EnumSource(WireKind.class)
    void aMessageOfAnotherModelIsStatedAnew(WireKind wire) throws Exception {
        JsonNode own = Json.read(switch (wire) {
            case OPENAI_CHAT -> "{\"tool_calls\":[{\"id\":\"c\",\"extra\":\"mark\"}]}";
            case OPENAI_RESPONSES -> "[{\"type\":\"reasoning\",\"id\":\"r\",\"encrypted_content\":\"mark\"},"
                    + "{\"type\":\"function_call\",\"call_id\":\"c\"}]";
            case ANTHROPIC_MESSAGES -> "[{\"type\":\"thinking\",\"signature\":\"mark\"},"
                    + "{\"type\":\"tool_use\",\"id\":\"c\",\"input\":{}}]";
        });
        Message message = new Message.Assistant("", List.of(WireJson.call("c", "look", "")),
                WireJson.raw(endpoint(wire, "m"), own));
        ModelRequest request = new ModelRequest("", List.of(message), List.of(), ToolChoice.AUTO, null, 1);

        assertThat(Wire.of(wire).body(endpoint(wire, "m"), request, true).toString()).contains("mark");
        assertThat(Wire.of(wire).body(endpoint(wire, "n"), request, true).toString()).doesNotContain("mark")
                .contains("look");
    }

    @Test
    void anthropicsCacheHasAtMostFourMarks() {
        List<Message> messages = Stream.iterate(0, i -> i + 1).limit(9).<Message>map(i -> i % 2 == 0
                ? new Message.User("u" + i)
                : new Message.Assistant("a" + i, List.of(), null)).toList();
        for (String instructions : List.of("", "Be brief.")) {
            String body = Wire.of(WireKind.ANTHROPIC_MESSAGES).body(endpoint(WireKind.ANTHROPIC_MESSAGES, "m"),
                    new ModelRequest(instructions, messages,
                            List.of(new ToolSchema("b", "d", Json.object()), new ToolSchema("a", "d", Json.object())),
                            ToolChoice.NONE, null, 1),
                    false).toString();

            assertThat(body.split("cache_control", -1)).hasSize(4);
            assertThat(body.indexOf("\"name\":\"a\"")).isLessThan(body.indexOf("\"name\":\"b\"")).isPositive();
        }
    }

    @ParameterizedTest
    @CsvSource({"gpt-5.4-mini,true", "o3,true", "gpt-4.1,false", "gpt-5-chat-latest,false", "llama-3,false"})
    void reasoningIsAskedForWhereTheModelHasAny(String model, boolean asked) {
        assertThat(Wire.of(WireKind.OPENAI_RESPONSES).body(endpoint(WireKind.OPENAI_RESPONSES, model),
                new ModelRequest("", List.of(new Message.User("x")), List.of(), ToolChoice.AUTO, null, 1), false)
                .has("include")).isEqualTo(asked);
    }

    private static final Map<WireKind, String> ODD_CALLS = Map.of(WireKind.OPENAI_CHAT,
            "{'choices':[{'message':{'content':null,'tool_calls':[{'id':'c','function':{'name':'look','arguments':''}},"
                    + "{'id':'c','function':{'name':'look','arguments':null}},{'function':{'name':'look'}}]},"
                    + "'finish_reason':'tool_calls'}]}",
            WireKind.OPENAI_RESPONSES,
            "{'status':'completed','output':[{'type':'function_call','call_id':'c','name':'look','arguments':''},"
                    + "{'type':'function_call','call_id':'c','name':'look','arguments':null},"
                    + "{'type':'function_call','name':'look'}]}",
            WireKind.ANTHROPIC_MESSAGES,
            "{'stop_reason':'tool_use','content':[{'type':'tool_use','id':'c','name':'look','input':''},"
                    + "{'type':'tool_use','id':'c','name':'look','input':null},{'type':'tool_use','name':'look'}]}");

    /** Without usage, too: the answer is accepted, and the caller charges an estimate. */
    @ParameterizedTest
    @EnumSource(WireKind.class)
    void oddCallsAreSentBackInAFormOfAllProviders(WireKind wire) throws Exception {
        ModelAnswer answer = read(wire, "application/json",
                Objects.requireNonNull(ODD_CALLS.get(wire)).replace('\'', '"').getBytes(StandardCharsets.UTF_8));
        assertThat(answer.estimated()).isTrue();
        assertThat(answer.calls()).extracting(Call::input).containsOnly(Json.object());
        List<String> ids = answer.calls().stream().map(Call::id).toList();
        assertThat(ids).hasSize(3).doesNotHaveDuplicates().first().isEqualTo("c");
        String sent = Wire.of(wire).body(endpoint(wire, "m"), LoweredRequest.of(new ModelRequest("",
                List.of(new Message.Assistant(answer.text(), answer.calls(), answer.raw())), List.of(),
                ToolChoice.AUTO, null, 1)).request(), false).toString();
        assertThat(ids).allSatisfy(id -> assertThat(sent).containsOnlyOnce('"' + id + '"'));
        assertThat(sent).doesNotContain("\"arguments\":\"\"", "\"arguments\":null", "\"input\":null", "\"input\":\"\"");
    }

    @Test
    void anUnreadableUsageIsNone() throws Exception {
        assertThat(chat("{'choices':[{'message':{'content':'x'},'finish_reason':'stop'}],'usage':{'prompt_tokens':-1}}")
                .estimated()).isTrue();
    }

    @Test
    void aStreamThatIsWholeNeedsNoEndMark() throws Exception {
        ModelAnswer answer = chatStream("{'choices':[{'delta':{'content':'x'},'finish_reason':'stop'}]}",
                "{'choices':[],'usage':{'prompt_tokens':9,'completion_tokens':3}}");
        assertThat(answer.text()).isEqualTo("x");
        assertThat(answer.usage()).isEqualTo(new Tokens(9, 0, 0, 3, 0));
    }

    @Test
    void aMessageThatIsWholeNeedsNoEndMark() throws Exception {
        String events = Stream.of("{'type':'message_start','message':{'content':[],'usage':{'input_tokens':9}}}",
                "{'type':'content_block_start','content_block':{'type':'text','text':''}}",
                "{'type':'content_block_delta','delta':{'type':'text_delta','text':'x'}}",
                "{'type':'message_delta','delta':{'stop_reason':'end_turn'},'usage':{'output_tokens':3}}")
                .map(event -> "data: " + event.replace('\'', '"') + "\n\n").collect(Collectors.joining());
        ModelAnswer answer = read(WireKind.ANTHROPIC_MESSAGES, "text/event-stream",
                events.getBytes(StandardCharsets.UTF_8));
        assertThat(answer.text()).isEqualTo("x");
        assertThat(answer.usage()).isEqualTo(new Tokens(9, 0, 0, 3, 0));
    }

    @ParameterizedTest
    @EnumSource(value = WireKind.class, names = {"OPENAI_CHAT", "ANTHROPIC_MESSAGES"})
    void aStreamIsNoLongerThanItsTokensOfOutput(WireKind wire) throws Exception {
        StreamedDocument stream = Wire.of(wire).streamed(100);
        if (wire == WireKind.ANTHROPIC_MESSAGES) {
            stream.add(Json.read("{\"type\":\"message_start\",\"message\":{\"content\":[]}}"));
            stream.add(Json
                    .read("{\"type\":\"content_block_start\",\"content_block\":{\"type\":\"text\",\"text\":\"\"}}"));
        }
        JsonNode part = Json.read(wire == WireKind.OPENAI_CHAT
                ? "{\"choices\":[{\"delta\":{\"content\":\"%s\"}}]}".formatted("é".repeat(30))
                : "{\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"%s\"}}"
                        .formatted("é".repeat(30)));
        stream.add(part);
        assertThat(catchThrowable(() -> stream.add(part))).isInstanceOf(UnreadableException.class);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', value = {"<think>hm {}</think>{\"a\":1}|{\"a\":1}",
            "~<think>\nhm\n</think>\n```json\n{\"a\":1}\n```~|{\"a\":1}", "~Here:\n```\n[1]\n```\nDone.~|[1]",
            "hm</think>[1]|[1]", "{\"a\":\"</think>```\"}|{\"a\":\"</think>```\"}", "no|no"})
    void jsonIsTakenOutOfReasoningAndFences(String text, String json) {
        assertThat(AnswerText.json(text)).isEqualTo(json);
    }

    @Test
    void textHasNoReasoningBefore() throws Exception {
        assertThat(chat("{'choices':[{'message':{'content':'<think>hm</think> yes <think>'},'finish_reason':'stop'}]}")
                .text()).isEqualTo("yes <think>");
    }

    @Test
    void anEmptyMessageIsLeftOut() {
        ModelRequest lowered = LoweredRequest.of(new ModelRequest("", List.of(new Message.User("a"),
                new Message.Assistant(" ", List.of(), Json.object()), new Message.User("b")), List.of(),
                ToolChoice.AUTO, null, 1)).request();
        assertThat(lowered.messages()).containsExactly(new Message.User("a\n\nb"));
    }
}
