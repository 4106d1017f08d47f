package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.base.json.Json;
import io.keelson.server.tenant.auth.Bootstrap;
import io.keelson.server.tenant.auth.Scope;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.HttpURLConnection;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Event streams: each event once and in order, even after lost connections. */
@Breadth.Spread
class EventStreamTest {
    private static final int READERS = Breadth.of(40, 1_000);
    private static final int ITEMS = Breadth.of(60, 1_000);
    private static final String MANY = """
            {"name": "many", "start": true, "plan": {"tasks": [
              {"id": "each", "title": "Each", "for_each": "${ [range(%d)] }", "steps": [
                {"name": "one", "tool": "noop"}, {"name": "two", "tool": "noop"}]}]}}""";

    /** One event as a client sees it. */
    private record Seen(long id, String event, String text) {

        JsonNode data() {
            return Json.read(text.getBytes(StandardCharsets.UTF_8));
        }
    }

    private ApiServer api;

    @BeforeEach
    void start(@TempDir Path folder) throws Exception {
        api = new ApiServer(folder);
    }

    @AfterEach
    void stop() {
        api.close();
    }

    @Test
    void everyReaderSeesEveryEventOnceAndInOrder() throws Exception {
        String run = api.create(MANY.formatted(ITEMS));
        List<Future<List<Long>>> seen = new ArrayList<>();
        try (ExecutorService readers = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < READERS; i++) {
                Random random = new Random(i);
                seen.add(readers.submit(() -> withBreaks(run, random)));
            }
        }
        List<Long> all = LongStream.rangeClosed(1, last(run)).boxed().toList();
        assertThat(all).hasSizeGreaterThan(ITEMS * 8);
        for (Future<List<Long>> each : seen) {
            assertThat(each.get()).isEqualTo(all);
        }
    }

    @Test
    void streamEqualsTheListAndEnds() throws IOException {
        String run = api.create(ApiServer.WAITS);
        List<Seen> seen = new ArrayList<>();
        HttpURLConnection stream = open(run, 0, "");
        try (BufferedReader lines = lines(stream)) {
            assertThat(stream.getContentType()).isEqualTo("text/event-stream");
            seen.add(next(lines));
            api.post("/api/v1/runs/" + run + "/start", "{}");
            api.awaitStep(run, "waiting_approval");
            api.post("/api/v1/runs/" + run + "/approve", "{}");
            for (Seen event = next(lines); event != null; event = next(lines)) {
                seen.add(event);
            }
        }
        List<JsonNode> listed = api.get("/api/v1/runs/" + run + "/events?limit=500").json().get("items").valueStream()
                .toList();
        assertThat(seen.stream().map(Seen::id)).isEqualTo(listed.stream().map(e -> e.get("seq").longValue()).toList());
        int steps = 0;
        for (int i = 0; i < listed.size(); i++) {
            ObjectNode data = (ObjectNode) seen.get(i).data();
            assertThat(data.remove("type").stringValue()).isEqualTo(seen.get(i).event);
            assertThat(data.remove("runId")).isEqualTo(listed.get(i).get("run_id"));
            data.remove("status");
            JsonNode step = data.remove("step");
            if (seen.get(i).event.equals("run.step.completed")) {
                assertThat(step.intValue()).isEqualTo(++steps);
            } else {
                assertThat(step).isNull();
            }
            assertThat(data).isEqualTo(listed.get(i));
        }
        assertThat(seen.getLast().event).isEqualTo("run.status.changed");
        assertThat(seen.getLast().data().get("status").stringValue()).isEqualTo("completed");
        assertThat(seen.stream().map(Seen::event)).contains("task_queued", "step_approved");
        assertThat(open(run, listed.size(), "").getResponseCode()).isEqualTo(204);
    }

    @Test
    void positionInTheFutureMissesNothing() throws IOException {
        String run = api.create(ApiServer.WAITS);
        try (BufferedReader lines = lines(open(run, 1_000_000, ""))) {
            api.post("/api/v1/runs/" + run + "/start", "{}");
            assertThat(next(lines).id).isEqualTo(2);
        }
    }

    @Test
    void aStreamEndsWhenNothingHappensForAsLongAsIsAsked() throws IOException {
        String run = api.create(ApiServer.WAITS);
        try (BufferedReader lines = lines(open(run, 0, "?wait_ms=0"))) {
            assertThat(next(lines).id).isEqualTo(1);
            assertThat(next(lines)).isNull();
        }
        assertThat(api.send("HEAD", "/api/v1/runs/" + run + "/events/stream", null).status()).isEqualTo(200);
    }

    @Test
    void revokedKeyEndsTheStream() throws IOException {
        String run = api.create(ApiServer.WAITS);
        String key = api.bearer(Bootstrap.DEFAULT_WORKSPACE, EnumSet.of(Scope.RUNS_READ));
        try (BufferedReader lines = lines(connection(run, 0, "", key))) {
            next(lines);
            api.sql("update api_keys set revoked_at = now() where name = 'test'");
            assertThat(next(lines)).isNull();
        }
    }

    /** Streams that began at different times check the key at different times. */
    @Test
    void idleStreamsOfARevokedKeyEnd() throws IOException {
        String run = api.create(ApiServer.WAITS);
        String key = api.bearer(Bootstrap.DEFAULT_WORKSPACE, EnumSet.of(Scope.RUNS_READ));
        List<BufferedReader> streams = new ArrayList<>();
        Awaitility.await().pollInterval(Duration.ofMillis(500)).atMost(Duration.ofSeconds(30)).until(() -> {
            streams.add(lines(connection(run, 0, "", key)));
            next(streams.getLast());
            return streams.size() == 10;
        });

        api.sql("update api_keys set revoked_at = now() where name = 'test'");
        long revoked = System.nanoTime();
        for (BufferedReader lines : streams) {
            try (lines) {
                assertThat(next(lines)).isNull();
            }
        }

        Duration slack = Duration.ofSeconds(25);
        assertThat(Duration.ofNanos(System.nanoTime() - revoked)).isLessThan(Duration.ofSeconds(5).plus(slack));
    }

    @Test
    void invalidStreamPositionIsRefused() throws IOException {
        String run = api.create(ApiServer.WAITS);
        String path = "/api/v1/runs/" + run + "/events/stream";
        assertThat(api.get(path, "Last-Event-ID", "x").json().get("code").stringValue()).isEqualTo("INVALID_PARAMETER");
        assertThat(api.get(path + "?wait_ms=-1").json().get("code").stringValue()).isEqualTo("INVALID_PARAMETER");
        assertThat(api.get(path + "?wait_ms=0", "Authorization", api.stranger()).json().get("code").stringValue())
                .isEqualTo("RUN_NOT_FOUND");
        api.post("/api/v1/runs/" + run + "/cancel", "{}");
        api.awaitState(run, "cancelled");
        assertThat(api.send("DELETE", "/api/v1/runs/" + run, null).status()).isEqualTo(204);
        assertThat(api.get(path + "?wait_ms=0").json().get("code").stringValue()).isEqualTo("RUN_NOT_FOUND");
    }

    @Test
    void stepHasItsCompletionNumberForLaterReaders() throws IOException {
        String run = api.create(MANY.formatted(ITEMS));
        api.awaitState(run, "completed");
        List<Integer> steps = new ArrayList<>();
        long from = last(run) / 2;
        try (BufferedReader lines = lines(open(run, from, ""))) {
            for (Seen event = next(lines); event != null; event = next(lines)) {
                if (event.event.equals("run.step.completed")) {
                    steps.add(event.data().get("step").intValue());
                }
            }
        }
        assertThat(steps).isEqualTo(
                IntStream.rangeClosed(ITEMS * 2 - steps.size() + 1, ITEMS * 2).boxed().toList()).isNotEmpty();
    }

    /** The connections are gone, and the next one has to wait for a lock for longer than it may. */
    @Test
    void aStreamOutlastsADatabaseThatDoesNotAnswer() throws IOException {
        String run = api.create(ApiServer.WAITS);
        try (BufferedReader lines = lines(open(run, 0, ""))) {
            next(lines);
            for (int i = 0; i < 3; i++) {
                api.sql("select pg_terminate_backend(pid) from pg_stat_activity"
                        + " where datname = current_database() and pid <> pg_backend_pid()");
            }
            Awaitility.await().atMost(Duration.ofSeconds(60)).until(
                    () -> api.post("/api/v1/runs/" + run + "/start", "{}").status() == 200);
            for (Seen event = next(lines); !"step_approval_requested".equals(event.event); event = next(lines)) {
                assertThat(event.id).isGreaterThan(1);
            }
        }
    }

    private static void pause(int seconds) {
        CompletableFuture.runAsync(() -> {}, CompletableFuture.delayedExecutor(seconds, TimeUnit.SECONDS)).join();
    }

    /** Reads on after every break, as a browser does, until there is nothing left. */
    private List<Long> withBreaks(String run, Random random) throws IOException {
        List<Long> ids = new ArrayList<>();
        while (true) {
            HttpURLConnection stream = open(run, ids.isEmpty() ? 0 : ids.getLast(), "");
            if (stream.getResponseCode() == 204) {
                return ids;
            } else if (stream.getResponseCode() == 503) {
                pause(stream.getHeaderFieldInt("Retry-After", 1));
                continue;
            }
            try (BufferedReader lines = lines(stream)) {
                int most = 1 + random.nextInt(ITEMS * 5);
                for (Seen event = next(lines); event != null && most-- > 0; event = next(lines)) {
                    ids.add(event.id);
                }
            }
            stream.disconnect();
        }
    }

    private long last(String run) {
        return api.database().withConnection(c -> {
            try (var rows = c.createStatement().executeQuery(
                    "select last_seq from run_heads where run_id = '" + run + "'")) {
                rows.next();
                return rows.getLong(1);
            }
        });
    }

    private HttpURLConnection open(String run, long last, String query) throws IOException {
        return connection(run, last, query, "Bearer " + api.key());
    }

    private HttpURLConnection connection(String run, long last, String query, String key) throws IOException {
        HttpURLConnection stream = (HttpURLConnection) api.url().resolve("/api/v1/runs/" + run + "/events/stream"
                + query).toURL().openConnection();
        stream.setReadTimeout(Breadth.of(30_000, 120_000));
        stream.setRequestProperty("Authorization", key);
        stream.setRequestProperty("Accept", "text/event-stream");
        if (last > 0) {
            stream.setRequestProperty("Last-Event-ID", String.valueOf(last));
        }
        return stream;
    }

    private static BufferedReader lines(HttpURLConnection stream) throws IOException {
        return new BufferedReader(new InputStreamReader(stream.getInputStream(), StandardCharsets.UTF_8));
    }

    /** The next event; null when the stream has ended. */
    private static Seen next(BufferedReader lines) throws IOException {
        long id = 0;
        String event = null;
        String data = null;
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (line.startsWith("id: ")) {
                id = Long.parseLong(line.substring(4));
            } else if (line.startsWith("event: ")) {
                event = line.substring(7);
            } else if (line.startsWith("data: ")) {
                data = line.substring(6);
            } else if (line.isEmpty() && data != null) {
                return new Seen(id, event, data);
            }
        }
        return null;
    }
}
