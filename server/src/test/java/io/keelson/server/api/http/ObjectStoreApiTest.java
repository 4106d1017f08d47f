package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.annex.s3.ObjectStoreProcess;
import io.keelson.server.app.InstalledArtifacts;
import io.keelson.server.app.Settings;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Artifacts in an object store, by the API: two servers of one database, of which one does not reach the store. */
@Breadth.InPart(1)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ObjectStoreApiTest {

    private static final String WRITES =
            """
            {"name": "writes", "start": true, "plan": {"tasks": [{"id": "one", "title": "One", "steps": [
              {"name": "page", "tool": "artifact.write", "input": {"name": "a b.html", "content": "<p>abc</p>"}}]}]}}""";

    private Path folder;
    private ApiServer api;
    private ApiServer away;

    @BeforeAll
    void start(@TempDir Path temporary) throws Exception {
        folder = temporary;
        DatabaseUrl url = TestDatabase.createUrl();
        Map<String, String> variables = new TreeMap<>(ObjectStoreProcess.shared().variables());
        variables.put("KEELSON_ARTIFACT_LINKS", "60");
        variables.put("KEELSON_STATUS_DOCUMENTS", "true");
        api = new ApiServer(folder, url, variables);
        variables.put("KEELSON_S3_ENDPOINT", "http://127.0.0.1:9");
        variables.remove("KEELSON_STATUS_DOCUMENTS");
        variables.put("KEELSON_EXECUTOR_SLOTS", "0");
        away = new ApiServer(folder.resolve("away"), url, variables);
    }

    @AfterAll
    void stop() {
        away.close();
        api.close();
    }

    private String written() {
        String run = api.create(WRITES);
        api.awaitState(run, "completed");
        JsonNode artifact = api.get("/api/v1/runs/" + run + "/artifacts").json().get("items").get(0);
        return "/api/v1/runs/" + run + "/artifacts/" + artifact.get("id").stringValue() + "/content";
    }

    @Test
    void contentIsInTheStoreAndNotInTheDataFolder() throws Exception {
        String content = written();
        assertThat(api.get(content).text()).isEqualTo("<p>abc</p>");
        ApiServer.Answer part = api.send("GET", content, null, "Range", "bytes=3-5");
        assertThat(part.status()).isEqualTo(206);
        assertThat(part.text()).isEqualTo("abc");
        assertThat(Files.exists(folder.resolve("artifacts"))).isFalse();
    }

    @Test
    void statusDocumentsAreInTheStore() {
        String run = written().replaceFirst(".*/runs/([^/]+)/.*", "$1");
        Awaitility.await().untilAsserted(() -> assertThat(ObjectStoreProcess.shared().objects())
                .anyMatch(key -> key.endsWith("/runs/run_" + run + "/manifest.json"))
                .anyMatch(key -> key.endsWith("/runs/run_" + run + "/steps/1.json")));
    }

    @Test
    void linkIsGivenOnRequestToReadersOnly() throws Exception {
        String content = written();
        ApiServer.Answer answer = api.get(content + "?link=true");
        assertThat(answer.status()).isEqualTo(307);
        assertThat(answer.header("Cache-Control")).isEqualTo("no-store");
        HttpURLConnection link = (HttpURLConnection) URI.create(answer.header("Location")).toURL().openConnection();
        assertThat(new String(link.getInputStream().readAllBytes(), StandardCharsets.UTF_8)).isEqualTo("<p>abc</p>");
        assertThat(link.getContentType()).isEqualTo("application/octet-stream");
        assertThat(link.getHeaderField("Content-Disposition")).isEqualTo("attachment; filename*=UTF-8''a%20b.html");
        assertThat(api.get(content + "?link=true&inline=true").status()).isEqualTo(200);
        assertThat(api.send("GET", content + "?link=true", null, "Authorization", api.stranger()).status())
                .isEqualTo(404);
    }

    @Test
    void serverWithoutItsStoreIsReadyAndRefusesArtifactsOnly() {
        String content = written();
        ApiServer.Answer refused = away.get(content);
        assertThat(refused.status()).isEqualTo(503);
        assertThat(refused.json().get("code").stringValue()).isEqualTo("ARTIFACT_STORE_FAILED");
        assertThat(refused.header("Retry-After")).isNotEmpty();
        assertThat(refused.text()).contains("the log of the server has the reason")
                .doesNotContain("Connection", "refused:", "127.0.0.1", "s3://", "keelson/");
        assertThat(away.get("/readyz").status()).isEqualTo(200);
        assertThat(away.get("/metrics").text())
                .contains("keelson_artifact_store_requests_total{operation=\"read\",outcome=\"failed\"} 1.0");
        away.create(ApiServer.WAITS);
    }

    @Test
    void serverIsNotReadyWhileAnotherDatabaseHasItsPrefix(@TempDir Path data) throws Exception {
        DatabaseUrl own = TestDatabase.createUrl();
        Map<String, String> variables = new TreeMap<>(ObjectStoreProcess.shared().variables());
        try (ApiServer former = new ApiServer(data, own, variables);
                InstalledArtifacts.Opened store = InstalledArtifacts.open(Settings.load(variables, data, data))) {
            assertThat(former.get("/readyz").status()).isEqualTo(200);
            store.adopt(TestDatabase.createUrl());
            former.clockMoved();
            ApiServer.Answer refused = former.get("/readyz");
            assertThat(refused.status()).isEqualTo(503);
            assertThat(refused.json().get("code").stringValue()).isEqualTo("ARTIFACT_STORE_OF_OTHER_DATABASE");
            assertThat(refused.json().get("detail").stringValue()).contains("belongs to the database",
                    "keelson artifacts adopt");
            store.adopt(own);
            former.clockMoved();
            assertThat(former.get("/readyz").status()).isEqualTo(200);
        }
    }

    @Test
    void workersGetNoTextOfTheStore() {
        api.post("/api/v1/dispatch/claim", "{\"worker_id\": \"w\", \"tools\": [\"test.remote\"], \"max\": 1}");
        api.create(ApiServer.REMOTE);
        JsonNode item = api.post("/api/v1/dispatch/claim", """
                {"worker_id": "w", "tools": ["test.remote"], "max": 1, "wait_ms": 20000}""").json().get("items").get(0);
        String step = item.get("step_id").stringValue();
        ApiServer.Answer uploaded = away.post("/api/v1/dispatch/artifacts?worker_id=w&step_id=" + step
                + "&lease_epoch=1&name=a", "{}");
        ApiServer.Answer reported = away.post("/api/v1/dispatch/complete", """
                {"worker_id": "w", "items": [{"step_id": "%s", "lease_epoch": 1, "output": 1, "artifacts":
                  [{"name": "i", "content_type": "text/plain", "content_base64": "eA=="}]}]}""".formatted(step));
        for (ApiServer.Answer each : List.of(uploaded, reported)) {
            assertThat(each.status()).as(each.text()).isEqualTo(503);
            assertThat(each.json().get("code").stringValue()).isEqualTo("ARTIFACT_STORE_FAILED");
            assertThat(each.header("Retry-After")).isNotEmpty();
            assertThat(each.text()).doesNotContain("Connection", "127.0.0.1", "s3://", "keelson/");
        }
    }
}
