package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.api.http.ApiServer.Answer;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests that come again under their {@code Idempotency-Key}: nothing is done twice, and the answer is the first one. */
@Breadth.Spread
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class IdempotencyApiTest {

    private static final String RUNS = "/api/v1/runs";
    private static final String KEY = "Idempotency-Key";

    private ApiServer api;

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        api = new ApiServer(folder);
    }

    @AfterAll
    void stop() {
        api.close();
    }

    private static String fresh() {
        return "k-" + UUID.randomUUID();
    }

    private static void assertReplay(Answer again, Answer first) {
        assertThat(again.status()).as(again.text()).isEqualTo(200);
        assertThat(again.text()).isEqualTo(first.text());
        assertThat(again.header("Idempotent-Replayed")).isEqualTo("true");
        assertThat(again.header("Location")).isEqualTo(first.header("Location"));
    }

    @Test
    void twoKeysAreOneTooMany() throws Exception {
        HttpResponse<String> answer = HttpClient.newHttpClient().send(HttpRequest
                .newBuilder(URI.create(api.url() + RUNS)).POST(HttpRequest.BodyPublishers.ofString(
                        "{\"name\": \"n\", \"plan\": {\"tasks\": []}}"))
                .headers("Authorization", "Bearer " + api.key(), "Content-Type", "application/json",
                        KEY, fresh(), KEY, fresh())
                .build(),
                HttpResponse.BodyHandlers.ofString());
        assertThat(answer.statusCode()).isEqualTo(400);
        assertThat(answer.body()).contains("\"parameter\":\"Idempotency-Key\"");
    }

    private static void assertConflict(Answer answer) {
        assertThat(answer.status()).as(answer.text()).isEqualTo(422);
        assertThat(answer.json().get("code").stringValue()).isEqualTo("IDEMPOTENCY_KEY_CONFLICT");
    }

    private String id(Answer answer) {
        assertThat(answer.status()).as(answer.text()).isLessThan(300);
        return answer.json().get("id").stringValue();
    }

    private String state(String run) {
        return api.run(run).get("state").stringValue();
    }

    private long events(String run, String type) {
        return api.get(RUNS + "/" + run + "/events?limit=500").json().get("items").valueStream()
                .filter(event -> event.get("event_type").stringValue().equals(type)).count();
    }

    private String running() {
        String run = api.create(ApiServer.WAITS);
        assertThat(api.post(RUNS + "/" + run + "/start", "").status()).isEqualTo(200);
        api.awaitStep(run, "waiting_approval");
        return run;
    }

    @Test
    void theSameRequestIsAnsweredAsTheFirstTime() {
        String key = fresh();
        Answer first = api.post(RUNS, ApiServer.WAITS, KEY, key);
        assertThat(api.post(RUNS + "/" + id(first) + "/start", "").status()).isEqualTo(200);

        assertThat(first.status()).isEqualTo(201);
        assertThat(first.header("Idempotent-Replayed")).isEmpty();
        assertReplay(api.post(RUNS, ApiServer.WAITS, KEY, key), first);
        assertReplay(api.post("/runs", ApiServer.WAITS, KEY, key), first);
    }

    @Test
    void oneIdInAnotherFormIsTheSamePath() {
        String key = fresh();
        String run = api.create(ApiServer.WAITS);
        Answer first = api.post(RUNS + "/" + run + "/start", "", KEY, key);

        assertReplay(api.post(RUNS + "/run_" + run + "/start", "", KEY, key), first);
        assertReplay(api.post(RUNS + "/" + run.toUpperCase(Locale.ROOT) + "/start", "", KEY, key), first);
    }

    /** Both are past the look whether the key was used, one waits with it in hand, the other for it. */
    @Test
    void aKeyOnTwoServersAtOnceMakesOneWorkspace(@TempDir Path one, @TempDir Path two) throws Exception {
        DatabaseUrl url = TestDatabase.createUrl();
        String body = "{\"name\": \"once\"}";
        String key = fresh();
        try (ApiServer first = new ApiServer(one, url); ApiServer second = new ApiServer(two, url);
                Connection holder = url.connect(); Statement statement = holder.createStatement()) {
            holder.setAutoCommit(false);
            statement.execute("select pg_advisory_xact_lock(hashtextextended('keelson workspace once', 0))");
            List<CompletableFuture<Answer>> both = Stream.of(first, second).map(server -> CompletableFuture.supplyAsync(
                    () -> server.post("/api/v1/workspaces", body, KEY, key))).toList();
            Awaitility.await().until(() -> waiting(statement) == 2);
            holder.commit();

            List<Answer> answers = both.stream().map(CompletableFuture::join).toList();
            assertThat(answers).extracting(Answer::status).containsExactlyInAnyOrder(201, 200);
            assertThat(answers.getFirst().text()).isEqualTo(answers.getLast().text());
            assertThat(first.get("/api/v1/workspaces").json().get("items").size()).isEqualTo(2);
            assertThat(second.post("/api/v1/workspaces", body, KEY, fresh()).json().get("code").stringValue())
                    .isEqualTo("WORKSPACE_NAME_TAKEN");
        }
    }

    /** Who waits for a lock; a transaction would else see the backends of its first look only. */
    private static long waiting(Statement statement) throws SQLException {
        statement.execute("select pg_stat_clear_snapshot()");
        try (ResultSet row = statement.executeQuery("""
                select count(*) from pg_stat_activity
                 where datname = current_database() and wait_event_type = 'Lock'""")) {
            row.next();
            return row.getLong(1);
        }
    }

    @Test
    void oneDocumentInAnotherNotationIsTheSameRequest() {
        String key = fresh();
        Answer first = api.post(RUNS, "{\"name\": \"n\", \"priority\": 100, \"plan\": {\"tasks\": []}}", KEY, key);

        assertReplay(api.post(RUNS, "{\"plan\":{\"tasks\":[]},  \"priority\":1e2,\n\"name\":\"n\"}", KEY, key), first);
        assertConflict(api.post(RUNS, "{\"name\": \"n\", \"priority\": \"100\", \"plan\": {\"tasks\": []}}", KEY, key));
    }

    @Test
    void anotherRequestUnderTheKeyIsRefused() {
        String key = fresh();
        String run = id(api.post(RUNS, ApiServer.WAITS, KEY, key));
        long before = api.rowCounts().getOrDefault("orchestration_runs", 0L);

        Answer other = api.post(RUNS, ApiServer.WAITS.replace("Ask", "Other"), KEY, key);

        assertConflict(other);
        assertThat(other.json().get("run_id").stringValue()).isEqualTo(run);
        assertThat(api.rowCounts().get("orchestration_runs")).isEqualTo(before);
    }

    @Test
    void aKeyBelongsToItsEndpointAndWorkspace() {
        String key = fresh();
        String run = id(api.post(RUNS, ApiServer.WAITS, KEY, key));
        String stranger = api.stranger();

        Answer started = api.post(RUNS + "/" + run + "/start", "", KEY, key);
        assertThat(started.status()).as(started.text()).isEqualTo(200);
        assertThat(started.header("Idempotent-Replayed")).isEmpty();
        assertThat(id(started)).isEqualTo(run);
        assertThat(state(run)).isNotEqualTo("created");
        Answer theirs = api.post(RUNS, ApiServer.WAITS, KEY, key, "Authorization", stranger);
        assertThat(theirs.status()).as(theirs.text()).isEqualTo(201);
        assertThat(id(theirs)).isNotEqualTo(run);
    }

    @Test
    void refusedRequestDoesNotUseTheKey() {
        String key = fresh();
        String run = api.create(ApiServer.WAITS);

        assertThat(api.post(RUNS, "{\"name\": 1}", KEY, key).status()).isEqualTo(422);
        assertThat(api.post(RUNS, ApiServer.WAITS, KEY, key).status()).isEqualTo(201);
        assertThat(api.post(RUNS + "/" + run + "/pause", "", KEY, key).status()).isEqualTo(409);
        assertThat(api.post(RUNS + "/" + run + "/start", "").status()).isEqualTo(200);
        assertThat(api.post(RUNS + "/" + run + "/pause", "", KEY, key).status()).isEqualTo(200);
    }

    @Test
    void repeatedCommandIsNotDoneAgainAfterChanges() {
        String run = running();
        String key = fresh();
        Answer paused = api.post(RUNS + "/" + run + "/pause", "", KEY, key);
        assertThat(api.post(RUNS + "/" + run + "/resume", "").status()).isEqualTo(200);

        assertReplay(api.post(RUNS + "/" + run + "/pause", "", KEY, key), paused);

        assertThat(state(run)).isEqualTo("running");
        assertThat(events(run, "run_paused")).isEqualTo(1);
    }

    @Test
    void aCommandThatChangedNothingIsDoneAsWell() {
        String run = running();
        String key = fresh();
        assertThat(api.post(RUNS + "/" + run + "/resume", "", KEY, key).status()).isEqualTo(200);
        assertThat(api.post(RUNS + "/" + run + "/pause", "").status()).isEqualTo(200);

        assertThat(api.post(RUNS + "/" + run + "/resume", "", KEY, key).status()).isEqualTo(200);

        assertThat(state(run)).isEqualTo("paused");
    }

    /** The server died after the commit, before it noted what it answered. */
    @Test
    void unstoredAnswerIsBuiltAgain() {
        String key = fresh();
        Answer first = api.post(RUNS, ApiServer.WAITS, KEY, key);
        String run = running();
        assertThat(api.post(RUNS + "/" + run + "/pause", "", KEY, key).status()).isEqualTo(200);
        assertThat(api.post(RUNS + "/" + run + "/resume", "").status()).isEqualTo(200);
        api.sql("update idempotency_cache set response_status = null, response_location = null, response_body = null"
                + " where idempotency_key = '" + key + "'");

        assertReplay(api.post(RUNS, ApiServer.WAITS, KEY, key), first);
        assertReplay(api.post(RUNS, ApiServer.WAITS, KEY, key), first);
        Answer pausedAgain = api.post(RUNS + "/" + run + "/pause", "", KEY, key);
        assertThat(pausedAgain.status()).isEqualTo(200);
        assertThat(pausedAgain.json().get("state").stringValue()).isEqualTo("running");
        assertThat(state(run)).isEqualTo("running");
        assertThat(events(run, "run_paused")).isEqualTo(1);
    }

    @Test
    void keyCanBeReusedAfterADay() {
        String key = fresh();
        String first = id(api.post(RUNS, ApiServer.WAITS, KEY, key));
        api.sql("update idempotency_cache set created_at = created_at - interval '24 hours',"
                + " expires_at = expires_at - interval '24 hours' where idempotency_key = '" + key + "'");

        Answer second = api.post(RUNS, ApiServer.WAITS.replace("Ask", "Other"), KEY, key);

        assertThat(second.status()).as(second.text()).isEqualTo(201);
        assertThat(id(second)).isNotEqualTo(first);
        assertReplay(api.post(RUNS, ApiServer.WAITS.replace("Ask", "Other"), KEY, key), second);
    }

    @Test
    void whileTheFirstRequestIsUnderWayTheSecondWaitsForItsAnswer() throws Exception {
        String run = running();
        String key = fresh();
        List<CompletableFuture<Answer>> both = api.database().inTransaction(c -> {
            try (Statement other = c.createStatement()) {
                other.execute("select 1 from run_heads where run_id = '" + run + "' for update");
                CompletableFuture<Answer> asked = CompletableFuture
                        .supplyAsync(() -> api.post(RUNS + "/" + run + "/pause", "", KEY, key));
                Awaitility.await().until(() -> waitsForALock(c));
                return List.of(asked, CompletableFuture
                        .supplyAsync(() -> api.post(RUNS + "/" + run + "/pause", "", KEY, key)));
            }
        });

        assertThat(both.getFirst().join().status()).isEqualTo(200);
        assertReplay(both.getLast().join(), both.getFirst().join());
    }

    /** Another server has done the same under the same key, and commits at this moment. */
    @Test
    void oneOfTwoServersExecutesTheRequest() throws Exception {
        String made = api.create(ApiServer.WAITS);
        String key = fresh();
        Answer probe = api.post(RUNS, ApiServer.WAITS, KEY, key + "-probe");
        assertThat(probe.status()).isEqualTo(201);
        long before = api.rowCounts().getOrDefault("orchestration_runs", 0L);
        CompletableFuture<Answer> asked = api.database().inTransaction(c -> {
            try (Statement other = c.createStatement()) {
                other.execute(
                        "insert into idempotency_cache (workspace_id, endpoint, idempotency_key, request_hash, run_id,"
                                + " created_at, expires_at) select workspace_id, endpoint, '" + key
                                + "', request_hash, '" + made
                                + "', created_at, expires_at from idempotency_cache where idempotency_key = '" + key
                                + "-probe'");
                CompletableFuture<Answer> call = CompletableFuture
                        .supplyAsync(() -> api.post(RUNS, ApiServer.WAITS, KEY, key));
                Awaitility.await().until(() -> waitsForALock(c));
                return call;
            }
        });

        assertThat(asked.join().status()).as(asked.join().text()).isEqualTo(200);
        assertThat(id(asked.join())).isEqualTo(made);
        assertThat(asked.join().header("Idempotent-Replayed")).isEqualTo("true");
        assertThat(api.rowCounts().get("orchestration_runs")).isEqualTo(before);
    }

    private static boolean waitsForALock(Connection c) throws SQLException {
        try (Statement statement = c.createStatement()) {
            return waiting(statement) > 0;
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 256})
    void aKeyHasALength(int length) {
        Answer answer = api.send("POST", RUNS, ApiServer.WAITS.getBytes(StandardCharsets.UTF_8), "Content-Type",
                "application/json", KEY, length == 0 ? " " : "k".repeat(length));

        assertThat(answer.status()).as(answer.text()).isEqualTo(400);
        assertThat(answer.json().get("code").stringValue()).isEqualTo("INVALID_PARAMETER");
    }

    @Test
    void twentyAtOnceMakeOneRun() {
        String key = fresh();
        long before = api.rowCounts().getOrDefault("orchestration_runs", 0L);
        var calls = java.util.stream.IntStream.range(0, 20)
                .mapToObj(i -> CompletableFuture.supplyAsync(() -> api.post(RUNS, ApiServer.WAITS, KEY, key))).toList();

        assertThat(calls.stream().map(CompletableFuture::join).map(Answer::status).distinct())
                .isSubsetOf(201, 200, 409).contains(201);
        assertThat(api.rowCounts().get("orchestration_runs")).isEqualTo(before + 1);
    }
}
