package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.devmodel.TestModel;
import io.keelson.server.base.db.CountingProxy;
import io.keelson.server.base.db.CountingProxy.Loss;
import io.keelson.server.base.db.CountingProxy.Write;
import io.keelson.server.base.db.TestDatabase;
import java.math.BigDecimal;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Connections to the database are lost with the commit that records an answer of the gateway, or with its reply. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class GatewayLostCommitTest {
    private static final String COST = "0.0006";
    private static final Write RECORD = new Write("update gateway_requests", "answered");

    private final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private TestModel model;
    private CountingProxy database;
    private ApiServer api;

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        model = new TestModel("rules: [{name: any, answer: {text: done, usage: {input: 100, output: 50}}}]");
        Files.writeString(folder.resolve("models.yaml"), """
                models:
                  c: {wire: openai-chat, base_url: "%s", model: m, family: f, context_tokens: 9000,
                    max_output_tokens: 1000, prices: {input: 1, output: 10}}
                """.formatted(model.uri("/v1")));
        database = new CountingProxy(TestDatabase.createUrl());
        api = new ApiServer(Files.createDirectory(folder.resolve("data")), database.url(),
                Map.of("KEELSON_MODELS", folder.resolve("models.yaml").toString()));
    }

    @AfterAll
    void stop() throws Exception {
        database.spare();
        api.close();
        database.close();
        model.close();
        http.close();
    }

    @Test
    void anAnswerWhoseCommitIsRepeatedPassesOn() throws Exception {
        Step step = new Step("test.repeated");
        database.lose(Loss.ANSWER, RECORD, 0, () -> {});
        HttpResponse<String> answer = step.ask();
        assertThat(database.lost()).isTrue();
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        assertThat(step.charged()).isEqualByComparingTo(COST);
    }

    /** The server continues, and closes the request as that of a server that is gone: nothing waits for its answer. */
    @Test
    void anAnswerThatCannotBeRecordedIsChargedOnceAsLostAndAskedAgain() throws Exception {
        Step step = new Step("test.lost");
        loseAll();
        HttpResponse<String> failed = step.ask();
        database.spare();
        assertThat(failed.statusCode()).as(failed.body()).isEqualTo(503);
        assertThat(failed.body()).contains("not_ready");
        HttpResponse<String> answer = step.ask();
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        assertThat(step.charges()).hasSize(2);
        assertThat(step.charged()).isGreaterThan(new BigDecimal("0.01"));
    }

    private void loseAll() {
        database.lose(Loss.REQUEST, RECORD, 0, this::loseAll);
    }

    /** A step with a program. */
    private final class Step {
        private final String run;
        private final String token;

        Step(String tool) {
            claim(tool, 0);
            run = api.create(ApiServer.REMOTE.replace("test.remote", tool));
            token = claim(tool, 20_000).at("/0/gateway/token").stringValue();
        }

        private JsonNode claim(String tool, int wait) {
            return api.post("/api/v1/dispatch/claim", """
                    {"worker_id": "w", "tools": ["%1$s"], "wait_ms": %2$d,
                     "tool_specs": [{"name": "%1$s", "gateway": true}]}""".formatted(tool, wait)).json().get("items");
        }

        HttpResponse<String> ask() throws Exception {
            return http.send(HttpRequest.newBuilder(URI.create(api.url() + "/gateway/openai/v1/chat/completions"))
                    .timeout(Duration.ofSeconds(40)).header("Authorization", "Bearer " + token)
                    .POST(BodyPublishers
                            .ofString("{\"model\": \"c\", \"messages\": [{\"role\": \"user\", \"content\": \"" + run
                                    + "\"}]}"))
                    .build(), BodyHandlers.ofString());
        }

        BigDecimal charged() {
            return api.get("/api/v1/runs/" + run).json().get("credits_charged").decimalValue();
        }

        List<JsonNode> charges() {
            return api.get("/api/v1/runs/" + run + "/ledger").json().get("items").valueStream()
                    .filter(entry -> entry.get("transaction_type").asString().equals("charge")).toList();
        }
    }
}
