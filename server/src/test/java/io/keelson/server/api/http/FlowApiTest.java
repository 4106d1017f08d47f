package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** Switches and groups over HTTP: the tasks that are done, explanations, the picture, forks and refusals. */
class FlowApiTest {
    private static final String TRIAGE = """
            {"name": "triage", "start": true,
             "inputs": {"kind": {"type": "string", "default": "bug"}, "broken": {"type": "boolean", "default": false}},
             "input": {"kind": "%s", "broken": %s},
             "plan": {"tasks": [
               {"id": "read", "steps": [{"tool": "echo", "input": {"kind": "${ .inputs.kind }"}}]},
               {"id": "route", "title": "Route", "depends_on": ["read"],
                "output": "${ [.tasks.repair, .tasks.answer][] | select(.state == \\"completed\\") | .output.did }",
                "switch": [
                 {"name": "bug", "when": ".tasks.read.output.kind == \\"bug\\"", "tasks": [
                   {"id": "find", "steps": [{"tool": "echo", "input": {}}]},
                   {"id": "repair", "depends_on": ["find"], "failure_mode": "continue", "steps": [
                     {"tool": "echo", "input":
                       {"did": "${ if .inputs.broken then error(\\"broken\\") else \\"repaired\\" end }"}}]}]},
                 {"name": "question", "when": "${ .inputs.kind == \\"question\\" }", "tasks": [
                   {"id": "answer", "steps": [{"tool": "echo", "input": {"did": "answered"}}]}]}]},
               {"id": "close", "depends_on": ["route"], "steps": [
                 {"tool": "echo", "input": {"did": "${ .tasks.route.output }"}}]}]}}""";

    @TempDir
    private static Path folder;

    private static ApiServer api;

    @BeforeAll
    static void start() throws Exception {
        api = new ApiServer(folder);
    }

    @AfterAll
    static void stop() {
        api.close();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            bug      | route.switch find repair route close | "repaired"
            question | route.switch answer route close      | "answered"
            """)
    void oneBranchIsDone(String kind, String done, String output) {
        String run = api.create(TRIAGE.formatted(kind, false));
        api.awaitState(run, "completed");
        assertThat(completed(run)).isEqualTo("read " + done);
        assertThat(task(run, "close").at("/output/did")).hasToString(output);
    }

    @Test
    void withoutAMatchTheSwitchEndsAtOnce() {
        String run = api.create(TRIAGE.formatted("praise", false).replaceFirst("\"output\": .*\n", ""));
        api.awaitState(run, "completed");
        assertThat(completed(run)).isEqualTo("read route.switch route close");
        assertThat(task(run, "route").get("output")).hasToString("{\"branch\":null}");
        assertThat(task(run, "find").get("state").stringValue()).isEqualTo("skipped");
        assertThat(events(run, "find")).contains("it is in branch 'bug' of switch 'route'");
        JsonNode why = api.get("/api/v1/tasks/" + task(run, "find").get("id").stringValue() + "/explain").json();
        assertThat(why.get("reasons").valueStream().map(each -> each.get("code").stringValue()).toList())
                .contains("BRANCH_NOT_CHOSEN");
        assertThat(why.toString()).contains("it is in branch 'bug' of switch 'route', done if"
                + " ${ .tasks.read.output.kind == \\\"bug\\\"", "no condition of switch 'route' holds");
    }

    @Test
    void failureInTheChosenBranchSkipsTheTasksBehindTheSwitch() {
        String run = api.create(TRIAGE.formatted("bug", true).replace("\"start\": true,",
                "\"start\": true, \"config\": {\"failure_mode\": \"continue\", \"agent_failure_mode\": \"continue\"},"));
        api.awaitState(run, "completed");
        assertThat(completed(run)).isEqualTo("read route.switch find");
        assertThat(task(run, "close").get("state").stringValue()).isEqualTo("skipped");
    }

    /** The choice is not made again, though its inputs are others now. */
    @Test
    void forkFromATaskOfABranchKeepsTheChoice() {
        String run = api.create(TRIAGE.formatted("question", false));
        api.awaitState(run, "completed");
        String fork = api.post("/api/v1/runs/" + run + "/fork",
                "{\"task\": \"answer\", \"inputs\": {\"kind\": \"bug\"}}").json().get("id").stringValue();
        api.awaitState(fork, "completed");
        assertThat(completed(fork)).contains("answer").doesNotContain("repair");
        String again = api.post("/api/v1/runs/" + run + "/fork",
                "{\"task\": \"read\", \"inputs\": {\"kind\": \"bug\"}}").json().get("id").stringValue();
        api.awaitState(again, "completed");
        assertThat(completed(again)).contains("repair").doesNotContain("answer");
    }

    @Test
    void pictureAndTimelineHaveTheBranches() {
        String run = api.create(TRIAGE.formatted("bug", false));
        api.awaitState(run, "completed");
        JsonNode picture = api.get("/api/v1/runs/" + run + "/graph").json();
        List<String> ids = picture.at("/boxes/id").valueStream().map(JsonNode::stringValue).toList();
        assertThat(picture.at("/boxes/mark").get(ids.indexOf("route.switch")).stringValue()).isEqualTo("choice");
        assertThat(picture.at("/boxes/mark").get(ids.indexOf("route")).stringValue()).isEqualTo("end");
        List<String> branches = IntStream.range(0, picture.at("/edges/from").size())
                .filter(i -> !picture.at("/edges/branch").get(i).stringValue().isEmpty())
                .mapToObj(i -> ids.get(picture.at("/edges/from").get(i).asInt()) + " "
                        + ids.get(picture.at("/edges/to").get(i).asInt()) + " "
                        + picture.at("/edges/branch").get(i).stringValue())
                .toList();
        assertThat(branches).containsExactlyInAnyOrder("route.switch find bug", "route.switch answer question");
        JsonNode rows = api.get("/api/v1/runs/" + run + "/timeline").json().get("tasks");
        assertThat(rows.valueStream().filter(row -> row.get("key").stringValue().equals("repair")).findFirst()
                .orElseThrow().get("flow")).hasToString(
                        "{\"chooses\":null,\"ends\":null,\"branches\":[],\"within\":[{\"of\":\"route\",\"branch\":\"bug\"}]}");
        assertThat(task(run, "route.switch").at("/flow/branches/1/name").stringValue()).isEqualTo("question");
        String planned = api.post("/api/v1/runs", TRIAGE.formatted("bug", false).replace("\"start\": true,", "")).json()
                .get("id").stringValue();
        assertThat(api.get("/api/v1/runs/" + planned + "/graph").json().at("/boxes/mark").toString())
                .contains("choice");
    }

    /** A workspace's rule about tools holds for the tools that an author names. */
    @Test
    void rulesAboutToolsDoNotConcernTheChoice() {
        JsonNode answer = api.post("/api/v1/missions/validate", """
                {"name": "m", "config": {"allowed_tools": ["json.*"]}, "plan": {"tasks": [
                  {"id": "s", "switch": [{"when": "true", "tasks": []}]}]}}""").json();
        assertThat(answer.get("valid").booleanValue()).as(answer.toString()).isTrue();
    }

    private static String completed(String run) {
        return String.join(" ", api.get("/api/v1/runs/" + run + "/tasks").json().get("items").valueStream()
                .filter(task -> task.get("state").stringValue().equals("completed"))
                .map(task -> task.get("key").stringValue()).toList());
    }

    private static JsonNode task(String run, String key) {
        return api.get("/api/v1/runs/" + run + "/tasks").json().get("items").valueStream()
                .filter(task -> task.get("key").stringValue().equals(key)).findFirst().orElseThrow();
    }

    private static String events(String run, String key) {
        String id = task(run, key).get("id").stringValue();
        return api.get("/api/v1/runs/" + run + "/events?limit=200").json().get("items").valueStream()
                .filter(event -> id.equals(event.path("task_id").asString(""))).toList().toString();
    }
}
