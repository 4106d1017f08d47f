package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.base.db.TestDatabase;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** Undos over HTTP: order, expressions, tickets, questions, refusals. */
@Breadth.Spread
class UndoApiTest {
    private static final String CALL = "{\"tool\": \"echo\", \"input\": {\"of\": \"${ .output.n }\"}}";

    @TempDir
    private static Path folder;

    private static ApiServer api;

    @BeforeAll
    static void start() throws Exception {
        api = new ApiServer(folder, TestDatabase.createUrl(), Map.of("KEELSON_ALLOW_PRIVATE_ADDRESSES", "true"));
    }

    @AfterAll
    static void stop() {
        api.close();
    }

    @Test
    void failedRunIsUndoneInReverseOrderWithTheOriginalsInputAndOutput() {
        String run = api.create("""
                {"name": "trip", "start": true, "inputs": {"who": {"type": "string", "default": "ann"}},
                 "config": {"on_failure": "undo"},
                 "plan": {"tasks": [
                  {"id": "flight", "steps": [{"tool": "echo", "input": {"seat": "${ .inputs.who + \\"-1\\" }"}}],
                   "undo": {"tool": "echo", "input": {"who": "${ .inputs.who }", "was": "${ .input.seat }", "id": "${ .output.seat }"}}},
                  {"id": "hotel", "depends_on": ["flight"], "steps": [
                    {"name": "reserve", "tool": "echo", "input": {"n": 1}, "undo": [{"name": "one", "tool": "echo",
                      "input": {"n": "${ .output.n }"}}, {"tool": "echo", "input": {"again": "${ .steps.one.output.n }"}}]},
                    {"name": "confirm", "tool": "echo", "input": {"n": 2}, "undo": {"tool": "echo", "input": {"n": "${ .input.n }"}}}]},
                  {"id": "car", "depends_on": ["hotel"], "steps": [{"tool": "fail", "input": {"class": "permanent"}}],
                   "undo": {"tool": "echo", "input": {"never": true}}}]}}""");
        api.awaitState(run, "failed");
        JsonNode undo = awaitUndo(run, "undone");
        assertThat(undo.get("tasks").asInt()).isEqualTo(3);
        assertThat(undo.get("undone").asInt()).isEqualTo(3);
        assertThat(undo.get("requested_by").stringValue()).isEqualTo("system");
        String undoing = undo.get("run_id").stringValue();
        JsonNode document = api.run(undoing);
        assertThat(document.get("undoes").stringValue()).isEqualTo(run);
        assertThat(document.get("trigger").stringValue()).isEqualTo("undo");
        List<JsonNode> tasks = items("/api/v1/runs/" + undoing + "/tasks");
        assertThat(tasks).extracting(task -> task.get("key").stringValue() + " " + task.get("depends_on"))
                .containsExactly("undo.hotel.confirm []", "undo.hotel.reserve [\"undo.hotel.confirm\"]",
                        "undo.flight [\"undo.hotel.reserve\"]");
        Map<String, String> outputs = items("/api/v1/runs/" + undoing + "/steps").stream().collect(Collectors.toMap(
                step -> step.get("task_key").stringValue() + "/" + step.get("name").stringValue(),
                step -> step.get("output").toString()));
        assertThat(outputs).containsEntry("undo.flight/step-1", "{\"id\":\"ann-1\",\"was\":\"ann-1\",\"who\":\"ann\"}")
                .containsEntry("undo.hotel.reserve/step-2", "{\"again\":1}")
                .containsEntry("undo.hotel.confirm/step-1", "{\"n\":2}");
        assertThat(events(run)).endsWith("run_undo_requested", "run_undo_started", "run_undo_ended");

        assertThat(api.post("/api/v1/runs/" + run + "/undo", "{}").json().at("/undo/run_id").stringValue())
                .isEqualTo(undoing);
        refused("/api/v1/runs/" + run + "/retry", "{}", "RUN_UNDONE");
        refused("/api/v1/runs/" + run + "/fork", "{\"task\": \"car\"}", "RUN_UNDONE");
        refused("/api/v1/runs/" + undoing + "/undo", "{}", "UNDO_OF_UNDO");
        refused("/api/v1/runs/" + undoing + "/fork", "{\"task\": \"undo.flight\"}", "UNDO_OF_UNDO");
    }

    @Test
    void completedRunIsUndoneOnRequestAndFailedUndosWaitForAPerson() {
        String run = api.create("""
                {"name": "u", "start": true, "plan": {"tasks": [
                 {"id": "a", "steps": [{"tool": "echo", "input": {"n": 1}}], "undo": %s},
                 {"id": "b", "depends_on": ["a"], "steps": [{"tool": "echo", "input": {"n": 2}}],
                  "undo": {"tool": "fail", "input": {"class": "permanent", "message": "no refund"}}},
                 {"id": "c", "depends_on": ["a"], "steps": [{"tool": "echo", "input": {"n": 3}}],
                  "undo": {"tool": "fail", "input": {"class": "permanent"}}},
                 {"id": "x", "steps": [{"tool": "echo", "input": {"n": 4}}], "undo": %s}]}}""".formatted(CALL, CALL));
        api.awaitState(run, "completed");
        assertThat(api.run(run).get("undo").isNull()).isTrue();
        api.post("/api/v1/runs/" + run + "/undo", "{\"reason\": \"wrong customer\"}");
        JsonNode undo = awaitUndo(run, "running");
        assertThat(undo.get("reason").stringValue()).isEqualTo("wrong customer");
        String undoing = undo.get("run_id").stringValue();
        api.awaitState(undoing, "escalated");
        assertThat(api.run(run).at("/undo/waits_for_humans").asInt()).isEqualTo(2);
        assertThat(api.get("/api/v1/runs/" + run + "/explain").json().at("/reasons/1/text").stringValue())
                .isEqualTo("run " + undoing
                        + " undoes it at present, in 4 tasks, and waits for a person to decide in 2 cases");
        List<JsonNode> tickets = items("/api/v1/escalations?run_id=" + undoing + "&state=open");
        assertThat(tickets).hasSize(2).allMatch(ticket -> ticket.get("suggested_actions").toString().contains("done"));
        assertThat(items("/api/v1/runs/" + undoing + "/tasks")).filteredOn(
                task -> task.get("key").stringValue().equals("undo.x")).singleElement().matches(
                        task -> task.get("state").stringValue().equals("completed"));
        JsonNode item = items("/api/v1/inbox?run_id=" + undoing).getFirst();
        assertThat(item.get("on_reject").stringValue()).contains("left not undone");
        assertThat(api.get("/api/v1/inbox/" + item.get("id").stringValue()).json().get("actions").valueStream()
                .map(each -> each.get("name").stringValue())).contains("done").doesNotContain("skip");
        answer(tickets.getFirst(), "done");
        answer(tickets.getLast(), "skip");
        JsonNode ended = awaitUndo(run, "partly_undone");
        assertThat(List.of(ended.get("undone").asInt(), ended.get("by_hand").asInt(), ended.get("not_undone").asInt()))
                .containsExactly(2, 1, 1);
        assertThat(api.run(undoing).get("state").stringValue()).isEqualTo("completed");
        JsonNode reason = api.get("/api/v1/runs/" + run + "/explain").json().at("/reasons/1");
        assertThat(reason.get("code").stringValue()).isEqualTo("UNDO");
        assertThat(reason.at("/on/0").stringValue()).isEqualTo(undoing);
    }

    @Test
    void personIsAskedAboutWorkWithAnUnknownOutcome() {
        String run = api.create("""
                {"name": "unknown", "start": true, "config": {"on_failure": "undo", "timeouts": {"provider_wait_seconds": 1}}, "plan": {"tasks": [
                 {"id": "pay", "steps": [{"tool": "http.request", "input": {"method": "POST", "url": "http://127.0.0.1:1/"},
                   "retry": {"max_attempts": 1}}],
                  "undo": {"tool": "echo", "input": {"output": "${ .output }"}}}]}}""");
        api.awaitState(run, "failed");
        JsonNode undo = awaitUndo(run, "running");
        String undoing = undo.get("run_id").stringValue();
        Awaitility.await().until(() -> items("/api/v1/inbox?run_id=" + undoing).size() == 1);
        JsonNode item = items("/api/v1/inbox?run_id=" + undoing).getFirst();
        assertThat(item.toString()).contains("It is unknown whether task 'pay' was done");
        api.post("/api/v1/runs/" + undoing + "/reject", "{\"reason\": \"never arrived\"}");
        assertThat(awaitUndo(run, "undone").get("not_done").asInt()).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource({"read, 0", "once, 1"})
    void workersToolsThatOnlyReadAreNotAskedAbout(String effects, int tasks) {
        String claim = """
                {"worker_id": "w", "tools": ["test.%1$s"], "tool_specs": [{"name": "test.%1$s", "effects": "%1$s"}],
                 "max": 1, "wait_ms": %2$s}""";
        api.post("/api/v1/dispatch/claim", claim.formatted(effects, 0));
        String run = api.create("""
                {"name": "reads", "start": true, "plan": {"tasks": [{"id": "a", "steps": [
                 {"tool": "test.%1$s", "retry": {"max_attempts": 1}}], "undo": {"tool": "echo", "input": {}}}]}}"""
                .formatted(effects));
        JsonNode step = api.post("/api/v1/dispatch/claim", claim.formatted(effects, 20_000)).json().at("/items/0");
        api.post("/api/v1/dispatch/fail",
                """
                {"worker_id": "w", "items": [{"step_id": %s, "lease_epoch": %s,
                 "error_class": "infrastructure", "error_code": "GONE", "message": "gone"}]}""".formatted(
                        step.get("step_id"),
                        step.get("lease_epoch")));
        api.awaitState(run, "failed");
        api.post("/api/v1/runs/" + run + "/undo", "{}");
        assertThat(awaitUndo(run, tasks == 0 ? "nothing" : "running").get("tasks").asInt()).isEqualTo(tasks);
    }

    @Test
    void roundsAndItemsAreUndone() {
        String run = api
                .create("""
                {"name": "loop", "start": true, "plan": {"tasks": [
                 {"id": "t", "repeat": {"until": ".output.n >= 4", "keep": 1}, "steps": [{"tool": "echo",
                   "input": {"n": "${ .round }"}}], "undo": {"tool": "echo", "input": {"n": "${ .output.n }", "r": "${ .round }"}}},
                 {"id": "e", "depends_on": ["t"], "for_each": "${ [7, 8] }", "steps": [{"tool": "echo",
                   "input": {"n": "${ .item }"}}], "undo": {"tool": "echo", "input": {"n": "${ .item }", "i": "${ .index }"}}}]}}""");
        api.awaitState(run, "completed");
        api.post("/api/v1/runs/" + run + "/undo", "{}");
        String undoing = awaitUndo(run, "undone").get("run_id").stringValue();
        assertThat(items("/api/v1/runs/" + undoing + "/steps")).extracting(
                step -> step.get("task_key").stringValue() + " " + step.get("output")).containsExactly(
                        "undo.e.1 {\"i\":1,\"n\":8}", "undo.e.0 {\"i\":0,\"n\":7}",
                        "undo.t.4 {\"n\":4,\"r\":4}", "undo.t.3 {\"n\":3,\"r\":3}", "undo.t.2 {\"n\":2,\"r\":2}",
                        "undo.t.1 {\"n\":1,\"r\":1}");
    }

    @Test
    void undosOfStepsAreUndoneInAllRoundsThatAreKept() {
        String run = api.create("""
                {"name": "loop", "start": true, "plan": {"tasks": [
                 {"id": "t", "repeat": {"until": ".round >= 6", "max": 6, "keep": 6}, "steps": [
                   {"name": "a", "tool": "echo", "input": {"n": "${ .round }"}, "undo": %1$s},
                   {"name": "b", "tool": "echo", "input": {"n": "${ .round * 10 }"}, "undo": %1$s}]}]}}"""
                .formatted(CALL));
        api.awaitState(run, "completed");
        api.post("/api/v1/runs/" + run + "/undo", "{}");
        String undoing = awaitUndo(run, "undone").get("run_id").stringValue();
        assertThat(items("/api/v1/runs/" + undoing + "/steps")).extracting(step -> step.at("/output/of").asInt())
                .containsExactly(60, 6, 50, 5, 40, 4, 30, 3, 20, 2, 10, 1);
    }

    @Test
    void personIsAskedAboutFoldedRoundsThatBeganAndDidNotComplete() {
        String run = api.create("""
                {"name": "loop", "start": true, "plan": {"tasks": [
                 {"id": "t", "failure_mode": "continue", "repeat": {"until": ".round >= 3", "max": 4, "keep": 1}, "steps": [
                   {"tool": "fail", "input": {"class": "permanent"}}], "undo": {"tool": "echo", "input": {"r": "${ .round }"}}},
                 {"id": "o", "steps": [{"tool": "noop"}]}]}}""");
        api.awaitState(run, "completed");
        api.post("/api/v1/runs/" + run + "/undo", "{}");
        String undoing = awaitUndo(run, "running").get("run_id").stringValue();
        Awaitility.await().until(() -> items("/api/v1/inbox?run_id=" + undoing).size() == 1);
        assertThat(items("/api/v1/inbox?run_id=" + undoing).toString())
                .contains("It is unknown whether task 't[1]' was done");
    }

    @Test
    void roundsOfAGroupAreUndoneFromTheLastToTheFirst() {
        String run = api.create("""
                {"name": "loop", "start": true, "plan": {"tasks": [
                 {"id": "g", "repeat": {"until": ".round >= 3", "keep": 1}, "group": [
                   {"id": "a", "steps": [{"tool": "echo", "input": {"n": "${ .round * 10 }"}}],
                    "undo": {"tool": "echo", "input": {"n": "${ .output.n }", "r": "${ .round }"}}},
                   {"id": "b", "depends_on": ["a"], "steps": [{"tool": "echo", "input": {"n": "${ .round }"}}],
                    "undo": {"tool": "echo", "input": {"n": "${ .output.n }", "r": "${ .round }"}}}]}]}}""");
        api.awaitState(run, "completed");
        api.post("/api/v1/runs/" + run + "/undo", "{}");
        String undoing = awaitUndo(run, "undone").get("run_id").stringValue();
        List<JsonNode> tasks = items("/api/v1/runs/" + undoing + "/tasks");
        assertThat(tasks).extracting(task -> task.get("key") + " " + task.get("depends_on")).contains(
                "\"undo.g.3.a\" [\"undo.g.3.b\"]", "\"undo.g.2.b\" [\"undo.g.3.b\",\"undo.g.3.a\"]",
                "\"undo.g.1.a\" [\"undo.g.2.b\",\"undo.g.2.a\",\"undo.g.1.b\"]");
        assertThat(items("/api/v1/runs/" + undoing + "/steps")).extracting(
                step -> step.get("task_key").stringValue() + " " + step.get("output")).contains(
                        "undo.g.3.a {\"n\":30,\"r\":3}", "undo.g.1.b {\"n\":1,\"r\":1}",
                        "undo.g.1.a {\"n\":10,\"r\":1}")
                .hasSize(6);
    }

    @Test
    void retriedRunIsUndoneAcrossItsAttempts() {
        String run = api.create("""
                {"name": "again", "start": true, "plan": {"tasks": [
                 {"id": "a", "steps": [{"tool": "echo", "input": {"n": 1}}], "undo": %s},
                 {"id": "b", "depends_on": ["a"], "steps": [{"tool": "fail", "input": {"class": "permanent"}}]}]}}"""
                .formatted(CALL));
        api.awaitState(run, "failed");
        api.post("/api/v1/runs/" + run + "/retry", "{}");
        Awaitility.await().until(() -> api.run(run).get("attempt_number").asInt() == 2
                && api.run(run).get("state").stringValue().equals("failed"));
        api.post("/api/v1/runs/" + run + "/undo", "{}");
        assertThat(awaitUndo(run, "undone").get("tasks").asInt()).isEqualTo(1);
    }

    @Test
    void cancelledRunIsUndoneAndARunWithoutUndosHasNothingToUndo() {
        String waits =
                "{\"name\": \"c\", \"start\": true, \"config\": {\"on_cancel\": \"undo\"}, \"plan\": {\"tasks\": ["
                        + "{\"id\": \"a\", \"steps\": [{\"tool\": \"echo\", \"input\": {\"n\": 1}}]%s},"
                        + "{\"id\": \"w\", \"depends_on\": [\"a\"], \"steps\": [{\"kind\": \"approval\"}]}]}}";
        String run = api.create(waits.formatted(", \"undo\": " + CALL));
        String without = api.create(waits.formatted(""));
        for (String each : List.of(run, without)) {
            api.awaitStep(each, "waiting_approval");
            refused("/api/v1/runs/" + each + "/undo", "{}", "INVALID_STATE_TRANSITION");
            api.post("/api/v1/runs/" + each + "/cancel", "{}");
        }
        assertThat(awaitUndo(run, "undone").get("undone").asInt()).isEqualTo(1);
        assertThat(awaitUndo(without, "nothing").get("run_id").isNull()).isTrue();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            {"tool": "no.such"}                                     | UNKNOWN_TOOL      | /plan/tasks/0/undo/tool
            [{"tool": "no.such"}]                                   | UNKNOWN_TOOL      | /plan/tasks/0/undo/0/tool
            {"input": {}}                                           | REQUIRED          | /plan/tasks/0/undo/tool
            {"tool": "echo", "undo": {"tool": "echo"}}              | UNKNOWN_KEY       | /plan/tasks/0/undo/undo
            {"tool": "run.start", "input": {}}                      | INVALID_VALUE     | /plan/tasks/0/undo/tool
            {"tool": "echo", "input": {"a": "${ .tasks.u.output }"}} | UNKNOWN_REFERENCE | /plan/tasks/0/undo/input
            {"tool": "echo", "input": {"a": "${ .output + }"}}      | EXPRESSION_SYNTAX | /plan/tasks/0/undo/input/a
            [{"name": "x", "tool": "echo"}, {"name": "x", "tool": "echo"}] | DUPLICATE_NAME | /plan/tasks/0/undo/1/name
            {"name": "was-it-done", "tool": "echo"}                 | INVALID_VALUE     | /plan/tasks/0/undo/name
            []                                                      | EMPTY             | /plan/tasks/0/undo
            """)
    void badUndoIsRefused(String undo, String code, String pointer) {
        JsonNode answer = api.post("/api/v1/missions/validate",
                "{\"name\": \"n\", \"plan\": {\"tasks\": [{\"id\": \"t\", \"undo\": " + undo
                        + ", \"steps\": [{\"tool\": \"echo\", \"input\": {}}]}]}}")
                .json();
        assertThat(answer.get("problems").valueStream().map(each -> each.get("code").stringValue() + " "
                + each.get("pointer").stringValue()).toList()).filteredOn(each -> each.startsWith(code))
                .as("each problem once")
                .containsExactly(code + " " + pointer);
    }

    @Test
    void taskAndItsStepsDoNotBothHaveAnUndo() {
        JsonNode answer = api.post("/api/v1/missions/validate",
                "{\"name\": \"n\", \"plan\": {\"tasks\": [{\"id\": \"t\", \"undo\": " + CALL
                        + ", \"steps\": [{\"tool\": \"echo\", \"input\": {}, \"undo\": " + CALL + "}]}]}}")
                .json();
        assertThat(answer.get("problems").valueStream().map(each -> each.get("pointer").stringValue()).toList())
                .containsExactly("/plan/tasks/0/steps/0/undo");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
            {"id": "t", "repeat": {"until": "true"}, %s} | /plan/tasks/0/steps/0/undo
            {"id": "t", "repeat": {"until": "true", "max": 6, "keep": 5}, %s} | /plan/tasks/0/steps/0/undo
            {"id": "g", "repeat": {"until": "true"}, "group": [{"id": "t", %s}]} | /plan/tasks/0/group/0/steps/0/undo
            """)
    void undosOfStepsAreRefusedInRoundsThatAreFolded(String task, String pointer) {
        String steps = "\"steps\": [{\"tool\": \"echo\", \"input\": {\"n\": 1}, \"undo\": " + CALL + "}]";
        JsonNode answer = api.post("/api/v1/missions/validate",
                "{\"name\": \"n\", \"plan\": {\"tasks\": [" + task.formatted(steps) + "]}}").json();
        assertThat(answer.get("problems").valueStream().map(each -> each.get("code").stringValue() + " "
                + each.get("pointer").stringValue()).toList()).containsExactly("UNDO_FOLDED " + pointer);
    }

    private static void refused(String path, String body, String code) {
        ApiServer.Answer answer = api.post(path, body);
        assertThat(answer.status()).isEqualTo(409);
        assertThat(answer.json().get("code").stringValue()).isEqualTo(code);
    }

    private static void answer(JsonNode ticket, String resolution) {
        api.post("/api/v1/escalations/" + ticket.get("id").stringValue() + "/resolve",
                "{\"resolution\": \"" + resolution + "\"}");
    }

    private static JsonNode awaitUndo(String run, String state) {
        Awaitility.await().until(() -> api.run(run).at("/undo/state").asString("").equals(state));
        return api.run(run).get("undo");
    }

    private static List<JsonNode> items(String path) {
        return api.get(path).json().get("items").valueStream().toList();
    }

    private static List<String> events(String run) {
        return items("/api/v1/runs/" + run + "/events?limit=500").stream()
                .map(event -> event.get("event_type").stringValue()).toList();
    }
}
