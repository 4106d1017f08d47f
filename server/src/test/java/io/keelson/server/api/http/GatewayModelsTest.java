package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import io.keelson.core.Breadth;
import io.keelson.core.money.WorstCase;
import io.keelson.devmodel.TestModel;
import io.keelson.server.api.http.ApiServer.Answer;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.math.BigDecimal;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Requests of programs to models through the gateway: passed on, held, recorded, charged once, and replayed. */
@Breadth.Spread
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class GatewayModelsTest {
    private static final String SCRIPT = """
            rules:
              - {name: slow, when: {text: slow}, answer: {text: "one two three four five six", drip_ms: 60, usage: {input: 100, output: 50}}}
              - {name: call, when: {text: weather, turn: 1}, answer: {text: "let me see", calls: [{tool: weather, input: {city: Rome}}], usage: {input: 100, output: 50}}}
              - {name: busy, when: {text: busy, first: 1}, answer: {status: 429, headers: {retry-after: "0"}, error: {message: busy}}}
              - {name: bad, when: {text: bad}, answer: {status: 400, error: {message: "no such parameter"}}}
              - {name: cut, when: {text: cut, first: 1}, answer: {text: "one two three four five six seven eight nine ten", cut_after_bytes: 900}}
              - {name: breaking, when: {text: breaks off}, answer: {text: "MANY_WORDS", cut_after_bytes: 2500}}
              - {name: broken, when: {text: broken, first: 1}, answer: {text: "one two three four five six seven eight nine ten", cut_after_bytes: 900}}
              - {name: any, answer: {text: done, usage: {input: 100, output: 50}}}
            """;
    private static final String WHOLE = """
            {"id": "c1", "object": "chat.completion", "created": 1, "model": "m", "choices": [{"index": 0, "message": {"role": "assistant",
              "content": "all at once"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150}}
            """;
    private static final String MODEL = """
              %s: {wire: %s, base_url: "%s", model: provider-%s, family: f, context_tokens: 100000, max_output_tokens: 10000,
                prices: {input: 1, output: 10}}
            """;
    private static final String CHAT = "/gateway/openai/v1/chat/completions";
    private static final String RESPONSES = "/gateway/openai/v1/responses";
    private static final String EMBEDDINGS = "/gateway/openai/v1/embeddings";
    private static final String MESSAGES = "/gateway/anthropic/v1/messages";
    private static final String COST = "0.0006";
    private static final String CLAUDE_RESULT =
            "{\"type\": \"tool_result\", \"tool_use_id\": \"%s\", \"content\": \"%s\"}";
    private static final String CLAUDE_REQUEST = """
            {"model": "a", "max_tokens": 5000, "metadata": {"user_id": "%s"}, "messages": [
              {"role": "user", "content": "Both"}, {"role": "assistant", "content": [
                {"type": "tool_use", "id": "c1", "name": "one", "input": {}}, {"type": "tool_use", "id": "c2", "name": "two", "input": {}}]},
              {"role": "user", "content": [%s]}]}""";
    private static final String CODEX_RESULT =
            "{\"type\": \"function_call_output\", \"call_id\": \"%s\", \"output\": \"%s\"}";
    private static final String CODEX_REQUEST = """
            {"model": "r", "store": false, "input": [{"type": "message", "id": "msg_%1$s", "role": "user", "content": "Both"},
              {"type": "function_call", "id": "fc1_%1$s", "call_id": "c1", "name": "one", "arguments": "{}"},
              {"type": "function_call", "id": "fc2_%1$s", "call_id": "c2", "name": "two", "arguments": "{}"}, %2$s]}""";

    private final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private TestModel model;
    private final Semaphore counting = new Semaphore(0);
    private HttpServer provider;
    private ApiServer api;
    private int tools;

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        model = new TestModel(SCRIPT.replace("MANY_WORDS", "word ".repeat(200)));
        String other = otherProvider();
        Files.writeString(folder.resolve("models.yaml"), "models:\n"
                + MODEL.formatted("c", "openai-chat", model.uri("/v1"), "c")
                + MODEL.formatted("r", "openai-responses", model.uri("/v1"), "r")
                + MODEL.formatted("rated", "openai-chat", model.uri("/v1"), "rated")
                + MODEL.formatted("a", "anthropic-messages", model.uri(""), "a")
                + MODEL.formatted("counter", "anthropic-messages", other, "counter")
                + MODEL.formatted("large", "openai-chat", other, "large"));
        api = new ApiServer(Files.createDirectory(folder.resolve("data")), TestDatabase.createUrl(),
                Map.of("KEELSON_MODELS", folder.resolve("models.yaml").toString()));
    }

    /** The address of a provider that counts tokens when it may, has embeddings of 33 MiB, and streams no chat. */
    private String otherProvider() throws IOException {
        provider = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        provider.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        provider.createContext("/", exchange -> {
            exchange.getRequestBody().readAllBytes();
            exchange.getResponseHeaders().add("Content-Type", "application/json");
            if (exchange.getRequestURI().getPath().endsWith("/chat/completions")) {
                byte[] whole = WHOLE.getBytes(StandardCharsets.UTF_8);
                exchange.sendResponseHeaders(200, whole.length);
                exchange.getResponseBody().write(whole);
                exchange.close();
                return;
            }
            boolean counts = exchange.getRequestURI().getPath().endsWith("count_tokens");
            if (counts) {
                counting.acquireUninterruptibly();
            }
            exchange.sendResponseHeaders(200, 0);
            try (OutputStream out = exchange.getResponseBody()) {
                out.write((counts ? "{\"input_tokens\": 1}" : "{\"data\": [").getBytes(StandardCharsets.UTF_8));
                byte[] blank = " ".repeat(1 << 20).getBytes(StandardCharsets.UTF_8);
                for (int i = 0; i < 33 && !counts; i++) {
                    out.write(blank);
                }
            } catch (IOException e) {
                exchange.close();
            }
        });
        provider.start();
        return "http://127.0.0.1:" + provider.getAddress().getPort();
    }

    @AfterAll
    void stop() throws Exception {
        provider.stop(0);
        api.close();
        model.close();
        http.close();
    }

    /** A step with a program. */
    private final class Program {
        private final String tool = "test.program" + tools++;
        private final String run;
        private JsonNode item;

        Program(String limit) {
            this(limit, "");
        }

        /** @param ofTask further members of its task, whose attempts are then those of the step */
        Program(String limit, String ofTask) {
            claim(0);
            String config = limit == null ? "" : "\"config\": {\"budget\": {\"hard_limit_usd\": " + limit + "}}, ";
            run = api.create(ApiServer.REMOTE.replace("test.remote", tool).replace("\"plan\"", config + "\"plan\"")
                    .replace("\"steps\"", ofTask + "\"steps\"")
                    .replace("\"max_attempts\": 3", ofTask.isEmpty() ? "\"max_attempts\": 3" : "\"max_attempts\": 1"));
            item = claim(20_000).get(0);
        }

        private JsonNode claim(int wait) {
            return api
                    .post("/api/v1/dispatch/claim",
                            "{\"worker_id\": \"w\", \"tools\": [\"" + tool + "\"], \"wait_ms\": "
                                    + wait + ", \"tool_specs\": [{\"name\": \"" + tool + "\", \"gateway\": true}]}")
                    .json().get("items");
        }

        String token() {
            return item.at("/gateway/token").stringValue();
        }

        /** The program is killed, and executed again. */
        void again() {
            report("release", "");
            item = claim(20_000).get(0);
        }

        JsonNode report(String route, String members) {
            return api.post("/api/v1/dispatch/" + route, "{\"worker_id\": \"w\", \"items\": [{\"step_id\": "
                    + item.get("step_id") + ", \"lease_epoch\": " + item.get("lease_epoch") + members + "}]}").json()
                    .at("/items/0");
        }

        HttpRequest request(String path, String body, String... headers) {
            HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(api.url() + path))
                    .timeout(Duration.ofSeconds(30)).header("Authorization", "Bearer " + token())
                    .header("Content-Type", "application/json").POST(HttpRequest.BodyPublishers.ofString(body));
            if (headers.length > 0) {
                request.headers(headers);
            }
            return request.build();
        }

        HttpResponse<String> post(String path, String body, String... headers) throws Exception {
            return http.send(request(path, body, headers), BodyHandlers.ofString());
        }

        BigDecimal charged() {
            return api.get("/api/v1/runs/" + run).json().get("credits_charged").decimalValue();
        }
    }

    private static String body(String path, String text, String more) {
        String message = "[{\"role\": \"user\", \"content\": \"" + text + "\"}]";
        return switch (path) {
            case CHAT -> "{\"model\": \"c\", \"messages\": " + message + more + "}";
            case RESPONSES -> "{\"model\": \"r\", \"input\": " + message + more + "}";
            default -> "{\"model\": \"a\", \"max_tokens\": 5000, \"messages\": " + message + more + "}";
        };
    }

    private static String text(JsonNode answer) {
        return answer.at("/choices/0/message/content").asString("") + answer.at("/output/0/content/0/text").asString("")
                + answer.at("/content/0/text").asString("");
    }

    /** The ids that an answer has, in either form. */
    private static List<String> ids(String text) {
        return java.util.regex.Pattern.compile("\"(?:id|call_id)\": ?\"([^\"]+)\"").matcher(text).results()
                .map(found -> found.group(1)).distinct().sorted().toList();
    }

    @ParameterizedTest
    @CsvSource({CHAT + ", false", CHAT + ", true", RESPONSES + ", false", RESPONSES + ", true", MESSAGES + ", false",
            MESSAGES + ", true", "/gateway/anthropic/messages, false"})
    void anAnswerIsRecordedChargedOnceAndReplayedInEitherForm(String path, boolean stream) throws Exception {
        Program program = new Program(null);
        String unique = "hello " + path + stream;
        String as = path.equals("/gateway/anthropic/messages") ? MESSAGES : path;
        int before = model.journal().size();
        HttpResponse<String> first = program.post(path, body(as, unique, stream ? ", \"stream\": true" : ""));
        assertThat(first.statusCode()).as(first.body()).isEqualTo(200);
        assertThat(first.body()).contains("done");
        assertThat(first.headers().firstValue("x-keelson-replayed")).isEmpty();
        assertThat(program.charged()).isEqualByComparingTo(COST);

        program.again();
        HttpResponse<String> again = program.post(path, body(as, unique, stream ? "" : ", \"stream\": true"));
        assertThat(again.statusCode()).as(again.body()).isEqualTo(200);
        assertThat(again.headers().firstValue("x-keelson-replayed")).hasValue("true");
        assertThat(again.body()).contains("done");
        assertThat(ids(again.body())).isEqualTo(ids(first.body()));
        assertThat(model.journal()).hasSize(before + 1);
        assertThat(program.charged()).isEqualByComparingTo(COST);
        JsonNode whole = Json.read(stream ? again.body() : first.body());
        assertThat(text(whole)).isEqualTo("done");
        program.report("complete", ", \"output\": {}");
        assertThat(api.awaitState(program.run, "completed").get("total_cost").decimalValue())
                .isEqualByComparingTo(COST);
    }

    /** An equal request of the same execution is another one; of the next execution, each has its own answer. */
    @Test
    void equalRequestsUseRecordsInTheirOrder() throws Exception {
        Program program = new Program(null);
        String body = body(CHAT, "equal", "");
        String one = program.post(CHAT, body).body();
        String two = program.post(CHAT, body).body();
        assertThat(ids(one)).isNotEqualTo(ids(two));
        program.again();
        assertThat(ids(program.post(CHAT, body).body())).isEqualTo(ids(one));
        assertThat(ids(program.post(CHAT, body).body())).isEqualTo(ids(two));
        assertThat(program.post(CHAT, body).headers().firstValue("x-keelson-replayed")).isEmpty();
        assertThat(program.charged()).isEqualByComparingTo("0.0018");
    }

    @Test
    void aCallOfAToolPassesOnOnlyWhenItsAnswerIsRecorded() throws Exception {
        Program program = new Program(null);
        String tool =
                ", \"stream\": true, \"tools\": [{\"name\": \"weather\", \"input_schema\": {\"type\": \"object\"}}]";
        HttpResponse<String> answer = program.post(MESSAGES, body(MESSAGES, "weather", tool));
        assertThat(answer.body()).contains("tool_use", "message_stop");
        assertThat(program.charged()).isEqualByComparingTo(COST);
        program.again();
        HttpResponse<String> replayed = program.post(MESSAGES, body(MESSAGES, "weather", tool));
        assertThat(ids(replayed.body())).isEqualTo(ids(answer.body()));
        String transcript = "/api/v1/tasks/" + program.item.get("task_id").stringValue() + "/transcript";
        JsonNode entry = api.get(transcript).json().at("/items/1");
        assertThat(entry.at("/calls/0"))
                .isEqualTo(Json.read("{\"name\": \"weather\", \"input\": {\"city\": \"Rome\"}}"));
        assertThat(entry.get("text").stringValue()).isEqualTo("let me see");
    }

    /** The client is killed in the middle of an answer: the server reads it to its end, and the next execution has it. */
    @ParameterizedTest
    @ValueSource(strings = {CHAT, RESPONSES, MESSAGES})
    void anAnswerWhoseClientIsKilledIsChargedOnce(String path) throws Exception {
        Program program = new Program(null);
        String body = body(path, "slow " + path, ", \"stream\": true");
        int before = model.journal().size();
        ClosedConnection.after(api, path, program.token(), body, answer -> assertThat(
                new String(answer.readNBytes(12), StandardCharsets.UTF_8)).endsWith("200"));
        program.again();
        HttpResponse<String> again = program.post(path, body);
        assertThat(again.headers().firstValue("x-keelson-replayed")).hasValue("true");
        assertThat(again.body()).contains("six");
        assertThat(model.journal()).hasSize(before + 1);
        assertThat(program.charged()).isEqualByComparingTo(COST);
    }

    @Test
    void exactOutputIsNotLowered() throws Exception {
        String request = body(CHAT, "exact", ", \"max_tokens\": 6000");
        assertThat(new Program("0.05").post(CHAT, request).headers().firstValue("x-keelson-max-output")).isPresent();
        HttpResponse<String> refused = new Program("0.05, \"output\": \"exact\"").post(CHAT, request);
        assertThat(refused.statusCode()).as(refused.body()).isEqualTo(402);
        assertThat(new Program("0.07, \"output\": \"exact\"").post(CHAT, request).statusCode()).isEqualTo(200);
    }

    @Test
    void aRequestWhoseClientHangsUpIsJoinedAtOnce() throws Exception {
        Program program = new Program(null);
        String body = body(CHAT, "slow and whole", "");
        int before = model.journal().size();
        ClosedConnection.after(api, CHAT, program.token(), body,
                _ -> Awaitility.await().until(() -> model.journal().size() == before + 1));
        assertThat(program.post(CHAT, body).body()).contains("six");
        assertThat(model.journal()).hasSize(before + 1);
        assertThat(program.charged()).isEqualByComparingTo(COST);
    }

    /** Clients repeat a request after a time-out of their own, some without a stream, and send no sign of that. */
    @ParameterizedTest
    @ValueSource(strings = {CHAT, RESPONSES, MESSAGES})
    void aRequestThatIsRepeatedWithoutAStreamInMidAnswerIsPaidOnce(String path) throws Exception {
        Program program = new Program(null);
        String body = body(path, "slow, then whole " + path, "");
        int before = model.journal().size();
        ClosedConnection.after(api, path, program.token(), body.replaceFirst("}$", ", \"stream\": true}"),
                answer -> assertThat(new String(answer.readNBytes(12), StandardCharsets.UTF_8)).endsWith("200"));
        HttpResponse<String> whole = program.post(path, body);
        assertThat(text(Json.read(whole.body()))).as(whole.body()).endsWith("six");
        assertThat(model.journal()).hasSize(before + 1);
        assertThat(program.charged()).isEqualByComparingTo(COST);
    }

    @Test
    void anAnswerThatItsProviderDoesNotStreamIsStreamedNevertheless() throws Exception {
        Program program = new Program(null);
        String body = body(CHAT, "whole", ", \"stream\": true").replace("\"c\"", "\"large\"");
        assertThat(program.post(CHAT, body).body()).contains("all at once", "data: [DONE]");
        assertThat(program.charged()).isEqualByComparingTo(COST);
    }

    /** A proxy may close each connection; a stream that breaks off must not look whole to its client. */
    @Test
    void aStreamHasAnEndAlsoOnAConnectionThatCloses() throws Exception {
        Program program = new Program(null);
        String body = body(CHAT, "closed", ", \"stream\": true");
        try (Socket socket = new Socket(api.url().getHost(), api.url().getPort())) {
            socket.getOutputStream().write(("POST " + CHAT + " HTTP/1.1\r\nHost: " + api.url().getAuthority()
                    + "\r\nConnection: close\r\nAuthorization: Bearer " + program.token()
                    + "\r\nContent-Type: application/json\r\nContent-Length: " + body.length() + "\r\n\r\n" + body)
                    .getBytes(StandardCharsets.UTF_8));
            assertThat(new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                    .containsIgnoringCase("\r\nTransfer-Encoding: chunked\r\n").contains("[DONE]")
                    .endsWith("\r\n0\r\n\r\n");
        }
    }

    /** Some libraries take the beginning of an answer for the whole one if only its end is missing. */
    @ParameterizedTest
    @ValueSource(strings = {CHAT, RESPONSES, MESSAGES})
    void aStreamThatBreaksOffHasAnErrorAndNoEnd(String path) throws Exception {
        Program program = new Program(null);
        String body = body(path, "it breaks off " + path, ", \"stream\": true");
        ByteArrayOutputStream answer = new ByteArrayOutputStream();
        try (Socket socket = new Socket(api.url().getHost(), api.url().getPort())) {
            socket.getOutputStream().write(("POST " + path + " HTTP/1.1\r\nHost: " + api.url().getAuthority()
                    + "\r\nAuthorization: Bearer " + program.token() + "\r\nContent-Type: application/json"
                    + "\r\nContent-Length: " + body.length() + "\r\n\r\n" + body).getBytes(StandardCharsets.UTF_8));
            socket.getInputStream().transferTo(answer);
        } catch (IOException e) {
            assertThat(answer.size()).as(e.toString()).isPositive();
        }
        String text = answer.toString(StandardCharsets.UTF_8);
        assertThat(text).startsWith("HTTP/1.1 200").contains("\"code\":\"answer_lost\"")
                .doesNotEndWith("\r\n0\r\n\r\n");
        String event = text.substring(text.lastIndexOf("data: ") + 6, text.lastIndexOf('}') + 1);
        assertThat(Json.read(event).at("/error/message").stringValue()).contains("broke off");
        assertThat(text.contains("event: error")).isEqualTo(!path.equals(CHAT));
        assertThat(Json.read(event).path("type").asString("")).isEqualTo(path.equals(CHAT) ? "" : "error");
    }

    /** As Claude Code does it: the first answer is lost and charged at its worst case, the second one is recorded. */
    @Test
    void aRequestIsRepeatedWithoutAStreamAfterABrokenOne() throws Exception {
        Program program = new Program(null);
        String body = body(MESSAGES, "broken", "");
        assertThatThrownBy(() -> program.post(MESSAGES, body.replaceFirst("}$", ", \"stream\": true}")))
                .isInstanceOf(IOException.class);
        BigDecimal lost = program.charged();
        assertThat(lost).isGreaterThan(new BigDecimal(COST));
        assertThat(text(Json.read(program.post(MESSAGES, body).body()))).isEqualTo("done");
        assertThat(program.charged()).isEqualByComparingTo(lost.add(new BigDecimal(COST)));
        program.again();
        HttpResponse<String> again = program.post(MESSAGES, body.replaceFirst("}$", ", \"stream\": true}"));
        assertThat(again.headers().firstValue("x-keelson-replayed")).hasValue("true");
        assertThat(again.body()).contains("message_stop", "done");
    }

    /** Results of parallel tools in the order of their ends, ids and times of the client: the request is alike. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            MESSAGES + "|claude-cli/2.1.332 (external)|" + CLAUDE_RESULT + "|<system-reminder><total_tokens>10 left"
                    + "</total_tokens></system-reminder>|<system-reminder><total_tokens>9 left</total_tokens></system-reminder>",
            RESPONSES + "|codex_exec/0.171.0|" + CODEX_RESULT + "|Chunk ID: 19ab|Chunk ID: 77ff"})
    void resultsInAnotherOrderAreReplayed(String path, String agent, String result, String first, String second)
            throws Exception {
        Program program = new Program(null);
        String one = result.formatted("c1", "one\\n" + first);
        String two = result.formatted("c2", "two\\n" + first);
        String request = path.equals(MESSAGES) ? CLAUDE_REQUEST : CODEX_REQUEST;
        HttpResponse<String> answer =
                program.post(path, request.formatted(1, one + ", " + two), "User-Agent", agent);
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        int before = model.journal().size();
        program.again();
        HttpResponse<String> again = program.post(path, request.formatted(2, two.replace(first, second) + ", "
                + one.replace(first, second)), "User-Agent", agent);
        assertThat(again.headers().firstValue("x-keelson-replayed")).as(again.body()).hasValue("alike");
        assertThat(again.body()).isEqualTo(answer.body());
        assertThat(model.journal()).hasSize(before);
        assertThat(program.charged()).isEqualByComparingTo(COST);
    }

    /** Each may cost 0.05, so six are sent at a time, and the others wait for the rest that these do not use. */
    @Test
    void parallelRequestsWaitForHoldsOfTheRun() throws Exception {
        Program program = new Program("0.3");
        assertThat(parallel(program)).allSatisfy(answer -> assertThat(answer.statusCode()).as(answer.body())
                .isEqualTo(200));
        assertThat(program.charged()).isEqualByComparingTo(new BigDecimal(COST).multiply(BigDecimal.valueOf(64)));
    }

    /** The limit pays 15 or 16 answers and the least output of use beside them. */
    @Test
    void parallelRequestsNeverExceedTheLimit() throws Exception {
        Program program = new Program("0.03");
        List<HttpResponse<String>> answers = parallel(program);
        long paid = answers.stream().filter(answer -> answer.statusCode() == 200).count();
        assertThat(paid).isBetween(10L, 16L);
        assertThat(answers.stream().filter(answer -> answer.statusCode() != 200)).isNotEmpty()
                .allSatisfy(answer -> assertThat(answer.statusCode()).as(answer.body()).isEqualTo(402));
        assertThat(program.charged()).isEqualByComparingTo(new BigDecimal(COST).multiply(BigDecimal.valueOf(paid)));
    }

    private List<HttpResponse<String>> parallel(Program program) {
        List<CompletableFuture<HttpResponse<String>>> all = new ArrayList<>();
        for (int i = 0; i < 64; i++) {
            all.add(http.sendAsync(program.request(CHAT, body(CHAT, "parallel " + i, ", \"max_tokens\": 5000")),
                    BodyHandlers.ofString()));
        }
        return all.stream().map(CompletableFuture::join).toList();
    }

    @Test
    void whatABudgetDoesNotPayIsRefusedInTheWiresForm() throws Exception {
        Program program = new Program("0.02");
        int before = model.journal().size();
        HttpResponse<String> refused =
                program.post(MESSAGES, body(MESSAGES, "dear", ", \"thinking\": {\"budget_tokens\": 4000}"));
        assertThat(refused.statusCode()).as(refused.body()).isEqualTo(402);
        JsonNode error = Json.read(refused.body());
        assertThat(error.at("/error/type").stringValue()).isEqualTo("billing_error");
        assertThat(error.at("/error/code").stringValue()).isEqualTo("budget_exceeded");
        assertThat(error.at("/error/message").stringValue()).contains("hard limit of 0.02", "keelson budget");
        assertThat(refused.headers().firstValue("x-should-retry")).hasValue("false");
        HttpResponse<String> codex =
                program.post(RESPONSES, body(RESPONSES, "dear", ", \"max_output_tokens\": 2000, \"instructions\": \""
                        + "x".repeat(19_500) + "\""), "User-Agent", "codex_exec/0.171.0");
        assertThat(codex.statusCode()).as(codex.body()).isEqualTo(400);
        assertThat(model.journal()).hasSize(before);
    }

    @Test
    void aRefusedRequestIsSentAtOnceWhenTheLimitIsRaised() throws Exception {
        Program program = new Program("0.02");
        String dear = body(MESSAGES, "dear at once", ", \"thinking\": {\"budget_tokens\": 4000}");
        for (int i = 0; i < 3; i++) {
            assertThat(program.post(MESSAGES, dear).statusCode()).isEqualTo(402);
        }
        api.post("/api/v1/runs/" + program.run + "/budget", "{\"hard_limit_usd\": 0.5}");
        HttpResponse<String> answer = program.post(MESSAGES, dear);
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    }

    /** An answer has 150 tokens, which last 150 s. */
    @Test
    void aLimitOfTokensPerMinuteHoldsForProgramsAndTurns() throws Exception {
        api.sql("insert into workspace_limits (workspace_id, name, most) select id, 'model_tokens_per_minute:rated', 60 from workspaces");
        try {
            Program program = new Program(null);
            HttpResponse<String> first = program.post(CHAT, rated("first"));
            assertThat(first.statusCode()).as(first.body()).isEqualTo(200);
            int before = model.journal().size();
            Awaitility.await().untilAsserted(() -> {
                HttpResponse<String> second = program.post(CHAT, rated("second"));
                assertThat(second.statusCode()).as(second.body()).isEqualTo(429);
                assertThat(second.headers().firstValueAsLong("retry-after").orElseThrow())
                        .as("the rest of the worst case is given back").isBetween(30L, 150L);
                JsonNode error = Json.read(second.body()).get("error");
                assertThat(error.get("code").stringValue()).isEqualTo("rate_limited");
                assertThat(error.get("message").stringValue()).contains("model_tokens_per_minute:rated=60");
            });
            assertThat(model.journal()).as("nothing is sent").hasSize(before);
            JsonNode reason = api.get("/api/v1/runs/" + program.run + "/explain").json().get("reasons").valueStream()
                    .filter(each -> each.get("code").stringValue().equals("WORKSPACE_LIMIT")).findFirst().orElseThrow();
            assertThat(reason.get("text").stringValue()).matches(".*'rated' waits for the limit"
                    + " model_tokens_per_minute:rated=60, which admits one at 20[^ ]+Z");
            String turn = api.create("""
                    {"name": "turn", "start": true, "plan": {"tasks": [{"id": "t", "title": "Answer", "suggested_agent":
                     {"type": "contractor", "agent_name": "agent", "model": "rated", "tools": []}}]}}""");
            Awaitility.await().untilAsserted(() -> assertThat(
                    api.get("/api/v1/runs/" + turn + "/explain").json().at("/reasons/0/code").asString(""))
                    .isIn("WORKSPACE_LIMIT", "MODEL_BUSY"));
            assertThat(model.journal()).hasSize(before);

            api.sql("delete from workspace_limits");
            Awaitility.await().until(() -> program.post(CHAT, rated("second")).statusCode() == 200);
            api.awaitState(turn, "completed");
        } finally {
            api.sql("delete from workspace_limits");
        }
    }

    private static String rated(String text) {
        return body(CHAT, "rated " + text, ", \"max_tokens\": 500").replace("\"c\"", "\"rated\"");
    }

    /** The program ends with an error, and its step is executed again when the limit pays the request: nothing is paid twice. */
    @Test
    void aRaisedLimitLetsTheProgramGoOn() throws Exception {
        Program program = new Program("0.03");
        String first = body(MESSAGES, "affordable", "");
        String dear = body(MESSAGES, "dear in the end", ", \"thinking\": {\"budget_tokens\": 4000}");
        HttpResponse<String> answer = program.post(MESSAGES, first);
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        assertThat(program.post(MESSAGES, dear).statusCode()).isEqualTo(402);
        int before = model.journal().size();
        assertThat(program.report("fail",
                ", \"error_code\": \"PROGRAM_FAILED\", \"error_class\": \"permanent\", \"message\": \"exit code 1\"")
                .path("result").asString("ok")).isEqualTo("ok");
        api.awaitState(program.run, "budget_exceeded");
        assertThat(api.get("/api/v1/runs/" + program.run + "/events").text()).contains("step_released",
                "the request may cost 0.04").doesNotContain("PROGRAM_FAILED", "step_failed");
        JsonNode needed = api.get("/api/v1/runs/" + program.run + "/explain").json().at("/reasons/0");
        assertThat(needed.get("code").stringValue()).isEqualTo("BUDGET_EXCEEDED");
        api.post("/api/v1/runs/" + program.run + "/budget", "{\"hard_limit_usd\": " + needed.get("needed_usd") + "}");
        program.item = program.claim(20_000).get(0);
        assertThat(program.item.get("attempt").intValue()).isEqualTo(1);
        HttpResponse<String> replayed = program.post(MESSAGES, first);
        assertThat(replayed.headers().firstValue("x-keelson-replayed")).hasValue("true");
        assertThat(replayed.body()).isEqualTo(answer.body());
        assertThat(program.post(MESSAGES, dear).statusCode()).isEqualTo(200);
        assertThat(model.journal()).hasSize(before + 1);
        program.report("complete", ", \"output\": {}");
        assertThat(api.awaitState(program.run, "completed").get("total_cost").decimalValue())
                .isEqualByComparingTo("0.0012");
    }

    @Test
    void theRestOfABudgetPaysLessOutput() throws Exception {
        Program program = new Program("0.04");
        HttpResponse<String> answer = program.post(CHAT, body(CHAT, "all of it", ", \"max_tokens\": 9000"));
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        long lowered = Long.parseLong(answer.headers().firstValue("x-keelson-max-output").orElseThrow());
        assertThat(lowered).isBetween(2_048L, 4_000L);
    }

    /** A provider may read any of two bounds. */
    @Test
    void eachBoundOfOutputIsWithinTheHold() throws Exception {
        Program program = new Program(null);
        HttpResponse<String> answer = program.post(CHAT, body(CHAT, "bound", ", \"max_completion_tokens\": 20"));
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        assertThat(model.newest().at("/body/max_completion_tokens").asLong()).isEqualTo(20);
        program.post(CHAT, body(CHAT, "bound", ", \"max_tokens\": 50000, \"max_completion_tokens\": 20"));
        assertThat(model.newest().at("/body/max_tokens").asLong()).isEqualTo(10_000);
    }

    /** The provider reads more than the body has: the whole context is held. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            RESPONSES + "|{\"model\": \"r\", \"input\": \"go on\", \"previous_response_id\": \"resp_1\"}",
            CHAT + "|{\"model\": \"c\", \"messages\": [{\"role\": \"user\", \"content\": [{\"type\": \"image_url\", "
                    + "\"image_url\": {\"url\": \"https://example.com/base64.png\"}}]}]}"})
    void inputThatTheBodyOnlyRefersToIsHeld(String path, String body) throws Exception {
        HttpResponse<String> refused = new Program("0.09").post(path, body);
        assertThat(refused.statusCode()).as(refused.body()).isEqualTo(402);
    }

    /** Libraries refer to earlier responses and items: the provider gets them whole, so that a small limit pays the request. */
    @Test
    void earlierResponsesAndItemsAreSentWhole() throws Exception {
        Program program = new Program("0.09");
        String tools =
                ", \"tools\": [{\"type\": \"function\", \"name\": \"weather\", \"parameters\": {\"type\": \"object\"}}]";
        JsonNode first = Json.read(program.post(RESPONSES, body(RESPONSES, "weather", tools)).body());
        JsonNode call = first.get("output").valueStream().filter(item -> item.get("type").stringValue()
                .equals("function_call")).findFirst().orElseThrow();
        String result =
                "{\"type\": \"function_call_output\", \"call_id\": " + call.get("call_id") + ", \"output\": \"rain\"}";
        String byResponse =
                "{\"model\": \"r\", \"previous_response_id\": " + first.get("id") + ", \"input\": [" + result + "]}";
        String byItem = "{\"model\": \"r\", \"input\": [{\"role\": \"user\", \"content\": \"weather\"}, "
                + "{\"type\": \"item_reference\", \"id\": " + call.get("id") + "}, " + result + "]}";
        for (String body : List.of(byResponse, byItem)) {
            HttpResponse<String> answer = program.post(RESPONSES, body);
            assertThat(answer.body()).contains("done");
            JsonNode sent = model.newest().get("body");
            assertThat(sent.has("previous_response_id")).isFalse();
            assertThat(sent.get("input").valueStream().map(item -> item.path("type").asString("message"))).contains(
                    "function_call", "function_call_output").doesNotContain("item_reference");
        }
        int before = model.journal().size();
        program.again();
        program.post(RESPONSES, body(RESPONSES, "weather", tools));
        assertThat(program.post(RESPONSES, byItem).headers().firstValue("x-keelson-replayed")).hasValue("true");
        assertThat(program.post(RESPONSES, byResponse).headers().firstValue("x-keelson-replayed")).hasValue("true");
        assertThat(model.journal()).hasSize(before);
        for (String body : List.of(byResponse, byItem)) {
            program.post(RESPONSES, body.replace("rain", "sun, says an execution that has the records only"));
            assertThat(model.newest().at("/body/input").toString()).contains("function_call\"", "sun")
                    .doesNotContain("item_reference");
        }
    }

    /** A further attempt of the task executes new steps. */
    @ParameterizedTest
    @ValueSource(strings = {"keep", "new"})
    void aFurtherAttemptHasTheRecordsOfTheTask(String replay) throws Exception {
        Program program = new Program(null, """
                "replay": "%s", "failure_mode": "retry", "retry": {"max_attempts": 2, "base_delay_seconds": 0},"""
                .formatted(replay));
        String body = body(CHAT, "attempt " + replay, "");
        HttpResponse<String> first = program.post(CHAT, body);
        program.report("fail",
                ", \"error_code\": \"PROGRAM_FAILED\", \"error_class\": \"quality\", \"message\": \"exit code 1\"");
        String step = program.item.get("step_id").stringValue();
        program.item = program.claim(20_000).get(0);
        assertThat(program.item.get("step_id").stringValue()).isNotEqualTo(step);
        HttpResponse<String> again = program.post(CHAT, body);
        assertThat(again.headers().firstValue("x-keelson-replayed").isPresent()).isEqualTo(replay.equals("keep"));
        assertThat(ids(again.body()).equals(ids(first.body()))).isEqualTo(replay.equals("keep"));
        assertThat(program.post(CHAT, body).headers().firstValue("x-keelson-replayed")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"c", "r"})
    void embeddingsAreChargedOnceAndReplayed(String name) throws Exception {
        Program program = new Program("0.01");
        String body = "{\"model\": \"" + name + "\", \"input\": [\"one\", \"two\"], \"stream\": true}";
        HttpResponse<String> first = program.post(EMBEDDINGS, body);
        assertThat(first.statusCode()).as(first.body()).isEqualTo(200);
        assertThat(Json.read(first.body()).at("/data/1/embedding").size()).isEqualTo(8);
        JsonNode sent = model.newest();
        assertThat(sent.get("body").has("max_output_tokens")).isFalse();
        BigDecimal cost = new BigDecimal(sent.at("/billed/input").asLong()).movePointLeft(6);
        assertThat(program.charged()).isEqualByComparingTo(cost);
        program.again();
        HttpResponse<String> again = program.post(EMBEDDINGS, body);
        assertThat(again.headers().firstValue("x-keelson-replayed")).hasValue("true");
        assertThat(again.body()).isEqualTo(first.body());
        assertThat(program.charged()).isEqualByComparingTo(cost);
        String large = body.replace("one", "x".repeat(12_000));
        assertThat(program.post(EMBEDDINGS, large).statusCode()).as("0.012 at most").isEqualTo(402);
        assertThat(program.post(EMBEDDINGS, "{\"model\": \"a\", \"input\": \"x\"}").body())
                .contains("unsupported_wire");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            {"a": 1}                                             | invalid_request
            []                                                   | invalid_request
            [{"text": "one"}]                                    | invalid_request
            ["one", null]                                        | invalid_request
            [1, "one"]                                           | invalid_request
            [1.5]                                                | invalid_request
            [[1], []]                                            | invalid_request
            "one", "dimensions": "many"                          | invalid_request
            "one", "encoding_format": "int8"                     | invalid_request
            ["one", "two"], "dimensions": 2000000                | answer_too_large
            """)
    void embeddingsOfAnUnknownFormOrTooLargeAreNotSent(String input, String code) throws Exception {
        int before = model.journal().size();
        Program program = new Program("1");
        HttpResponse<String> refused =
                program.post(EMBEDDINGS, "{\"model\": \"c\", \"input\": " + input + "}");
        assertThat(refused.statusCode()).as(refused.body()).isEqualTo(code.equals("answer_too_large") ? 413 : 400);
        assertThat(Json.read(refused.body()).at("/error/code").stringValue()).isEqualTo(code);
        assertThat(model.journal()).hasSize(before);
    }

    /** Each byte of the request may be a token. */
    @Test
    void anAnswerThatIsTooLargeIsChargedAndNamed() throws Exception {
        Program program = new Program("1");
        String body = "{\"model\": \"large\", \"input\": [[1, 2], [3, 4], [5, 6]]}";
        HttpResponse<String> lost = program.post(EMBEDDINGS, body);
        assertThat(lost.statusCode()).as(lost.body()).isEqualTo(413);
        assertThat(Json.read(lost.body()).at("/error/code").stringValue()).isEqualTo("answer_too_large");
        assertThat(Json.read(lost.body()).at("/error/message").stringValue()).contains("'large'", "is charged");
        assertThat(lost.headers().firstValue("x-should-retry")).hasValue("false");
        assertThat(program.charged()).isEqualByComparingTo(
                new BigDecimal(WorstCase.maxInput(0, 0, body.length(), 1)).movePointLeft(6));
        assertThat(api.get("/api/v1/runs/" + program.run + "/events").text()).contains("model_answer_lost");
    }

    /** Each text has a context of its own: 30 texts of 5 kB may be 150,000 tokens, which is more than the model's context. */
    @Test
    void eachTextOfEmbeddingsCounts() throws Exception {
        Program program = new Program("0.12");
        String texts = String.join(", ", Collections.nCopies(30, "\"" + "x".repeat(5_000) + "\""));
        assertThat(program.post(EMBEDDINGS, "{\"model\": \"c\", \"input\": [" + texts + "]}").statusCode())
                .isEqualTo(402);
        assertThat(program.charged()).isEqualByComparingTo("0");
    }

    @ParameterizedTest
    @ValueSource(strings = {MESSAGES + "/count_tokens", "/gateway/anthropic/messages/count_tokens"})
    void tokensAreCountedByTheProviderAtNoCost(String path) throws Exception {
        Program program = new Program("0.000001");
        String body = "{\"model\": \"a\", \"messages\": [{\"role\": \"user\", \"content\": \"count\"}]}";
        HttpResponse<String> answer = program.post(path, body);
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        assertThat(Json.read(answer.body()).get("input_tokens").asLong()).isPositive();
        assertThat(model.newest().at("/body/model").stringValue()).isEqualTo("provider-a");
        assertThat(program.charged()).isEqualByComparingTo("0");
        assertThat(program.post(path, body.replace("\"role\"", "\"n\": 1, \"role\"").replace("[{", "[], \"x\": [{"))
                .statusCode()).isEqualTo(400);
    }

    /** The provider answers the counts when it has all that it gets. */
    @Test
    void countsOfTokensInFlightAreBounded() throws Exception {
        Program program = new Program("0.000001");
        List<CompletableFuture<HttpResponse<String>>> counts = new ArrayList<>();
        for (int i = 0; i < 9; i++) {
            counts.add(http
                    .sendAsync(program.request(MESSAGES + "/count_tokens", "{\"model\": \"counter\", \"messages\": ["
                            + "{\"role\": \"user\", \"content\": \"" + i + "\"}]}"), BodyHandlers.ofString()));
        }
        Awaitility.await().until(() -> counts.stream().anyMatch(CompletableFuture::isDone));
        counting.release(9);
        List<HttpResponse<String>> refused =
                counts.stream().map(CompletableFuture::join).filter(answer -> answer.statusCode() != 200).toList();
        assertThat(refused).hasSize(1);
        assertThat(refused.getFirst().body()).contains("too_many_requests", "8 counts of tokens");
    }

    @Test
    void optionsOfAnotherTypeAreRefusedBeforeAnythingIsHeld() throws Exception {
        Program program = new Program(null);
        HttpResponse<String> refused =
                program.post(CHAT, body(CHAT, "options", ", \"stream\": true, \"stream_options\": \"all\""));
        assertThat(refused.statusCode()).as(refused.body()).isEqualTo(400);
        assertThat(refused.body()).contains("invalid_request");
    }

    @Test
    void aBusyProviderIsAskedAgainAndARefusalIsPassedOn() throws Exception {
        Program program = new Program(null);
        assertThat(program.post(CHAT, body(CHAT, "busy", "")).body()).contains("done");
        HttpResponse<String> bad = program.post(CHAT, body(CHAT, "bad", ""));
        assertThat(bad.statusCode()).isEqualTo(400);
        assertThat(Json.read(bad.body()).at("/error/message").stringValue()).contains("no such parameter");
        assertThat(program.charged()).isEqualByComparingTo(COST);
    }

    /** The log of the step has the message by which a program that is executed again differs. */
    @Test
    void theLogNamesTheMessageThatDiffers() throws Exception {
        Program program = new Program(null);
        String body = "{\"model\": \"c\", \"messages\": [{\"role\": \"user\", \"content\": \"one\"}%s]}";
        String more =
                ", {\"role\": \"assistant\", \"content\": \"done\"}, {\"role\": \"user\", \"content\": \"it is %s\"}";
        program.post(CHAT, body.formatted(""));
        program.post(CHAT, body.formatted(more.formatted("Monday")));
        program.again();
        assertThat(program.post(CHAT, body.formatted("")).headers().firstValue("x-keelson-replayed")).isPresent();
        assertThat(program.post(CHAT, body.formatted(more.formatted("Tuesday"))).headers()
                .firstValue("x-keelson-replayed")).isEmpty();
        assertThat(api.get("/api/v1/steps/" + program.item.get("step_id").stringValue() + "/logs").text())
                .contains("message 3 (user)", "Tuesday", "Monday");
        for (String of : List.of("runs/" + program.run, "steps/" + program.item.get("step_id").stringValue())) {
            assertThat(api.get("/api/v1/" + of + "/explain").json().at("/reasons").valueStream()
                    .filter(reason -> reason.get("code").stringValue().equals("REQUEST_DIFFERS"))
                    .map(reason -> reason.get("text").stringValue())).singleElement().asString()
                    .contains("one/work': execution 2 differs", "message 3 (user) has", "Tuesday", "Monday");
        }
        JsonNode entries = api.get("/api/v1/tasks/" + program.item.get("task_id").stringValue() + "/transcript").json()
                .get("items");
        assertThat(entries.valueStream().map(entry -> entry.get("kind").stringValue() + " " + entry.get("lease_epoch")))
                .containsExactly("tool null", "request 1", "request 1", "request 2");
        assertThat(entries.at("/3/differs/sent").stringValue()).contains("Tuesday");
        assertThat(entries.at("/1/text").stringValue()).isEqualTo("done");
        assertThat(entries.at("/1/model_answered").stringValue()).isEqualTo("provider-c");
        assertThat(entries.at("/1/cost").decimalValue()).isEqualByComparingTo(COST);
        assertThat(entries.at("/0/cost").decimalValue()).as("without its requests").isEqualByComparingTo("0");
    }

    /** A provider that breaks off may have billed: that is charged, and the client sees no whole answer. */
    @Test
    void aCutAnswerIsNoWholeOne() throws Exception {
        Program program = new Program(null);
        boolean whole;
        try {
            HttpResponse<String> cut =
                    program.post(CHAT, body(CHAT, "cut", ", \"stream\": true, \"max_tokens\": 3000"));
            whole = cut.statusCode() == 200;
        } catch (java.io.IOException e) {
            whole = false;
        }
        assertThat(whole).isFalse();
        assertThat(program.charged()).isGreaterThan(BigDecimal.ZERO);
        assertThat(program.post(CHAT, body(CHAT, "cut", ", \"stream\": true, \"max_tokens\": 3000")).body())
                .contains("done");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|',
            value = {"invalid_request | , \"max_tokens\": \"lots\"", "invalid_request | , \"max_tokens\": -1",
                    "invalid_request | , \"max_completion_tokens\": 100000000000000000000000",
                    "invalid_request | , \"max_tokens\": 0", "invalid_request | , \"max_tokens\": 1.5",
                    "unsupported_parameter | , \"n\": 2", "unsupported_parameter | , \"background\": true",
                    "unsupported_parameter | , \"tools\": [{\"type\": \"web_search_preview\"}]",
                    "unsupported_parameter | , \"web_search_options\": {}",
                    "model_not_allowed | , \"model\": \"other\""})
    void badRequestsAreRefusedAndNotSent(String code, String more) throws Exception {
        Program program = new Program(null);
        int before = model.journal().size();
        String body = body(CHAT, "bad input", more);
        HttpResponse<String> refused =
                program.post(CHAT, more.contains("model") ? body.replace("\"model\": \"c\", ", "") : body);
        assertThat(Json.read(refused.body()).at("/error/code").stringValue()).isEqualTo(code);
        assertThat(model.journal()).hasSize(before);
        Answer broken = api.send("POST", CHAT, "{".getBytes(StandardCharsets.UTF_8), "Authorization",
                "Bearer " + program.token(), "Content-Type", "application/json");
        assertThat(broken.json().at("/error/code").stringValue()).isEqualTo("invalid_request");
    }
}
