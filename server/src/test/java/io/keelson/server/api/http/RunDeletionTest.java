package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.base.json.Json;
import io.keelson.server.tenant.auth.Scope;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** A deleted run is nowhere any more but in the books. */
@Breadth.Spread
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RunDeletionTest {

    private static final String DONE = """
            {"name": "done", "start": true, "external_id": "once", "tags": ["t"], "plan": {"tasks": [{"id": "a", "steps": [
              {"tool": "artifact.write", "input": {"name": "a.txt", "content": "x"}},
              {"tool": "proposal.create", "input": {"title": "x"}}]}]}}""";

    private ApiServer api;

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        api = new ApiServer(folder);
    }

    @AfterAll
    void stop() {
        api.close();
    }

    private ApiServer.Answer delete(String run) {
        return api.send("DELETE", "/api/v1/runs/" + run, null);
    }

    private String first(String path) {
        return api.get("/api/v1" + path).json().get("items").get(0).get("id").asString();
    }

    private boolean lists(String path, String run) {
        return api.get("/api/v1" + path).text().contains(run);
    }

    private long rows(String sql) {
        return api.database().withConnection(c -> {
            try (var s = c.createStatement(); var row = s.executeQuery(sql)) {
                row.next();
                return row.getLong(1);
            }
        });
    }

    @Test
    void deletedRunLeavesNoRows() {
        String run = api.create(DONE);
        api.awaitState(run, "completed");
        Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> lists("/reports?run_id=" + run, run));
        List<String> lists = List.of("/runs", "/runs?tag=t", "/board", "/reports", "/proposals", "/proposals/pending",
                "/inbox", "/escalations");
        String task = first("/runs/" + run + "/tasks");
        String step = first("/runs/" + run + "/steps");
        String proposal = first("/proposals?run_id=" + run);
        String report = first("/reports?run_id=" + run);
        assertThat(lists.stream().filter(path -> lists(path, run))).hasSizeGreaterThan(5);
        String books = api.get("/api/v1/ledger").text();

        ApiServer.Answer answer = delete(run);

        assertThat(answer.status()).as(answer.text()).isEqualTo(204);
        assertThat(lists.stream().filter(path -> lists(path, run))).isEmpty();
        for (String path : List.of("/runs/" + run, "/runs/" + run + "/events", "/runs/" + run + "/tasks",
                "/runs/" + run + "/artifacts", "/runs/" + run + "/status", "/tasks/" + task, "/steps/" + step,
                "/steps/" + step + "/logs", "/proposals/" + proposal, "/reports/" + report)) {
            assertThat(api.get("/api/v1" + path).status()).as(path).isEqualTo(404);
        }
        for (String action : List.of("start", "retry", "fork", "cancel", "approve", "signals/x")) {
            assertThat(api.post("/api/v1/runs/" + run + "/" + action,
                    action.equals("fork") ? "{\"task\": \"a\"}" : "{}").status()).as(action).isEqualTo(404);
        }
        assertThat(api.get("/api/v1/ledger").text()).isEqualTo(books).contains(run);
        assertThat(api.get("/api/v1/ledger/verify").text()).doesNotContain("\"discrepancy\":{");
        assertThat(api.get("/api/v1/audit").text()).contains("run_deleted").contains(run);
        assertThat(rows("select count(*) from artifacts where deleted_at is null and run_id = '" + run + "'")).isZero();
        assertThat(delete(run).status()).as("again").isEqualTo(204);
        assertThat(api.create(DONE)).as("its external id is free").isNotEqualTo(run);
    }

    @Test
    void openRunIsNotDeleted() {
        String run = api.create(ApiServer.WAITS.replace("\"waits\",", "\"waits\", \"start\": true,"));
        api.awaitStep(run, "waiting_approval");

        ApiServer.Answer answer = delete(run);

        assertThat(answer.status()).isEqualTo(409);
        assertThat(answer.json().get("code").stringValue()).isEqualTo("INVALID_STATE_TRANSITION");
        assertThat(answer.json().get("current_state").stringValue()).isEqualTo("running");
        api.post("/api/v1/runs/" + run + "/cancel", "{}");
        assertThat(delete(run).status()).isEqualTo(204);
    }

    @Test
    void unstartedRunIsCancelledFirst() {
        String run = api.create(ApiServer.WAITS.replace("\"waits\",",
                "\"waits\", \"start_at\": \"2100-01-01T00:00:00Z\","));

        assertThat(delete(run).status()).isEqualTo(204);

        assertThat(api.get("/api/v1/runs/" + run).status()).isEqualTo(404);
        assertThat(rows("select count(*) from orchestration_runs where state = 'cancelled' and id = '" + run + "'"))
                .isEqualTo(1);
        assertThat(rows("select count(*) from timers where run_id = '" + run + "'")).isZero();
    }

    /** A server ignores its cached view of the run, and a timer of a related run blocks nothing. */
    @Test
    void noCommandFindsADeletedRun() {
        String run = api.create(ApiServer.WAITS);
        api.post("/api/v1/runs/" + run + "/cancel", "{}");
        delete(run);
        api.sql("insert into timers (kind, subject, run_id, due_at) values ('watch', '" + run + "', '" + run
                + "', clock_timestamp() - interval '1 minute')");

        Awaitility.await().atMost(Duration.ofSeconds(60))
                .until(() -> rows("select count(*) from timers where run_id = '" + run + "'") == 0);
    }

    /** Either it is gone or it begins again, never both. */
    @Test
    void aRetryAtTheSameTimeLosesOrWins() {
        List<String> runs = Stream.generate(() -> api.create("""
                {"name": "bad", "start": true, "plan": {"tasks": [{"id": "a", "steps": [
                  {"tool": "fail", "input": {"class": "permanent"}}, {"kind": "approval", "input": {"question": "?"}}]}]}}
                """)).limit(12).toList();
        runs.forEach(run -> api.awaitState(run, "failed"));
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            runs.forEach(run -> {
                threads.execute(() -> api.post("/api/v1/runs/" + run + "/retry", "{}"));
                threads.execute(() -> delete(run));
            });
        }
        assertThat(rows(
                "select count(*) from orchestration_runs where deleted_at is not null and state_type <> 'terminal'"))
                .isZero();
        runs.forEach(run -> assertThat(api.get("/api/v1/runs/" + run).status()).isEqualTo(
                rows("select count(*) from orchestration_runs where deleted_at is null and id = '" + run + "'") == 1
                        ? 200
                        : 404));
    }

    @Test
    void onlyWhoMayChangeRunsAndOnlyTheirOwn() {
        String run = api.create(ApiServer.WAITS);
        String reader = api.bearer(UUID.fromString(api.run(run).get("workspace_id").stringValue()),
                Set.of(Scope.RUNS_READ));

        assertThat(api.send("DELETE", "/runs/" + run, null, "Authorization", reader).status()).isEqualTo(403);
        assertThat(api.send("DELETE", "/runs/" + run, null, "Authorization", api.stranger()).json().get("code")
                .stringValue()).isEqualTo("RUN_NOT_FOUND");
        assertThat(api.get("/runs/" + run).status()).isEqualTo(200);
    }

    @Test
    void aReportOfItsWorkIsNotFoundAndTheOthersInTheBatchAreTaken() {
        claim();
        String gone = api.create(ApiServer.REMOTE);
        String there = api.create(ApiServer.REMOTE);
        List<JsonNode> items = new ArrayList<>();
        Awaitility.await().until(() -> {
            items.addAll(claim());
            return items.size() == 2;
        });
        items.sort(Comparator.comparing(item -> item.get("run_id").stringValue().equals(there)));
        api.post("/api/v1/runs/" + gone + "/cancel", "{}");
        api.awaitState(gone, "cancelled");
        assertThat(delete(gone).status()).isEqualTo(204);

        for (String report : List.of("heartbeat", "complete")) {
            ApiServer.Answer answer = api.post("/api/v1/dispatch/" + report,
                    "{\"worker_id\": \"w\", \"items\": [" + items.stream().map(RunDeletionTest::lease)
                            .collect(Collectors.joining(",")) + "]}");
            assertThat(answer.status()).as(answer.text()).isEqualTo(200);
            assertThat(answer.json().get("items").valueStream().map(item -> item.get("status").stringValue()))
                    .as(report).containsExactly("not_found", "ok");
        }
    }

    private List<JsonNode> claim() {
        return api.post("/api/v1/dispatch/claim", "{\"worker_id\": \"w\", \"tools\": [\"test.remote\"], \"max\": 2}")
                .json().get("items").valueStream().toList();
    }

    private static String lease(JsonNode item) {
        return Json.object().put("step_id", item.get("step_id").stringValue())
                .put("lease_epoch", item.get("lease_epoch").intValue()).toString();
    }
}
