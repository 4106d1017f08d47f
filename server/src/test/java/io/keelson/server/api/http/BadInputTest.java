package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;

/** Bad input has a stable code and a place, and changes nothing. */
@Breadth.Spread
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class BadInputTest {

    private static final String UNKNOWN = "00000000-0000-7000-8000-00000000dead";
    private static final String STEP = "/api/v1/steps/" + UNKNOWN;
    private static final String RUNS = "/api/v1/runs";
    private static final String CLAIM = "/api/v1/dispatch/claim";
    private static final String COMPLETE = "/api/v1/dispatch/complete";
    private static final String FAIL = "/api/v1/dispatch/fail";
    private static final String RELEASE = "/api/v1/dispatch/release";
    private static final String BEAT = "/api/v1/dispatch/heartbeat";

    private ApiServer api;
    private String run;

    /** @param pointer to the first problem; null where the document has none */
    record Case(String name, String method, String path, String body, int status, String code, String pointer) {

        @Override
        public String toString() {
            return name;
        }
    }

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        api = new ApiServer(folder);
        run = api.create(ApiServer.WAITS);
    }

    @AfterAll
    void stop() {
        api.close();
    }

    @ParameterizedTest
    @MethodSource({"paths", "actions", "missions", "work", "money"})
    void isRefusedAndChangesNothing(Case bad) {
        Map<String, Long> before = api.rowCounts();
        String path = bad.path.replace("{run}", run);

        ApiServer.Answer answer = bad.method.equals("GET") ? api.get(path)
                : api.send(bad.method, path, bad.body.getBytes(StandardCharsets.UTF_8), "Content-Type",
                        "application/json");

        assertThat(answer.status()).as(answer.text()).isEqualTo(bad.status);
        assertThat(answer.header("Content-Type")).isEqualTo("application/problem+json");
        JsonNode problem = answer.json();
        assertThat(problem.get("code").stringValue()).as(answer.text()).isEqualTo(bad.code);
        assertThat(problem.path("pointer").asString(null)).as(answer.text()).isEqualTo(bad.pointer);
        assertThat(problem.get("status").intValue()).isEqualTo(bad.status);
        assertThat(problem.get("type").stringValue()).isEqualTo("urn:keelson:error:" + bad.code);
        assertThat(problem.get("detail").stringValue()).isNotBlank();
        assertThat(api.rowCounts()).isEqualTo(before);
    }

    private static Case get(String path, int status, String code) {
        return new Case("GET " + path, "GET", path, "", status, code, null);
    }

    private static Case post(String path, String body, int status, String code, String pointer) {
        String shown = body.length() > 60 ? body.substring(0, 60) + "…" : body;
        return new Case("POST " + path + " " + shown, "POST", path, body, status, code, pointer);
    }

    static Stream<Case> paths() {
        return Stream.of(get("/api/v1/nowhere", 404, "ROUTE_NOT_FOUND"), get("/", 404, "ROUTE_NOT_FOUND"),
                get(RUNS + "/abc", 400, "INVALID_ID"), get(RUNS + "/1-1-1-1-1", 400, "INVALID_ID"),
                get(RUNS + "/step_" + UNKNOWN, 400, "INVALID_ID"), get(RUNS + "/" + UNKNOWN, 404, "RUN_NOT_FOUND"),
                get(RUNS + "/run_" + UNKNOWN, 404, "RUN_NOT_FOUND"),
                get(RUNS + "/" + UNKNOWN + "/status", 404, "RUN_NOT_FOUND"),
                get(RUNS + "/" + UNKNOWN + "/events", 404, "RUN_NOT_FOUND"),
                get(RUNS + "/" + UNKNOWN + "/tasks", 404, "RUN_NOT_FOUND"),
                get(RUNS + "/" + UNKNOWN + "/steps", 404, "RUN_NOT_FOUND"),
                get(RUNS + "/" + UNKNOWN + "/attempts", 404, "RUN_NOT_FOUND"),
                get(RUNS + "/" + UNKNOWN + "/agents", 404, "RUN_NOT_FOUND"),
                get(RUNS + "/" + UNKNOWN + "/artifacts", 404, "RUN_NOT_FOUND"),
                get(RUNS + "/{run}/artifacts/" + UNKNOWN + "/content", 404, "ARTIFACT_NOT_FOUND"),
                get("/api/v1/tasks/" + UNKNOWN, 404, "TASK_NOT_FOUND"), get(STEP, 404, "STEP_NOT_FOUND"),
                get(STEP + "/logs", 404, "STEP_NOT_FOUND"), get(RUNS + "?limit=0", 400, "INVALID_PARAMETER"),
                get(RUNS + "?limit=-1", 400, "INVALID_PARAMETER"), get(RUNS + "?limit=501", 400, "INVALID_PARAMETER"),
                get(RUNS + "?limit=99999999999999999999", 400, "INVALID_PARAMETER"),
                get(RUNS + "?limit=1&limit=2", 400, "INVALID_PARAMETER"),
                get(RUNS + "?limit=%00", 400, "INVALID_PARAMETER"),
                get(RUNS + "?state=sleeping", 400, "INVALID_PARAMETER"),
                get(RUNS + "?state_type=asleep", 400, "INVALID_PARAMETER"),
                get(RUNS + "?tag=%00", 400, "INVALID_PARAMETER"), get(RUNS + "?stat=failed", 400, "UNKNOWN_PARAMETER"),
                get(RUNS + "?cursor=%22%3B--", 400, "INVALID_CURSOR"),
                get(RUNS + "?cursor=YWJj", 400, "INVALID_CURSOR"),
                get(RUNS + "/{run}/events?cursor=YWJj", 400, "INVALID_CURSOR"),
                get(RUNS + "/{run}/events?after=-1", 400, "INVALID_PARAMETER"),
                get(RUNS + "/{run}/events?wait_ms=60001", 400, "INVALID_PARAMETER"),
                get(RUNS + "/{run}/tasks?attempt=0", 400, "INVALID_PARAMETER"),
                get(RUNS + "/{run}?verbose=1", 400, "UNKNOWN_PARAMETER"),
                get("/api/v1/tools?x=1", 400, "UNKNOWN_PARAMETER"));
    }

    static Stream<Case> actions() {
        return Stream.of(
                post(RUNS + "/" + UNKNOWN + "/start", "{}", 404, "RUN_NOT_FOUND", null),
                post(RUNS + "/" + UNKNOWN + "/cancel", "{}", 404, "RUN_NOT_FOUND", null),
                post(RUNS + "/{run}/start", "{", 400, "MALFORMED_JSON", null),
                post(RUNS + "/{run}/start", "{} {}", 400, "MALFORMED_JSON", null),
                post(RUNS + "/{run}/start", " ", 422, "WRONG_TYPE", ""),
                post(RUNS + "/{run}/start", "[]", 422, "WRONG_TYPE", ""),
                post(RUNS + "/{run}/start", "null", 422, "WRONG_TYPE", ""),
                post(RUNS + "/{run}/start", "{\"now\": true}", 422, "UNKNOWN_KEY", "/now"),
                post(RUNS + "/{run}/start", "{\"a/b~c\": true}", 422, "UNKNOWN_KEY", "/a~1b~0c"),
                post(RUNS + "/{run}/start", "{\"a\\ud800\": true}", 400, "MALFORMED_JSON", null),
                post(RUNS + "/{run}/start?force=1", "{}", 400, "UNKNOWN_PARAMETER", null),
                post(RUNS + "/{run}/cancel", "{\"reason\": 7}", 422, "WRONG_TYPE", "/reason"),
                post(RUNS + "/{run}/cancel", "{\"reason\": \"a\\u0000b\"}", 422, "INVALID_TEXT", "/reason"),
                post(RUNS + "/{run}/cancel", "{\"reason\": \"\\ud800\"}", 422, "INVALID_TEXT", "/reason"),
                post(RUNS + "/{run}/cancel", "{\"reason\": \"" + "x".repeat(2001) + "\"}", 422, "TOO_LONG",
                        "/reason"),
                post(RUNS + "/{run}/cancel", "{\"reason\": \"a\", \"reason\": \"b\"}", 400, "MALFORMED_JSON", null),
                post(RUNS + "/{run}/cancel", "{\"reason\": NaN}", 400, "MALFORMED_JSON", null),
                post(RUNS + "/{run}/approve", "{\"reason\": \"\\u0000\"}", 422, "INVALID_TEXT", "/reason"),
                post(RUNS + "/{run}/retry", "{\"from\": \"middle\"}", 422, "INVALID_VALUE", "/from"),
                post(RUNS + "/{run}/retry", "{}", 409, "INVALID_STATE_TRANSITION", null),
                post(RUNS + "/{run}/budget", "{\"tasks\": {\"" + "x".repeat(201) + "\": 1}}", 422, "INVALID_VALUE",
                        "/tasks"),
                post(RUNS + "/{run}/budget", "{\"tasks\": {\"a\\u0000\": 1}}", 422, "INVALID_TEXT", "/tasks"),
                post(RUNS + "/{run}/budget", "{\"tasks\": {\"a/b\": 0}}", 422, "OUT_OF_RANGE", "/tasks/a~1b"),
                post(RUNS + "/{run}/pause", "{}", 409, "INVALID_STATE_TRANSITION", null),
                post(RUNS + "/{run}/start", "[".repeat(100_000), 413, "BODY_TOO_LARGE", null),
                post(STEP + "/approve", "{}", 404, "STEP_NOT_FOUND", null),
                post(STEP + "/reject", "{\"reason\": []}", 422, "WRONG_TYPE", "/reason"),
                post("/api/v1/workers/unknown/drain", "{}", 404, "WORKER_NOT_FOUND", null));
    }

    static Stream<Case> missions() {
        String step = "{\"name\": \"s\", \"tool\": \"echo\", \"input\": {\"value\": 1}}";
        return Stream.of(
                post(RUNS, "{", 400, "MALFORMED_JSON", ""),
                post(RUNS, "", 400, "MALFORMED_JSON", ""),
                post(RUNS, "{\"name\": \"a\"}", 422, "PLAN_REQUIRED", "/plan"),
                post(RUNS, mission("{\"id\": \"a\", \"title\": \"A\", \"stesp\": []}"), 422, "UNKNOWN_KEY",
                        "/plan/tasks/0/stesp"),
                post(RUNS, mission(
                        "{\"id\": \"a\", \"title\": \"A\", \"steps\": [{\"name\": \"s\", \"tool\": \"none\"}]}"),
                        422, "UNKNOWN_TOOL", "/plan/tasks/0/steps/0/tool"),
                post(RUNS,
                        mission("{\"id\": \"a\", \"title\": \"A\", \"depends_on\": [\"b\"], \"steps\": [" + step
                                + "]}"),
                        422, "DEPENDENCY_UNKNOWN", "/plan/tasks/0/depends_on/0"),
                post(RUNS, mission("{\"id\": \"a\", \"title\": \"A\\u0000\", \"steps\": [" + step + "]}"),
                        422, "INVALID_TEXT", "/plan/tasks/0/title"),
                post(RUNS, mission("{\"id\": \"a\", \"title\": \"A\\u202E\", \"steps\": [" + step + "]}"),
                        422, "INVALID_TEXT", "/plan/tasks/0/title"),
                post(RUNS,
                        "{\"name\": \"a\\u200Bb\", \"plan\": {\"tasks\": [{\"id\": \"a\", \"steps\": [" + step
                                + "]}]}}",
                        422, "INVALID_TEXT", "/name"),
                post(RUNS,
                        "{\"name\": \"a\", \"tags\": [\"a\", \"\\u2028\"], \"plan\": {\"tasks\": [{\"id\": \"a\", \"steps\": ["
                                + step + "]}]}}",
                        422, "INVALID_TEXT", "/tags/1"),
                post("/api/v1/board/tasks", "{\"title\": \"a\", \"tags\": [\"\\u2028\"]}", 422, "INVALID_TEXT",
                        "/tags/0"),
                post("/api/v1/recipes",
                        "{\"name\": \"a\\nb\", \"plan\": {\"tasks\": [{\"id\": \"a\", \"steps\": [" + step
                                + "]}]}}",
                        422, "INVALID_TEXT", "/name"),
                post("/api/v1/schedules", "{\"name\": \"a\\u202Eb\", \"cron\": \"0 0 * * *\", \"recipe\": \"x\"}",
                        422, "INVALID_TEXT", "/name"),
                post("/api/v1/api-keys", "{\"name\": \"a\\u202Eb\", \"principal\": \"ann\"}",
                        422, "INVALID_TEXT", "/name"),
                post("/api/v1/workspaces", "{\"name\": \"a\\u202Eb\"}", 422, "INVALID_TEXT", "/name"),
                post("/api/v1/agents", "{\"slug\": \"a\", \"name\": \"a\\u202Eb\"}", 422, "INVALID_TEXT", "/name"));
    }

    private static String mission(String tasks) {
        return "{\"name\": \"bad\", \"plan\": {\"tasks\": [" + tasks + "]}}";
    }

    static Stream<Case> work() {
        List<Case> cases = new ArrayList<>(List.of(post(CLAIM, "", 422, "REQUIRED", "/worker_id"),
                post(CLAIM, "{\"worker_id\": \"w\"}", 422, "REQUIRED", "/tools"),
                post(CLAIM, claim("\"tools\": []"), 422, "EMPTY", "/tools"),
                post(CLAIM, claim("\"tools\": [1]"), 422, "WRONG_TYPE", "/tools/0"),
                post(CLAIM, claim("\"tools\": [\"a\", \" \"]"), 422, "EMPTY", "/tools/1"),
                post(CLAIM, claim("\"tools\": \"a\""), 422, "WRONG_TYPE", "/tools"),
                post(CLAIM, claim("\"tools\": [\"a\"], \"max\": 1e30"), 422, "OUT_OF_RANGE", "/max"),
                post(CLAIM, claim("\"tools\": [\"a\"], \"tool_specs\": [{\"name\": \"b\"}]"), 422, "INVALID_VALUE",
                        "/tool_specs/0/name"),
                post(CLAIM, claim("\"tools\": [\"a\"], \"tool_specs\": [{\"name\": \"a\", \"effects\": \"none\"}]"),
                        422, "INVALID_VALUE", "/tool_specs/0/effects"),
                post(CLAIM, claim("\"tools\": [\"a\"], \"tool_specs\": [{\"name\": \"a\", \"input_schema\": []}]"),
                        422, "WRONG_TYPE", "/tool_specs/0/input_schema"),
                post(CLAIM, claim("\"tools\": [\"a\"], \"max\": 0"), 422, "OUT_OF_RANGE", "/max"),
                post(CLAIM, claim("\"tools\": [\"a\"], \"max\": 1001"), 422, "OUT_OF_RANGE", "/max"),
                post(CLAIM, claim("\"tools\": [\"a\"], \"max\": 1.5"), 422, "WRONG_TYPE", "/max"),
                post(CLAIM, claim("\"tools\": [\"a\"], \"max\": 99999999999999999999"), 422, "OUT_OF_RANGE", "/max"),
                post(CLAIM, claim("\"tools\": [\"a\"], \"wait_ms\": -1"), 422, "OUT_OF_RANGE", "/wait_ms"),
                post(CLAIM, claim("\"tools\": [\"a\"], \"lease_ms\": 1"), 422, "OUT_OF_RANGE", "/lease_ms"),
                post(CLAIM, "{\"worker_id\": \"a\\u0000\", \"tools\": [\"a\"]}", 422, "INVALID_TEXT", "/worker_id"),
                post(CLAIM, "{\"worker_id\": \"" + "w".repeat(201) + "\", \"tools\": [\"a\"]}", 422, "TOO_LONG",
                        "/worker_id"),
                post(COMPLETE, "{\"worker_id\": \"w\", \"items\": []}", 422, "EMPTY", "/items"),
                post(COMPLETE, "{\"worker_id\": \"w\", \"items\": {}}", 422, "WRONG_TYPE", "/items"),
                post(COMPLETE, "{\"worker_id\": \"w\", \"items\": [1]}", 422, "WRONG_TYPE", "/items/0"),
                post(COMPLETE, "{\"worker_id\": \"w\", \"items\": ["
                        + String.join(",", Collections.nCopies(1001, "{}")) + "]}", 422, "TOO_MANY", "/items"),
                post(COMPLETE, item("\"step_id\": \"x\", \"lease_epoch\": 1"), 422, "INVALID_ID", "/items/0/step_id"),
                post(COMPLETE, item("\"lease_epoch\": 1"), 422, "REQUIRED", "/items/0/step_id"),
                post(COMPLETE, step(""), 422, "REQUIRED", "/items/0/lease_epoch"),
                post(COMPLETE, step(", \"lease_epoch\": 0"), 422, "OUT_OF_RANGE", "/items/0/lease_epoch"),
                post(COMPLETE, leased("\"tokens\": -1"), 422, "OUT_OF_RANGE", "/items/0/tokens"),
                post(COMPLETE, leased("\"usage\": {\"input\": -1}"), 422, "OUT_OF_RANGE", "/items/0/usage/input"),
                post(COMPLETE, leased("\"usage\": {\"inputs\": 1}"), 422, "UNKNOWN_KEY", "/items/0/usage/inputs"),
                post(COMPLETE, leased("\"tokens\": 3, \"usage\": {\"input\": 1, \"output\": 1}"), 422, "INVALID_VALUE",
                        "/items/0/tokens"),
                post(COMPLETE, leased("\"usage\": {\"output\": 1, \"reasoning\": 2}"), 422, "INVALID_VALUE",
                        "/items/0/usage/reasoning"),
                post(COMPLETE, leased("\"cost\": -0.01"), 422, "OUT_OF_RANGE", "/items/0/cost"),
                post(COMPLETE, leased("\"cost\": 1e999999999"), 422, "OUT_OF_RANGE", "/items/0/cost"),
                post(COMPLETE, leased("\"cost\": 0.0000000000001"), 422, "OUT_OF_RANGE", "/items/0/cost"),
                post(COMPLETE, leased("\"cost\": \"1\""), 422, "WRONG_TYPE", "/items/0/cost"),
                post(COMPLETE, leased("\"output\": {\"a\": [1e100000]}"), 422, "NUMBER_OUT_OF_RANGE",
                        "/items/0/output"),
                post(COMPLETE, leased("\"output\": {\"a\": [1e2147483648]}"), 400, "MALFORMED_JSON",
                        "/items/0/output/a/0"),
                post(FAIL, leased("\"retry_after_ms\": 1e-2147483648"), 400, "MALFORMED_JSON",
                        "/items/0/retry_after_ms"),
                post(COMPLETE, leased("\"result\": 1"), 422, "UNKNOWN_KEY", "/items/0/result"),
                post(COMPLETE, leased("\"artifacts\": [{\"content_type\": \"text/plain\", \"content_base64\": \"\"}]"),
                        422, "REQUIRED", "/items/0/artifacts/0/name"),
                post(FAIL, leased("\"message\": \"m\""), 422, "REQUIRED", "/items/0/error_code"),
                post(RELEASE, leased("\"deferral\": {}"), 422, "REQUIRED", "/items/0/deferral/retry_after_ms"),
                post(RELEASE, leased("\"deferral\": 7000"), 422, "WRONG_TYPE", "/items/0/deferral"),
                post(RELEASE, leased("\"deferral\": {\"retry_after_ms\": -1}"), 422, "OUT_OF_RANGE",
                        "/items/0/deferral/retry_after_ms"),
                post(RELEASE, leased("\"deferral\": {\"retry_after_ms\": 31536000001}"), 422, "OUT_OF_RANGE",
                        "/items/0/deferral/retry_after_ms"),
                post(RELEASE, leased("\"deferral\": {\"retry_after_ms\": 7, \"busy\": \" \"}"), 422, "EMPTY",
                        "/items/0/deferral/busy"),
                post(RELEASE, leased("\"deferral\": {\"retry_after_ms\": 7, \"until\": 8}"), 422, "UNKNOWN_KEY",
                        "/items/0/deferral/until"),
                post(RELEASE, leased("\"retry_after_ms\": 7"), 422, "UNKNOWN_KEY", "/items/0/retry_after_ms"),
                post(FAIL, leased("\"error_code\": \"E\", \"error_class\": \"bad\""), 422, "INVALID_VALUE",
                        "/items/0/error_class"),
                post(FAIL, leased("\"error_code\": \"E\", \"retry_after_ms\": -5"), 422, "OUT_OF_RANGE",
                        "/items/0/retry_after_ms"),
                post(BEAT, leased("\"progress\": 0.5"), 422, "WRONG_TYPE", "/items/0/progress"),
                post(BEAT, leased("\"progress\": {\"fraction\": 2}"), 422, "OUT_OF_RANGE",
                        "/items/0/progress/fraction"),
                post(BEAT, leased("\"logs\": [1]"), 422, "WRONG_TYPE", "/items/0/logs/0")));
        return cases.stream();
    }

    static Stream<Case> money() {
        String ledger = "/api/v1/ledger";
        String prices = "/api/v1/prices";
        return Stream.of(grant("", 422, "REQUIRED", "/amount"), grant("\"amount\": 0", 422, "OUT_OF_RANGE", "/amount"),
                grant("\"amount\": -0.0", 422, "OUT_OF_RANGE", "/amount"),
                grant("\"amount\": -1", 422, "OUT_OF_RANGE", "/amount"),
                grant("\"amount\": 0.0000001", 422, "OUT_OF_RANGE", "/amount"),
                grant("\"amount\": \"1.0000001\"", 422, "OUT_OF_RANGE", "/amount"),
                grant("\"amount\": 1000000000.000001", 422, "OUT_OF_RANGE", "/amount"),
                grant("\"amount\": 1e999999999", 422, "OUT_OF_RANGE", "/amount"),
                grant("\"amount\": 1e-999999999", 422, "OUT_OF_RANGE", "/amount"),
                grant("\"amount\": 1e2147483648", 400, "MALFORMED_JSON", "/amount"),
                grant("\"amount\": NaN", 400, "MALFORMED_JSON", null),
                grant("\"amount\": Infinity", 400, "MALFORMED_JSON", null),
                grant("\"amount\": \"NaN\"", 422, "INVALID_VALUE", "/amount"),
                grant("\"amount\": \"1e3\"", 422, "INVALID_VALUE", "/amount"),
                grant("\"amount\": \"-5\"", 422, "INVALID_VALUE", "/amount"),
                grant("\"amount\": \"\"", 422, "INVALID_VALUE", "/amount"),
                grant("\"amount\": \"１２\"", 422, "INVALID_VALUE", "/amount"),
                grant("\"amount\": true", 422, "WRONG_TYPE", "/amount"),
                grant("\"amount\": [1]", 422, "WRONG_TYPE", "/amount"),
                grant("\"amount\": 1, \"reason\": \"a\\u0000\"", 422, "INVALID_TEXT", "/reason"),
                grant("\"amount\": 1, \"reason\": \"" + "x".repeat(2001) + "\"", 422, "TOO_LONG", "/reason"),
                grant("\"amount\": 1, \"to\": \"me\"", 422, "UNKNOWN_KEY", "/to"),
                post("/api/v1/credits/grants?x=1", "{}", 400, "UNKNOWN_PARAMETER", null),
                adjust("\"debit_account\": \"funding\", \"credit_account\": \"available\"", "REQUIRED", "/reason"),
                adjust("\"reason\": \" \", \"debit_account\": \"funding\", \"credit_account\": \"available\"",
                        "EMPTY", "/reason"),
                adjust("\"reason\": \"r\", \"credit_account\": \"available\"", "REQUIRED", "/debit_account"),
                adjust("\"reason\": \"r\", \"debit_account\": \"reserved\", \"credit_account\": \"available\"",
                        "INVALID_VALUE", "/debit_account"),
                adjust("\"reason\": \"r\", \"debit_account\": \"spent\", \"credit_account\": \"spent\"",
                        "INVALID_VALUE", "/credit_account"),
                get(ledger + "?type=gift", 400, "INVALID_PARAMETER"),
                get(ledger + "?format=xml", 400, "INVALID_PARAMETER"),
                get(ledger + "?from=yesterday", 400, "INVALID_PARAMETER"),
                get(ledger + "?from=2026-02-30", 400, "INVALID_PARAMETER"),
                get(ledger + "?to=2026-02-01T00:00:00", 400, "INVALID_PARAMETER"),
                get(ledger + "?to=999999999-01-01T00:00:00Z", 400, "INVALID_PARAMETER"),
                get(ledger + "?cursor=YWJj", 400, "INVALID_CURSOR"),
                get(ledger + "?format=csv&cursor=YWJj", 400, "INVALID_PARAMETER"),
                get(RUNS + "/" + UNKNOWN + "/ledger", 404, "RUN_NOT_FOUND"),
                get(RUNS + "/" + UNKNOWN + "/ledger?format=csv", 404, "RUN_NOT_FOUND"),
                get("/api/v1/usage?by=weekday", 400, "INVALID_PARAMETER"),
                get("/api/v1/usage?from=2026-02-01&to=2026-01-01", 400, "INVALID_PARAMETER"),
                get("/api/v1/usage?from=2020-01-01&to=2026-01-01", 400, "INVALID_PARAMETER"),
                get(prices + "?version=-1", 400, "INVALID_PARAMETER"), prices("", "REQUIRED", "/items"),
                prices("\"items\": []", "EMPTY", "/items"),
                prices("\"items\": [{\"kind\": \"agent\", \"name\": \"a\", \"usd_per_call\": 1}]",
                        "INVALID_VALUE", "/items/0/kind"),
                prices("\"items\": [{\"kind\": \"tool\", \"name\": \" \", \"usd_per_call\": 1}]", "EMPTY",
                        "/items/0/name"),
                prices("\"items\": [{\"kind\": \"tool\", \"name\": \"a\"}]", "REQUIRED", "/items/0/usd_per_call"),
                prices("\"items\": [{\"kind\": \"tool\", \"name\": \"a\", \"usd_per_call\": 1,"
                        + " \"withdrawn\": true}]", "REQUIRED", "/items/0/usd_per_call"),
                prices("\"items\": [{\"kind\": \"tool\", \"name\": \"a\", \"usd_per_million_tokens\": {\"input\": 1, \"output\": 1}}]",
                        "INVALID_VALUE", "/items/0/usd_per_million_tokens"),
                prices("\"items\": [{\"kind\": \"model\", \"name\": \"a\", \"usd_per_million_tokens\": {\"input\": 1, \"output\": -1}}]",
                        "OUT_OF_RANGE", "/items/0/usd_per_million_tokens/output"),
                prices("\"items\": [{\"kind\": \"model\", \"name\": \"a\", \"usd_per_million_tokens\": {\"input\": 1}}]",
                        "REQUIRED", "/items/0/usd_per_million_tokens/output"),
                prices("\"items\": [{\"kind\": \"model\", \"name\": \"a\", \"usd_per_million_tokens\": 1}]",
                        "WRONG_TYPE", "/items/0/usd_per_million_tokens"),
                prices("\"items\": [{\"kind\": \"tool\", \"name\": \"a\", \"usd_per_call\": 1},"
                        + "{\"kind\": \"tool\", \"name\": \"a\", \"usd_per_call\": 2}]", "DUPLICATE_NAME",
                        "/items/1/name"));
    }

    private static Case grant(String members, int status, String code, String pointer) {
        return post("/api/v1/credits/grants", "{" + members + "}", status, code, pointer);
    }

    private static Case adjust(String members, String code, String pointer) {
        return post("/api/v1/ledger/adjustments", "{\"amount\": 1, " + members + "}", 422, code, pointer);
    }

    private static Case prices(String members, String code, String pointer) {
        return new Case("PUT /api/v1/prices " + members, "PUT", "/api/v1/prices", "{" + members + "}", 422, code,
                pointer);
    }

    private static String claim(String members) {
        return "{\"worker_id\": \"w\", " + members + "}";
    }

    private static String item(String members) {
        return "{\"worker_id\": \"w\", \"items\": [{" + members + "}]}";
    }

    private static String step(String members) {
        return item("\"step_id\": \"" + UNKNOWN + "\"" + members);
    }

    private static String leased(String members) {
        return step(", \"lease_epoch\": 1, " + members);
    }

    /** Nothing of the parser's own settings. */
    @Test
    void malformedJsonIsReportedAsJson() {
        assertThat(api.post("/api/v1/credits/grants", "{\"amount\": NaN}").json().get("detail").stringValue())
                .isEqualTo("Non-standard token 'NaN' (line 1, column 15)");
    }

    @Test
    void theDecimalPlacesOfAmountsAreNamed() {
        assertThat(detail("/api/v1/credits/grants", "{\"amount\": 1.0000001}")).contains("at most 6 decimal places");
        assertThat(detail(RUNS + "/" + run + "/budget", "{\"hard_limit_usd\": 0.2000001}"))
                .contains("at most 6 decimal places");
        assertThat(detail(COMPLETE, leased("\"cost\": 0.0000000000001"))).contains("at most 12 decimal places");
    }

    private String detail(String path, String body) {
        return api.post(path, body).json().get("detail").stringValue();
    }

    /** A whole batch is refused before anything of it is done. */
    @Test
    void everyProblemIsListedAtOnce() {
        ApiServer.Answer answer = api.post(COMPLETE,
                "{\"worker_id\": 5, \"items\": [{\"step_id\": \"x\", \"lease_epoch\": \"1\", \"tokens\": -1}], \"y\": 1}");

        assertThat(answer.status()).isEqualTo(422);
        assertThat(answer.json().get("problems").valueStream().map(p -> p.get("pointer").stringValue()))
                .containsExactlyInAnyOrder("/worker_id", "/items/0/step_id", "/items/0/lease_epoch",
                        "/items/0/tokens", "/y");
    }

    @Test
    void otherTypesOfBodyAreRefused() {
        byte[] body = "{}".getBytes(StandardCharsets.UTF_8);
        for (String[] headers : new String[][] {
                {"Content-Type", ""},
                {"Content-Type", "text/plain"},
                {"Content-Type", "application/x-www-form-urlencoded"},
                {"Content-Type", "application/json; charset=utf-16"},
                {"Content-Type", "application/json", "Content-Encoding", "gzip"}}) {
            ApiServer.Answer answer = api.send("POST", RUNS + "/" + run + "/start", body, headers);

            assertThat(answer.status()).as(String.join(" ", headers)).isEqualTo(415);
            assertThat(answer.json().get("code").stringValue()).isEqualTo("UNSUPPORTED_MEDIA_TYPE");
        }
    }

    @Test
    void aBodyBeyondTheLimitIsNotRead() {
        byte[] body = new byte[HttpOptions.DEFAULTS.maxBodyBytes() + 1];
        Arrays.fill(body, (byte) ' ');

        ApiServer.Answer answer = api.send("POST", RUNS, body, "Content-Type", "application/json");

        assertThat(answer.status()).isEqualTo(413);
        assertThat(answer.json().get("code").stringValue()).isEqualTo("BODY_TOO_LARGE");
    }
}
