package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.base.db.TestDatabase;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** Undos of runs whose steps started other runs. */
@Breadth.Spread
class ChildUndoApiTest {
    private static final String RUNS = "/api/v1/runs/";
    private static final String UNDO = ", \"undo\": {\"tool\": \"echo\", \"input\": {\"of\": \"${ .output.n }\"}}";
    private static final String FAILS = """
            {"id": "z", "depends_on": ["c"], "steps": [{"tool": "fail", "input": {"class": "permanent"}}]}""";

    @TempDir
    private static Path folder;

    private static ApiServer api;

    @BeforeAll
    static void start() throws Exception {
        api = new ApiServer(folder, TestDatabase.createUrl());
    }

    @AfterAll
    static void stop() {
        api.close();
    }

    @Test
    void childrenOfAllLevelsAreUndoneOnceInReverseOrder() {
        String tasks = echo("x", 2, UNDO) + "," + after("x", starts("g", echo("y", 3, UNDO), ""));
        String run = parent(", \"on_failure\": \"undo\"",
                echo("a", 1, UNDO) + "," + after("a", starts("c", tasks, "")) + "," + FAILS);
        JsonNode undo = awaitUndo(run, "undone");
        assertThat(undo.get("undone").asInt()).isEqualTo(2);
        String undoing = undo.get("run_id").stringValue();
        assertThat(items(RUNS + undoing + "/tasks")).extracting(
                task -> task.get("key").stringValue() + " " + task.get("depends_on") + " " + task.get("title"))
                .containsExactly("undo.c.step-1 [] \"Undo: c, run 'of c'\"",
                        "undo.a [\"undo.c.step-1\"] \"Undo: a\"");
        String child = childOf(run);
        String grandchild = childOf(child);
        for (String each : List.of(child, grandchild)) {
            JsonNode own = api.run(each).get("undo");
            assertThat(own.get("state").stringValue()).isEqualTo("undone");
            assertThat(own.get("requested_by").stringValue()).isEqualTo("system");
        }
        assertThat(api.run(child).at("/undo/reason").stringValue())
                .isEqualTo("run " + undoing + " undoes the run that started it");
        String undoOfChild = api.run(child).at("/undo/run_id").stringValue();
        assertThat(items(RUNS + undoing + "/steps").getFirst().get("output")).hasToString(
                "{\"state\":\"undone\",\"run_id\":\"" + child + "\",\"undo_run_id\":\"" + undoOfChild + "\"}");
        assertThat(items(RUNS + undoOfChild + "/tasks")).extracting(task -> task.get("key").stringValue())
                .containsExactly("undo.g.step-1", "undo.x");
        assertThat(items(RUNS + api.run(grandchild).at("/undo/run_id").stringValue() + "/steps"))
                .singleElement().matches(step -> step.get("output").toString().equals("{\"of\":3}"));
    }

    @Test
    void childThatIsUndoneAlreadyIsNotUndoneAgain() {
        String run = parent("", starts("c", echo("x", 1, UNDO), "") + "," + starts("d", echo("x", 2, ""), ""));
        api.awaitState(run, "completed");
        String child = children(run).filter(each -> each.get("name").stringValue().equals("of c")).findFirst()
                .orElseThrow().get("id").stringValue();
        api.post(RUNS + child + "/undo", "{}");
        String first = awaitUndo(child, "undone").get("run_id").stringValue();
        api.post(RUNS + run + "/undo", "{}");
        String undoing = awaitUndo(run, "undone").get("run_id").stringValue();
        assertThat(items(RUNS + undoing + "/steps")).as("nothing can be undone in the run of d").singleElement()
                .matches(step -> step.at("/output/undo_run_id").asString("").equals(first));
    }

    @Test
    void openChildIsUndoneAfterItsEnd() {
        String run = parent(", \"on_cancel\": \"undo\"", starts("c", echo("x", 1, UNDO)
                + ",{\"id\": \"ask\", \"depends_on\": [\"x\"], \"steps\": [{\"kind\": \"approval\"}]}",
                ", \"on_parent_close\": \"abandon\""));
        Awaitility.await().until(() -> children(run).findFirst().isPresent());
        api.awaitStep(childOf(run), "waiting_approval");
        api.post(RUNS + run + "/cancel", "{}");
        String undoing = awaitUndo(run, "running").get("run_id").stringValue();
        String child = childOf(run);
        assertThat(awaitUndo(child, "requested").get("run_id").isNull()).isTrue();
        assertThat(api.run(child).get("state").stringValue()).isEqualTo("running");
        JsonNode waits = api.get(RUNS + undoing + "/explain").json().at("/reasons/0");
        assertThat(waits.get("code").stringValue()).isEqualTo("CHILD_RUN");
        assertThat(waits.at("/on/0").stringValue()).isEqualTo(child);
        assertThat(api.get(RUNS + child + "/explain").json().get("reasons").toString())
                .contains("it is to be undone after its end, as run " + undoing);
        api.post(RUNS + child + "/approve", "{}");
        awaitUndo(run, "undone");
        assertThat(api.run(child).at("/undo/state").stringValue()).isEqualTo("undone");
    }

    @ParameterizedTest
    @CsvSource({"cancel, CHILD_UNDO_CANCELLED", "fail, CHILD_UNDO_FAILED", "delete, CHILD_RUN_GONE"})
    void personIsAskedIfTheUndoOfAChildEndsWithoutItsWork(String how, String code) {
        String run = parent("", starts("c", waiting("x"), "") + "," + echo("o", 2, UNDO));
        api.awaitState(run, "completed");
        api.post(RUNS + run + "/undo", "{}");
        String undoing = awaitUndo(run, "running").get("run_id").stringValue();
        String child = childOf(run);
        String undoOfChild = awaitUndo(child, "running").get("run_id").stringValue();
        if (how.equals("delete")) {
            assertThat(api.send("DELETE", RUNS + child, new byte[0]).status()).isLessThan(300);
        } else {
            api.post(RUNS + undoOfChild + "/" + how, "{}");
        }
        api.awaitState(undoing, "escalated");
        JsonNode ticket = items("/api/v1/escalations?run_id=" + undoing + "&state=open").getFirst();
        assertThat(ticket.get("error_code").stringValue()).isEqualTo(code);
        api.post("/api/v1/escalations/" + ticket.get("id").stringValue() + "/resolve", "{\"resolution\": \"done\"}");
        assertThat(awaitUndo(run, "undone").get("by_hand").asInt()).isEqualTo(1);
    }

    @Test
    void partOfAChildThatPeopleLeaveIsNotUndoneInTheParentEither() {
        String run = parent("",
                starts("c", echo("x", 1, ", \"undo\": {\"tool\": \"fail\", \"input\": {\"class\": \"permanent\"}}"),
                        ""));
        api.awaitState(run, "completed");
        api.post(RUNS + run + "/undo", "{}");
        awaitUndo(run, "running");
        String undoOfChild = awaitUndo(childOf(run), "running").get("run_id").stringValue();
        api.awaitState(undoOfChild, "escalated");
        JsonNode ticket = items("/api/v1/escalations?run_id=" + undoOfChild + "&state=open").getFirst();
        api.post("/api/v1/escalations/" + ticket.get("id").stringValue() + "/resolve", "{\"resolution\": \"skip\"}");
        JsonNode undo = awaitUndo(run, "partly_undone");
        assertThat(undo.get("not_undone").asInt()).isEqualTo(1);
        assertThat(items(RUNS + undo.get("run_id").stringValue() + "/tasks").getFirst().get("error_message")
                .stringValue()).contains("left 1 of its tasks not undone");
    }

    @Test
    void undoOfTheStepThatStartsAChildReplacesTheUndoOfTheChild() {
        String run = parent("", starts("c", echo("x", 1, UNDO), "", UNDO.replace(".n", ".state")));
        api.awaitState(run, "completed");
        api.post(RUNS + run + "/undo", "{}");
        assertThat(awaitUndo(run, "undone").get("undone").asInt()).isEqualTo(1);
        assertThat(api.run(childOf(run)).get("undo").isNull()).isTrue();
    }

    @Test
    void childrenOfFoldedRoundsAreUndone() {
        String run = parent("", starts("c", echo("x", 1, UNDO), "").replace("\"steps\"",
                "\"repeat\": {\"until\": \".round >= 4\", \"keep\": 1}, \"steps\""));
        api.awaitState(run, "completed");
        assertThat(children(run)).hasSize(4);
        api.post(RUNS + run + "/undo", "{}");
        JsonNode undo = awaitUndo(run, "undone");
        assertThat(undo.get("undone").asInt()).isEqualTo(4);
        assertThat(children(run)).allMatch(child -> child.at("/undo/state").asString("").equals("undone"));
        assertThat(items(RUNS + undo.get("run_id").stringValue() + "/tasks")).extracting(
                task -> task.get("depends_on").size()).containsExactly(0, 1, 1, 1);
    }

    @Test
    void childrenOfFoldedRoundsOfAGroupAreUndone() {
        String run = parent("", "{\"id\": \"g\", \"repeat\": {\"until\": \".round >= 6\", \"keep\": 1}, \"group\": ["
                + starts("c", echo("x", 1, UNDO), "") + "," + after("c", starts("d", echo("y", 2, UNDO), "")) + "]}");
        api.awaitState(run, "completed");
        assertThat(children(run)).hasSize(12);
        api.post(RUNS + run + "/undo", "{}");
        JsonNode undo = awaitUndo(run, "undone");
        assertThat(undo.get("undone").asInt()).isEqualTo(12);
        assertThat(children(run)).allMatch(child -> child.at("/undo/state").asString("").equals("undone"));
        List<String> undone = items(RUNS + undo.get("run_id").stringValue() + "/steps").stream()
                .sorted(Comparator.comparing(step -> step.get("completed_at").stringValue()))
                .map(step -> step.get("task_key").stringValue()).toList();
        assertThat(undone).hasSize(12).first().asString().startsWith("undo.g.6.d");
        assertThat(undone).last().asString().startsWith("undo.g.1.c");
    }

    private static String parent(String config, String tasks) {
        return api
                .create("{\"name\": \"parent\", \"start\": true, \"config\": {\"autonomy\": {\"level\": \"full_auto\"}"
                        + config + "}, \"plan\": {\"tasks\": [" + tasks + "]}}");
    }

    private static String echo(String id, int n, String undo) {
        return "{\"id\": \"%s\", \"steps\": [{\"tool\": \"echo\", \"input\": {\"n\": %s}}]%s}".formatted(id, n, undo);
    }

    /** A task whose undo waits for a person. */
    private static String waiting(String id) {
        return echo(id, 1, ", \"undo\": {\"kind\": \"approval\"}");
    }

    /** A task whose only step starts a run of tasks. */
    private static String starts(String id, String tasks, String input, String... undo) {
        return """
                {"id": "%s", "steps": [{"tool": "run.start", "input": {"name": "of %s", "plan": {"tasks": [%s]},
                 "config": {"autonomy": {"level": "full_auto"}}%s}%s}]}""".formatted(id, id, tasks, input,
                String.join("", undo));
    }

    private static String after(String other, String task) {
        return "{\"depends_on\": [\"" + other + "\"], " + task.substring(1);
    }

    private static Stream<JsonNode> children(String run) {
        return items(RUNS.substring(0, RUNS.length() - 1) + "?parent_run_id=" + run).stream()
                .map(each -> api.run(each.get("id").stringValue()));
    }

    private static String childOf(String run) {
        return children(run).findFirst().orElseThrow().get("id").stringValue();
    }

    private static JsonNode awaitUndo(String run, String state) {
        Awaitility.await().until(() -> api.run(run).at("/undo/state").asString("").equals(state));
        return api.run(run).get("undo");
    }

    private static List<JsonNode> items(String path) {
        return api.get(path).json().get("items").valueStream().toList();
    }
}
