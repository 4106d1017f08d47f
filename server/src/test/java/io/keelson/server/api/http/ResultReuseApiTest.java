package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.Invariants;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.UUID;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** Results of steps that other runs take over. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Breadth.Spread
class ResultReuseApiTest {
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

    private static String tool() {
        return "t" + UUID.randomUUID().toString().substring(0, 8);
    }

    /** A run of one task, whose step {@code find} may take over a result. */
    private String run(String tool, String cache, String task) {
        return api.create(mission(tool, cache, task));
    }

    private static String mission(String tool, String cache, String task) {
        return """
                {"name": "r", "start": true, "inputs": {"q": {"type": "integer", "default": 1}}, "plan": {"tasks": [
                 {"id": "a", "steps": [{"name": "find", "tool": "%s", "input": {"n": "${ .inputs.q }"},
                  "retry": {"max_attempts": 1}, "cache": %s}]%s}]}}""".formatted(tool, cache, task);
    }

    private String run(String tool) {
        return run(tool, "{\"max_age\": \"1h\"}", "");
    }

    private JsonNode claimed(String tool) {
        List<JsonNode> items = claim(tool, 20_000);
        assertThat(items).hasSize(1);
        return items.getFirst();
    }

    private List<JsonNode> claim(String tool, int waitMillis, String... holder) {
        ApiServer.Answer answer = api.post("/api/v1/dispatch/claim", "{\"worker_id\": \"w\", \"tools\": [\"" + tool
                + "\"], \"wait_ms\": " + waitMillis + "}", holder);
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        return answer.json().get("items").valueStream().toList();
    }

    private String complete(JsonNode item, String output) {
        return report("complete", item, "\"output\": " + output + ", \"cost\": 0.5");
    }

    private String fail(JsonNode item) {
        return report("fail", item,
                "\"error_code\": \"NO\", \"error_class\": \"permanent\", \"message\": \"no\"");
    }

    private String report(String how, JsonNode item, String members, String... holder) {
        ApiServer.Answer answer = api.post("/api/v1/dispatch/" + how, "{\"worker_id\": \"w\", \"items\": [{"
                + "\"step_id\": \"" + item.get("step_id").stringValue() + "\", \"lease_epoch\": "
                + item.get("lease_epoch").intValue() + ", " + members + "}]}", holder);
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        return answer.json().get("items").get(0).toString();
    }

    private JsonNode step(String run) {
        return api.get("/api/v1/runs/" + run + "/steps").json().get("items").valueStream()
                .filter(each -> each.get("name").stringValue().equals("find")).findFirst().orElseThrow();
    }

    private JsonNode task(String run) {
        return api.get("/api/v1/runs/" + run + "/tasks").json().get("items").get(0);
    }

    private List<JsonNode> events(String run, String type) {
        return api.get("/api/v1/runs/" + run + "/events?limit=500").json().get("items").valueStream()
                .filter(each -> each.get("event_type").stringValue().equals(type)).toList();
    }

    private void awaitEvent(String run, String type) {
        Awaitility.await().until(() -> !events(run, type).isEmpty());
    }

    /** Both runs of a tool, of which the first is claimed and the second waits for it. */
    private record Two(String first, String second, JsonNode item) {}

    private Two two(String tool) {
        claim(tool, 0);
        String first = run(tool);
        JsonNode item = claimed(tool);
        String second = run(tool);
        awaitEvent(second, "step_result_awaited");
        assertThat(claim(tool, 0)).isEmpty();
        return new Two(first, second, item);
    }

    @Test
    void twoRunsAtOnceComputeOnce() {
        Two two = two(tool());
        JsonNode explained = api.get("/api/v1/runs/" + two.second + "/explain").json();
        assertThat(explained.get("reasons").toString()).contains("RESULT_COMPUTING", two.first,
                two.item.get("step_id").stringValue());
        complete(two.item, "{\"found\": 7}");
        api.awaitState(two.first, "completed");
        api.awaitState(two.second, "completed");
        assertThat(step(two.second).get("output").toString()).isEqualTo("{\"found\":7}");
        assertThat(step(two.second).get("cost").asString()).isEqualTo("0");
        JsonNode reused = events(two.second, "step_result_reused").getFirst().get("payload");
        assertThat(reused.get("source_run_id").stringValue()).isEqualTo(two.first);
        assertThat(reused.get("source_step_id").stringValue()).isEqualTo(two.item.get("step_id").stringValue());
        assertThat(events(two.second, "step_started")).isEmpty();
        String source =
                "{\"run_id\":\"" + two.first + "\",\"task_id\":\"" + step(two.first).get("task_id").stringValue()
                        + "\",\"step_id\":\"" + two.item.get("step_id").stringValue() + "\"}";
        assertThat(Json.read(source)).isEqualTo(step(two.second).get("result_from"))
                .isEqualTo(task(two.second).get("result_from"));
        assertThat(step(two.first).get("result_from").isNull() && task(two.first).get("result_from").isNull()).isTrue();
        assertThat(api.get("/api/v1/runs/" + two.second + "/explain").text()).contains("RESULT_REUSED", two.first);
        assertThat(api.run(two.first).get("credits_charged").decimalValue()).isPositive();
        assertThat(api.run(two.second).get("credits_charged").decimalValue()).isZero();
    }

    @Test
    void taskOfAnAgentTakesOverTheOutputOfAnother() {
        String agentic = """
                {"name": "r", "start": true, "inputs": {"q": {"type": "string", "default": "%s"}}, "plan": {"tasks": [
                 {"id": "a", "title": "Look it up", "tools_needed": ["noop"],
                  "cache": {"key": ".inputs.q", "max_age": "1h"}}]}}""".formatted(tool());
        claim("agent.turn", 0);
        String first = api.create(agentic);
        JsonNode turn = claimed("agent.turn");
        String second = api.create(agentic);
        awaitEvent(second, "step_result_awaited");
        complete(turn, "{\"tool_calls\": [{\"name\": \"noop\"}]}");
        complete(claimed("agent.turn"), "\"found\"");
        api.awaitState(first, "completed");
        api.awaitState(second, "completed");
        assertThat(task(second).get("output").stringValue()).isEqualTo("found");
        assertThat(task(second).get("result_from").get("run_id").stringValue()).isEqualTo(first);
        assertThat(task(second).get("cost").decimalValue()).isZero();
        assertThat(api.run(second).get("credits_charged").decimalValue()).isZero();
        assertThat(claim("agent.turn", 0)).isEmpty();
    }

    /** Each of two tasks has computed the result that the other one needs. */
    @ParameterizedTest
    @CsvSource({"false", "true"})
    void circleOfTwoTasksEndsAtOnce(boolean inChildren) {
        String one = tool();
        String other = tool();
        claim(one, 0);
        claim(other, 0);
        String first = api.create(twoSteps(one, other, inChildren));
        JsonNode ofOne = claimed(one);
        String second = api.create(twoSteps(other, one, inChildren));
        JsonNode ofOther = claimed(other);
        complete(ofOne, "1");
        Awaitility.await().until(() -> waits(other));
        complete(ofOther, "2");
        complete(claimed(one), "3");
        api.awaitState(second, "completed");
        api.awaitState(first, "completed");
        assertThat(claim(one, 0)).isEmpty();
        assertThat(claim(other, 0)).isEmpty();
    }

    private boolean waits(String tool) throws SQLException {
        try (Connection c = url.connect(); Statement statement = c.createStatement(); ResultSet found =
                statement.executeQuery("select from task_steps where deferred_for like 'result:%' and tool = '" + tool
                        + "' and completed_at is null")) {
            return found.next();
        }
    }

    /** @param inChild whether a child run has the second step */
    private static String twoSteps(String one, String other, boolean inChild) {
        String second = "{\"name\": \"second\", \"tool\": \"%s\", \"cache\": {\"max_age\": \"1h\"}, \"input\": {}}"
                .formatted(other);
        return """
                {"name": "r", "start": true, "plan": {"tasks": [{"id": "a", "steps": [
                  {"name": "first", "tool": "%s", "cache": {"max_age": "1h"}, "input": {}}, %s]}]}}""".formatted(one,
                inChild ? """
                        {"tool": "run.start", "input": {"name": "c", "plan": {"tasks": [{"id": "x", "steps": [%s]}]}}}"""
                        .formatted(second) : second);
    }

    @Test
    void failureOfTheFirstLetsTheNextOneCompute() {
        String tool = tool();
        Two two = two(tool);
        String third = run(tool);
        awaitEvent(third, "step_result_awaited");
        fail(two.item);
        JsonNode item = claimed(tool);
        complete(item, "2");
        api.awaitState(two.first, "failed");
        api.awaitState(two.second, "completed");
        api.awaitState(third, "completed");
        assertThat(claim(tool, 0)).isEmpty();
        assertThat(step(third).get("output").asInt()).isEqualTo(2);
    }

    @Test
    void cancelOfTheFirstLetsTheNextOneComputeAndALateReportChangesNothing() {
        String tool = tool();
        Two two = two(tool);
        api.post("/api/v1/runs/" + two.first + "/cancel", "{}");
        JsonNode item = claimed(tool);
        complete(two.item, "1");
        complete(item, "2");
        api.awaitState(two.second, "completed");
        assertThat(step(two.second).get("output").asInt()).isEqualTo(2);
        String third = run(tool);
        api.awaitState(third, "completed");
        assertThat(step(third).get("output").asInt()).isEqualTo(2);
    }

    @Test
    void resultOfAnotherKeyOrToolIsNotTakenOver() {
        String tool = tool();
        claim(tool, 0);
        String first = run(tool);
        complete(claimed(tool), "1");
        api.awaitState(first, "completed");
        String other = run(tool, "{\"max_age\": \"1h\", \"key\": \".inputs.q + 1\"}", "");
        complete(claimed(tool), "2");
        api.awaitState(other, "completed");
        String same = run(tool, "{\"max_age\": \"1h\", \"key\": \"${ .inputs.q + 1 }\", \"scope\": \"workspace\"}", "");
        api.awaitState(same, "completed");
        assertThat(step(same).get("output").asInt()).isEqualTo(2);
        String another = tool();
        claim(another, 0);
        run(another);
        complete(claimed(another), "3");
    }

    @Test
    void resultOfAnotherWorkspaceIsNeitherTakenOverNorAwaitedNorCleared() {
        String[] holder = {"Authorization", api.stranger()};
        String tool = tool();
        claim(tool, 0);
        claim(tool, 0, holder);
        String first = run(tool);
        JsonNode item = claimed(tool);
        String elsewhere = runOf(tool, holder);
        JsonNode other = claim(tool, 20_000, holder).getFirst();
        assertThat(other.get("run_id").stringValue()).isEqualTo(elsewhere);
        complete(item, "1");
        api.awaitState(first, "completed");
        assertThat(report("complete", other, "\"output\": 2", holder)).contains("\"ok\"");
        assertThat(keys(tool)).containsExactly(first);
        assertThat(keys(tool, holder)).containsExactly(elsewhere);
        assertThat(outputOnceCompleted(runOf(tool, holder), holder)).isEqualTo(2);
        assertThat(outputOnceCompleted(run(tool))).isEqualTo(1);
        assertThat(api.get("/api/v1/runs/" + first, holder).status()).isEqualTo(404);

        assertThat(cleared("{}", holder)).as("keys of one workspace").isOne();
        assertThat(keys(tool, holder)).isEmpty();
        assertThat(outputOnceCompleted(run(tool))).isEqualTo(1);
    }

    private String runOf(String tool, String... holder) {
        ApiServer.Answer answer = api.post("/api/v1/runs", mission(tool, "{\"max_age\": \"1h\"}", ""), holder);
        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
        return answer.json().get("id").stringValue();
    }

    private List<String> keys(String tool, String... holder) {
        return api.get("/api/v1/cache?tool=" + tool, holder).json().get("items").valueStream()
                .map(each -> each.get("run_id").stringValue()).toList();
    }

    private int outputOnceCompleted(String run, String... holder) {
        Awaitility.await().until(() -> api.get("/api/v1/runs/" + run, holder).text().contains("\"completed\""));
        return api.get("/api/v1/runs/" + run + "/steps", holder).json().at("/items/0/output").asInt();
    }

    @Test
    void equalStepsOfOneTaskDoNotWaitForEachOther() {
        String tool = tool();
        claim(tool, 0);
        String call = """
                {"name": "%s", "tool": "%s", "input": {"n": 1}, "cache": {"max_age": "1h"}}""";
        String run = api.create("""
                {"name": "r", "start": true, "plan": {"tasks": [{"id": "a", "steps": [%s, %s]}]}}"""
                .formatted(call.formatted("find", tool), call.formatted("again", tool)));
        complete(claimed(tool), "1");
        complete(claimed(tool), "2");
        api.awaitState(run, "completed");
        assertThat(events(run, "step_result_awaited")).isEmpty();
        assertThat(outputOnceCompleted(run(tool))).as("the first step has the key").isEqualTo(1);
    }

    @Test
    void childRunComputesTheResultThatTheParentReserved() {
        String tool = tool();
        claim(tool, 0);
        String find = """
                {"name": "find", "tool": "%s", "input": {"n": 1}, "cache": {"max_age": "1h"}}""".formatted(tool);
        String starts = """
                {"tool": "run.start", "input": {"name": "c", "plan": {"tasks": [{"id": "b", "steps": [%s]}]}}}""";
        String run = api.create("""
                {"name": "r", "start": true, "plan": {"tasks": [{"id": "a", "steps": [%s, %s]}]}}"""
                .formatted(find, starts.formatted(find)));
        complete(claimed(tool), "1");
        complete(claimed(tool), "2");
        api.awaitState(run, "completed");
        assertThat(outputOnceCompleted(run(tool))).as("the step of the parent has the key").isEqualTo(1);
    }

    @Test
    void oldResultIsComputedAgain() {
        String tool = tool();
        claim(tool, 0);
        String first = run(tool);
        complete(claimed(tool), "1");
        api.awaitState(first, "completed");
        api.sql("update task_steps set completed_at = completed_at - interval '30 minutes' where id = '"
                + step(first).get("id").stringValue() + "'");
        String second = run(tool);
        api.awaitState(second, "completed");
        String younger = run(tool, "{\"max_age\": \"20m\"}", "");
        complete(claimed(tool), "2");
        api.awaitState(younger, "completed");
        String last = run(tool);
        api.awaitState(last, "completed");
        assertThat(List.of(step(second).get("output").asInt(), step(last).get("output").asInt()))
                .containsExactly(1, 2);
    }

    @Test
    void rejectedResultIsNotTakenOver() {
        String tool = tool();
        claim(tool, 0);
        String first = run(tool, "{\"max_age\": \"1h\"}", ", \"verify\": [{\"kind\": \"human\"}]");
        complete(claimed(tool), "1");
        api.awaitState(first, "running");
        String second = run(tool);
        awaitEvent(second, "step_result_awaited");
        api.post("/api/v1/runs/" + first + "/reject", "{\"reason\": \"wrong\"}");
        complete(claimed(tool), "2");
        api.awaitState(second, "completed");
        assertThat(step(second).get("output").asInt()).isEqualTo(2);
    }

    @Test
    void clearedResultIsComputedAgain() {
        String tool = tool();
        claim(tool, 0);
        String first = run(tool, "{\"max_age\": \"1h\", \"key\": \".inputs.q\"}", "");
        complete(claimed(tool), "1");
        api.awaitState(first, "completed");
        JsonNode listed = api.get("/api/v1/cache?tool=" + tool).json().get("items").get(0);
        assertThat(listed.get("key").stringValue() + listed.get("run_id").stringValue()).isEqualTo("1" + first);
        assertThat(cleared("{\"tool\": \"" + tool + "\", \"key\": 2}")).isZero();
        assertThat(cleared("{\"tool\": \"" + tool + "\", \"key\": 1.0}")).isOne();
        assertThat(api.get("/api/v1/cache?tool=" + tool).json().get("items")).isEmpty();
        String second = run(tool, "{\"max_age\": \"1h\", \"key\": \".inputs.q\"}", "");
        complete(claimed(tool), "2");
        api.awaitState(second, "completed");
        assertThat(cleared("{\"tool\": \"" + tool + "\"}")).isOne();
    }

    private int cleared(String body, String... holder) {
        ApiServer.Answer answer = api.post("/api/v1/cache/clear", body, holder);
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        return answer.json().get("cleared").intValue();
    }

    @Test
    void nullKeyFailsTheStepBeforeItIsSent() {
        String tool = tool();
        claim(tool, 0);
        String run = run(tool, "{\"max_age\": \"1h\", \"key\": \".inputs.q | select(. == 1) | null\"}", "");
        api.awaitState(run, "failed");
        assertThat(api.run(run).get("error_code").stringValue()).isEqualTo("CACHE_KEY_MISSING");
        assertThat(claim(tool, 0)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            http.request | {"max_age": "1h"} | CACHE_NOT_ALLOWED
            wait         | {"max_age": "1h"} | CACHE_NOT_ALLOWED
            echo         | {"max_age": "1w"} | INVALID_VALUE
            echo         | {"max_age": "999999d"} | INVALID_VALUE
            echo         | {"max_age": "1h", "key": ".a +"} | EXPRESSION_SYNTAX
            echo         | {"max_age": "1h", "key": ".steps.later"} | UNKNOWN_REFERENCE
            echo         | {"key": ".a"} | REQUIRED
            """)
    void cacheThatIsNotAllowedIsRefused(String tool, String cache, String code) {
        ApiServer.Answer answer = api.post("/api/v1/runs", mission(tool, cache, ""));
        assertThat(answer.status()).isEqualTo(422);
        assertThat(answer.text()).contains(code);
    }
}
