package io.keelson.devmodel;

import static io.keelson.devmodel.TestModel.CHAT;
import static io.keelson.devmodel.TestModel.MESSAGES;
import static io.keelson.devmodel.TestModel.RESPONSES;
import static io.keelson.devmodel.TestModel.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.Socket;
import java.net.SocketException;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/** Rules, faults and the journal, over real connections. */
class DevModelTest {

    private static final String TOOLS = ",\"tools\":[%s],\"tool_choice\":%s";
    private static final String PARAMETERS = "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\","
            + "\"minimum\":3}},\"required\":[\"n\"]}";

    private static String answer(String members) {
        return "rules: [{answer: {" + members + "}}]";
    }

    /** The text of an answer, on any wire. */
    private static String text(JsonNode answer) {
        return answer.at("/choices/0/message/content").asString("") + answer.at("/content/0/text").asString("")
                + answer.at("/output/0/content/0/text").asString("");
    }

    @ParameterizedTest
    @ValueSource(strings = {CHAT, MESSAGES, RESPONSES})
    void withoutAScriptTheLastMessageIsRepeatedAndNoToolIsCalled(String path) throws Exception {
        try (TestModel model = new TestModel("rules: []")) {
            JsonNode answer = model.ask(path, "count the files");

            assertThat(text(answer)).contains("count the files");
            assertThat(model.newest().get("rule").stringValue()).isEqualTo("default");
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            CHAT + "|\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"x\",\"schema\":%s}}",
            MESSAGES + "|\"output_config\":{\"format\":{\"type\":\"json_schema\",\"schema\":%s}}",
            MESSAGES + "|\"output_format\":{\"type\":\"json_schema\",\"schema\":%s}",
            RESPONSES + "|\"text\":{\"format\":{\"type\":\"json_schema\",\"name\":\"x\",\"schema\":%s}}"})
    void aDemandedSchemaGetsAValueOfIt(String path, String format) throws Exception {
        String schema = """
                {"type": "object", "additionalProperties": false, "required": ["id", "kind", "marks", "why", "link"],
                 "properties": {"id": {"type": "string", "minLength": 20}, "kind": {"enum": ["good", "bad"]},
                  "marks": {"type": "array", "minItems": 2, "items": {"$ref": "#/$defs/mark"}},
                  "why": {"type": ["null", "string"]}, "link": {"anyOf": [{"type": "string", "format": "uri"}]}},
                 "$defs": {"mark": {"type": "number", "exclusiveMinimum": 1, "maximum": 5}}}""";
        try (TestModel model = new TestModel("rules: []")) {
            JsonNode answer = Json.read(model.post(path, request(path, "x", "," + format.formatted(schema))).body());
            JsonNode value = Json.read(text(answer));

            assertThat(value.get("kind").stringValue()).isEqualTo("good");
            assertThat(value.get("marks").valueStream().map(JsonNode::intValue)).containsExactly(2, 2);
            assertThat(value.get("id").stringValue()).hasSize(20);
        }
    }

    @Test
    void aSchemaThatCannotBeMetIsRefusedInsteadOfAWrongValue() throws Exception {
        try (TestModel model = new TestModel("rules: []")) {
            for (String schema : List.of("{\"type\":\"string\",\"pattern\":\"^[0-9]{4}$\"}",
                    "{\"type\":\"array\",\"minItems\":2000000000}", "{\"type\":5}",
                    "{\"$ref\":\"#\"}", "{\"type\":\"string\",\"minLength\":2000000000}")) {
                HttpResponse<String> response = model.post(RESPONSES, request(RESPONSES, "x",
                        ",\"text\":{\"format\":{\"type\":\"json_schema\",\"schema\":" + schema + "}}"));
                assertThat(response.statusCode()).as(response.body()).isEqualTo(400);
            }
            assertThat(model.journal()).allMatch(each -> each.at("/billed/output").asInt() == 0);
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            CHAT + "|{\"type\":\"function\",\"function\":{\"name\":\"t\",\"parameters\":%s}}|\"required\""
                    + "|/choices/0/message/tool_calls/0/function/arguments",
            CHAT + "|{\"type\":\"function\",\"function\":{\"name\":\"t\",\"parameters\":%s}}"
                    + "|{\"type\":\"function\",\"function\":{\"name\":\"t\"}}"
                    + "|/choices/0/message/tool_calls/0/function/arguments",
            MESSAGES + "|{\"name\":\"t\",\"input_schema\":%s}|{\"type\":\"any\"}|/content/0/input",
            RESPONSES + "|{\"type\":\"function\",\"name\":\"t\",\"parameters\":%s}|\"required\"|/output/0/arguments"})
    void aToolThatMustBeCalledIsCalledWithAnInputOfItsSchema(String path, String tool, String choice, String place)
            throws Exception {
        try (TestModel model = new TestModel("rules: []")) {
            JsonNode answer = Json.read(model.post(path,
                    request(path, "x", TOOLS.formatted(tool.formatted(PARAMETERS), choice))).body());

            JsonNode input = answer.at(place);
            assertThat(input.isString() ? Json.read(input.stringValue()) : input)
                    .isEqualTo(Json.read("{\"n\":3}"));
        }
    }

    /** A conversation with two turns behind it on each wire: a call of {@code look} with its result, then a text. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            CHAT + "|{\"model\":\"m\",\"messages\":[{\"role\":\"system\",\"content\":\"be brief\"},"
                    + "{\"role\":\"user\",\"content\":\"x\"},{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"c\","
                    + "\"type\":\"function\",\"function\":{\"name\":\"look\",\"arguments\":\"{}\"}}]},"
                    + "{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":\"seen it\"}]}",
            MESSAGES + "|{\"model\":\"m\",\"max_tokens\":9,\"system\":[{\"type\":\"text\",\"text\":\"be brief\"}],"
                    + "\"messages\":[{\"role\":\"user\",\"content\":\"x\"},{\"role\":\"assistant\",\"content\":"
                    + "[{\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"look\",\"input\":{}}]},{\"role\":\"user\","
                    + "\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"c\",\"content\":[{\"type\":\"text\","
                    + "\"text\":\"seen it\"}]}]}]}",
            MESSAGES + "|{\"model\":\"m\",\"max_tokens\":9,\"messages\":[{\"role\":\"user\",\"content\":\"x\"},"
                    + "{\"role\":\"system\",\"content\":[{\"type\":\"text\",\"text\":\"be brief\"}]},"
                    + "{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"look\","
                    + "\"input\":{}}]},{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\","
                    + "\"tool_use_id\":\"c\",\"content\":\"seen it\"}]}]}",
            RESPONSES + "|{\"model\":\"m\",\"instructions\":\"be brief\",\"input\":[{\"role\":\"user\",\"content\":"
                    + "[{\"type\":\"input_text\",\"text\":\"x\"}]},{\"type\":\"reasoning\",\"summary\":[]},"
                    + "{\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"look\",\"arguments\":\"{}\"},"
                    + "{\"type\":\"function_call_output\",\"call_id\":\"c\",\"output\":\"seen it\"}]}"})
    void conditionsAreOfTheConversation(String path, String body) throws Exception {
        String wire =
                ProviderWire.ALL.stream().filter(each -> each.path().equals(path)).findFirst().orElseThrow().name();
        String script = """
                rules:
                  - {when: {turn: 1}, answer: {text: wrong turn}}
                  - {when: {last_tool: other}, answer: {text: wrong tool}}
                  - {when: {text: unseen}, answer: {text: wrong text}}
                  - {when: {system: be verbose}, answer: {text: wrong system}}
                  - {when: {header: {x-case: b}}, answer: {text: wrong header}}
                  - {when: {model: n}, answer: {text: wrong model}}
                  - {when: {request: 2}, answer: {text: wrong request}}
                  - {when: {wire: %s, turn: 2, last_tool: look, text: seen, system: brief, header: {X-Case: a},
                      model: m, request: 1}, answer: {text: right}}
                """.formatted(wire);
        try (TestModel model = new TestModel(script)) {
            assertThat(text(Json.read(model.post(path, body, "X-Case", "a").body()))).isEqualTo("right");
            assertThat(model.newest().get("turn").intValue()).isEqualTo(2);
            assertThat(text(Json.read(model.post(path, body, "X-Case", "a").body()))).isEqualTo("wrong request");
        }
    }

    @Test
    void rulesCountTheRequestsThatFit() throws Exception {
        try (TestModel model = new TestModel("""
                rules:
                  - {when: {text: a, first: 2}, answer: {text: one}}
                  - {when: {nth: 2}, answer: {text: two}}
                  - {answer: {json: {three: 3}}}
                """)) {
            List<String> texts = List.of(text(model.ask(CHAT, "a")), text(model.ask(CHAT, "a")),
                    text(model.ask(CHAT, "a")), text(model.ask(CHAT, "b")), text(model.ask(CHAT, "a")));

            assertThat(texts).containsExactly("one", "one", "{\"three\":3}", "two", "{\"three\":3}");
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {CHAT + "|/usage/prompt_tokens|/usage/completion_tokens|150",
            RESPONSES + "|/usage/input_tokens|/usage/output_tokens|150",
            MESSAGES + "|/usage/input_tokens|/usage/output_tokens|100"})
    void theJournalHasTheTokensThatTheWireReports(String path, String input, String output, int plainInput)
            throws Exception {
        try (TestModel model = new TestModel(
                answer("usage: {input: 100, cache_read: 800, cache_write: 50, output: 60, reasoning: 20}"))) {
            JsonNode answer = model.ask(path, "x");
            JsonNode billed = model.newest().get("billed");
            int all = billed.get("input").intValue() + billed.get("cache_read").intValue();

            assertThat(billed.get("input").intValue()).isEqualTo(plainInput);
            assertThat(answer.at(input).intValue()).isEqualTo(path.equals(MESSAGES) ? plainInput : all);
            assertThat(answer.at(output).intValue()).isEqualTo(60);
            assertThat(all + billed.get("cache_write").intValue()).isEqualTo(950);
            assertThat(model.newest().get("delivered").booleanValue()).isTrue();
        }
    }

    @Test
    void usageThatIsNotStatedIsATokenForEachFourBytes() throws Exception {
        try (TestModel model = new TestModel(answer("text: ééé, calls: [{tool: abc, input: {}}]"))) {
            String body = request(CHAT, "x", "");
            JsonNode usage = Json.read(model.post(CHAT, body).body()).get("usage");

            assertThat(usage.get("prompt_tokens").intValue()).isEqualTo((body.length() + 3) / 4);
            assertThat(usage.get("completion_tokens").intValue()).as("11 bytes").isEqualTo(3);
        }
    }

    @Test
    void errorsHaveTheirStatusHeadersAndNoBill() throws Exception {
        try (TestModel model = new TestModel(answer("status: 429, headers: {Retry-After: '7'}, "
                + "error: {type: insufficient_quota, code: insufficient_quota, message: no money}"))) {
            HttpResponse<String> response = model.post(CHAT, request(CHAT, "x", ""));

            assertThat(response.statusCode()).isEqualTo(429);
            assertThat(response.headers().firstValue("retry-after")).contains("7");
            assertThat(response.headers().firstValue("x-request-id")).isPresent();
            assertThat(Json.read(response.body()).at("/error/code").stringValue()).isEqualTo("insufficient_quota");
            assertThat(model.newest().at("/billed/input").intValue()).isZero();
            assertThat(model.newest().get("delivered").booleanValue()).isFalse();
        }
    }

    /** For each byte of an answer, the client gets those before it, and then the connection's end. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void anAnswerIsCutAfterAnyByte(boolean stream) throws Exception {
        String body = request(MESSAGES, "x", stream ? ",\"stream\":true" : "");
        String usage = "text: hi, usage: {input: 5, output: 2}";
        int length;
        try (TestModel model = new TestModel(answer(usage))) {
            length = model.post(MESSAGES, body).body().length();
        }
        for (int n = 0; n < length; n += stream ? 37 : 11) {
            try (TestModel model = new TestModel(answer(usage + ", cut_after_bytes: " + n));
                    Socket socket = model.send(MESSAGES, body)) {
                String all = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
                String content = all.substring(all.indexOf("\r\n\r\n") + 4);

                assertThat(stream ? content.replaceAll("(?m)^[0-9a-f]+\r\n|\r\n", "") : content).hasSize(n);
                assertThat(content).doesNotContain("\r\n0\r\n");
                assertThat(model.newest().get("outcome").stringValue()).isEqualTo("cut");
                assertThat(model.newest().get("bytes_sent").intValue()).isEqualTo(n);
                assertThat(model.newest().at("/billed/output").intValue()).isEqualTo(2);
                assertThatThrownBy(() -> model.post(MESSAGES, body)).isInstanceOf(IOException.class);
            }
        }
    }

    @Test
    void aResetIsNoClose() throws Exception {
        try (TestModel model = new TestModel(answer("reset: true"));
                Socket socket = model.send(CHAT, request(CHAT, "x", ""))) {
            assertThatThrownBy(() -> socket.getInputStream().read()).isInstanceOf(SocketException.class);
            assertThat(model.newest().get("outcome").stringValue()).isEqualTo("cut");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"malformed: true", "body: '<html>', content_type: text/html", "body: ''",
            "content_type: text/plain"})
    void aSpoiledAnswerIsBilledAndNotDelivered(String fault) throws Exception {
        try (TestModel model = new TestModel(answer(fault))) {
            for (String more : List.of("", ",\"stream\":true")) {
                HttpResponse<String> response = model.post(CHAT, request(CHAT, "x", more));

                assertThat(response.statusCode()).isEqualTo(200);
                assertThat(model.newest().get("outcome").stringValue()).isEqualTo("spoiled");
                assertThat(model.newest().get("delivered").booleanValue()).isFalse();
                assertThat(model.newest().at("/billed/output").intValue()).isPositive();
                if (fault.startsWith("malformed")) {
                    assertThatThrownBy(() -> response.body().lines().filter(line -> line.contains("{"))
                            .forEach(line -> Json.read(line.replaceFirst("^data: ", ""))))
                            .isInstanceOf(JacksonException.class);
                }
                if (fault.contains("content_type")) {
                    assertThat(response.headers().firstValue("content-type").orElseThrow()).startsWith("text/");
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"delay_ms: 60000", "first_byte_ms: 60000", "drip_ms: 60000",
            "endless: true, drip_ms: 5"})
    void aClientThatLeavesIsSeen(String pace) throws Exception {
        for (String more : List.of("", ",\"stream\":true")) {
            try (TestModel model = new TestModel(answer(pace))) {
                try (Socket socket = model.send(CHAT, request(CHAT, "x", more))) {
                    Awaitility.await().until(() -> !model.journal().isEmpty());
                    if (!pace.startsWith("delay")) {
                        assertThat(socket.getInputStream().read()).isEqualTo('H');
                    }
                    assertThat(model.newest().get("outcome").stringValue()).isEqualTo("open");
                }
                Awaitility.await().atMost(Duration.ofSeconds(30))
                        .until(() -> model.newest().get("outcome").stringValue().equals("gone"));
                assertThat(model.newest().get("delivered").booleanValue()).isFalse();
                assertThat(model.newest().at("/billed/output").intValue()).isPositive();
            }
        }
    }

    @Test
    void timesAreKept() throws Exception {
        try (TestModel model =
                new TestModel(answer("text: twelve bytes, delay_ms: 20, first_byte_ms: 30, drip_ms: 1"))) {
            assertThat(text(model.ask(MESSAGES, "x"))).isEqualTo("twelve bytes");
            assertThat(model.newest().get("ms").intValue()).isGreaterThanOrEqualTo(50);
        }
    }

    @Test
    void anotherModelAnswers() throws Exception {
        try (TestModel model = new TestModel("models: [m]\n" + answer("model: m-2026-01-01"))) {
            assertThat(model.ask(CHAT, "x").get("model").stringValue()).isEqualTo("m-2026-01-01");
            assertThat(model.newest().get("model").stringValue()).isEqualTo("m");
            assertThat(model.newest().get("answered_as").stringValue()).isEqualTo("m-2026-01-01");
            assertThat(Json.read(model.get("/v1/models").body()).at("/data/0/id").stringValue()).isEqualTo("m");
            assertThat(model.post(CHAT, request(CHAT, "x", "").replace("\"m\"", "\"other\"")).statusCode())
                    .isEqualTo(404);
        }
    }

    @Test
    void aBackgroundResponseIsFetchedAndBilledOnce() throws Exception {
        try (TestModel model = new TestModel(answer("text: later, delay_ms: 50, usage: {input: 3, output: 4}"))) {
            JsonNode queued = Json.read(model.post(RESPONSES, request(RESPONSES, "x", ",\"background\":true")).body());
            String path = RESPONSES + "/" + queued.get("id").stringValue();
            assertThat(queued.get("status").stringValue()).isEqualTo("queued");
            Awaitility.await().until(() -> Json.read(model.get(path).body()).get("status").stringValue()
                    .equals("completed"));

            assertThat(text(Json.read(model.get(path).body()))).isEqualTo("later");
            assertThat(model.newest().get("delivered").booleanValue()).isTrue();
            List<JsonNode> journal = model.journal();
            assertThat(journal.getFirst().get("outcome").stringValue()).isEqualTo("stored");
            assertThat(journal.stream().mapToInt(each -> each.at("/billed/output").intValue()).sum()).isEqualTo(4);
            assertThat(model.get(RESPONSES + "/resp_unknown").statusCode()).isEqualTo(404);
        }
    }

    @Test
    void aBackgroundResponseIsCancelledAndNotBilled() throws Exception {
        try (TestModel model = new TestModel(answer("text: never, delay_ms: 60000"))) {
            JsonNode queued = Json.read(model.post(RESPONSES, request(RESPONSES, "x", ",\"background\":true")).body());
            String path = RESPONSES + "/" + queued.get("id").stringValue();

            assertThat(Json.read(model.get(path).body()).get("status").stringValue()).isEqualTo("in_progress");
            for (int times = 0; times < 2; times++) {
                assertThat(Json.read(model.post(path + "/cancel", "").body()).get("status").stringValue())
                        .isEqualTo("cancelled");
            }
            Awaitility.await()
                    .until(() -> model.journal().getFirst().get("outcome").stringValue().equals("cancelled"));
            assertThat(model.journal()).allMatch(each -> each.at("/billed/output").intValue() == 0);
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {CHAT + "|no JSON", CHAT + "|{}", CHAT + "|[]", CHAT + "|", CHAT
            + "|{\"model\":\"m\"}",
            MESSAGES + "|{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}",
            RESPONSES + "|{\"model\":\"m\",\"input\":\"\"}",
            RESPONSES + "|{\"model\":\"m\",\"input\":\"x\",\"previous_response_id\":\"r\"}",
            RESPONSES + "|{\"model\":\"m\",\"input\":\"x\",\"background\":true,\"stream\":true}",
            RESPONSES + "|{\"model\":\"m\",\"input\":\"x\",\"background\":true,\"store\":false}",
            RESPONSES + "|{\"model\":\"m\",\"input\":[{\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"t\"}]}",
            RESPONSES + "|{\"model\":\"m\",\"input\":[{\"type\":\"function_call_output\",\"call_id\":\"c\"}]}",
            CHAT + "|{\"model\":\"m\",\"messages\":[{\"role\":\"alien\",\"content\":\"x\"}]}"})
    void requestsThatProvidersRefuseAreRefused(String path, String body) throws Exception {
        try (TestModel model = new TestModel("rules: []")) {
            HttpResponse<String> response = model.post(path, body == null ? "" : body);

            assertThat(response.statusCode()).as(response.body()).isEqualTo(400);
            assertThat(Json.read(response.body()).at("/error/message").asString("")).isNotBlank();
            assertThat(model.newest().get("outcome").stringValue()).isEqualTo("whole");
            assertThat(model.newest().at("/billed/input").intValue()).isZero();
        }
    }

    @Test
    void requestsThatAreNoHttpAreRefused() throws Exception {
        try (TestModel model = new TestModel("rules: []")) {
            for (String wrong : List.of("nonsense\r\n\r\n", "POST /v1/messages HTTP/1.1\r\nContent-Length: x\r\n\r\n",
                    "POST /v1/messages HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n",
                    "POST /v1/messages HTTP/1.1\r\nContent-Length: 40000000\r\n\r\n",
                    "GET / HTTP/1.1\r\nno colon\r\n\r\n", "GET / HTTP/1.1\r\nX: " + "x".repeat(70_000) + "\r\n\r\n")) {
                try (Socket socket = model.raw(wrong)) {
                    assertThat(new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                            .startsWith("HTTP/1.1 4");
                }
            }
            assertThat(model.get("/nowhere").statusCode()).isEqualTo(404);
        }
    }

    @Test
    void aChunkedRequestIsRead() throws Exception {
        String body = request(CHAT, "hello", "");
        try (TestModel model = new TestModel("rules: []"); Socket socket = model.raw("POST " + CHAT
                + " HTTP/1.1\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n"
                + Integer.toHexString(body.length()) + "\r\n" + body + "\r\n0\r\n\r\n")) {
            assertThat(new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                    .startsWith("HTTP/1.1 100 Continue").contains("HTTP/1.1 200", "begins: hello");
        }
    }

    @Test
    void theJournalIsAFileWithoutSecrets(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("journal.jsonl");
        try (TestModel model = new TestModel(answer("delay_ms: 60000"), file)) {
            model.send(CHAT, request(CHAT, "open", "")).close();
            Awaitility.await().until(() -> Files.readString(file).contains("gone"));
            try (Socket open = model.send(CHAT, "{ \"model\" : \"m\", \"messages\" : [] }")) {
                assertThat(open.getInputStream().read()).isEqualTo('H');
            }
            model.post(CHAT, "{\"messages\":[],\"model\":\"m\"}", "Authorization", "Bearer canary", "X-Api-Key",
                    "canary", "X-Case", "kept");
        }
        List<JsonNode> lines = Files.readAllLines(file).stream().map(Json::read).toList();

        assertThat(lines).hasSize(3);
        assertThat(lines.get(1).get("body_sha256")).as("of the canonical form")
                .isEqualTo(lines.get(2).get("body_sha256"));
        assertThat(lines.getLast().at("/headers/x-case").stringValue()).isEqualTo("kept");
        assertThat(lines.getLast().at("/headers/authorization").stringValue()).isEqualTo("redacted");
        assertThat(Files.readString(file)).doesNotContain("canary");
    }

    @Test
    void requestsAtOnceAreEachInTheJournal() throws Exception {
        try (TestModel model = new TestModel(answer("usage: {input: 2, output: 3}"))) {
            List<Thread> clients = java.util.stream.IntStream.range(0, 50)
                    .mapToObj(at -> Thread.ofVirtual().start(() -> {
                        try {
                            model.ask(ProviderWire.ALL.get(at % 3).path(), "x");
                        } catch (Exception e) {
                            throw new IllegalStateException(e);
                        }
                    })).toList();
            for (Thread client : clients) {
                client.join();
            }

            assertThat(model.journal()).hasSize(50).allMatch(each -> each.get("delivered").booleanValue())
                    .allMatch(each -> each.at("/billed/output").intValue() == 3);
            assertThat(model.journal().stream().map(each -> each.get("response_id").stringValue()))
                    .doesNotHaveDuplicates();
        }
    }
}
