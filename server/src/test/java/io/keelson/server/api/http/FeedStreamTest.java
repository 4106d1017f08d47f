package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.base.json.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** The feed of a workspace: no event is skipped or repeated, in any order of commits. */
@Breadth.Spread
class FeedStreamTest {
    private static final String MANY = """
            {"name": "many", "start": true, "plan": {"tasks": [
              {"id": "each", "title": "Each", "for_each": "${ [range(20)] }", "steps": [
                {"name": "one", "tool": "noop"}, {"name": "two", "tool": "noop"}]}]}}""";

    private record Seen(long id, String event, JsonNode data) {}

    @TempDir
    Path folder;
    private ApiServer api;

    @BeforeEach
    void start() throws Exception {
        api = new ApiServer(folder);
    }

    @AfterEach
    void stop() {
        api.close();
    }

    /** I9: what readers saw who broke off and came again equals the table, while transactions commit late and abort. */
    @Test
    void readersSeeExactlyTheTable() throws Exception {
        AtomicBoolean over = new AtomicBoolean();
        String stranger = api.stranger();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            String victim = api.create(ApiServer.WAITS);
            List<Future<List<Long>>> readers = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                Random random = new Random(i);
                readers.add(threads.submit(() -> withBreaks(random, over)));
            }
            Future<List<Long>> bySql = threads.submit(() -> bySql(over));
            Future<?> late = threads.submit(() -> lateCommits(victim));
            List<Future<String>> runs = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                runs.add(threads.submit(() -> api.create(MANY)));
                api.post("/api/v1/runs", MANY, "Authorization", stranger);
            }
            for (Future<String> run : runs) {
                api.awaitState(run.get(), "completed");
            }
            late.get();
            api.awaitFeed();
            over.set(true);
            List<Long> table = ids("""
                    select e.id from orchestration_events e join orchestration_runs r on r.id = e.run_id
                     where r.workspace_id = '00000000-0000-7000-8000-000000000001' order by e.id""");
            assertThat(table).hasSizeGreaterThan(1_000);
            for (Future<List<Long>> reader : readers) {
                assertThat(reader.get()).isEqualTo(table);
            }
            assertThat(bySql.get()).isEqualTo(ids("select id from orchestration_events order by id"));
        }
    }

    /** Who has got behind and is sent what was does not get the rest of it once the key is revoked. */
    @Test
    void aRevokedKeyGetsNoMoreOfWhatWas() throws Exception {
        String run = api.create(ApiServer.WAITS);
        JsonNode key = api.post("/api/v1/api-keys", "{\"name\": \"slow\", \"scopes\": [\"runs:read\"]}").json();
        String bearer = "Bearer " + key.get("key").stringValue();
        int many = 20_000;
        api.sql("""
                insert into run_event_packs (run_id, first_seq, body)
                select '%s', 1000 + n, (select json_agg(json_build_object('e', 'run_progress', 'p',
                           json_build_object('text', repeat('x', 3000)))) from generate_series(1, 10))
                  from generate_series(1, %d, 10) n""".formatted(run, many));
        api.sql("update run_heads set last_seq = " + (1000 + many) + " where run_id = '" + run + "'");
        HttpURLConnection feed = (HttpURLConnection) URI
                .create(api.url() + "/api/v1/events/stream?after=0&wait_ms=1000").toURL().openConnection();
        feed.setRequestProperty("Authorization", bearer);
        HttpURLConnection ofRun = (HttpURLConnection) URI
                .create(api.url() + "/api/v1/runs/" + run + "/events/stream?wait_ms=1000").toURL().openConnection();
        ofRun.setRequestProperty("Authorization", bearer);
        try (BufferedReader feedLines = lines(feed); BufferedReader runLines = lines(ofRun)) {
            next(feedLines);
            next(runLines);
            api.post("/api/v1/api-keys/" + key.get("id").stringValue() + "/revoke", "{}");
            Awaitility.await().atMost(Duration.ofSeconds(60)).until(
                    () -> api.get("/api/v1/runs", "Authorization", bearer).status() == 401);

            assertThat(feedLines.lines().filter(line -> line.startsWith("data:")).count()).isLessThan(many / 2);
            assertThat(runLines.lines().filter(line -> line.startsWith("data:")).count()).isLessThan(many / 2);
        }
    }

    /** The transaction takes its id first and commits last: a reader by ids alone would skip it. */
    @Test
    void lateCommitIsNotSkipped() throws Exception {
        String run = api.create(ApiServer.WAITS);
        long first = ids("select max(id) from orchestration_events").getFirst();
        try (Connection held = api.database().url().connect(); BufferedReader lines = lines(open(first, ""))) {
            held.setAutoCommit(false);
            long id = insert(held, run, 1_000);
            String other = api.create(MANY);
            api.awaitState(other, "completed");
            held.commit();
            Seen late = next(lines);
            assertThat(late.id).isEqualTo(id).isGreaterThan(first);
            assertThat(late.data.get("seq").longValue()).isEqualTo(1_000);
            assertThat(next(lines).id).isGreaterThan(id);
        }
    }

    @Test
    void streamHasTheRequestedEventsOfOneWorkspace() throws Exception {
        String theirs = api.post("/api/v1/runs", MANY, "Authorization", api.stranger()).json().get("id").stringValue();
        String one = api.create(MANY);
        String other = api.create(MANY);
        api.awaitState(one, "completed");
        api.awaitState(other, "completed");
        api.awaitFeed();
        List<Seen> all = all("?after=0&wait_ms=0");
        assertThat(all.stream().map(e -> e.data.get("run_id").stringValue())).contains(one, other)
                .doesNotContain(theirs);
        Map<String, Long> seq = new HashMap<>();
        for (Seen each : all) {
            assertThat(each.data.get("seq").longValue()).isEqualTo(seq.merge(each.data.get("run_id").stringValue(), 1L,
                    Long::sum));
        }
        List<Seen> steps = all("?after=0&wait_ms=0&types=run.step.completed&run_id=" + one);
        assertThat(steps.stream().map(e -> e.data.get("step").intValue()))
                .isEqualTo(IntStream.rangeClosed(1, 40).boxed().toList());
        assertThat(steps).allSatisfy(e -> assertThat(e.data.get("runId").stringValue()).isEqualTo(one));
        assertThat(all("?after=0&wait_ms=0&types=step_completed")).hasSize(80);
        assertThat(all("?after=" + all.get(9).id + "&wait_ms=0")).isEqualTo(all.subList(10, all.size()));
        assertThat(all("?wait_ms=0")).isEmpty();
        String path = "/api/v1/events/stream?wait_ms=0";
        assertThat(api.get(path + "&run_id=" + theirs).json().get("code").stringValue()).isEqualTo("RUN_NOT_FOUND");
        assertThat(api.get(path + "&types=A").json().get("code").stringValue()).isEqualTo("INVALID_PARAMETER");
        assertThat(api.get(path + "&run_id=x").json().get("code").stringValue()).isEqualTo("INVALID_PARAMETER");
        assertThat(api.get(path, "Last-Event-ID", "x").json().get("code").stringValue()).isEqualTo("INVALID_PARAMETER");
    }

    /** Reads on after every break until all is over and there is nothing left. */
    private List<Long> withBreaks(Random random, AtomicBoolean over) throws IOException {
        List<Long> ids = new ArrayList<>();
        while (true) {
            boolean last = over.get();
            try (BufferedReader lines = lines(open(ids.isEmpty() ? 0 : ids.getLast(), "?wait_ms=0&after=0"))) {
                int most = last ? Integer.MAX_VALUE : 1 + random.nextInt(200);
                for (Seen event = next(lines); event != null; event = next(lines)) {
                    ids.add(event.id);
                    if (--most == 0) {
                        break;
                    }
                }
            }
            if (last) {
                return ids;
            }
        }
    }

    /** Transactions that take ids and keep them for as long as another run takes, every third for nothing. */
    private void lateCommits(String run) {
        try (Connection held = api.database().url().connect()) {
            held.setAutoCommit(false);
            for (int i = 0; i < 9; i++) {
                insert(held, run, 1_000 + i);
                api.awaitState(api.create(MANY.replace("range(20)", "range(2)")), "completed");
                if (i % 3 == 2) {
                    held.rollback();
                } else {
                    held.commit();
                }
            }
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }

    private static long insert(Connection c, String run, int seq) throws SQLException {
        try (Statement statement = c.createStatement(); ResultSet row = statement.executeQuery(
                "insert into run_event_packs (run_id, first_seq, body) values ('" + run + "', " + seq
                        + ", '[{\"e\": \"test_late\", \"p\": {}}]') returning id")) {
            row.next();
            return row.getLong(1);
        }
    }

    /** As docs/operate/sql-readers.md says, until the last event of the table. */
    private List<Long> bySql(AtomicBoolean over) {
        List<Long> seen = new ArrayList<>();
        long after = 0;
        while (true) {
            boolean last = over.get();
            List<Long> page = ids("""
                    select id from orchestration_event_feed where pack_id > %1$d - 100 and id > %1$d
                     order by pack_id, id limit 100""".formatted(after));
            seen.addAll(page);
            if (!page.isEmpty()) {
                after = page.getLast();
            } else if (last && after >= ids("select max(id) from orchestration_events").getFirst()) {
                return seen;
            } else {
                ids("select 1 from pg_sleep(0.02)");
            }
        }
    }

    private List<Long> ids(String sql) {
        return api.database().withConnection(c -> {
            try (Statement statement = c.createStatement(); ResultSet row = statement.executeQuery(sql)) {
                List<Long> ids = new ArrayList<>();
                while (row.next()) {
                    ids.add(row.getLong(1));
                }
                return ids;
            }
        });
    }

    private List<Seen> all(String query) throws IOException {
        List<Seen> seen = new ArrayList<>();
        try (BufferedReader lines = lines(open(0, query))) {
            for (Seen event = next(lines); event != null; event = next(lines)) {
                seen.add(event);
            }
        }
        return seen;
    }

    private HttpURLConnection open(long last, String query) throws IOException {
        HttpURLConnection stream =
                (HttpURLConnection) api.url().resolve("/events/stream" + query).toURL().openConnection();
        stream.setReadTimeout(30_000);
        stream.setRequestProperty("Authorization", "Bearer " + api.key());
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
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (line.startsWith("id: ")) {
                id = Long.parseLong(line.substring(4));
            } else if (line.startsWith("event: ")) {
                event = line.substring(7);
            } else if (line.startsWith("data: ")) {
                return new Seen(id, event, Json.read(line.substring(6).getBytes(StandardCharsets.UTF_8)));
            }
        }
        return null;
    }
}
