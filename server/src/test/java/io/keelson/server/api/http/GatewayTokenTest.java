package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.api.http.ApiServer.Answer;
import io.keelson.server.base.db.Sql;
import io.keelson.server.base.db.TestDatabase;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** The token of a lease for the gateway: who gets one, what it opens, and until when. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class GatewayTokenTest {
    private static final String OPENAI = "/gateway/openai/v1/models";
    private static final String ANTHROPIC = "/gateway/anthropic/v1/models";
    private static final String MODEL = """
              %s:
                wire: openai-chat
                base_url: http://127.0.0.1:1
                model: m
                family: f
                context_tokens: 1000
                max_output_tokens: 1000
            """;

    private static final Sql TEXTS = Sql.of("""
            select string_agg(query_to_xml('select * from ' || quote_ident(relname), true, true, '')::text, '')
              from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace""");

    private ApiServer api;

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        String priced = "    prices: {input: 1, output: 1}\n";
        Files.writeString(folder.resolve("models.yaml"), "models:\n" + MODEL.formatted("one") + priced
                + MODEL.formatted("two") + priced + MODEL.formatted("unpriced"));
        api = new ApiServer(Files.createDirectory(folder.resolve("data")), TestDatabase.createUrl(),
                Map.of("KEELSON_MODELS", folder.resolve("models.yaml").toString(), "KEELSON_ALLOWED_FOLDERS",
                        folder.toString()));
    }

    @AfterAll
    void stop() {
        api.close();
    }

    /** Creates a run of the tool and claims its step. */
    private JsonNode claimed(String tool, String gateway) {
        claim(tool, gateway, 0);
        api.create(ApiServer.REMOTE.replace("test.remote", tool));
        JsonNode items = claim(tool, gateway, 20_000);
        assertThat(items).hasSize(1);
        return items.get(0);
    }

    private JsonNode claim(String tool, String gateway, int wait) {
        Answer answer = api.post("/api/v1/dispatch/claim", "{\"worker_id\": \"w\", \"tools\": [\"" + tool
                + "\"], \"wait_ms\": " + wait + ", \"tool_specs\": [{\"name\": \"" + tool + "\", \"gateway\": "
                + gateway
                + "}]}");
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        return answer.json().get("items");
    }

    private static String token(JsonNode item) {
        return item.at("/gateway/token").stringValue();
    }

    private Answer models(String path, String token) {
        return api.get(path, "Authorization", "Bearer " + token);
    }

    private static List<String> names(Answer answer) {
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        return answer.json().get("data").valueStream().map(model -> model.get("id").stringValue()).toList();
    }

    private void report(String route, JsonNode item, String members) {
        assertThat(api.post("/api/v1/dispatch/" + route,
                "{\"worker_id\": \"w\", \"items\": [{\"step_id\": " + item.get("step_id") + ", \"lease_epoch\": "
                        + item.get("lease_epoch") + members + "}]}")
                .status()).isEqualTo(200);
    }

    @Test
    void aTokenListsTheModelsOfItsStepOverBothApis() {
        String all = token(claimed("test.all", "true"));
        assertThat(names(models(OPENAI, all))).containsExactly("one", "two");
        assertThat(names(api.get(ANTHROPIC, "Authorization", "", "x-api-key", all))).containsExactly("one", "two");

        String some = token(claimed("test.some", "{\"models\": [\"two\", \"three\"]}"));
        assertThat(names(models(ANTHROPIC, some))).containsExactly("two");
    }

    @Test
    void onlyStepsOfAnnouncedToolsHaveOne() {
        assertThat(claimed("test.without", "false").path("gateway").isNull()).isTrue();
        Answer refused = api.post("/api/v1/dispatch/register", """
                {"worker_id": "r", "tool_specs": [{"name": "test.bad", "gateway": {"modells": []}}]}""");
        assertThat(refused.json().get("pointer").stringValue()).isEqualTo("/tool_specs/0/gateway");
    }

    @Test
    void aTokenEndsWithItsLeaseAndIsRefusedInTheWiresForm() {
        JsonNode first = claimed("test.ends", "true");
        report("release", first, "");
        Answer ended = models(OPENAI, token(first));
        assertThat(ended.status()).isEqualTo(401);
        assertThat(ended.json().at("/error/code").stringValue()).isEqualTo("step_ended");

        JsonNode second = claim("test.ends", "true", 20_000).get(0);
        assertThat(second.get("lease_epoch").intValue()).isEqualTo(2);
        assertThat(models(OPENAI, token(second)).status()).isEqualTo(200);
        assertThat(models(OPENAI, token(first)).status()).as("of the epoch before").isEqualTo(401);

        report("complete", second, ", \"output\": {}");
        JsonNode error = models(ANTHROPIC, token(second)).json();
        assertThat(error.get("type").stringValue()).isEqualTo("error");
        assertThat(error.at("/error/type").stringValue()).isEqualTo("authentication_error");
        assertThat(error.at("/error/code").stringValue()).isEqualTo("step_ended");
    }

    @Test
    void anExpiredLeaseEndsTheToken() {
        JsonNode item = claimed("test.expires", "true");
        api.sql("update work_queue set lease_expires_at = clock_timestamp() - interval '1 second' where task_id = '"
                + item.get("task_id").stringValue() + "'");
        assertThat(models(OPENAI, token(item)).status()).isEqualTo(401);
    }

    @ParameterizedTest
    @ValueSource(strings = {"klg_0000000000000000000000000000000000000000000000000000000000000000", "x"})
    void anUnknownTokenIsRefused(String token) {
        assertThat(models(OPENAI, token).json().at("/error/code").stringValue()).isEqualTo("invalid_token");
    }

    @Test
    void anApiKeyIsRefusedWithAHint() {
        JsonNode error = models(OPENAI, "kl_0000000000000000000000000000000000000000").json().get("error");
        assertThat(error.get("code").stringValue()).isEqualTo("invalid_token");
        assertThat(error.get("message").stringValue()).contains("no API key", "KEELSON_STEP_TOKEN");
    }

    @Test
    void anApiKeyOpensNoGatewayAndATokenNothingElse() {
        assertThat(api.get(OPENAI).status()).isEqualTo(401);
        assertThat(api.get(OPENAI, "Authorization", "").json().at("/error/code").stringValue())
                .isEqualTo("token_required");
        String token = token(claimed("test.only", "true"));
        assertThat(models("/api/v1/runs", token).json().get("code").stringValue()).isEqualTo("INVALID_API_KEY");
        assertThat(models("/api/v1/whoami", token).status()).isEqualTo(401);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/gateway/openai/v1/files", "/gateway/anthropic/api/hello", "/gateway/openai/v1/responses",
            "/gateway/other"})
    void unknownPathsAreNotFoundWithoutAToken(String path) {
        for (String method : List.of("GET", "HEAD")) {
            assertThat(api.send(method, path, null, "Authorization", "").status()).isEqualTo(404);
        }
    }

    @Test
    void anUpgradeIsNotFoundAtOnce() throws Exception {
        URI url = api.url();
        try (Socket socket = new Socket(url.getHost(), url.getPort())) {
            socket.getOutputStream().write(("GET /gateway/openai/v1/responses HTTP/1.1\r\nHost: " + url.getHost() + ":"
                    + url.getPort() + "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                    + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
            assertThat(new String(socket.getInputStream().readNBytes(12), StandardCharsets.US_ASCII))
                    .isEqualTo("HTTP/1.1 404");
        }
    }

    @Test
    void theDatabaseHasNoTokenAndNoEventHasOne() {
        JsonNode item = claimed("test.hidden", "true");
        String token = token(item);
        assertThat(token).startsWith("klg_");
        String tables = api.database().inTransaction(c -> TEXTS.on(c).one(row -> row.getString(1)));
        assertThat(tables).contains("test.hidden").doesNotContain(token);
        assertThat(api.get("/api/v1/runs/" + item.get("run_id").stringValue() + "/events").text())
                .doesNotContain(token);
    }
}
