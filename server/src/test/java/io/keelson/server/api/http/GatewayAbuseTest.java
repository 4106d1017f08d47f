package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.devmodel.TestModel;
import io.keelson.server.base.db.TestDatabase;
import java.io.IOException;
import java.math.BigDecimal;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** A program that abuses the gateway costs no more than its budget, and the programs of other steps get their answers. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class GatewayAbuseTest {
    private static final String PATH = "/gateway/openai/v1/chat/completions";
    private static final int IN_FLIGHT = 128;
    private static final Duration SOON = Duration.ofSeconds(20);

    private final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private TestModel model;
    private ApiServer api;

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        model = new TestModel("""
                rules:
                  - {name: long, when: {text: long}, answer: {text: "%s", usage: {input: 100, output: 50}}}
                  - {name: any, answer: {text: done, usage: {input: 100, output: 50}}}
                """.formatted("word ".repeat(20_000)));
        Files.writeString(folder.resolve("models.yaml"), """
                models:
                  c: {wire: openai-chat, base_url: "%s", model: m, family: f, context_tokens: 100000,
                    max_output_tokens: 100000, prices: {input: 1, output: 1}}
                """.formatted(model.uri("/v1")));
        api = new ApiServer(Files.createDirectory(folder.resolve("data")), TestDatabase.createUrl(),
                Map.of("KEELSON_MODELS", folder.resolve("models.yaml").toString()));
    }

    @AfterAll
    void stop() throws Exception {
        http.close();
        api.close();
        model.close();
    }

    @Test
    void slowReadersDoNotBlockOtherRequests() throws Exception {
        Step step = new Step("test.silent", "20");
        List<Socket> sockets = new ArrayList<>();
        try {
            for (int i = 0; i < IN_FLIGHT + 10; i++) {
                String body = body("long " + i, ", \"stream\": true");
                Socket socket = new Socket();
                socket.setReceiveBufferSize(1_024);
                socket.connect(new InetSocketAddress(api.url().getHost(), api.url().getPort()));
                sockets.add(socket);
                socket.getOutputStream().write(("POST " + PATH + " HTTP/1.1\r\nHost: " + api.url().getAuthority()
                        + "\r\nAuthorization: Bearer " + step.token + "\r\nContent-Length: " + body.length()
                        + "\r\n\r\n" + body).getBytes(StandardCharsets.UTF_8));
            }
            assertOthersAreAnswered("test.beside-silent");
            assertThat(step.charged()).isLessThanOrEqualTo(new BigDecimal("20"));
        } finally {
            for (Socket socket : sockets) {
                socket.close();
            }
        }
    }

    @Test
    void aRequestThatIsRepeatedCostsNoMoreThanItsBudget() throws Exception {
        BigDecimal limit = new BigDecimal("0.02");
        Step step = new Step("test.repeating", limit.toPlainString());
        List<CompletableFuture<HttpResponse<String>>> all = IntStream.range(0, 1_000)
                .mapToObj(i -> http.sendAsync(step.request(body("again", ", \"max_tokens\": 100")),
                        BodyHandlers.ofString()))
                .toList();
        assertOthersAreAnswered("test.beside-repeating");
        List<Integer> statuses = all.stream().map(each -> each.join().statusCode()).toList();
        assertThat(statuses).isSubsetOf(200, 402, 429).contains(402);
        long paid = statuses.stream().filter(status -> status == 200).count();
        assertThat(step.charged()).isLessThanOrEqualTo(limit)
                .isEqualByComparingTo(new BigDecimal("0.00015").multiply(BigDecimal.valueOf(paid)));
    }

    @Test
    void whatIsTooLargeOrForSeveralAnswersIsRefused() throws Exception {
        Step step = new Step("test.large", "1");
        int before = model.journal().size();
        for (String n : List.of("128", "1e2", "2.5", "\"128\"", "1000000000000")) {
            assertThat(http.send(step.request(body("many", ", \"n\": " + n)), BodyHandlers.ofString()).statusCode())
                    .as(n).isEqualTo(400);
        }
        int status;
        try {
            status = http.send(step.request(body("x".repeat(30_000_000), "")), BodyHandlers.ofString()).statusCode();
        } catch (IOException e) {
            // the server has closed the connection before the whole body was sent
            status = 413;
        }
        assertThat(status).isEqualTo(413);
        assertThat(model.journal()).hasSize(before);
        assertOthersAreAnswered("test.beside-large");
        assertThat(step.charged()).isEqualByComparingTo("0");
    }

    private void assertOthersAreAnswered(String tool) throws Exception {
        HttpResponse<String> answer =
                http.send(new Step(tool, "1").request(body("hello", "")), BodyHandlers.ofString());
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    }

    private static String body(String text, String more) {
        return "{\"model\": \"c\", \"messages\": [{\"role\": \"user\", \"content\": \"" + text + "\"}]" + more + "}";
    }

    /** A step with a program. */
    private final class Step {
        private final String run;
        private final String token;

        Step(String tool, String limit) {
            claim(tool, 0);
            run = api.create(ApiServer.REMOTE.replace("test.remote", tool).replace("\"plan\"",
                    "\"config\": {\"budget\": {\"hard_limit_usd\": " + limit + "}}, \"plan\""));
            token = claim(tool, 20_000).at("/0/gateway/token").stringValue();
        }

        private JsonNode claim(String tool, int wait) {
            return api.post("/api/v1/dispatch/claim", """
                    {"worker_id": "w", "tools": ["%1$s"], "wait_ms": %2$d,
                     "tool_specs": [{"name": "%1$s", "gateway": true}]}""".formatted(tool, wait)).json().get("items");
        }

        HttpRequest request(String body) {
            return HttpRequest.newBuilder(URI.create(api.url() + PATH)).timeout(SOON)
                    .header("Authorization", "Bearer " + token).POST(BodyPublishers.ofString(body)).build();
        }

        BigDecimal charged() {
            return api.get("/api/v1/runs/" + run).json().get("credits_charged").decimalValue();
        }
    }
}
