package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.api.http.ApiServer.Answer;
import io.keelson.server.tenant.auth.Scope;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** The roster over HTTP, and runs whose tasks its agents do in turns, with a worker that is spoken by hand. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Breadth.Spread
class AgentsApiTest {
    private static final String AGENTS = "/api/v1/agents";

    private ApiServer api;

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        api = new ApiServer(folder);
        claim("agent.turn", 0);
        price("small");
        agent("librarian", "\"tools\": [\"noop\", \"echo\", \"fail\"], \"capabilities\": [\"research\"],"
                + " \"instructions\": \"Keep ${ quiet }.\", \"model\": \"small\"");
        agent("scribe", "\"tools\": [\"noop\"], \"capabilities\": [\"writing\"], \"limits\": {\"max_turns\": 2}");
    }

    @AfterAll
    void stop() {
        api.close();
    }

    private JsonNode agent(String slug, String rest) {
        Answer made = api.post(AGENTS, "{\"slug\": \"%s\", %s}".formatted(slug, rest));
        assertThat(made.status()).as(made.text()).isEqualTo(201);
        return made.json();
    }

    private void price(String model) {
        String prices = "{\"items\": [{\"kind\": \"model\", \"name\": \"" + model
                + "\", \"usd_per_million_tokens\": {\"input\": 0, \"output\": 0}}]}";
        assertThat(api.send("PUT", "/api/v1/prices", prices.getBytes(StandardCharsets.UTF_8), "Content-Type",
                "application/json").status()).isEqualTo(200);
    }

    @Test
    void anAgentWhoseModelHasNoPriceIsRefusedWithItsTask() {
        agent("dear", "\"model\": \"unlisted\", \"capabilities\": [\"coding\"]");
        String mission = """
                {"name": "n", "plan": {"tasks": [{"id": "a", "suggested_agent": {"type": "roster",
                 "agent_name": "dear"}}]}}""";
        Answer refused = api.post("/api/v1/runs", mission);
        assertThat(refused.status()).as(refused.text()).isEqualTo(422);
        assertThat(refused.json().get("code").stringValue()).isEqualTo("NO_PRICE");
        assertThat(refused.json().get("pointer").stringValue()).isEqualTo("/plan/tasks/0");
        assertThat(refused.text()).contains("'dear'", "'unlisted'");
        price("unlisted");
        assertThat(api.post("/api/v1/runs", mission).status()).isEqualTo(201);
        assertThat(api.send("DELETE", AGENTS + "/dear", new byte[0]).status()).isEqualTo(204);
    }

    private Answer put(String agent, String json) {
        return api.send("PUT", AGENTS + "/" + agent, json.getBytes(StandardCharsets.UTF_8), "Content-Type",
                "application/json");
    }

    private List<JsonNode> claim(String tool, int waitMillis) {
        return items(api.post("/api/v1/dispatch/claim", "{\"worker_id\": \"w\", \"tools\": [\"" + tool
                + "\"], \"max\": 1, \"wait_ms\": " + waitMillis + ", \"lease_ms\": 60000}"));
    }

    private JsonNode turn() {
        List<JsonNode> items = claim("agent.turn", 20_000);
        assertThat(items).hasSize(1);
        return items.getFirst();
    }

    private String answer(JsonNode turn, String output) {
        return items(api.post("/api/v1/dispatch/complete", "{\"worker_id\": \"w\", \"items\": [{\"step_id\": "
                + turn.get("step_id") + ", \"lease_epoch\": " + turn.get("lease_epoch") + ", \"output\": " + output
                + "}]}")).getFirst().get("status").stringValue();
    }

    private static List<JsonNode> items(Answer answer) {
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        return answer.json().get("items").valueStream().toList();
    }

    private JsonNode runAgent(String body) {
        Answer made = api.post(AGENTS + "/run", body);
        assertThat(made.status()).as(made.text()).isEqualTo(201);
        return made.json();
    }

    private JsonNode task(String run) {
        return items(api.get("/api/v1/runs/" + run + "/tasks")).getFirst();
    }

    private List<JsonNode> events(String run, String type) {
        return items(api.get("/api/v1/runs/" + run + "/events")).stream()
                .filter(event -> event.get("event_type").stringValue().equals(type)).toList();
    }

    @Test
    void anAgentIsMadeReadChangedAndDeleted() {
        JsonNode made = agent("temp", "\"name\": \"Temp\", \"limits\": {\"max_turns\": 3}");
        assertThat(made.at("/limits/max_turns").intValue()).isEqualTo(3);
        assertThat(api.get(AGENTS + "/" + made.get("id")).json()).isEqualTo(api.get(AGENTS + "/temp").json());
        assertThat(api.get(AGENTS + "/temp").header("ETag")).isNotEmpty();

        Answer changed = put("temp", "{\"tools\": [\"echo\"]}");
        assertThat(changed.json().get("name").stringValue()).isEqualTo("temp");
        assertThat(changed.json().at("/limits/max_turns").isNull()).isTrue();
        assertThat(changed.json().get("tools").toString()).isEqualTo("[\"echo\"]");
        assertThat(put("temp", "{\"slug\": \"other\"}").status()).isEqualTo(422);

        assertThat(api.send("DELETE", AGENTS + "/temp", new byte[0]).status()).isEqualTo(204);
        assertThat(api.get(AGENTS + "/temp").json().get("code").stringValue()).isEqualTo("AGENT_NOT_FOUND");
        assertThat(api.send("DELETE", AGENTS + "/temp", new byte[0]).status()).isEqualTo(404);
    }

    @Test
    void theRosterIsListedPageByPage() {
        JsonNode first = api.get(AGENTS + "?limit=1").json();
        assertThat(first.at("/items/0/slug").stringValue()).isEqualTo("librarian");
        JsonNode second = api.get(AGENTS + "?limit=1&cursor=" + first.get("next_cursor").stringValue()).json();
        assertThat(second.at("/items/0/slug").stringValue()).isEqualTo("scribe");
    }

    private List<String> pointers(String body) {
        Answer refused = api.post(AGENTS, body);
        assertThat(refused.status()).isEqualTo(422);
        return refused.json().get("problems").valueStream().map(p -> p.get("pointer").stringValue()).toList();
    }

    @Test
    void invalidAgentGetsAllProblems() {
        assertThat(pointers("{\"slug\": \"No Slug\", \"tools\": [\"a b\"], \"capabilities\": [\"juggling\"],"
                + " \"limits\": {\"max_turns\": 0}, \"extra\": 1}"))
                .containsExactlyInAnyOrder("/slug", "/tools/0", "/capabilities/0", "/limits/max_turns", "/extra");
        assertThat(pointers("{\"slug\": \"slug\", \"tools\": [\"noop\", \"noop\", \"agent.turn\"]}"))
                .containsExactly("/tools/1", "/tools/2");
        assertThat(api.post(AGENTS, "{\"slug\": \"scribe\"}").json().get("code").stringValue())
                .isEqualTo("AGENT_SLUG_TAKEN");
    }

    @Test
    void anotherWorkspacesAgentsDoNotExistAndOnlyAdministratorsChangeTheirOwn() {
        String stranger = api.stranger();
        assertThat(api.get(AGENTS + "/scribe", "Authorization", stranger).status()).isEqualTo(404);
        assertThat(api.post(AGENTS + "/run", "{\"agent_slug\": \"scribe\", \"goal\": \"g\"}", "Authorization",
                stranger).status()).isEqualTo(422);
        String writer = api.bearer(UUID.fromString(api.run(done("scribe")).get("workspace_id").stringValue()),
                Set.of(Scope.RUNS_WRITE));
        assertThat(api.post(AGENTS, "{\"slug\": \"mine\"}", "Authorization", writer).status()).isEqualTo(403);
    }

    private String done(String agent) {
        String run = id(runAgent("{\"agent_slug\": \"%s\", \"goal\": \"g\"}".formatted(agent)));
        answer(turn(), "{\"output\": 1}");
        api.awaitState(run, "completed");
        return run;
    }

    private static String id(JsonNode answer) {
        return answer.at("/run/id").stringValue();
    }

    @Test
    void anAgentWorksInTurnsAndItsCallsAreSteps() {
        JsonNode made = runAgent("""
                {"agent_slug": "librarian", "goal": "Count ${ .them }", "inputs": {"shelf": 7}}""");
        assertThat(made.get("status").stringValue()).isEqualTo("requested");
        assertThat(made.get("run_id").stringValue()).isEqualTo("run_" + id(made));
        String run = id(made);

        JsonNode first = turn();
        JsonNode input = first.get("input");
        assertThat(input.get("goal").stringValue()).isEqualTo("Count ${ .them }");
        assertThat(input.get("instructions").stringValue()).isEqualTo("Keep ${ quiet }.");
        assertThat(input.get("model").stringValue()).isEqualTo("small");
        assertThat(input.get("tools").toString()).isEqualTo("[\"noop\",\"echo\",\"fail\"]");
        assertThat(input.at("/inputs/shelf").intValue()).isEqualTo(7);
        assertThat(input.get("transcript")).isEmpty();
        assertThat(input.get("feedback").isNull()).isTrue();

        assertThat(answer(first, """
                {"thought": "hm", "tool_calls": [
                  {"name": "echo", "input": {"a": ["${ secret(\\"x\\") }"]}},
                  {"name": "process.run", "input": {"command": ["rm"]}},
                  {"name": "fail", "input": {"code": "BAD_LUCK", "class": "permanent"}}]}"""))
                .isEqualTo("ok");

        JsonNode second = turn();
        JsonNode past = second.at("/input/transcript/0");
        assertThat(past.at("/answer/thought").stringValue()).isEqualTo("hm");
        assertThat(past.at("/results/0/output/a/0").stringValue()).isEqualTo("${ secret(\"x\") }");
        assertThat(past.at("/results/1/error/code").stringValue()).isEqualTo("TOOL_NOT_ALLOWED");
        assertThat(past.at("/results/2/error/code").stringValue()).isEqualTo("BAD_LUCK");
        assertThat(answer(second, "{\"output\": {\"books\": 3}}")).isEqualTo("ok");

        assertThat(api.awaitState(run, "completed").get("steps_total").intValue()).isEqualTo(5);
        JsonNode task = task(run);
        assertThat(task.get("output").toString()).isEqualTo("{\"books\":3}");
        assertThat(task.get("agent_type").stringValue()).isEqualTo("roster");
        assertThat(task.get("agent_id")).isEqualTo(api.get(AGENTS + "/librarian").json().get("id"));
        assertThat(items(api.get("/api/v1/runs/" + run + "/steps"))).extracting(s -> s.get("kind").stringValue() + " "
                + s.get("state").stringValue()).containsExactly("turn completed", "call completed", "call skipped",
                        "call failed", "turn completed");
        assertThat(events(run, "step_skipped").getFirst().at("/payload/tool").stringValue()).isEqualTo("process.run");
    }

    @Test
    void turnsAreBounded() {
        String run = id(runAgent("{\"agent_slug\": \"scribe\", \"task\": \"write\"}"));
        for (int i = 0; i < 2; i++) {
            answer(turn(), "{\"tool_calls\": [{\"name\": \"noop\"}]}");
        }
        assertThat(api.awaitState(run, "failed").get("error_code").stringValue()).isEqualTo("CONTINUATION_LIMIT");
    }

    @Test
    void tooLongTranscriptFailsTheTask() {
        String run = id(runAgent("{\"agent_slug\": \"librarian\", \"task\": \"write\"}"));
        String thought = "t".repeat(600_000);
        for (int i = 0; i < 2; i++) {
            answer(turn(), "{\"thought\": \"%s\", \"tool_calls\": [{\"name\": \"noop\"}]}".formatted(thought));
        }
        assertThat(claim("agent.turn", 2_000)).isEmpty();
        assertThat(api.awaitState(run, "failed").get("error_code").stringValue()).isEqualTo("TRANSCRIPT_TOO_LONG");
    }

    @Test
    void invalidAnswerFailsAndRetriesTheTurn() {
        String run = id(runAgent("{\"agent_slug\": \"scribe\", \"task\": \"write\"}"));
        assertThat(answer(turn(), "{\"tool_calls\": [{\"input\": 3}]}")).isEqualTo("rejected");
        JsonNode again = turn();
        assertThat(again.at("/failure_context/error_code").stringValue()).isEqualTo("TURN_UNREADABLE");
        answer(again, "{\"output\": null}");
        api.awaitState(run, "completed");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            ``                                                              | 600
            , "config": {"max_attempts": 2}                                 | 600
            , "config": {"timeouts": {"run_max_duration_seconds": 90}} | 90
            """)
    void anAgentRunHasTenMinutesUnlessItsConfigurationSaysOtherwise(String more, int seconds) {
        String run = id(runAgent("{\"agent_slug\": \"scribe\", \"task\": \"write\"" + more + "}"));

        assertThat(api.run(run).at("/config/timeouts/run_max_duration_seconds").intValue()).isEqualTo(seconds);
        answer(turn(), "{\"output\": null}");
        api.awaitState(run, "completed");
    }

    @Test
    void theLatestTasksOfItsTypeCountForAnAgentsScore() {
        for (String tool : List.of("noop", "fail")) {
            String run = api
                    .create("""
                    {"name": "n", "start": true, "plan": {"tasks": [{"id": "t", "task_type": "review",
                      "suggested_agent": {"agent_name": "scribe"}, "steps": [{"tool": "%s", "input": {}, "retry": {"max_attempts": 1}}]}]}}"""
                            .formatted(tool));
            api.awaitState(run, tool.equals("noop") ? "completed" : "failed");
        }
        String run = api.create("""
                {"name": "n", "start": true, "plan": {"tasks": [{"id": "t", "task_type": "review"}]}}""");
        JsonNode turn = turn();
        assertThat(events(run, "task_assigned").getFirst().get("payload").get("candidates").valueStream()
                .map(JsonNode::stringValue).toList()).anyMatch(
                        line -> line.startsWith("scribe ")
                                && line.endsWith("history 75 of 50 %)"));
        answer(turn, "1");
        api.awaitState(run, "completed");
    }

    @Test
    void taskWithoutAnAgentGoesToTheBestScore() {
        String run = api.create("""
                {"name": "n", "start": true, "plan": {"tasks": [{"id": "t", "task_type": "research",
                  "tools_needed": ["noop"]}]}}""");
        JsonNode turn = turn();
        assertThat(turn.at("/input/agent").stringValue()).isEqualTo("librarian");
        assertThat(turn.at("/input/tools").toString()).isEqualTo("[\"noop\"]");
        JsonNode assigned = events(run, "task_assigned").getFirst().get("payload");
        assertThat(assigned.get("agent").stringValue()).isEqualTo("librarian");
        assertThat(assigned.get("candidates").valueStream().map(JsonNode::stringValue).toList())
                .satisfiesExactly(best -> assertThat(best).startsWith("librarian ").contains("skill 250"),
                        other -> assertThat(other).startsWith("scribe ").contains("skill 0"));
        assertThat(api.get("/api/v1/runs/" + run + "/explain").text()).contains("AGENT_CHOSEN");
        answer(turn, "\"as it is\"");
        api.awaitState(run, "completed");
        assertThat(task(run).get("output").stringValue()).isEqualTo("as it is");
    }

    /** Whom a task with steps of its own is assigned to. Its agent's model needs no price. */
    @Test
    void aTaskWithStepsIsAssignedToTheAgentThatItNames() {
        agent("clerk", "\"model\": \"unpriced\", \"tools\": [\"noop\"]");
        String run = api.create("""
                {"name": "n", "start": true, "plan": {"tasks": [{"id": "t", "suggested_agent": {"agent_name": "clerk"},
                  "steps": [{"name": "s", "tool": "noop"}]}]}}""");
        api.awaitState(run, "completed");
        JsonNode assigned = events(run, "task_assigned").getFirst().get("payload");
        JsonNode task = task(run);
        assertThat(task.get("agent_id").isInt()).isTrue();
        assertThat(task.get("agent_type").stringValue()).isEqualTo("roster");
        assertThat(assigned.get("agent_id")).isEqualTo(task.get("agent_id"));
        assertThat(assigned.get("agent_type").stringValue()).isEqualTo("roster");
        assertThat(assigned.get("model").stringValue()).isEqualTo("unpriced");
        assertThat(assigned.get("agent").stringValue()).isEqualTo("clerk");
    }

    @Test
    void aTaskWithStepsIsAssignedWithTheModelThatItSuggests() {
        api.send("PUT", "/api/v1/prices",
                """
                {"items": [{"kind": "model", "name": "suggested", "usd_per_million_tokens": {"input": 1, "output": 1}}]}"""
                        .getBytes(StandardCharsets.UTF_8),
                "Content-Type", "application/json");
        String run = api
                .create("""
                {"name": "n", "start": true, "plan": {"tasks": [{"id": "t", "suggested_model": "suggested",
                  "suggested_agent": {"agent_name": "not-in-the-roster"}, "steps": [{"name": "s", "tool": "noop"}]}]}}""");
        api.awaitState(run, "completed");

        JsonNode assigned = events(run, "task_assigned").getFirst().get("payload");

        assertThat(assigned.get("model").stringValue()).isEqualTo("suggested");
        assertThat(assigned.get("agent").stringValue()).isEqualTo("not-in-the-roster");
        assertThat(assigned.has("agent_type")).isFalse();
    }

    @Test
    void aContractorIsDefinedInThePlan() {
        String run = api.create("""
                {"name": "n", "start": true, "plan": {"tasks": [{"id": "t", "suggested_agent": {"type": "contractor",
                  "agent_name": "temp", "tools": ["noop"], "instructions": "Hurry.", "max_turns": 1}}]}}""");
        JsonNode turn = turn();
        assertThat(turn.at("/input/instructions").stringValue()).isEqualTo("Hurry.");
        assertThat(task(run).get("agent_type").stringValue()).isEqualTo("contractor");
        answer(turn, "{\"tool_calls\": [{\"name\": \"noop\"}]}");
        assertThat(api.awaitState(run, "failed").get("error_code").stringValue()).isEqualTo("CONTINUATION_LIMIT");
    }

    /** No agent of the roster has the tool. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '\'', value = {
            "\"suggested_agent\": {\"agent_name\": \"librarian\"} | {\"agent_name\":\"librarian\"}",
            "\"title\": \"of the run's agent\" | {\"type\":\"contractor\"}"})
    void aTaskWhoseAgentLacksItsToolsGoesToAContractor(String task, String saved) {
        String run = api.create("""
                {"name": "n", "start": true, "agent_slug": "librarian", "plan": {"tasks": [{"id": "t", %s,
                  "tools_needed": ["files.read"]}]}}""".formatted(task));
        JsonNode turn = turn();
        assertThat(turn.at("/input/agent").stringValue()).isEqualTo("contractor");
        assertThat(turn.at("/input/tools").toString()).isEqualTo("[\"files.read\"]");
        JsonNode assigned = events(run, "task_assigned").getFirst().get("payload");
        assertThat(assigned.get("agent_type").stringValue()).isEqualTo("contractor");
        assertThat(assigned.get("candidates").toString()).contains("librarian lacks files.read",
                "scribe lacks files.read");
        assertThat(task(run).get("agent_type").stringValue()).isEqualTo("contractor");
        answer(turn, "{\"output\": 1}");
        api.awaitState(run, "completed");
        JsonNode recipe =
                api.post("/api/v1/runs/" + run + "/save-as-recipe", "{\"name\": \"of %s\"}".formatted(run)).json();
        assertThat(recipe.at("/mission/plan/tasks/0/suggested_agent").toString()).isEqualTo(saved);
    }

    @Test
    void anAgentThatIsGoneKeepsWhatItHas() {
        agent("brief", "\"tools\": [\"noop\"]");
        String run = id(runAgent("{\"agent_slug\": \"brief\", \"goal\": \"g\"}"));
        JsonNode turn = turn();
        api.send("DELETE", AGENTS + "/brief", new byte[0]);
        answer(turn, "{\"tool_calls\": [{\"name\": \"noop\"}]}");
        answer(turn(), "{\"output\": 1}");
        api.awaitState(run, "completed");
        assertThat(task(run).get("agent_id").isNull()).isTrue();
        assertThat(api.post("/api/v1/runs/" + run + "/fork", "{\"task\": \"work\"}").status()).isEqualTo(201);
        answer(turn(), "{\"output\": 1}");
    }
}
