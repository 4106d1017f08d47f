package io.keelson.server.work.builtin;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.keelson.core.policy.ErrorClass;
import io.keelson.server.engine.tool.ToolFailure;
import io.keelson.server.engine.tool.ToolPolicy;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

@Timeout(60)
class HttpRequestTest {

    private static final String NUMBERS =
            "[12345678901234567890.123,0.1000000000000000055,-1.50,123456789012345678901234567890,7]";

    @TempDir
    Path folder;
    private final AtomicInteger requests = new AtomicInteger();
    private HttpServer server;
    private HttpServer elsewhere;
    private Calls calls;

    @BeforeEach
    void start() throws IOException {
        server = serve();
        elsewhere = serve();
        calls = new Calls(new ToolPolicy(List.of(folder), Set.of(), true), folder.resolve("artifacts"));
    }

    @AfterEach
    void stop() {
        server.stop(0);
        elsewhere.stop(0);
    }

    private HttpServer serve() throws IOException {
        HttpServer made = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        made.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        made.createContext("/", this::answer);
        made.start();
        return made;
    }

    /** {@code /status/N} answers N, {@code /echo} what it got; the others as they are called. */
    private void answer(HttpExchange exchange) throws IOException {
        requests.incrementAndGet();
        String path = exchange.getRequestURI().getPath();
        switch (path) {
            case "/echo" -> send(exchange, 200, "application/json", echo(exchange));
            case "/text" ->
                send(exchange, 200, "text/plain; charset=iso-8859-1", "é".getBytes(StandardCharsets.ISO_8859_1));
            case "/broken-json" -> send(exchange, 200, "application/json", "{".getBytes());
            case "/deep" -> send(exchange, 200, "application/json", ("[".repeat(190) + "]".repeat(190)).getBytes());
            case "/numbers" -> send(exchange, 200, "application/json", NUMBERS.getBytes());
            case "/bytes" -> send(exchange, 200, "application/octet-stream", new byte[] {0, 1});
            case "/here" -> redirect(exchange, 302, "/echo");
            case "/away" -> redirect(exchange, 307, url(elsewhere, "/echo"));
            case "/cookies" -> {
                exchange.getResponseHeaders().add("Set-Cookie", "a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT");
                exchange.getResponseHeaders().add("Set-Cookie", "b=2");
                send(exchange, 200, "text/plain", "x".getBytes());
            }
            case "/round" -> redirect(exchange, 302, "/round");
            case "/file" -> redirect(exchange, 302, "file:///etc/passwd");
            case "/bomb" -> {
                exchange.getResponseHeaders().add("Content-Encoding", "gzip");
                send(exchange, 200, "text/plain", zipped(50_000_000));
            }
            default -> {
                exchange.getResponseHeaders().add("Retry-After", "7");
                send(exchange, Integer.parseInt(path.replace("/status/", "")), "text/plain", "no".getBytes());
            }
        }
    }

    @Test
    void sendsTheInputAndParsesJson() {
        JsonNode output = calls.output("http.request", """
                {"method": "POST", "url": "%s", "json": {"a": 1}, "headers": {"X-One": "1"}}"""
                .formatted(url(server, "/echo")));
        assertThat(output.get("status").intValue()).isEqualTo(200);
        assertThat(output.get("json").toString()).isEqualTo("{\"method\":\"POST\",\"body\":\"{\\\"a\\\":1}\","
                + "\"type\":\"application/json\",\"one\":\"1\",\"key\":\"effect-key\",\"agent\":\"keelson\"}");
        assertThat(output.at("/headers/content-type").stringValue()).isEqualTo("application/json");
    }

    @Test
    void cookiesAreAList() {
        JsonNode output = calls.output("http.request", "{\"url\": \"" + url(server, "/cookies") + "\"}");
        assertThat(output.at("/headers/set-cookie").toString())
                .isEqualTo("[\"a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT\",\"b=2\"]");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"\"method\": \"GET\", \"json\": {}", "\"json\": {}", "\"method\": \"HEAD\", \"body\": \"x\""})
    void bodyOfAGetIsRefused(String input) {
        ToolFailure failure = calls.failure("http.request",
                "{\"url\": \"" + url(server, "/echo") + "\", " + input + "}");
        assertThat(failure.code()).isEqualTo("TOOL_INPUT_INVALID");
        assertThat(failure.getMessage()).contains("method");
        assertThat(requests).hasValue(0);
    }

    /** No more than is read, and more than can be written within a list. */
    @Test
    void anAnswerOfTooManyLevelsIsRefused() {
        assertThat(calls.failure("http.request", get("/deep")).code()).isEqualTo("OUTPUT_INVALID");
    }

    @Test
    void numbersKeepTheirDigits() {
        assertThat(calls.output("http.request", get("/numbers")).get("json").toString()).isEqualTo(NUMBERS);
    }

    @ParameterizedTest
    @CsvSource(delimiterString = "=>", quoteCharacter = '`', value = {
            "/text        => body        => \u00e9",
            "/broken-json => body        => {",
            "/bytes       => body_base64 => AAE="})
    void givesBodiesByTheirType(String path, String field, String value) {
        assertThat(calls.output("http.request", get(path)).get(field).stringValue()).isEqualTo(value);
    }

    @ParameterizedTest
    @CsvSource({"400,permanent,,false", "401,permanent,,false", "404,permanent,,false", "410,permanent,,false",
            "408,infrastructure,7,false", "425,infrastructure,7,false", "429,infrastructure,7,true",
            "500,infrastructure,7,false", "502,infrastructure,7,true", "503,infrastructure,7,true",
            "504,infrastructure,7,true", "304,permanent,,false"})
    void statusesHaveACodeAndAClass(int status, String errorClass, Integer retryAfter, boolean outOfOrder) {
        ToolFailure failure = calls.failure("http.request", get("/status/" + status));
        assertThat(failure.code()).isEqualTo("HTTP_STATUS_" + status);
        assertThat(failure.errorClass()).isEqualTo(ErrorClass.fromWire(errorClass));
        assertThat(failure.retryAfter()).isEqualTo(retryAfter == null ? null : Duration.ofSeconds(retryAfter));
        assertThat(failure.system() != null).as("is out of order for every call").isEqualTo(outOfOrder);
        assertThat(requests).hasValue(1);
    }

    @Test
    void aStatusCanBeAllowed() {
        assertThat(calls
                .output("http.request", "{\"url\": \"" + url(server, "/status/404") + "\", \"allow_status\": [404]}")
                .get("status").intValue()).isEqualTo(404);
    }

    @Test
    void redirectsAreFollowedOnlyAsOftenAsAsked() {
        assertThat(calls.failure("http.request", get("/here")).code()).isEqualTo("HTTP_STATUS_302");
        assertThat(calls.output("http.request", following("/here", 1)).get("url").stringValue())
                .isEqualTo(url(server, "/echo"));
        requests.set(0);
        assertThat(calls.failure("http.request", following("/round", 3)).code()).isEqualTo("HTTP_STATUS_302");
        assertThat(requests).hasValue(4);
        assertThat(calls.failure("http.request", following("/file", 3)).code()).isEqualTo("HTTP_BROKEN_OFF");
    }

    @Test
    void credentialsStayWithTheirOrigin() {
        String input = """
                {"method": "POST", "url": "%s", "body": "b", "max_redirects": 1, "headers": {"X-One": "secret"}}""";
        assertThat(calls.output("http.request", input.formatted(url(server, "/here"))).at("/json/one").stringValue())
                .isEqualTo("secret");
        JsonNode away = calls.output("http.request", input.formatted(url(server, "/away"))).get("json");
        assertThat(away.get("one").isNull()).isTrue();
        assertThat(away.get("key").isNull()).isTrue();
        assertThat(away.get("body").stringValue()).isEqualTo("b");
    }

    @Test
    void addressesAreRefusedByDefault() {
        Calls careful = new Calls(ToolPolicy.of(List.of(folder)), folder.resolve("artifacts"));
        for (String host : List.of("127.0.0.1", "localhost")) {
            ToolFailure failure = careful.failure("http.request", "{\"url\": \"http://" + host + ":"
                    + server.getAddress().getPort() + "/echo\"}");
            assertThat(failure.code()).isEqualTo("OUTBOUND_ADDRESS_REFUSED");
            assertThat(failure.errorClass()).isEqualTo(ErrorClass.PERMANENT);
        }
        assertThat(requests).hasValue(0);
    }

    @ParameterizedTest
    @CsvSource(delimiterString = "=>", quoteCharacter = '`', value = {
            "{\"url\": \"@/echo\", \"headers\": {\"Host\": \"x\"}}                 => HEADER_NOT_ALLOWED",
            "{\"url\": \"@/echo\", \"headers\": {\"Content-Length\": \"1\"}}       => HEADER_NOT_ALLOWED",
            "{\"url\": \"@/echo\", \"headers\": {\"a\": \"b\\r\\nc: d\"}}          => HEADER_NOT_ALLOWED",
            "{\"url\": \"@/echo\", \"headers\": {\"a b\": \"c\"}}                  => HEADER_NOT_ALLOWED",
            "{\"url\": \"ftp://x\"}                                                => URL_INVALID",
            "{\"url\": \"@/bomb\"}                                                 => RESPONSE_TOO_LARGE",
            "{\"url\": \"@/echo\", \"method\": \"TRACE\"}                          => TOOL_INPUT_INVALID",
            "{\"url\": \"@/echo\", \"method\": \"POST\", \"body\": \"\", \"json\": 1} => TOOL_INPUT_INVALID",
            "{\"url\": \"http://nothing.invalid/\"}                                => HTTP_UNKNOWN_HOST",
            "{\"url\": \"http://127.0.0.1:1/\"}                                    => HTTP_CONNECT_FAILED",
    })
    void refuses(String input, String code) {
        String filled = input.replace("@", url(server, ""));
        assertThat(calls.failure("http.request", filled).code()).isEqualTo(code);
    }

    @Test
    void aServerWithoutTlsIsATlsFailure() throws Exception {
        try (ServerSocket plain = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Thread.ofVirtual().start(() -> {
                try (Socket accepted = plain.accept()) {
                    accepted.getOutputStream().write("HTTP/1.1 400 No\r\n\r\n".getBytes());
                    accepted.shutdownOutput();
                    accepted.getInputStream().readAllBytes();
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            ToolFailure failure = calls.failure("http.request",
                    "{\"url\": \"https://127.0.0.1:" + plain.getLocalPort() + "/\"}");
            assertThat(failure.code()).isEqualTo("HTTP_TLS_FAILED");
            assertThat(failure.errorClass()).isEqualTo(ErrorClass.INFRASTRUCTURE);
        }
    }

    @Test
    void theLogDoesNotHoldTheQuery() {
        calls.output("http.request", get("/echo?token=secret"));
        assertThat(calls.log).containsExactly("GET " + url(server, "/echo") + " 200");
    }

    @ParameterizedTest
    @CsvSource(delimiterString = "=>", nullValues = "none", value = {"0 => 0", "120 => 120", "999999999 => 86400",
            "Sat, 21 Nov 2026 00:01:00 GMT => 60", "Fri, 20 Nov 2026 00:00:00 GMT => 0", "soon => none", "-1 => none",
            "none => none"})
    void retryAfterIsSecondsOrADate(String header, Long seconds) {
        assertThat(HttpRequest.RetryAfter.parse(header, Instant.parse("2026-11-21T00:00:00Z")))
                .isEqualTo(seconds == null ? null : Duration.ofSeconds(seconds));
    }

    private String get(String path) {
        return "{\"url\": \"" + url(server, path) + "\"}";
    }

    private String following(String path, int redirects) {
        return "{\"url\": \"" + url(server, path) + "\", \"max_redirects\": " + redirects + "}";
    }

    private static String url(HttpServer server, String path) {
        return "http://127.0.0.1:" + server.getAddress().getPort() + path;
    }

    private static byte[] echo(HttpExchange exchange) throws IOException {
        ObjectNode echo = JsonNodeFactory.instance.objectNode().put("method", exchange.getRequestMethod())
                .put("body", new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
        for (String[] header : new String[][] {{"type", "Content-Type"}, {"one", "X-One"}, {"key", "Idempotency-Key"},
                {"agent", "User-Agent"}}) {
            echo.put(header[0], exchange.getRequestHeaders().getFirst(header[1]));
        }
        return JsonMapper.shared().writeValueAsBytes(echo);
    }

    private static void redirect(HttpExchange exchange, int status, String to) throws IOException {
        exchange.getRequestBody().readAllBytes();
        exchange.getResponseHeaders().add("Location", to);
        exchange.sendResponseHeaders(status, -1);
        exchange.close();
    }

    private static void send(HttpExchange exchange, int status, String type, byte[] body) throws IOException {
        exchange.getResponseHeaders().add("Content-Type", type);
        boolean bodyless = status == 304;
        exchange.sendResponseHeaders(status, bodyless ? -1 : body.length);
        if (!bodyless) {
            exchange.getResponseBody().write(body);
        }
        exchange.close();
    }

    private static byte[] zipped(int size) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (GZIPOutputStream zip = new GZIPOutputStream(bytes)) {
            zip.write(new byte[size]);
        }
        return bytes.toByteArray();
    }
}
