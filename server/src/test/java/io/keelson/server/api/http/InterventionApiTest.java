package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.api.http.ApiServer.Answer;
import io.keelson.server.tenant.auth.Bootstrap;
import io.keelson.server.tenant.auth.Scope;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** What people do about failures and outputs, over HTTP. */
@Breadth.Spread
class InterventionApiTest {

    private static final String API = "/api/v1";

    /** Its first task fails at once, and the failure is put before a person. */
    private static final String ESCALATES = """
            {"name": "escalates", "start": true, "config": {"escalation": {"on_exhausted": true}}, "plan": {"tasks": [
              {"id": "bad", "steps": [{"name": "try", "tool": "fail", "input": {"times": 1, "message": "no luck"},
                                       "retry": {"max_attempts": 1}}]},
              {"id": "next", "depends_on": ["bad"], "trigger_rule": "all_done",
               "steps": [{"name": "say", "tool": "noop"}]}]}}""";
    private static final String REVIEWED = """
            {"name": "reviewed", "start": true, "plan": {"tasks": [
              {"id": "draft", "steps": [{"name": "write", "tool": "noop", "input": {"output": "text"}}],
               "retry": {"base_delay_seconds": 0}, "verify": [{"kind": "human"}]}]}}""";
    /** Its step fails once and waits for an hour. */
    private static final String BACKS_OFF = """
            {"name": "backs off", "start": true, "config": {"escalation": {"enabled": false}}, "plan": {"tasks": [
              {"id": "slow", "steps": [{"name": "try", "tool": "fail", "input": {"times": 1},
               "retry": {"base_delay_seconds": 3000, "max_delay_seconds": 3000}}]}]}}""";

    private static ApiServer api;

    @BeforeAll
    static void start(@TempDir Path folder) throws Exception {
        api = new ApiServer(folder);
    }

    @AfterAll
    static void stop() {
        api.close();
    }

    @ParameterizedTest(name = "a score of {0} with a threshold of {1}: {2}")
    @CsvSource(nullValues = "-", value = {"0.8, 0.8, completed, -",
            "0.797, 0.8, awaiting_human, the score 0.797 is below 0.8", "0.1, -, completed, -",
            "null, 0.8, awaiting_human, the verifier gives no score"})
    void aScoreBelowTheThresholdIsPutBeforeAHuman(String score, String threshold, String state, String reason) {
        String run = api.create("""
                {"name": "judged", "start": true, "plan": {"tasks": [
                  {"id": "draft", "steps": [{"name": "write", "tool": "noop"}], "verify": [{"kind": "tool",
                   "tool": "echo", "input": {"verdict": "passed", "score": %s, "feedback": "thin"}%s}]}]}}"""
                .formatted(score, threshold == null ? "" : ", \"threshold\": " + threshold));
        JsonNode task = awaitTask(run, "draft", state);
        if (reason == null) {
            return;
        }
        assertThat(task.get("error_message").stringValue()).isEqualTo("thin");
        JsonNode asked = api.get(API + "/runs/" + run + "/events?limit=200").json().get("items").valueStream()
                .filter(event -> event.get("event_type").stringValue().equals("task_human_review_requested"))
                .findFirst().orElseThrow().get("payload");
        assertThat(asked.get("reason").stringValue()).isEqualTo(reason);
        assertThat(asked.path("score").asString("-")).isEqualTo(score.equals("null") ? "-" : "0.80");
        assertThat(api.post(API + "/tasks/" + task.get("id").stringValue() + "/approve", "{}").status())
                .isLessThan(300);
        api.awaitState(run, "completed");
    }

    @Test
    void ticketNamesTheFailureAndTheChoices() {
        String run = api.create(ESCALATES);
        JsonNode document = api.awaitState(run, "escalated");
        JsonNode ticket = ticketOf(run);

        assertThat(document.get("open_escalations").asInt()).isEqualTo(1);
        assertThat(ticket.get("state").stringValue()).isEqualTo("open");
        assertThat(ticket.get("kind").stringValue()).isEqualTo("failure");
        assertThat(ticket.get("reason").stringValue()).isEqualTo("attempt_budget_exhausted");
        assertThat(ticket.get("error_code").stringValue()).isEqualTo("FAILED_ON_PURPOSE");
        assertThat(ticket.get("message").stringValue()).contains("no luck");
        assertThat(ticket.get("task_key").stringValue()).isEqualTo("bad");
        assertThat(ticket.get("step_name").stringValue()).isEqualTo("try");
        assertThat(ticket.get("run_name").stringValue()).isEqualTo("escalates");
        assertThat(words(ticket.get("suggested_actions"))).containsExactly("resume", "skip", "fail", "cancel");
        assertThat(task(run, "bad").get("ticket_id")).isEqualTo(ticket.get("id"));
        assertThat(api.get(API + "/escalations/esc_" + id(ticket)).json()).isEqualTo(ticket);
        assertThat(api.post(API + "/tasks/" + id(task(run, "bad")) + "/retry", "").json().get("code").stringValue())
                .isEqualTo("TICKET_OPEN");
        assertThat(api.get(API + "/escalations?state=open&run_id=" + UUID.randomUUID()).json().get("items")).isEmpty();

        api.post(API + "/runs/" + run + "/cancel", "");
        api.awaitState(run, "cancelled");
        JsonNode after = api.get(API + "/escalations/" + id(ticket)).json();
        assertThat(after.get("resolution").stringValue()).isEqualTo("void");
        assertThat(after.get("suggested_actions")).isEmpty();
        assertThat(api.run(run).get("open_escalations").asInt()).isZero();
    }

    @ParameterizedTest
    @CsvSource({"resume, completed, completed", "skip, completed, completed", "fail, failed, cancelled",
            "cancel, cancelled, cancelled"})
    void answerDecidesHowTheRunContinues(String answer, String end, String next) {
        String run = api.create(ESCALATES);
        api.awaitState(run, "escalated");
        String resolve = API + "/escalations/" + id(ticketOf(run)) + "/resolve";
        String body = "{\"resolution\": \"" + answer + "\", \"reason\": \"looked at it\"}";

        JsonNode answered = api.post(resolve, body).json();

        assertThat(answered.get("resolution").stringValue()).isEqualTo(answer);
        assertThat(answered.get("resolution_reason").stringValue()).isEqualTo("looked at it");
        api.awaitState(run, end);
        assertThat(task(run, "next").get("state").stringValue()).isEqualTo(next);
        assertThat(api.post(resolve, body).status()).as("the same answer again").isEqualTo(200);
        Answer other = api.post(resolve, "{\"resolution\": \"" + (answer.equals("skip") ? "fail" : "skip") + "\"}");
        assertThat(other.status()).isEqualTo(409);
        assertThat(other.json().get("code").stringValue()).isEqualTo("TICKET_NOT_OPEN");
    }

    @Test
    void ticketsAreListedInPages() {
        List<String> runs = List.of(api.create(ESCALATES), api.create(ESCALATES));
        runs.forEach(run -> api.awaitState(run, "escalated"));
        JsonNode first = api.get(API + "/escalations?state=open&limit=1").json();
        JsonNode second = api.get(API + "/escalations?state=open&limit=1&cursor="
                + first.get("next_cursor").stringValue()).json();

        assertThat(first.get("items")).hasSize(1);
        assertThat(second.get("items")).hasSize(1);
        assertThat(List.of(runOf(first), runOf(second))).containsExactlyInAnyOrderElementsOf(runs);
        runs.forEach(run -> api.post(API + "/runs/" + run + "/cancel", ""));
    }

    @Test
    void anOutputIsApproved() {
        String run = api.create(REVIEWED);
        JsonNode task = awaitTask(run, "draft", "awaiting_human");
        assertThat(task.get("gate").asInt()).isEqualTo(1);

        Answer old = api.post(API + "/tasks/" + id(task) + "/approve", "{\"gate\": 7}");
        assertThat(old.json().get("code").stringValue()).isEqualTo("GATE_CHANGED");
        Answer approved = api.post(API + "/tasks/" + id(task) + "/approve", "{\"gate\": 1, \"reason\": \"good\"}");

        assertThat(approved.json().get("state").stringValue()).isEqualTo("completed");
        assertThat(approved.json().get("verified_by").stringValue()).isEqualTo("human");
        assertThat(api.awaitState(run, "completed").get("error_code").isNull()).isTrue();
        assertThat(api.post(API + "/tasks/" + id(task) + "/approve", "").status()).isEqualTo(200);
        assertThat(api.post(API + "/tasks/" + id(task) + "/reject", "").json().get("code").stringValue())
                .isEqualTo("INVALID_STATE_TRANSITION");
    }

    @Test
    void aRejectedOutputIsTriedAgainOnlyWhereThatIsAskedFor() {
        String run = api.create(REVIEWED);
        JsonNode task = awaitTask(run, "draft", "awaiting_human");

        api.post(API + "/tasks/" + id(task) + "/reject", "{\"retry\": true, \"reason\": \"too long\"}");
        Awaitility.await().atMost(Duration.ofSeconds(60)).untilAsserted(
                () -> assertThat(task(run, "draft").get("gate").asInt(0)).isEqualTo(2));
        assertThat(task(run, "draft").get("attempt_number").asInt()).isEqualTo(2);

        Answer rejected = api.post(API + "/tasks/" + id(task) + "/reject", "{\"reason\": \"no use\"}");
        assertThat(rejected.json().get("state").stringValue()).isEqualTo("failed");
        assertThat(rejected.json().get("error_code").stringValue()).isEqualTo("OUTPUT_REJECTED");
        api.awaitState(run, "failed");
    }

    @Test
    void retrySkipsTheBackoff() {
        String run = api.create(BACKS_OFF);
        JsonNode step = api.awaitSteps(run, "awaiting_retry", 1).getFirst();
        assertThat(step.get("next_run_at").isNull()).isFalse();
        assertThat(step.get("failures").asInt()).isEqualTo(1);

        assertThat(api.post(API + "/tasks/" + id(task(run, "slow")) + "/retry", "").status()).isEqualTo(200);
        api.awaitState(run, "completed");
        assertThat(api.post(API + "/tasks/" + id(task(run, "slow")) + "/retry", "").json().get("code").stringValue())
                .isEqualTo("INVALID_STATE_TRANSITION");
    }

    @ParameterizedTest
    @CsvSource({"cancel, cancelled, cancelled", "skip, skipped, skipped"})
    void aTaskIsEnded(String action, String state, String end) {
        String run = api.create(BACKS_OFF);
        api.awaitSteps(run, "awaiting_retry", 1);
        String path = API + "/tasks/" + id(task(run, "slow")) + "/" + action;

        JsonNode task = api.post(path, "{\"reason\": \"not needed\"}").json();

        assertThat(task.get("state").stringValue()).isEqualTo(state);
        assertThat(api.run(run).get("state").stringValue()).isEqualTo(end);
        assertThat(api.post(path, "").status()).as("again").isEqualTo(200);
    }

    @Test
    void anAgentIsCancelledByItsNumber() {
        String run = api.create(BACKS_OFF);
        api.awaitSteps(run, "awaiting_retry", 1);
        String agents = API + "/runs/" + run + "/agents/";

        assertThat(api.post(agents + "7/cancel", "").json().get("code").stringValue()).isEqualTo("AGENT_NOT_FOUND");
        assertThat(api.post(agents + "first/cancel", "").json().get("code").stringValue()).isEqualTo("INVALID_ID");
        JsonNode agent = api.post(agents + "1/cancel", "{\"reason\": \"enough\"}").json();
        assertThat(agent.get("number").asInt()).isEqualTo(1);
        assertThat(agent.get("state").stringValue()).isEqualTo("cancelled");
        assertThat(agent.get("attempt_number").asInt()).isEqualTo(1);
        JsonNode ended = api.run(run);
        assertThat(ended.get("state").stringValue()).isEqualTo("cancelled");
        assertThat(ended.get("error_message").stringValue()).isEqualTo("enough");
        assertThat(api.get(API + "/runs/" + run + "/states").json().at("/contracts/handoff/run").stringValue())
                .isEqualTo("CANCELLED");
    }

    @Test
    void aRunIsFailedByHand() {
        String run = api.create(BACKS_OFF);
        api.awaitSteps(run, "awaiting_retry", 1);

        JsonNode failed = api.post(API + "/runs/" + run + "/fail", "{\"reason\": \"wrong data\"}").json();

        assertThat(failed.get("state").stringValue()).isEqualTo("failed");
        assertThat(failed.get("error_code").stringValue()).isEqualTo("FAILED_BY_HUMAN");
        assertThat(failed.get("error_message").stringValue()).isEqualTo("wrong data");
        assertThat(api.post(API + "/runs/" + run + "/fail", "").status()).as("again").isEqualTo(200);
    }

    @Test
    void withoutAPlannerThereIsNoNewPlan() {
        String run = api.create(BACKS_OFF);
        api.awaitSteps(run, "awaiting_retry", 1);

        Answer answer = api.post(API + "/runs/" + run + "/replan", "{\"reason\": \"another way\"}");

        assertThat(answer.status()).isEqualTo(409);
        assertThat(answer.json().get("code").stringValue()).isEqualTo("NO_PLANNER");
        assertThat(api.run(run).get("replans").asInt()).isZero();
    }

    @Test
    void aTaskThatFailsIsReplacedByItsFallback() {
        String run = api.create("""
                {"name": "planned again", "start": true, "output": "${ .tasks.end.output.v }",
                 "config": {"replan": {"planner": {"tool": "plan.fallback", "input": {"rules": [
                   {"when_failed": "other", "tasks": []},
                   {"when_failed": "bad", "tasks": [
                     {"id": "end", "depends_on": ["first"],
                      "steps": [{"name": "say", "tool": "echo", "input": {"v": "$${ .tasks.first.output.v }, again"}}]}]}
                 ]}}}},
                 "plan": {"tasks": [
                   {"id": "first", "steps": [{"name": "say", "tool": "echo", "input": {"v": "once"}}]},
                   {"id": "bad", "depends_on": ["first"],
                    "steps": [{"name": "try", "tool": "fail", "input": {"class": "permanent"}}]},
                   {"id": "end", "depends_on": ["bad"], "steps": [{"name": "say", "tool": "echo"}]}]}}""");

        JsonNode ended = api.awaitState(run, "completed");

        assertThat(ended.get("output").stringValue()).isEqualTo("once, again");
        assertThat(ended.get("plan_version").asInt()).isEqualTo(2);
        assertThat(ended.get("replans").asInt()).isEqualTo(1);
        assertThat(ended.get("plan").get("tasks").valueStream().map(task -> task.get("temp_id").stringValue()))
                .containsExactly("first", "end");
    }

    @Test
    void aRejectedOutputIsDoneAgainWithTheFeedback() {
        String run = api.create("""
                {"name": "verified", "start": true, "config": {"retry": {"backoff_base_seconds": 0}},
                 "output": "${ .tasks.draft.output.v }", "plan": {"tasks": [
                  {"id": "draft", "verify": [{"kind": "jq", "expression": ".v != null", "feedback": "say something"}],
                   "steps": [{"name": "say", "tool": "echo", "input": {"v": "${ .task.failure.message }"}}]}]}}""");

        assertThat(api.awaitState(run, "completed").get("output").stringValue()).isEqualTo("say something");
        JsonNode task = task(run, "draft");
        assertThat(task.get("attempt_number").asInt()).isEqualTo(2);
        assertThat(task.get("failures").asInt()).isEqualTo(1);
        assertThat(task.get("verifier_score").asDouble()).isEqualTo(1);
        assertThat(task.get("verified_by").stringValue()).isEqualTo("auto");
    }

    @Test
    void aResultIsAcceptedByAHuman() {
        String run = api.create("""
                {"name": "accepted", "start": true, "config": {"acceptance": "human"}, "plan": {"tasks": [
                  {"id": "a", "steps": [{"name": "say", "tool": "noop"}]}]}}""");
        Awaitility.await().atMost(Duration.ofSeconds(60)).untilAsserted(
                () -> assertThat(api.run(run).get("gate").stringValue()).isEqualTo("acceptance"));
        assertThat(api.run(run).get("state").stringValue()).isEqualTo("running");

        api.post(API + "/runs/" + run + "/approve", "{\"reason\": \"as it should be\"}");

        api.awaitState(run, "completed");
    }

    @Test
    void forkWithoutApproveScopeReusesNoHumanDecision() {
        for (String decided : List.of("\"steps\": [{\"kind\": \"approval\", \"input\": {\"question\": \"Pay?\"}}]",
                "\"steps\": [{\"tool\": \"noop\"}], \"verify\": [{\"kind\": \"human\"}]")) {
            String source = api.create("""
                    {"name": "pays", "start": true, "inputs": {"sum": {"default": 1}}, "plan": {"tasks": [
                      {"id": "ask", %s},
                      {"id": "pay", "depends_on": ["ask"], "steps": [{"tool": "echo",
                       "input": {"paid": "${ .inputs.sum }"}}]}]}}""".formatted(decided));
            Awaitility.await().until(() -> api.post(API + "/runs/" + source + "/approve", "{}").status() == 200);
            api.awaitState(source, "completed");
            String fork = API + "/runs/" + source + "/fork";
            String writer = api.bearer(Bootstrap.DEFAULT_WORKSPACE, Set.of(Scope.RUNS_WRITE));

            Answer other =
                    api.post(fork, "{\"task\": \"pay\", \"inputs\": {\"sum\": 1000000}}", "Authorization", writer);
            Answer same = api.post(fork, "{\"task\": \"pay\"}", "Authorization", writer);
            Answer asked = api.post(fork, "{\"task\": \"ask\", \"inputs\": {\"sum\": 2}}", "Authorization", writer);

            assertThat(other.json().get("code").stringValue()).as(other.text()).isEqualTo("SCOPE_MISSING");
            assertThat(other.json().get("scope").stringValue()).isEqualTo("approve");
            assertThat(same.status()).as("what was approved once is done once").isEqualTo(403);
            assertThat(asked.status()).as("it asks again").isEqualTo(201);
            assertThat(api.post(fork, "{\"task\": \"pay\"}").status()).as("with the scope").isEqualTo(201);
        }
    }

    @Test
    void aForkTakesOverWhatCompletedBeforeItsTask() {
        String source = api.create("""
                {"name": "source", "start": true, "inputs": {"who": {"type": "string"}, "n": {"default": null}},
                 "input": {"who": "ann"}, "tags": ["t"], "output": "${ .tasks.c.output }", "plan": {"tasks": [
                  {"id": "a", "steps": [{"name": "say", "tool": "echo", "input": {"v": "a of ${ .inputs.who }"}}]},
                  {"id": "b", "depends_on": ["a"],
                   "steps": [{"name": "say", "tool": "echo", "input": {"v": "b of ${ .inputs.who }"}}]},
                  {"id": "c", "depends_on": ["b"], "steps": [{"name": "say", "tool": "echo",
                   "input": {"v": ["${ .tasks.a.output.v }", "${ .tasks.b.output.v }"]}}]}]}}""");
        api.awaitState(source, "completed");
        String fork = API + "/runs/" + source + "/fork";

        Answer made = api.post(fork, "{\"task\": \"b\", \"inputs\": {\"who\": \"bob\"}, \"name\": \"forked\"}",
                "Idempotency-Key", "fork-1");

        assertThat(made.status()).as(made.text()).isEqualTo(201);
        String run = made.json().get("id").stringValue();
        JsonNode ended = api.awaitState(run, "completed");
        assertThat(ended.get("name").stringValue()).isEqualTo("forked");
        assertThat(ended.get("forked_from").stringValue()).isEqualTo(source);
        assertThat(ended.get("fork_task").stringValue()).isEqualTo("b");
        assertThat(ended.get("trigger").stringValue()).isEqualTo("fork");
        assertThat(ended.get("inputs")).hasToString("{\"n\":null,\"who\":\"bob\"}");
        assertThat(words(ended.get("output").get("v"))).containsExactly("a of ann", "b of bob");
        assertThat(task(run, "a").get("reused_from")).isEqualTo(task(source, "a").get("id"));
        assertThat(task(run, "b").get("reused_from").isNull()).isTrue();
        Answer again = api.post(fork, "{\"task\": \"b\", \"inputs\": {\"who\": \"bob\"}, \"name\": \"forked\"}",
                "Idempotency-Key", "fork-1");
        assertThat(again.status()).isEqualTo(200);
        assertThat(again.json().get("id").stringValue()).isEqualTo(run);
        assertThat(api.post(fork, "{\"task\": \"c\"}", "Idempotency-Key", "fork-1").json().get("code").stringValue())
                .isEqualTo("IDEMPOTENCY_KEY_CONFLICT");
        assertThat(api.post(API + "/runs/" + run + "/fork", "{\"task\": \"c\"}").status()).as("a fork of the fork")
                .isEqualTo(201);

        assertThat(problem(fork, "{}")).isEqualTo("REQUIRED /task");
        assertThat(problem(fork, "{\"task\": \"ghost\"}")).isEqualTo("UNKNOWN_REFERENCE /task");
        assertThat(problem(fork, "{\"task\": \"b\", \"inputs\": {\"whom\": 1}}"))
                .isEqualTo("INPUT_UNKNOWN /inputs/whom");
        assertThat(problem(fork, "{\"task\": \"b\", \"inputs\": []}")).isEqualTo("WRONG_TYPE /inputs");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/tasks/{}/approve", "/tasks/{}/reject", "/tasks/{}/retry", "/tasks/{}/cancel",
            "/tasks/{}/skip", "/escalations/{}/resolve", "/runs/{}/fail", "/runs/{}/replan", "/runs/{}/fork",
            "/runs/{}/agents/1/cancel"})
    void unknownIdIsNotFound(String path) {
        String body = path.contains("resolve") ? "{\"resolution\": \"skip\"}"
                : path.contains("fork") ? "{\"task\": \"a\"}" : "";

        Answer answer = api.post(API + path.replace("{}", UUID.randomUUID().toString()), body);

        assertThat(answer.status()).isEqualTo(404);
        assertThat(answer.json().get("code").stringValue()).endsWith("_NOT_FOUND");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "/escalations/{}/resolve | {}                                  | REQUIRED /resolution",
            "/escalations/{}/resolve | {\"resolution\": \"void\"}          | INVALID_VALUE /resolution",
            "/tasks/{}/approve       | {\"gate\": 0}                       | OUT_OF_RANGE /gate",
            "/tasks/{}/approve       | {\"retry\": true}                   | UNKNOWN_KEY /retry",
            "/tasks/{}/reject        | {\"retry\": 1}                      | WRONG_TYPE /retry",
            "/tasks/{}/skip          | {\"comment\": \"x\"}               | UNKNOWN_KEY /comment",
            "/tasks/{}/retry         | {\"reason\": \"x\"}                 | UNKNOWN_KEY /reason"})
    void aWrongBodyIsRefused(String path, String body, String problem) {
        assertThat(problem(API + path.replace("{}", UUID.randomUUID().toString()), body)).isEqualTo(problem);
    }

    @Test
    void invalidFilterIsRefused() {
        assertThat(api.get(API + "/escalations?state=closed").json().get("code").stringValue())
                .isEqualTo("INVALID_PARAMETER");
        assertThat(api.get(API + "/escalations?run_id=latest").json().get("code").stringValue())
                .isEqualTo("INVALID_PARAMETER");
        assertThat(api.get(API + "/escalations?cursor=abc").json().get("code").stringValue())
                .isEqualTo("INVALID_CURSOR");
    }

    private static String problem(String path, String body) {
        JsonNode document = api.post(path, body).json();
        return document.path("code").asString("") + " " + document.path("pointer").asString("");
    }

    private static JsonNode ticketOf(String run) {
        JsonNode items = api.get(API + "/escalations?run_id=run_" + run).json().get("items");
        assertThat(items).hasSize(1);
        return items.get(0);
    }

    private static String runOf(JsonNode page) {
        return page.get("items").get(0).get("run_id").stringValue();
    }

    private static JsonNode task(String run, String key) {
        return api.get(API + "/runs/" + run + "/tasks").json().get("items").valueStream()
                .filter(task -> task.get("key").stringValue().equals(key)).findFirst().orElseThrow();
    }

    private static JsonNode awaitTask(String run, String key, String state) {
        Awaitility.await().atMost(Duration.ofSeconds(60)).pollInterval(Duration.ofMillis(20)).untilAsserted(
                () -> assertThat(task(run, key).get("state").stringValue()).isEqualTo(state));
        return task(run, key);
    }

    private static String id(JsonNode document) {
        return document.get("id").stringValue();
    }

    private static List<String> words(JsonNode list) {
        return list.valueStream().map(JsonNode::stringValue).toList();
    }

    /** Tasks with the trigger rule all_done would start after any end of the task. */
    @ParameterizedTest(name = "{0} of a task with {2}")
    @CsvSource(delimiter = '|', textBlock = """
            tasks/%s/skip       | skipped   | an approval
            tasks/%s/cancel     | cancelled | an approval
            runs/%s/agents/1/cancel | cancelled | an approval
            tasks/%s/skip       | skipped   | an approval of items to come
            tasks/%s/cancel     | cancelled | an approval of items to come
            tasks/%s/cancel     | cancelled | an output that a person is to judge
            tasks/%s/skip       | skipped   | an output that a person is to judge
            runs/%s/replan      | cancelled | an approval
            runs/%s/replan      | cancelled | an approval of items to come
            runs/%s/replan      | cancelled | an output that a person is to judge
            """)
    void aKeyThatMayNotApproveMayNotEndWhatWaitsForApproval(String path, String end, String what) {
        String task = switch (what) {
            case "an approval" -> "\"steps\": [{\"name\": \"ok\", \"kind\": \"approval\"}]";
            case "an approval of items to come" -> """
                    "depends_on": ["first"], "for_each": "${ [1] }",
                    "steps": [{"name": "ok", "kind": "approval"}]""";
            default -> """
                    "steps": [{"name": "write", "tool": "test.remote"}], "verify": [{"kind": "human"}]""";
        };
        api.post("/api/v1/dispatch/claim", "{\"worker_id\": \"w\", \"tools\": [\"test.remote\"], \"max\": 1}");
        String run = api.create("""
                {"name": "guarded", "start": true, "config": {"replan": {"planner": {"tool": "test.remote"}}}, "plan": {"tasks": [
                  {"id": "guard", %s},
                  {"id": "first", "suggested_agent": {"agent_name": "other"},
                   "steps": [{"name": "write", "tool": "test.remote"}]},
                  {"id": "effect", "depends_on": ["guard"], "trigger_rule": "all_done",
                   "suggested_agent": {"agent_name": "other"}, "steps": [{"name": "do", "tool": "noop"}]}]}}"""
                .formatted(task));
        if (what.equals("an approval")) {
            api.awaitStep(run, "waiting_approval");
        }
        String url = API + "/" + path.formatted(path.startsWith("runs") ? run : id(task(run, "guard")));
        String key = api.bearer(Bootstrap.DEFAULT_WORKSPACE, Set.of(Scope.RUNS_READ, Scope.RUNS_WRITE));

        ApiServer.Answer refused = api.post(url, "{}", "Authorization", key);
        assertThat(refused.status()).as(refused.text()).isEqualTo(403);
        assertThat(refused.json().get("scope").stringValue()).isEqualTo("approve");
        assertThat(task(run, "effect").get("state").stringValue()).isEqualTo("pending");
        assertThat(api.post(url, "{}").status()).isEqualTo(200);
        if (!path.endsWith("replan")) {
            assertThat(task(run, "guard").get("state").stringValue()).isEqualTo(end);
        }
        api.post(API + "/runs/" + run + "/cancel", "{}");
    }

    @Test
    void aKeyThatMayNotApproveMayAskForAPlanThatAHumanApproves() {
        String run = api.create("""
                {"name": "asked", "start": true, "config": {"replan": {"planner": {"tool": "echo"}, "approve": true}},
                 "plan": {"tasks": [{"id": "guard", "steps": [{"name": "ok", "kind": "approval"}]}]}}""");
        api.awaitStep(run, "waiting_approval");
        String key = api.bearer(Bootstrap.DEFAULT_WORKSPACE, Set.of(Scope.RUNS_READ, Scope.RUNS_WRITE));

        assertThat(api.post(API + "/runs/" + run + "/replan", "{}", "Authorization", key).status()).isEqualTo(200);
        api.post(API + "/runs/" + run + "/cancel", "{}");
    }

    @Test
    void aKeyThatMayNotApproveMayNotRetryAnOutputThatAHumanIsToJudge() {
        String run = api.create("""
                {"name": "judged", "start": true, "plan": {"tasks": [{"id": "write",
                  "steps": [{"name": "write", "tool": "noop"}], "verify": [{"kind": "human"}]}]}}""");
        String url = API + "/tasks/" + id(awaitTask(run, "write", "awaiting_human")) + "/retry";
        String key = api.bearer(Bootstrap.DEFAULT_WORKSPACE, Set.of(Scope.RUNS_READ, Scope.RUNS_WRITE));

        ApiServer.Answer refused = api.post(url, "{}", "Authorization", key);

        assertThat(refused.status()).as(refused.text()).isEqualTo(403);
        assertThat(refused.json().get("scope").stringValue()).isEqualTo("approve");
        assertThat(task(run, "write").get("state").stringValue()).isEqualTo("awaiting_human");
        assertThat(api.post(url, "{}").status()).isEqualTo(200);
    }
}
