package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Two servers, and a database that is replaced by an older copy of itself. */
class WentBackTest {

    private static final Duration NOTICED = Duration.ofSeconds(5);
    /** Ids above a pack's last event up to the next pack's first one. */
    private static final long MAX_UNUSED_IDS = 999;
    private static final Duration CONTINUED = Duration.ofSeconds(30);
    private static final String SHORT = """
            {"name": "short", "start": true, "plan": {"tasks": [{"id": "t", "title": "T", "steps": [
              {"name": "nap", "tool": "wait", "input": {"seconds": 0.01}}]}]}}""";

    @TempDir
    static Path folder;

    @Test
    void bothServersStopUntilAnOperatorAccepts() throws Exception {
        DatabaseUrl url = TestDatabase.createUrl();
        try (ApiServer one = new ApiServer(folder.resolve("one"), url);
                ApiServer other = new ApiServer(folder.resolve("other"), url)) {
            String kept = one.create(ApiServer.WAITS);
            one.post("/api/v1/runs/" + kept + "/start", "");
            Awaitility.await().atMost(CONTINUED)
                    .until(() -> !one.get("/api/v1/inbox").json().get("items").isEmpty());
            TestDatabase.keep(url);
            awaitReady(one);
            awaitReady(other);
            String gone = one.create(SHORT);
            one.awaitState(gone, "completed");
            CompletableFuture<JsonNode> ended = endOfStream(one);
            TestDatabase.goBack(url);

            for (ApiServer each : List.of(one, other)) {
                Awaitility.await().atMost(NOTICED)
                        .until(() -> code(each.get("/readyz")).equals("DATABASE_WENT_BACK"));
                assertThat(each.get("/healthz").status()).isEqualTo(200);
                assertThat(each.get("/metrics").text()).contains("keelson_database_went_back 1.0");
                ApiServer.Answer refused = each.post("/api/v1/runs", SHORT);
                assertThat(refused.status()).isEqualTo(503);
                assertThat(code(refused)).isEqualTo("DATABASE_WENT_BACK");
                assertThat(refused.header("Retry-After")).isEqualTo("5");
                assertThat(code(each.post("/api/v1/dispatch/claim", "{\"worker\": \"w\", \"tools\": [\"x.y\"]}")))
                        .isEqualTo("DATABASE_WENT_BACK");
                assertThat(code(each.get("/api/v1/events/stream?wait_ms=0"))).isEqualTo("DATABASE_WENT_BACK");
                assertThat(each.get("/api/v1/runs/" + gone).status()).isEqualTo(404);
                assertThat(each.get("/api/v1/runs/" + kept).json().get("state").stringValue()).isEqualTo("running");
            }
            JsonNode problem = ended.get(5, TimeUnit.SECONDS);
            assertThat(problem.get("code").stringValue()).isEqualTo("DATABASE_WENT_BACK");
            long readAfter = Long.parseLong(problem.get("read_after").stringValue());
            assertThat(readAfter).isBetween(0L, events(one, kept).max().orElseThrow() + MAX_UNUSED_IDS);
            JsonNode loss = one.get("/api/v1/database/losses").json().get("items").get(0);
            assertThat(loss.get("run_id").stringValue()).isEqualTo(gone);
            assertThat(loss.get("seq").longValue()).isEqualTo(1);
            assertThat(loss.get("accepted_at").isNull()).isTrue();

            JsonNode accepted = other.post("/api/v1/database/accept", "").json();
            assertThat(accepted.get("items")).isNotEmpty();
            Awaitility.await().atMost(CONTINUED).until(() -> one.get("/readyz").status() == 200
                    && other.get("/readyz").status() == 200);
            for (ApiServer each : List.of(one, other)) {
                assertThat(each.get("/metrics").text()).contains("keelson_database_went_back 0.0");
                String later = each.create(SHORT);
                each.awaitState(later, "completed");
                assertThat(events(each, later).min().orElseThrow()).isGreaterThan(readAfter);
            }
            String item = one.get("/api/v1/inbox").json().get("items").get(0).get("id").stringValue();
            assertThat(one.post("/api/v1/inbox/" + item + "/accept", "{}").status()).isLessThan(300);
            one.awaitState(kept, "completed");
            assertThat(one.get("/api/v1/ledger/verify").json().get("ok").booleanValue()).isTrue();
            assertThat(one.get("/api/v1/audit").text()).contains("database_accepted");
            assertThat(one.post("/api/v1/database/accept", "").json().get("items")).isEmpty();
        }
    }

    private static void awaitReady(ApiServer api) {
        Awaitility.await().atMost(CONTINUED).until(() -> api.get("/readyz").status() == 200);
    }

    private static String code(ApiServer.Answer answer) {
        return answer.status() == 200 ? "" : answer.json().path("code").asString("");
    }

    private static LongStream events(ApiServer api, String run) {
        return api.get("/api/v1/runs/" + run + "/events").json().get("items").valueStream()
                .mapToLong(event -> Long.parseLong(event.get("id").asString()));
    }

    /** The data of the event that ends a stream of the workspace's events. */
    private static CompletableFuture<JsonNode> endOfStream(ApiServer api) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(api.url() + "/api/v1/events/stream?after=0"))
                .header("Authorization", "Bearer " + api.key()).build();
        var lines = new BufferedReader(new InputStreamReader(
                HttpClient.newHttpClient().send(request, BodyHandlers.ofInputStream()).body(),
                StandardCharsets.UTF_8));
        return CompletableFuture.supplyAsync(() -> {
            try (lines) {
                boolean error = false;
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                    if (error && line.startsWith("data: ")) {
                        return Json.read(
                                line.substring(6).getBytes(StandardCharsets.UTF_8));
                    }
                    error |= line.equals("event: error");
                }
                throw new AssertionError("the stream ended without an error");
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }
}
