package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.Invariants;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** Rules about versions of workers. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Breadth.Spread
class VersionsApiTest {
    private final DatabaseUrl url = TestDatabase.createUrl();
    private ApiServer api;

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        api = new ApiServer(folder, url);
    }

    @AfterAll
    void stop() {
        Invariants.hold(api.database());
        api.close();
    }

    private List<JsonNode> claim(String tool, String version, int waitMillis) {
        return claim(tool, version, waitMillis, "");
    }

    private List<JsonNode> claim(String tool, String version, int waitMillis, String members) {
        return items(api.post("/api/v1/dispatch/claim", "{\"worker_id\": \"" + tool + "-" + version
                + "\", \"tools\": [\"" + tool + "\"], \"wait_ms\": " + waitMillis
                + (version.isEmpty() ? "" : ", \"version\": \"" + version + "\"") + members + "}"));
    }

    private static List<JsonNode> items(ApiServer.Answer answer) {
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        return answer.json().get("items").valueStream().toList();
    }

    private String complete(JsonNode item, String worker, String members) {
        ApiServer.Answer answer = api.post("/api/v1/dispatch/complete", "{\"worker_id\": \"" + worker
                + "\", \"items\": [{\"step_id\": \"" + item.get("step_id").stringValue() + "\", \"lease_epoch\": "
                + item.get("lease_epoch").intValue() + ", \"output\": 1}]" + members + "}");
        return items(answer).getFirst().toString();
    }

    private JsonNode promote(String tool, String body) {
        ApiServer.Answer answer = api.post("/api/v1/versions/" + tool + "/promote", body);
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        return answer.json();
    }

    private JsonNode current(String tool, String version) {
        return promote(tool, "{\"version\": \"" + version + "\"}");
    }

    /** A run of independent tasks with the same number of steps. */
    private String run(String tool, int tasks, int steps) {
        return api.create("{\"name\": \"r\", \"start\": true, \"plan\": {\"tasks\": [" + IntStream.range(0, tasks)
                .mapToObj(t -> "{\"id\": \"t" + t + "\", \"title\": \"T\", \"steps\": [" + IntStream.range(0, steps)
                        .mapToObj(s -> "{\"name\": \"s" + s + "\", \"tool\": \"" + tool + "\"}")
                        .collect(Collectors.joining(", ")) + "]}")
                .collect(Collectors.joining(", ")) + "]}}");
    }

    private JsonNode version(String tool, String version) {
        return api.get("/api/v1/versions/" + tool).json().get("versions").valueStream()
                .filter(each -> each.get("version").stringValue().equals(version)).findFirst().orElseThrow();
    }

    private String state(String tool, String version) {
        return version(tool, version).get("state").stringValue();
    }

    private List<String> reasons(String run) {
        return api.get("/api/v1/runs/" + run + "/explain").json().get("reasons").valueStream()
                .map(each -> each.get("code").stringValue()).toList();
    }

    /** The part of all runs that a run is in, of a hundred. */
    private static long part(String run) {
        return Long.parseLong(run.substring(run.length() - 8), 16) % 100;
    }

    private void known(String tool, String... versions) {
        for (String version : versions) {
            assertThat(claim(tool, version, 0)).isEmpty();
        }
    }

    @Test
    void withoutARuleAnyVersionGetsSteps() {
        known("v.free", "1", "2");
        run("v.free", 1, 1);
        assertThat(claim("v.free", "2", 20_000)).hasSize(1);
        assertThat(state("v.free", "1")).isEqualTo("unruled");
        assertThat(api.get("/api/v1/versions/v.free").json().get("current").isNull()).isTrue();
    }

    @Test
    void onlyTheCurrentVersionGetsSteps() throws Exception {
        known("v.current", "1", "2");
        current("v.current", "1");
        current("v.current", "3");
        String run = run("v.current", 1, 1);
        assertThat(claim("v.current", "1", 0)).isEmpty();
        assertThat(reasons(run)).contains("MISSING_VERSION");
        assertThat(version("v.current", "3").get("waiting").intValue()).isEqualTo(1);
        CompletableFuture<List<JsonNode>> waits =
                CompletableFuture.supplyAsync(() -> claim("v.current", "2", 20_000));
        assertThat(current("v.current", "2").get("previous").stringValue()).isEqualTo("3");
        assertThat(waits.get()).as("a promotion wakes the claim").hasSize(1);
        assertThat(complete(waits.get().getFirst(), "v.current-2", "")).contains("ok");
        api.awaitState(run, "completed");
    }

    @Test
    void stepsThatWaitedBeforeTheRuleGoToTheCurrentVersion() {
        known("v.before", "1", "2");
        run("v.before", 1, 1);
        current("v.before", "2");
        assertThat(claim("v.before", "1", 0)).isEmpty();
        assertThat(claim("v.before", "2", 20_000)).hasSize(1);
    }

    @Test
    void runStaysWithTheVersionOfItsFirstClaim() {
        known("v.pinned", "1", "2");
        current("v.pinned", "1");
        String run = run("v.pinned", 2, 1);
        JsonNode first = claim("v.pinned", "1", 20_000).getFirst();
        current("v.pinned", "2");
        assertThat(claim("v.pinned", "2", 0)).isEmpty();
        assertThat(state("v.pinned", "1")).isEqualTo("draining");
        assertThat(version("v.pinned", "1").get("runs").intValue()).isEqualTo(1);
        assertThat(version("v.pinned", "1").get("waiting").intValue()).isEqualTo(1);
        JsonNode second = claim("v.pinned", "1", 20_000).getFirst();
        complete(first, "v.pinned-1", "");
        complete(second, "v.pinned-1", "");
        api.awaitState(run, "completed");
        assertThat(version("v.pinned", "1").get("runs").intValue()).isZero();
        api.sql("update workers set last_seen_at = last_seen_at - interval '2 minutes' where id = 'v.pinned-1'");
        assertThat(state("v.pinned", "1")).isEqualTo("drained");
        String later = run("v.pinned", 1, 1);
        complete(claim("v.pinned", "2", 20_000).getFirst(), "v.pinned-2", "");
        api.awaitState(later, "completed");
    }

    @Test
    void eachClaimFollowsTheRuleWithLatest() {
        known("v.latest", "1", "2");
        promote("v.latest", "{\"version\": \"1\", \"behavior\": \"latest\"}");
        run("v.latest", 2, 1);
        assertThat(claim("v.latest", "1", 20_000)).hasSize(1);
        assertThat(current("v.latest", "2").get("behavior").stringValue()).isEqualTo("latest");
        assertThat(claim("v.latest", "1", 0)).isEmpty();
        assertThat(claim("v.latest", "2", 20_000)).hasSize(1);
    }

    @Test
    void missionDecidesInPlaceOfTheRule() {
        known("v.mission", "1", "2");
        current("v.mission", "1");
        api.create("""
                {"name": "r", "start": true, "config": {"worker_versions": "latest"}, "plan": {"tasks": [
                 {"id": "a", "steps": [{"tool": "v.mission"}]}, {"id": "b", "steps": [{"tool": "v.mission"}]}]}}""");
        assertThat(claim("v.mission", "1", 20_000)).hasSize(1);
        current("v.mission", "2");
        assertThat(claim("v.mission", "1", 0)).isEmpty();
        assertThat(claim("v.mission", "2", 20_000)).hasSize(1);
    }

    @Test
    void reportWithARequestKeepsItsVersion() {
        for (String behavior : List.of("pinned", "latest")) {
            String tool = "v.next." + behavior;
            known(tool, "1", "2");
            promote(tool, "{\"version\": \"1\", \"behavior\": \"" + behavior + "\"}");
            run(tool, 1, 2);
            JsonNode first = claim(tool, "1", 20_000).getFirst();
            current(tool, "2");
            String next = complete(first, tool + "-1", ", \"next\": {\"tools\": [\"" + tool + "\"]}");
            boolean pinned = behavior.equals("pinned");
            assertThat(next.contains("\"s1\"") || next.contains("effect_key")).as(behavior).isEqualTo(pinned);
            assertThat(claim(tool, "2", pinned ? 0 : 20_000)).hasSize(pinned ? 0 : 1);
        }
    }

    @Test
    void claimThatWaitsGetsNoStepOfAnotherVersion() throws Exception {
        known("v.offer", "1", "2");
        current("v.offer", "2");
        CompletableFuture<List<JsonNode>> other = CompletableFuture.supplyAsync(() -> claim("v.offer", "1", 3_000));
        CompletableFuture<List<JsonNode>> right = CompletableFuture.supplyAsync(() -> claim("v.offer", "2", 20_000));
        run("v.offer", 1, 1);
        assertThat(right.get()).hasSize(1);
        assertThat(other.get()).isEmpty();
    }

    @Test
    void claimOfItemsOmitsOtherVersions() {
        known("v.items", "1", "2");
        current("v.items", "2");
        String run = run("v.items", 1, 1);
        String task = items(api.get("/api/v1/runs/" + run + "/tasks")).getFirst().get("id").stringValue();
        String named = ", \"items\": [{\"task_id\": \"" + task + "\", \"lane\": 0}]";
        assertThat(claim("v.items", "1", 0, named)).isEmpty();
        assertThat(claim("v.items", "2", 0, named)).hasSize(1);
    }

    @Test
    void rampDividesRunsAndRollsBack() {
        known("v.ramp", "1", "2");
        current("v.ramp", "1");
        JsonNode ramped = promote("v.ramp", "{\"version\": \"2\", \"percent\": 50}");
        assertThat(ramped.get("ramping").stringValue()).isEqualTo("2");
        assertThat(state("v.ramp", "2")).isEqualTo("ramping");
        Set<String> early = new HashSet<>();
        Set<String> late = new HashSet<>();
        while (early.size() < 3 || late.size() < 3) {
            String run = run("v.ramp", 1, 1);
            (part(run) < 50 ? early : late).add(run);
        }
        assertThat(version("v.ramp", "2").get("waiting").intValue()).isEqualTo(early.size());
        assertThat(version("v.ramp", "1").get("waiting").intValue()).isEqualTo(late.size());
        JsonNode taken = claim("v.ramp", "2", 20_000).getFirst();
        assertThat(early).contains(taken.get("run_id").stringValue());

        ApiServer.Answer back = api.post("/api/v1/versions/v.ramp/rollback", "");
        assertThat(back.json().get("ramping").isNull()).isTrue();
        assertThat(claim("v.ramp", "2", 0)).isEmpty();
        assertThat(state("v.ramp", "2")).isEqualTo("draining");
        List<JsonNode> rest = claim("v.ramp", "1", 20_000, ", \"max\": 100");
        assertThat(rest).hasSize(early.size() + late.size() - 1);
    }

    @Test
    void rollbackReturnsToTheVersionBefore() {
        current("v.back", "1");
        current("v.back", "2");
        assertThat(api.post("/api/v1/versions/v.back/rollback", "").json().get("current").stringValue())
                .isEqualTo("1");
        assertThat(api.post("/api/v1/versions/v.back/rollback", "").json().get("code").stringValue())
                .isEqualTo("NO_PREVIOUS_VERSION");
        ApiServer.Answer gone = api.send("DELETE", "/api/v1/versions/v.back", new byte[0]);
        assertThat(gone.status()).isEqualTo(204);
        assertThat(api.get("/api/v1/versions/v.back").json().get("code").stringValue())
                .isEqualTo("VERSION_RULE_NOT_FOUND");
    }

    @Test
    void workersWithoutAVersionAreOne() {
        known("v.bare", "", "2");
        current("v.bare", "unversioned");
        run("v.bare", 2, 1);
        assertThat(claim("v.bare", "2", 0)).isEmpty();
        assertThat(claim("v.bare", "", 20_000)).hasSize(1);
    }

    @Test
    void clearedRuleLetsAnyVersionContinue() {
        known("v.clear", "1", "2");
        current("v.clear", "1");
        run("v.clear", 2, 1);
        assertThat(claim("v.clear", "1", 20_000)).hasSize(1);
        assertThat(api.send("DELETE", "/api/v1/versions/v.clear", new byte[0]).status()).isEqualTo(204);
        assertThat(claim("v.clear", "2", 20_000)).hasSize(1);
    }

    @Test
    void changesAreConditionalAndRepeatable() {
        ApiServer.Answer first = api.post("/api/v1/versions/v.etag/promote", "{\"version\": \"1\"}");
        String tag = first.header("ETag");
        ApiServer.Answer again = api.post("/api/v1/versions/v.etag/promote", "{\"version\": \"1\"}", "If-Match", tag);
        assertThat(again.json().get("revision").intValue()).as("nothing changes").isEqualTo(1);
        current("v.etag", "2");
        for (String action : List.of("promote", "rollback")) {
            ApiServer.Answer late = api.post("/api/v1/versions/v.etag/" + action,
                    action.equals("promote") ? "{\"version\": \"3\"}" : "", "If-Match", tag);
            assertThat(late.status()).as(late.text()).isEqualTo(412);
            assertThat(late.json().get("code").stringValue()).isEqualTo("VERSION_CHANGED");
        }
        String key = UUID.randomUUID().toString();
        String once = api.post("/api/v1/versions/v.etag/rollback", "", "Idempotency-Key", key).text();
        assertThat(api.post("/api/v1/versions/v.etag/rollback", "", "Idempotency-Key", key).text()).isEqualTo(once);
        assertThat(api.get("/api/v1/versions/v.etag").json().get("current").stringValue()).isEqualTo("1");
        assertThat(api.count("select count(*) from operator_audit where subject = 'v.etag'")).isEqualTo(3);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            v.bad     | {}                                        | 422 | REQUIRED
            v.bad     | {"version": ""}                           | 422 | EMPTY
            v.bad     | {"version": "1", "percent": 0}            | 422 | OUT_OF_RANGE
            v.bad     | {"version": "1", "percent": 101}          | 422 | OUT_OF_RANGE
            v.bad     | {"version": "1", "percent": 1.5}          | 422 | WRONG_TYPE
            v.bad     | {"version": "1", "behavior": "sometimes"} | 422 | INVALID_VALUE
            v.bad     | {"version": "1", "ramp": 5}               | 422 | UNKNOWN_KEY
            v.bad     | {"version": "1", "percent": 5}            | 409 | NO_CURRENT_VERSION
            text.template | {"version": "1"}                      | 409 | TOOL_OF_SERVER
            mcp.a.b   | {"version": "1"}                          | 409 | TOOL_OF_SERVER
            %20       | {"version": "1"}                          | 400 | INVALID_ID""")
    void refusesBadInput(String tool, String body, int status, String code) {
        ApiServer.Answer answer = api.post("/api/v1/versions/" + tool + "/promote", body);
        assertThat(answer.status()).as(answer.text()).isEqualTo(status);
        assertThat(answer.text()).contains("\"" + code + "\"");
    }

    @Test
    void refusesARampOfTheCurrentVersion() {
        current("v.same", "1");
        assertThat(api.post("/api/v1/versions/v.same/promote", "{\"version\": \"1\", \"percent\": 5}").text())
                .contains("VERSION_ALREADY_CURRENT");
        assertThat(api.post("/api/v1/versions/v.none/rollback", "").text()).contains("VERSION_RULE_NOT_FOUND");
    }

    @Test
    void promotionHoldsOnAllServers(@TempDir Path folder) throws Exception {
        known("v.two", "1", "2");
        current("v.two", "1");
        try (ApiServer other = new ApiServer(folder, url)) {
            current("v.two", "2");
            Awaitility.await().atMost(Duration.ofSeconds(10)).untilAsserted(() -> {
                run("v.two", 1, 1);
                assertThat(items(other.post("/api/v1/dispatch/claim",
                        "{\"worker_id\": \"there\", \"tools\": [\"v.two\"], \"version\": \"2\", \"wait_ms\": 1000}")))
                        .isNotEmpty();
            });
            run("v.two", 1, 1);
            assertThat(items(other.post("/api/v1/dispatch/claim",
                    "{\"worker_id\": \"old\", \"tools\": [\"v.two\"], \"version\": \"1\"}"))).isEmpty();
        }
    }
}
