package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.TestCredits;
import io.keelson.server.app.Server;
import io.keelson.server.app.Settings;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseOptions;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import io.keelson.server.tenant.audit.AuditOrigin;
import io.keelson.server.tenant.auth.IssuedKey;
import io.keelson.server.tenant.auth.KeyResult;
import io.keelson.server.tenant.auth.KeyStore;
import io.keelson.server.tenant.auth.NewKey;
import io.keelson.server.tenant.auth.Scope;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.ResultSet;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.zip.GZIPInputStream;
import org.awaitility.Awaitility;
import tools.jackson.databind.JsonNode;

/** The real server on a database of its own, and short words for calling it over HTTP. */
public final class ApiServer implements AutoCloseable {

    /** A mission that waits for a person's decision. */
    public static final String WAITS = """
            {"name": "waits", "plan": {"tasks": [{"id": "ask", "title": "Ask", "steps": [
              {"name": "sign-off", "kind": "approval", "input": {"question": "Go on?"}}]}]}}""";

    /** A mission whose only step no executor here serves once a worker has named its tool. */
    static final String REMOTE = """
            {"name": "remote", "start": true, "plan": {"tasks": [{"id": "one", "title": "One", "steps": [
              {"name": "work", "tool": "test.remote", "input": {"n": 1}, "retry": {"max_attempts": 3,
               "base_delay_seconds": 0.05}}]}]}}""";

    /** What came back. */
    public record Answer(int status, HttpResponse<byte[]> response) {

        public JsonNode json() {
            return Json.read(unpacked());
        }

        public String header(String name) {
            return response.headers().firstValue(name).orElse("");
        }

        public String text() {
            return new String(unpacked(), StandardCharsets.UTF_8);
        }

        private byte[] unpacked() {
            if (!header("Content-Encoding").equals("gzip")) {
                return response.body();
            }
            try (GZIPInputStream bytes = new GZIPInputStream(new ByteArrayInputStream(response.body()))) {
                return bytes.readAllBytes();
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }
    }

    private final Server server;
    private final Database database;
    private final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    public ApiServer(Path dataDir) throws Exception {
        this(dataDir, TestDatabase.createUrl());
    }

    public ApiServer(Path dataDir, DatabaseUrl url) throws Exception {
        this(dataDir, url, Map.of());
    }

    public ApiServer(Path dataDir, DatabaseUrl url, Map<String, String> settings) throws Exception {
        Map<String, String> all = new TreeMap<>(settings);
        all.putAll(Map.of("KEELSON_DATA_DIR", dataDir.toString(), "KEELSON_HTTP_PORT", "0", "KEELSON_DATABASE_URL",
                TestDatabase.text(url)));
        server = Server.start(Settings.load(all, dataDir, dataDir));
        database = new Database(url, DatabaseOptions.DEFAULTS.withPoolSize(2));
    }

    /** The header of a new key to a new workspace, with all scopes that it can have. */
    public String stranger() {
        UUID workspace = UUID.randomUUID();
        sql("insert into workspaces (id, name) values ('" + workspace + "', 'elsewhere')");
        TestCredits.grant(database, workspace);
        return bearer(workspace, Scope.all(false));
    }

    /** The header of a new key. */
    public String bearer(UUID workspace, Set<Scope> scopes) {
        KeyResult made = new KeyStore(database).create(workspace, new NewKey("test", "tester", null, scopes, null),
                AuditOrigin.SERVER);
        if (made instanceof KeyResult.Issued(IssuedKey key)) {
            return "Bearer " + key.text();
        }
        throw new AssertionError(made);
    }

    public URI url() {
        return server.baseUrl();
    }

    public String key() {
        return server.apiKey();
    }

    /** Executes all background work of the server once. */
    public void clockMoved() throws InterruptedException {
        server.clockMoved();
    }

    public Database database() {
        return database;
    }

    public Answer get(String path, String... headers) {
        return send("GET", path, null, headers);
    }

    public Answer post(String path, String json, String... headers) {
        return sendJson("POST", path, json, headers);
    }

    public Answer put(String path, String json, String... headers) {
        return sendJson("PUT", path, json, headers);
    }

    private Answer sendJson(String method, String path, String json, String... headers) {
        List<String> all = new ArrayList<>(List.of("Content-Type", "application/json"));
        all.addAll(List.of(headers));
        return send(method, path, json.getBytes(StandardCharsets.UTF_8), all.toArray(String[]::new));
    }

    /** A call with the key, unless the headers bear another. */
    public Answer send(String method, String path, byte[] body, String... headers) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url() + path)).timeout(Duration.ofSeconds(60))
                .method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofByteArray(body));
        Map<String, String> all = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        all.put("Authorization", "Bearer " + key());
        for (int i = 0; i < headers.length; i += 2) {
            all.put(headers[i], headers[i + 1]);
        }
        all.values().removeIf(String::isEmpty);
        all.forEach(request::header);
        try {
            HttpResponse<byte[]> response = http.send(request.build(), BodyHandlers.ofByteArray());
            Answer answer = new Answer(response.statusCode(), response);
            DescribedAnswers.check(method, path, body, answer);
            return answer;
        } catch (IOException e) {
            throw new AssertionError(method + " " + path + " got no answer", e);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Creates a run and answers its id. */
    public String create(String mission) {
        Answer answer = post("/api/v1/runs", mission);
        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
        return answer.json().get("id").stringValue();
    }

    public JsonNode run(String id) {
        return get("/api/v1/runs/" + id).json();
    }

    public JsonNode awaitState(String id, String state) {
        Awaitility.await().atMost(Duration.ofSeconds(60)).pollInterval(Duration.ofMillis(20))
                .untilAsserted(() -> assertThat(run(id).get("state").stringValue()).isEqualTo(state));
        return run(id);
    }

    public void awaitStep(String run, String state) {
        awaitSteps(run, state, 1);
    }

    /** Waits until so many of the run's steps are in a state; answers them. */
    public List<JsonNode> awaitSteps(String run, String state, int count) {
        Awaitility.await().atMost(Duration.ofSeconds(60)).pollInterval(Duration.ofMillis(20))
                .untilAsserted(() -> assertThat(steps(run, state)).hasSize(count));
        return steps(run, state);
    }

    private List<JsonNode> steps(String run, String state) {
        return get("/api/v1/runs/" + run + "/steps").json().get("items").valueStream()
                .filter(step -> step.get("state").stringValue().equals(state)).toList();
    }

    public void sql(String statement) {
        database.runInTransaction(c -> {
            try (var s = c.createStatement()) {
                s.execute(statement);
            }
        });
    }

    /** Waits until the feed has all events so far: it ends before the oldest open transaction, which may be another test's. */
    public void awaitFeed() {
        long now = transaction("pg_current_xact_id()");
        Awaitility.await().until(() -> transaction("pg_snapshot_xmin(pg_current_snapshot())") > now);
    }

    private long transaction(String function) {
        return count("select " + function + "::text::bigint");
    }

    /** The number that a query returns. */
    long count(String query) {
        return database.withConnection(c -> {
            try (var s = c.prepareStatement(query); var rows = s.executeQuery()) {
                rows.next();
                return rows.getLong(1);
            }
        });
    }

    /** Waits until something in the server's database waits for a lock. */
    public void awaitLock() {
        Awaitility.await().atMost(Duration.ofSeconds(60)).pollInterval(Duration.ofMillis(20)).until(
                () -> database.withConnection(c -> {
                    try (var s = c.createStatement(); ResultSet row = s.executeQuery("""
                            select count(*) from pg_stat_activity
                            where datname = current_database() and wait_event_type = 'Lock'""")) {
                        return row.next() && row.getLong(1) > 0;
                    }
                }));
    }

    /** The number of rows of every table that requests write to. The feed of events follows them later. */
    public Map<String, Long> rowCounts() {
        return database.withConnection(c -> {
            Map<String, Long> counts = new TreeMap<>();
            try (var s = c.createStatement()) {
                List<String> tables = new ArrayList<>();
                try (ResultSet row = s.executeQuery(
                        """
                        select table_name from information_schema.tables
                        where table_schema = 'public' and table_name not in ('engine_nodes', 'orchestration_event_feed')""")) {
                    while (row.next()) {
                        tables.add(row.getString(1));
                    }
                }
                for (String table : tables) {
                    try (ResultSet row = s.executeQuery("select count(*) from " + table)) {
                        row.next();
                        counts.put(table, row.getLong(1));
                    }
                }
            }
            return counts;
        });
    }

    @Override
    public void close() {
        server.close();
        database.close();
    }
}
