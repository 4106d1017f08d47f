package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.api.http.support.TimedInputStream;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.retention.UploadSlots;
import io.keelson.server.tenant.auth.Bootstrap;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Artifacts of any size, from a worker's upload to their end. */
@Breadth.Spread
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class UploadApiTest {

    private static final int MAX = 32 << 20;
    private static final int MAX_OF_RUN = 34 << 20;

    private final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private Path files;
    private ApiServer api;
    private ApiServer other;

    /** A step that this worker holds. */
    private record Held(String run, String step, int epoch) {}

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        files = folder.resolve("artifacts");
        DatabaseUrl url = TestDatabase.createUrl();
        api = new ApiServer(folder, url, Map.of("KEELSON_ARTIFACT_MAX_MIB", Integer.toString(MAX >> 20),
                "KEELSON_RUN_ARTIFACTS_MAX_MIB", Integer.toString(MAX_OF_RUN >> 20)));
        other = new ApiServer(folder.resolve("other"), url);
        api.post("/api/v1/dispatch/claim", "{\"worker_id\": \"w\", \"tools\": [\"test.remote\"], \"max\": 1}");
    }

    @AfterAll
    void stop() {
        other.close();
        api.close();
    }

    /** Larger than any body that the server takes whole. */
    @Test
    void largeFileIsStreamedInBothDirections() throws Exception {
        Held held = claim();
        int size = 30 << 20;
        HttpResponse<String> stored = upload(held, "name=big.bin&sha256=" + hash(size),
                BodyPublishers.ofInputStream(() -> new Zeros(size))).join();
        assertThat(stored.statusCode()).as(stored.body()).isEqualTo(201);
        JsonNode uploaded = json(stored);
        assertThat(uploaded.get("size_bytes").asInt()).isEqualTo(size);
        assertThat(api.get("/api/v1/runs/" + held.run + "/artifacts").json().get("items").size()).isZero();

        assertThat(complete(held, uploaded.get("upload_id").stringValue())).isEqualTo("ok");
        JsonNode artifact = api.get("/api/v1/runs/" + held.run + "/artifacts").json().get("items").get(0);
        assertThat(artifact.get("name").stringValue()).isEqualTo("big.bin");
        assertThat(artifact.get("deleted_at").isNull()).isTrue();
        String path = "/api/v1/runs/" + held.run + "/artifacts/" + artifact.get("id").stringValue();
        HttpResponse<InputStream> content = http.send(request(path + "/content").build(), BodyHandlers.ofInputStream());
        try (DigestInputStream in = new DigestInputStream(content.body(), MessageDigest.getInstance("SHA-256"))) {
            in.transferTo(OutputStream.nullOutputStream());
            assertThat(HexFormat.of().formatHex(in.getMessageDigest().digest()))
                    .isEqualTo(artifact.get("sha256").stringValue());
        }
        long before = use();
        assertThat(api.send("DELETE", path, null).status()).isEqualTo(204);
        assertThat(api.send("DELETE", path, null).status()).isEqualTo(204);
        assertThat(before - use()).isEqualTo(size);
        assertThat(api.get(path + "/content").status()).isEqualTo(410);
        assertThat(api.get(path + "/content").json().get("code").stringValue()).isEqualTo("ARTIFACT_GONE");
    }

    @Test
    void tenAtATimeOnAllServers() throws Exception {
        Held held = claim();
        List<HttpURLConnection> open = new ArrayList<>();
        for (int i = 0; i < UploadSlots.MAX_UPLOADS; i++) {
            open.add(begin(i % 2 == 0 ? api : other, held, "name=file-" + i));
        }
        Awaitility.await().until(() -> api.rowCounts().get("upload_slots") == UploadSlots.MAX_UPLOADS);
        assertThat(post(other, held, "name=one-too-many").status()).isEqualTo(429);
        HttpResponse<String> refused = upload(held, "name=one-too-many", BodyPublishers.ofString("x")).join();
        assertThat(refused.statusCode()).isEqualTo(429);
        assertThat(json(refused).get("code").stringValue()).isEqualTo("UPLOAD_LIMIT_REACHED");
        assertThat(refused.headers().firstValue("Retry-After")).isPresent();

        assertThat(end(open.removeFirst())).isEqualTo(201);
        assertThat(upload(held, "name=one-too-many", BodyPublishers.ofString("x")).join().statusCode()).isEqualTo(201);
        for (HttpURLConnection each : open) {
            assertThat(end(each)).isEqualTo(201);
        }
        assertThat(complete(held)).isEqualTo("ok");
    }

    @Test
    void tooLargeUploadIsRefusedBeforeItIsSent() throws Exception {
        Held held = claim();
        long before = stored();
        BodyPublisher announced =
                BodyPublishers.fromPublisher(BodyPublishers.ofInputStream(() -> new Zeros(MAX + 1)), MAX + 1);
        assertCode(upload(held, "name=a", announced), 413, "ARTIFACT_TOO_LARGE");
        assertCode(upload(held, "name=a", BodyPublishers.ofInputStream(() -> new Zeros(MAX + 1))), 413,
                "ARTIFACT_TOO_LARGE");
        assertThat(stored()).isEqualTo(before);
        assertThat(complete(held)).isEqualTo("ok");
    }

    /** However many come at once: what is under way takes its room as soon as it is whole. */
    @Test
    void aRunStoresNoMoreThanItMay() throws Exception {
        Held held = claim();
        int half = MAX_OF_RUN / 2;
        List<HttpURLConnection> open = List.of(begin(api, held, "name=a"), begin(api, held, "name=b"),
                begin(api, held, "name=c"));
        awaitIncoming(3);
        for (HttpURLConnection each : open) {
            new Zeros(half - TimedInputStream.SLOWEST * 100).transferTo(each.getOutputStream());
        }
        List<Integer> answers = new ArrayList<>();
        for (HttpURLConnection each : open) {
            answers.add(end(each));
        }
        assertThat(answers).containsExactly(201, 201, 413);
        assertCode(upload(held, "name=d", BodyPublishers.ofString("x")), 413, "RUN_STORAGE_LIMIT_REACHED");
        assertThat(completeWith(held,
                "\"artifacts\": [{\"name\": \"i\", \"content_type\": \"text/plain\", \"content_base64\": \"eA==\"}]"))
                .isEqualTo("RUN_STORAGE_LIMIT_REACHED");

        assertThat(complete(held)).isEqualTo("ok");
        assertThat(api.rowCounts()).containsEntry("artifact_reservations", 2L);
        Held next = claim();
        String kept = json(upload(next, "name=a", BodyPublishers.ofString("x")).join()).get("upload_id").stringValue();
        assertThat(api.rowCounts()).as("what was not named counts no more").containsEntry("artifact_reservations", 1L);
        assertThat(complete(next, kept)).isEqualTo("ok");
    }

    @Test
    void storageLimitHoldsDuringConcurrentUploads() throws Exception {
        Held held = claim();
        long used = use();
        limit(used + 3);
        try {
            assertCode(upload(held, "name=a", BodyPublishers.ofString("four")), 429, "STORAGE_LIMIT_REACHED");
            String upload = json(upload(held, "name=a", BodyPublishers.ofString("12")).join()).get("upload_id")
                    .stringValue();
            HttpResponse<String> refused = upload(held, "name=b", BodyPublishers.ofString("34")).join();
            assertThat(refused.statusCode()).isEqualTo(429);
            assertThat(json(refused).get("limit").stringValue()).isEqualTo("storage_bytes");
            String writes = api.create("""
                    {"name": "writes", "start": true, "plan": {"tasks": [{"id": "w", "steps": [
                      {"tool": "artifact.write", "input": {"name": "a", "content": "56"}}]}]}}""");
            Awaitility.await().until(() -> api.get("/api/v1/runs/" + writes).json().get("state").stringValue()
                    .equals("failed"));
            assertThat(api.get("/api/v1/runs/" + writes + "/tasks").json().get("items").get(0).get("error_code")
                    .stringValue()).isEqualTo("STORAGE_LIMIT_REACHED");
            assertThat(complete(held, upload)).isEqualTo("ok");
            assertThat(use()).isEqualTo(used + 2);
        } finally {
            limit(null);
        }
    }

    private void limit(@Nullable Long bytes) {
        assertThat(api.send("PATCH", "/api/v1/workspaces/" + Bootstrap.DEFAULT_WORKSPACE,
                ("{\"limits\": {\"storage_bytes\": " + bytes + "}}").getBytes(StandardCharsets.UTF_8), "Content-Type",
                "application/json").status()).isEqualTo(200);
    }

    private static ApiServer.Answer post(ApiServer server, Held held, String query) {
        return server.post(path(held, query), "{}");
    }

    @Test
    void refusedUploadLeavesNothing() throws Exception {
        Held held = claim();
        long before = stored();
        BodyPublisher body = BodyPublishers.ofString("text");
        assertCode(upload(held, "name=a&sha256=" + "0".repeat(64), body), 422, "ARTIFACT_HASH_MISMATCH");
        assertCode(upload(held, "name=a&sha256=xyz", body), 400, "INVALID_PARAMETER");
        assertCode(upload(held, "name=..%2Fa", body), 422, "ARTIFACT_NAME_INVALID");
        assertCode(upload(held, "", body), 400, "INVALID_PARAMETER");
        assertCode(upload(new Held(held.run, held.step, held.epoch + 1), "name=a", body), 409, "STALE_LEASE");
        assertCode(upload(new Held(held.run, UUID.randomUUID().toString(), 1), "name=a", body), 404, "STEP_NOT_FOUND");
        HttpURLConnection cut = begin(api, held, "name=cut");
        awaitIncoming(1);
        cut.disconnect();
        awaitIncoming(0);
        assertThat(stored()).isEqualTo(before);
        assertThat(complete(held)).isEqualTo("ok");
    }

    @Test
    void anUploadIsItsExecutionsAndNamedOnce() throws Exception {
        Held held = claim();
        Held other = claim();
        String upload = json(upload(held, "name=a&retention_days=7", BodyPublishers.ofString("x")).join())
                .get("upload_id").stringValue();
        assertThat(complete(other, upload)).isEqualTo("ARTIFACT_UPLOAD_UNKNOWN");
        assertThat(complete(held, upload, upload)).isEqualTo("ARTIFACT_UPLOAD_UNKNOWN");
        assertThat(complete(held, UUID.randomUUID().toString())).isEqualTo("ARTIFACT_UPLOAD_UNKNOWN");
        assertThat(complete(held, upload)).isEqualTo("ok");
        assertThat(complete(other)).isEqualTo("ok");
    }

    private Held claim() {
        String run = api.create(ApiServer.REMOTE);
        JsonNode item = api.post("/api/v1/dispatch/claim", """
                {"worker_id": "w", "tools": ["test.remote"], "max": 1, "wait_ms": 20000}""").json().get("items").get(0);
        assertThat(item.get("run_id").stringValue()).isEqualTo(run);
        return new Held(run, item.get("step_id").stringValue(), item.get("lease_epoch").asInt());
    }

    /** {@code ok}, or the code of what was wrong. */
    private String complete(Held held, String... uploads) {
        StringBuilder named = new StringBuilder();
        for (String upload : uploads) {
            named.append(named.isEmpty() ? "" : ",").append("{\"upload_id\": \"").append(upload).append("\"}");
        }
        return completeWith(held, "\"uploads\": [" + named + "]");
    }

    private String completeWith(Held held, String more) {
        JsonNode answer = api.post("/api/v1/dispatch/complete", """
                {"worker_id": "w", "items": [{"step_id": "%s", "lease_epoch": %d, "output": 1, %s}]}"""
                .formatted(held.step, held.epoch, more)).json().get("items").get(0);
        return answer.has("code") ? answer.get("code").stringValue() : answer.get("status").stringValue();
    }

    private CompletableFuture<HttpResponse<String>> upload(Held held, String query, BodyPublisher body) {
        return http.sendAsync(request(path(held, query)).POST(body).build(), BodyHandlers.ofString());
    }

    /** An upload that has begun and does not end, for a while at least: so much has come. */
    private static HttpURLConnection begin(ApiServer server, Held held, String query) throws IOException {
        HttpURLConnection connection = (HttpURLConnection) URI.create(server.url() + path(held, query)).toURL()
                .openConnection();
        connection.setRequestMethod("POST");
        connection.setRequestProperty("Authorization", "Bearer " + server.key());
        connection.setRequestProperty("Content-Type", "text/plain");
        connection.setDoOutput(true);
        connection.setChunkedStreamingMode(TimedInputStream.SLOWEST);
        connection.getOutputStream().write(new byte[TimedInputStream.SLOWEST * 100]);
        connection.getOutputStream().flush();
        return connection;
    }

    private static int end(HttpURLConnection connection) throws IOException {
        connection.getOutputStream().close();
        return connection.getResponseCode();
    }

    private static String path(Held held, String query) {
        return "/api/v1/dispatch/artifacts?worker_id=w&step_id=" + held.step + "&lease_epoch=" + held.epoch
                + (query.isEmpty() ? "" : "&" + query);
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create(api.url() + path)).header("Authorization", "Bearer " + api.key());
    }

    private static void assertCode(CompletableFuture<HttpResponse<String>> answer, int status, String code) {
        HttpResponse<String> got;
        try {
            got = answer.join();
        } catch (CompletionException e) {
            throw new AssertionError("no answer instead of " + code, e);
        }
        assertThat(got.statusCode()).as(got.body()).isEqualTo(status);
        assertThat(json(got).get("code").stringValue()).isEqualTo(code);
    }

    private static JsonNode json(HttpResponse<String> answer) {
        return Json.read(answer.body().getBytes(StandardCharsets.UTF_8));
    }

    private long use() {
        return api.get("/api/v1/limits").json().get("use").get("storage_bytes").asLong();
    }

    private void awaitIncoming(int count) {
        Awaitility.await().until(() -> files(files.resolve("incoming")) == count);
    }

    /** Files in the store, those included that are on their way. */
    private long stored() throws IOException {
        return files(files);
    }

    private static long files(Path below) throws IOException {
        try (Stream<Path> all = Files.walk(below)) {
            return all.filter(Files::isRegularFile).filter(file -> !file.endsWith("lock")).count();
        }
    }

    private static String hash(int zeros) throws Exception {
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        byte[] piece = new byte[1 << 20];
        for (int left = zeros; left > 0; left -= piece.length) {
            digest.update(piece);
        }
        return HexFormat.of().formatHex(digest.digest());
    }

    /** So many bytes. */
    private static final class Zeros extends InputStream {
        private int left;

        Zeros(int count) {
            left = count;
        }

        @Override
        public int read() {
            return left-- > 0 ? 0 : -1;
        }

        @Override
        public int read(byte[] bytes, int from, int length) {
            int given = Math.min(length, left);
            left -= given;
            return given > 0 ? given : -1;
        }
    }
}
