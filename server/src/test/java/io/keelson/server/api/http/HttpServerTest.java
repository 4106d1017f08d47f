package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keelson.server.api.http.support.ExceptionMapper;
import io.keelson.server.app.Server;
import io.keelson.server.app.Settings;
import io.keelson.server.base.db.CountingProxy;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.problem.StartupException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What happens below the routes: connections, malformed HTTP, ports, stopping. */
class HttpServerTest {

    @TempDir
    private static Path folder;

    private static ApiServer api;

    @BeforeAll
    static void start() throws Exception {
        api = new ApiServer(folder.resolve("shared"));
    }

    @AfterAll
    static void stop() {
        api.close();
    }

    /** Sends bytes as they are and answers everything that comes until the server closes the connection. */
    private static String raw(String request) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), api.url().getPort())) {
            socket.setSoTimeout(60_000);
            socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
            socket.getOutputStream().flush();
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "GARBAGE | 400 | MALFORMED_REQUEST",
            "GET /healthz HTTP/1.1 | 400 | MALFORMED_REQUEST",
            "GET /%zz HTTP/1.1~Host: localhost | 400 | MALFORMED_REQUEST",
            "GET /a%00b HTTP/1.1~Host: localhost | 400 | MALFORMED_REQUEST",
            "GET /api/v1/..%2fhealthz HTTP/1.1~Host: localhost | 404 | ROUTE_NOT_FOUND",
            "GET /api/v1/../healthz/x HTTP/1.1~Host: localhost | 404 | ROUTE_NOT_FOUND",
            "GET /healthz HTTP/1.1~Host: localhost~Content-Length: x | 400 | MALFORMED_REQUEST",
            "GET /healthz HTTP/3.7~Host: localhost | 505 | MALFORMED_REQUEST",
            "PRI * HTTP/2.0~~SM~ | 426 | MALFORMED_REQUEST",
            "GET /healthz HTTP/1.1~Host: localhost~Expect: tea | 417 | MALFORMED_REQUEST",
            "POST /api/v1/runs HTTP/1.1~Host: localhost~KEY~Transfer-Encoding: gzip, chunked~~0~ | 501 | TRANSFER_CODING_UNSUPPORTED",
            "POST /api/v1/runs HTTP/1.1~Host: localhost~KEY~Transfer-Encoding: x~Transfer-Encoding: Chunked~~0~ | 501 | TRANSFER_CODING_UNSUPPORTED",
            "POST /api/v1/runs HTTP/1.1~Host: localhost~KEY~Content-Type: application/json~Transfer-Encoding: Chunked~Connection: close~~1~{~0~ | 400 | MALFORMED_JSON",
            "DELETE /healthz HTTP/1.1~Host: localhost | 405 | METHOD_NOT_ALLOWED",
            "BREW /healthz HTTP/1.1~Host: localhost | 405 | METHOD_NOT_ALLOWED",
            "GET /nowhere HTTP/1.1~Host: localhost | 404 | ROUTE_NOT_FOUND",
            "GET /healthz HTTP/1.1~Host: localhost~X: LONG | 431 | HEADERS_TOO_LARGE",
            "GET /LONG HTTP/1.1~Host: localhost | 414 | URI_TOO_LONG",
            "GET /api/v1/runs?limit=%zz HTTP/1.1~Host: localhost~KEY | 400 | INVALID_PARAMETER",
            "GET /api/v1/runs?name=%ff HTTP/1.1~Host: localhost~KEY | 400 | INVALID_PARAMETER",
            "GET /api/v1/runs?name=%ed%a0%80 HTTP/1.1~Host: localhost~KEY | 400 | INVALID_PARAMETER",
            "GET /api/v1/runs HTTP/1.1~Host: localhost~KEY~Authorization: Bearer x | 401 | UNAUTHENTICATED"})
    void unknownRouteAnswersAProblemDocument(String request, int status, String code) throws IOException {
        String text = request.replace("~", "\r\n").replace("KEY", "Authorization: Bearer " + api.key()).replace("LONG",
                "x".repeat(20_000))
                + "\r\nConnection: close\r\n\r\n";

        String answer = raw(text);

        assertThat(answer).startsWith("HTTP/1.1 " + status + " ").contains("application/problem+json")
                .contains("\"code\":\"" + code + "\"").contains("\"status\":" + status)
                .doesNotContainIgnoringCase("<html")
                .doesNotContain("Jetty").doesNotContain("\tat ");
    }

    @Test
    void theDocumentOfARefusalBelowTheRoutesHasItsStatus() {
        assertThat(IntStream.range(400, 600)).allSatisfy(
                status -> assertThat(ExceptionMapper.ofStatus(status).document().get("status").intValue())
                        .isEqualTo(status));
    }

    /** A client that first sends all it has and then looks for the answer finds it. */
    @Test
    void aClientThatSendsFarTooMuchStillGetsItsAnswer() throws IOException {
        int length = 48 << 20;
        String answer =
                raw("POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAuthorization: Bearer "
                        + api.key() + "\r\nContent-Length: " + length + "\r\n\r\n" + " ".repeat(length));

        assertThat(answer).startsWith("HTTP/1.1 413 ").contains("\"code\":\"BODY_TOO_LARGE\"")
                .containsIgnoringCase("connection: close");
    }

    @Test
    void disallowedMethodGetsTheAllowedOnes() {
        assertThat(api.send("DELETE", "/api/v1/runs", null).header("Allow")).isEqualTo("GET, POST");
        assertThat(api.send("HEAD", "/healthz", null).status()).isEqualTo(200);
    }

    @Test
    void aTakenPortIsNamedBeforeTheDatabaseStarts() throws Exception {
        String port = String.valueOf(api.url().getPort());
        Settings second = Settings.load(Map.of("KEELSON_DATA_DIR", folder.resolve("second").toString(),
                "KEELSON_HTTP_PORT", port), folder, folder);

        assertThatThrownBy(() -> Server.start(second)).isInstanceOf(StartupException.class)
                .hasMessageContaining(port).extracting(e -> ((StartupException) e).code()).isEqualTo("PORT_IN_USE");
        assertThat(folder.resolve("second")).as("nothing is started for it").doesNotExist();
    }

    @Test
    void callsThatWaitAreAnsweredWhenTheServerStops() throws Exception {
        CompletableFuture<ApiServer.Answer> held;
        try (CountingProxy proxy = new CountingProxy(TestDatabase.createUrl());
                ApiServer own = new ApiServer(folder.resolve("own"), proxy.url())) {
            String run = own.create(ApiServer.WAITS);
            held = CompletableFuture
                    .supplyAsync(() -> own.get("/api/v1/runs/" + run + "/events?after=9&wait_ms=60000"));
            Awaitility.await().until(
                    () -> proxy.executed().stream().anyMatch(sql -> sql.contains("join orchestration_events")));
        }

        assertThat(held.get().status()).isEqualTo(200);
        assertThat(held.get().json().get("items").isEmpty()).isTrue();
    }

    @Test
    void aHeaderThatNamesAnotherMethodIsIgnored() {
        String run = api.create(ApiServer.WAITS);

        assertThat(api.send("GET", "/api/v1/runs/" + run, null, "X-HTTP-Method-Override", "DELETE").status())
                .isEqualTo(200);
        assertThat(api.get("/api/v1/runs/" + run).status()).isEqualTo(200);
    }

    /** Some large values would otherwise make the list fail for all. */
    @Test
    void listsOfRunsAreWithoutInputsAndOutputs() {
        String run = api.create(
                "{\"name\": \"large\", \"inputs\": {\"text\": {}}, \"input\": {\"text\": \"" + "x".repeat(100_000)
                        + "\"}, \"plan\": {\"tasks\": []}}");

        assertThat(api.run(run).get("inputs").get("text").stringValue()).hasSize(100_000);
        assertThat(api.get("/api/v1/runs?name=large").json().get("items")).singleElement()
                .satisfies(item -> assertThat(item.propertyNames()).contains("id").doesNotContain("inputs", "output"));
    }
}
