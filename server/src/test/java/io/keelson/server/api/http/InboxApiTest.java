package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.api.http.ApiServer.Answer;
import io.keelson.server.api.http.inbox.InboxKind;
import io.keelson.server.tenant.auth.Bootstrap;
import io.keelson.server.tenant.auth.Scope;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.StreamSupport;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;

/** The inbox lists everything that waits for a person, for as long as it waits, and takes the decisions. */
@Breadth.Spread
class InboxApiTest {

    private static final String INBOX = "/api/v1/inbox";

    /** A run that comes to wait, by what it waits with; and how it ends by either answer. */
    enum Waits {
        PLAN_APPROVAL("awaiting_approval", "completed", "failed", """
                {"name": "plan", "start": true, "config": {"autonomy": {"level": "approve"}}, "plan": {"tasks": [
                  {"id": "a", "steps": [{"name": "say", "tool": "noop"}]}]}}"""),
        RESULT_ACCEPTANCE("running", "completed", "failed", """
                {"name": "result", "start": true, "config": {"acceptance": "human"}, "plan": {"tasks": [
                  {"id": "a", "steps": [{"name": "say", "tool": "noop"}]}]}}"""),
        APPROVAL_STEP("running", "completed", "failed", """
                {"name": "step", "start": true, "config": {"human_timeout_seconds": 7200}, "plan": {"tasks": [
                  {"id": "a", "steps": [{"name": "sign-off", "kind": "approval",
                   "input": {"question": "Go on?", "file": "x"}}]}]}}"""),
        TASK_REVIEW("running", "completed", "failed", """
                {"name": "task", "start": true, "plan": {"tasks": [
                  {"id": "a", "steps": [{"name": "say", "tool": "noop"}], "verify": [{"kind": "human"}]}]}}"""),
        ESCALATION("escalated", "completed", "failed", """
                {"name": "ticket", "start": true, "config": {"escalation": {"on_exhausted": true}}, "plan": {"tasks": [
                  {"id": "a", "steps": [{"name": "try", "tool": "fail", "input": {"times": "${ 0 + 1 }"},
                   "retry": {"max_attempts": 1}}]}]}}"""),
        BUDGET("budget_exceeded", "completed", "failed", """
                {"name": "budget", "start": true, "config": {"budget": {"hard_limit_usd": 1}}, "plan": {"tasks": [
                  {"id": "a", "steps": [{"name": "say", "tool": "noop", "input": {"cost": 1}}]},
                  {"id": "b", "depends_on": ["a"], "steps": [{"name": "say", "tool": "noop", "input": {"cost": 1}}]}
                ]}}""");

        private final String state;
        private final String accepted;
        private final String rejected;
        private final String mission;

        Waits(String state, String accepted, String rejected, String mission) {
            this.state = state;
            this.accepted = accepted;
            this.rejected = rejected;
            this.mission = mission;
        }

        String kind() {
            return InboxKind.valueOf(name()).wire();
        }

        String yes() {
            return this == BUDGET ? "{\"reason\": \"yes\", \"hard_limit_usd\": 9}" : "{\"reason\": \"yes\"}";
        }
    }

    private static ApiServer api;

    private final List<String> open = new ArrayList<>();
    private final List<JsonNode> claimed = new ArrayList<>();

    @BeforeAll
    static void start(@TempDir Path folder) throws Exception {
        api = new ApiServer(folder);
    }

    @AfterAll
    static void stop() {
        api.close();
    }

    @AfterEach
    void cancel() {
        open.forEach(run -> api.post("/api/v1/runs/" + run + "/cancel", ""));
        assertThat(items("")).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void itemWaitsForAcceptance(Waits waits) {
        String run = waiting(waits);
        JsonNode item = items("?run_id=" + run).getFirst();
        String id = item.get("id").stringValue();

        assertThat(item.get("kind").stringValue()).isEqualTo(waits.kind());
        assertThat(item.get("run_name").stringValue()).isEqualTo(api.run(run).get("name").stringValue());
        assertThat(item.get("run_state").stringValue()).isEqualTo(waits.state);
        assertThat(item.get("question").stringValue()).isNotBlank();
        assertThat(item.get("created_at").isString()).isTrue();
        assertThat(item.get("due_at").isNull()).isEqualTo(waits == Waits.BUDGET);
        assertThat(item.get("overdue").booleanValue()).isFalse();
        assertThat(api.get(item.get("links").get("subject").stringValue()).status()).isEqualTo(200);
        assertThat(api.get(item.get("links").get("run").stringValue()).status()).isEqualTo(200);
        assertThat(items("?kind=" + waits.kind())).containsExactly(item);

        JsonNode answer = post(item.get("links").get("accept").stringValue(), waits.yes(), 200);
        assertThat(answer.get("decision").stringValue()).isEqualTo("accepted");
        assertThat(answer.get("id").stringValue()).isEqualTo(id);
        api.awaitState(run, waits.accepted);
        assertThat(items("")).isEmpty();
        assertThat(stats().get("total").asInt()).isZero();

        post(INBOX + "/" + id + "/accept", waits.yes(), 200);
        post(INBOX + "/" + id + "/reject", "{}", 409);
        assertThat(api.run(run).get("state").stringValue()).isEqualTo(waits.accepted);
        post(INBOX + "/" + id + "/assign", "{\"assignee\": null}", 404);
        assertThat(events(run)).contains("\"reason\":\"yes\"").contains("\"actor_type\":\"human\"");
    }

    @Test
    void failureShowsTheInputOfItsAttempt() {
        JsonNode data = items("?run_id=" + waiting(Waits.ESCALATION)).getFirst().get("data");
        assertThat(data.get("input").toString()).isEqualTo("{\"times\":1}");
        assertThat(data.get("input_missing").isNull()).isTrue();
    }

    @Test
    void templateOfAnInputIsNotShownAsTheInputOfAnAttempt() {
        claim();
        String run = api.create("""
                {"name": "silent", "start": true, "config": {"escalation": {"on_exhausted": true}}, "plan": {"tasks": [
                  {"id": "a", "steps": [{"name": "push", "tool": "crm.push", "input": {"n": "${ 1 + 1 }"}, "timeout_seconds": 1,
                   "retry": {"max_attempts": 1}}]}]}}""");
        open.add(run);
        Awaitility.await().until(() -> claim() == 1);
        api.awaitState(run, "escalated");
        JsonNode data = items("?run_id=" + run).getFirst().get("data");
        assertThat(data.get("error_code").stringValue()).as("the worker reported nothing").isEqualTo("STEP_TIMEOUT");
        assertThat(data.get("input").isNull()).as(data.toString()).isTrue();
        assertThat(data.get("input_missing").stringValue()).contains("No resolved input was recorded");
        JsonNode step = api.get("/api/v1/runs/" + run + "/steps").json().at("/items/0");
        assertThat(step.get("state").stringValue()).isEqualTo("awaiting_retry");
        assertThat(step.get("input").isNull()).as(step.toString()).isTrue();
    }

    /** Three steps of a fan-out fail side by side for one reason. */
    private String threeQuestions() {
        claim();
        String run = api.create("""
                {"name": "fan", "start": true, "config": {"escalation": {"on_exhausted": true}}, "plan": {"tasks": [
                  {"id": "each", "for_each": "${ [1, 2, 3] }", "steps": [{"name": "push", "tool": "crm.push",
                   "retry": {"max_attempts": 1}}]}]}}""");
        Awaitility.await().until(() -> claim() == 3);
        claimed.forEach(step -> api.post("/api/v1/dispatch/fail", """
                {"worker_id": "crm", "items": [{"step_id": "%s", "lease_epoch": 1, "error_code": "CRM_DOWN",
                 "error_class": "infrastructure", "message": "down"}]}""".formatted(step.get("step_id").asString())));
        assertThat(items("?each=true&run_id=" + run)).hasSize(3);
        open.add(run);
        return run;
    }

    /** The number of steps that the worker has claimed so far; its first claim makes the tool known. */
    private int claim() {
        api.post("/api/v1/dispatch/claim", """
                {"worker_id": "crm", "tools": ["crm.push"], "max": 3}""").json().get("items").forEach(claimed::add);
        return claimed.size();
    }

    @Test
    void questionsAboutOneFailureAreAnsweredTogether() {
        String run = threeQuestions();
        JsonNode listed = items("?run_id=" + run).getFirst();
        assertThat(items("?run_id=" + run)).as("one line for one cause").hasSize(1);
        assertThat(listed.get("question").asString()).startsWith("3 steps or tasks failed alike, the first: step");
        assertThat(items("?each=true&run_id=" + run)).hasSize(3);
        assertThat(api.get(INBOX + "/stats").json().at("/by_kind/escalation").asInt()).isEqualTo(1);
        JsonNode item = api.get(INBOX + "/" + items("?run_id=" + run).getFirst().get("id").asString()).json();
        assertThat(item.at("/data/alike").asInt()).isEqualTo(3);
        JsonNode all = item.get("actions").valueStream().filter(each -> each.get("name").asString().equals("skip_all"))
                .findFirst().orElseThrow();
        post(all.get("href").asString(), all.get("body").toString(), 200);
        assertThat(items("?run_id=" + run)).isEmpty();
        api.awaitState(run, "skipped");
    }

    @Test
    void resumeOfARunAnswersAllQuestionsAboutItsFailures() {
        String run = threeQuestions();
        post("/api/v1/runs/" + run + "/resume", "", 200);
        assertThat(items("?run_id=" + run)).isEmpty();
        api.awaitState(run, "running");
    }

    @ParameterizedTest
    @EnumSource
    void orUntilItIsRejected(Waits waits) {
        String run = waiting(waits);
        String id = items("?run_id=" + run).getFirst().get("id").stringValue();

        post(INBOX + "/" + id + "/reject", "{\"reason\": \"not like this\"}", 200);
        api.awaitState(run, waits.rejected);
        assertThat(items("")).isEmpty();
        assertThat(events(run)).contains("not like this");

        post(INBOX + "/" + id + "/reject", "{\"reason\": \"not like this\"}", 200);
        post(INBOX + "/" + id + "/accept", "{}", 409);
        assertThat(api.run(run).get("state").stringValue()).isEqualTo(waits.rejected);
    }

    @ParameterizedTest
    @EnumSource
    void orUntilItsRunIsCancelled(Waits waits) {
        String run = waiting(waits);
        assertThat(items("")).hasSize(1);

        api.post("/api/v1/runs/" + run + "/cancel", "");

        assertThat(items("")).isEmpty();
    }

    @Test
    void anAnswerIsNeverTakenForAnother() {
        String run = open(api.create("""
                {"name": "two gates", "start": true, "config": {"autonomy": {"level": "approve"}}, "plan": {"tasks": [
                  {"id": "a", "steps": [{"name": "sign-off", "kind": "approval", "input": {}}]}]}}"""));
        String plan = awaitItem(run, "plan_approval").get("id").stringValue();
        post(INBOX + "/" + plan + "/accept", "{}", 200);
        JsonNode step = awaitItem(run, "approval_step");

        post(INBOX + "/" + plan + "/accept", "{}", 200);
        post(INBOX + "/" + plan + "/reject", "{}", 409);

        assertThat(items("")).as("the step still waits").containsExactly(step);
        assertThat(step.get("question").stringValue()).isEqualTo("Approve 'sign-off'?");
    }

    @Test
    void anOutputMayBeAskedForAgain() {
        String run = waiting(Waits.TASK_REVIEW);
        JsonNode item = items("").getFirst();
        assertThat(item.get("gate").asInt()).isEqualTo(1);
        String id = item.get("id").stringValue();

        post(INBOX + "/" + id + "/reject", "{\"gate\": 1, \"retry\": true, \"reason\": \"shorter\"}", 200);
        Awaitility.await().until(() -> !items("").isEmpty());

        assertThat(items("").getFirst().get("gate").asInt()).isEqualTo(2);
        assertThat(post(INBOX + "/" + id + "/accept", "{\"gate\": 1}", 409).get("code").stringValue())
                .isEqualTo("GATE_CHANGED");
        assertThat(api.run(run).get("state").stringValue()).isEqualTo("running");
    }

    /** A retry asks again about the plan or the result, and an answer to the question before it decides nothing. */
    @ParameterizedTest
    @EnumSource(names = {"PLAN_APPROVAL", "RESULT_ACCEPTANCE"})
    void aLateAnswerDecidesNoLaterQuestion(Waits waits) {
        String run = waiting(waits);
        String first = items("?run_id=" + run).getFirst().get("id").stringValue();
        post(INBOX + "/" + first + "/reject", "{\"reason\": \"one page more\"}", 200);
        api.awaitState(run, "failed");
        api.post("/api/v1/runs/" + run + "/retry", "{\"from\": \"start\"}");
        JsonNode second = awaitItem(run, waits.kind());
        assertThat(second.get("id").stringValue()).isNotEqualTo(first).startsWith(first.substring(0, 30));
        assertThat(second.at("/data/earlier/0/attempt").asInt()).isEqualTo(1);
        assertThat(second.at("/data/earlier/0/message").asString()).endsWith("was rejected: one page more");

        for (String answer : List.of("accept", "reject")) {
            JsonNode late = post(INBOX + "/" + first + "/" + answer, "{}", 409);
            assertThat(late.get("code").stringValue()).isEqualTo("GATE_CHANGED");
            assertThat(late.get("detail").stringValue()).contains(second.get("id").stringValue());
        }
        assertThat(api.get(INBOX + "/" + first).status()).isEqualTo(404);
        assertThat(items("?run_id=" + run)).containsExactly(second);
        post(second.get("links").get("accept").stringValue(), "{}", 200);
        api.awaitState(run, "completed");
    }

    @Test
    void resultHasTheVerdictsOfAllAttemptsAndWhatItsLastTasksCameTo() {
        String run = open(api
                .create("""
                {"name": "checked", "start": true, "config": {"acceptance": "human", "retry": {"backoff_base_seconds": 0}}, "plan": {"tasks": [
                  {"id": "a", "title": "Count", "success_criteria": "It counts", "steps": [{"tool": "echo", "input": {"n": "${ .task.attempt }"}}],
                   "verify": [{"kind": "jq", "expression": "if .n > 1 then true else \\"too few\\" end"}, {"kind": "length", "min": 1}]}]}}"""));
        JsonNode data = awaitItem(run, "result_acceptance").get("data");
        assertThat(data.get("output").isNull()).isTrue();
        assertThat(data.at("/results/0/output").asString()).contains("2");
        JsonNode task = data.at("/verified/0");
        assertThat(task.get("success_criteria").asString()).isEqualTo("It counts");
        assertThat(task.get("attempt").asInt()).isEqualTo(2);
        assertThat(task.get("checks").valueStream().map(each -> each.get("attempt").asInt() + " "
                + each.get("check").asString() + " " + each.get("verdict").asString())).containsExactly(
                        "1 verify.jq rejected", "2 verify.jq passed", "2 verify.length passed");
        JsonNode refused = task.at("/checks/0");
        assertThat(refused.get("feedback").asString()).isEqualTo("too few");
        assertThat(refused.get("output").asString()).contains("1");
        assertThat(task.at("/checks/1/output").isNull()).isTrue();
    }

    @Test
    void resultHasTheArtifactsOfCarriedTasks() {
        String run = open(api.create("""
                {"name": "carried", "start": true, "config": {"acceptance": "human"}, "plan": {"tasks": [
                  {"id": "a", "steps": [{"tool": "artifact.write", "input": {"name": "a.txt", "content": "x"}}]},
                  {"id": "b", "depends_on": ["a"], "steps": [
                    {"kind": "approval", "input": {"question": "Go on?"}},
                    {"tool": "artifact.write", "input": {"name": "b.txt", "content": "x"}}]}]}}"""));
        post(awaitItem(run, "approval_step").get("links").get("reject").stringValue(), "{}", 200);
        api.awaitState(run, "failed");
        post("/api/v1/runs/" + run + "/retry", "{\"from\": \"failed\"}", 200);
        post(awaitItem(run, "approval_step").get("links").get("accept").stringValue(), "{}", 200);

        assertThat(awaitItem(run, "result_acceptance").at("/data/artifacts").valueStream().map(JsonNode::asString))
                .containsExactly("a.txt", "b.txt");
    }

    @Test
    void itemNamesTheRequestsOfItsAnswers() {
        waiting(Waits.TASK_REVIEW);
        JsonNode item = items("").getFirst();
        String path = INBOX + "/" + item.get("id").stringValue();

        JsonNode one = api.get(path).json();

        assertThat(one.get("question")).isEqualTo(item.get("question"));
        assertThat(one.get("actions").valueStream().map(each -> each.get("name").stringValue()))
                .containsExactly("accept", "reject", "assign");
        assertThat(one.at("/actions/1/fields").toString()).isEqualTo("[\"reason\",\"gate\",\"retry\"]");
        assertThat(one.at("/actions/0/confirm")).isEqualTo(item.get("on_accept"));
        post(one.at("/actions/0/href").stringValue(), "{\"gate\": 1}", 200);
        assertThat(api.get(path).status()).isEqualTo(404);
    }

    @Test
    void acceptanceIsRequestedAgainAfterAPause() {
        String run = waiting(Waits.RESULT_ACCEPTANCE);
        JsonNode before = items("").getFirst();
        api.post("/api/v1/runs/" + run + "/pause", "");

        assertThat(items("")).isEmpty();
        post("/api/v1/runs/" + run + "/approve", "{}", 409);
        post(before.get("links").get("accept").stringValue(), "{}", 409);

        api.post("/api/v1/runs/" + run + "/resume", "");
        JsonNode item = awaitItem(run, "result_acceptance");
        assertThat(item.get("id")).isEqualTo(before.get("id"));
        assertThat(item.get("created_at")).isEqualTo(before.get("created_at"));
        assertThat(time(item, "due_at")).isAfter(time(before, "due_at")).isEqualTo(time(item, "reminder_at"));
        post(item.get("links").get("accept").stringValue(), "{}", 200);
        api.awaitState(run, "completed");
    }

    @Test
    void aStepAsksItsOwnQuestionAndIsDueByItsRunsRule() {
        waiting(Waits.APPROVAL_STEP);
        JsonNode item = items("").getFirst();

        assertThat(item.get("question").stringValue()).isEqualTo("Go on?");
        assertThat(item.get("data").get("file").stringValue()).isEqualTo("x");
        assertThat(item.get("task_key").stringValue()).isEqualTo("a");
        assertThat(item.get("step_name").stringValue()).isEqualTo("sign-off");
        assertThat(Duration.between(time(item, "created_at"), time(item, "due_at"))).hasHours(2);
    }

    @Test
    void newPlanIsShownWithTheFailedPlan() {
        String run = open(api.create("""
                {"name": "again", "goal": "Get there", "start": true, "config": {"replan": {"approve": true}, "planner": {
                  "tool": "echo", "input": {"reasoning": "by sea", "tasks": [
                    {"id": "sail", "title": "Sail", "estimated_cost": 1.5, "suggested_agent": {"agent_name": "crew"},
                     "steps": [{"tool": "noop", "input": {"output": "fair wind"}}]},
                    {"id": "drive", "estimated_cost": 0.5, "steps": [{"tool": "noop"}]}]}}},
                 "plan": {"tasks": [{"id": "pack", "steps": [{"tool": "noop"}]},
                   {"id": "drive", "depends_on": ["pack"], "title": "Drive",
                    "steps": [{"tool": "fail", "input": {"class": "permanent", "message": "no road"}}]},
                   {"id": "unpack", "depends_on": ["drive"], "steps": [{"tool": "noop"}]}]}}"""));
        JsonNode item = awaitItem(run, "escalation");
        assertThat(item.get("question").asString()).isEqualTo("Carry out the new plan of 'again'?");
        assertThat(item.get("on_accept").asString() + item.get("on_reject").asString()).doesNotContain("_");
        assertThat(api.get(INBOX + "/" + item.get("id").stringValue()).json().get("actions").valueStream()
                .map(each -> each.get("name").stringValue())).as("its rejection drops the plan")
                .containsExactly("accept", "reject", "fail", "cancel", "assign");
        JsonNode data = item.get("data");
        assertThat(data.at("/failed/0/task").asString()).isEqualTo("drive");
        assertThat(data.at("/failed/0/message").asString()).contains("no road");
        assertThat(data.get("reason").asString()).contains("drive");
        assertThat(data.get("changes")).hasToString(
                "{\"added\":[\"sail\"],\"replaced\":[\"drive\"],\"dropped\":[\"unpack\"],\"kept\":[\"pack\"]}");
        assertThat(data.at("/plan/reasoning").asString()).isEqualTo("by sea");
        assertThat(data.get("task_count").asInt()).isEqualTo(2);
        assertThat(data.get("estimated_cost").decimalValue()).isEqualByComparingTo("2");
        assertThat(data.at("/plan/tasks/0/title").asString()).isEqualTo("Sail");
        assertThat(data.at("/plan/tasks/0/suggested_agent/agent_name").asString()).isEqualTo("crew");
        assertThat(data.at("/plan/tasks/0/tools/0").asString()).isEqualTo("noop");
        assertThat(data.at("/plan/tasks/0/steps/0/input/output").asString()).isEqualTo("fair wind");
        assertThat(data.has("proposed")).isFalse();
    }

    @Test
    void eachQuestionHasWhatItIsAbout() {
        JsonNode ticket = awaitItem(waiting(Waits.ESCALATION), "escalation").get("data");
        assertThat(ticket.get("task").asString() + "/" + ticket.get("step").asString() + " " + ticket.get("tool")
                .asString()).isEqualTo("a/try fail");
        assertThat(ticket.at("/input/times").asInt()).isEqualTo(1);
        assertThat(ticket.get("attempt").asInt()).isEqualTo(1);
        assertThat(ticket.get("error_code").asString()).isNotBlank();
        assertThat(ticket.get("message").asString()).contains("a/try");
        assertThat(ticket.get("why").asString()).isEqualTo("it was tried as often as its policy allows");

        JsonNode budget = awaitItem(waiting(Waits.BUDGET), "budget");
        assertThat(budget.get("hard_limit_usd").decimalValue()).isEqualByComparingTo("1");
        assertThat(budget.at("/data/charged").decimalValue()).isEqualByComparingTo("1");
        assertThat(budget.at("/data/tasks_completed").asInt()).isEqualTo(1);
        assertThat(budget.at("/data/tasks_open").asInt()).isEqualTo(1);
        assertThat(budget.at("/data/next/0").asString()).isEqualTo("b");

        JsonNode result = awaitItem(waiting(Waits.RESULT_ACCEPTANCE), "result_acceptance").get("data");
        assertThat(result.get("tasks_completed").asInt()).isEqualTo(1);
        assertThat(result.get("artifacts")).isEmpty();

        JsonNode plan = awaitItem(waiting(Waits.PLAN_APPROVAL), "plan_approval").get("data");
        assertThat(plan.get("task_count").asInt()).isEqualTo(1);
        assertThat(plan.get("estimated_cost").decimalValue()).isEqualByComparingTo("0");

        String reviewed = open(api.create("""
                {"name": "review", "start": true, "plan": {"tasks": [{"id": "a", "success_criteria": "short",
                  "steps": [{"tool": "echo", "input": {"text": "long"}}], "verify": [{"kind": "human"}]}]}}"""));
        JsonNode review = awaitItem(reviewed, "task_review").get("data");
        assertThat(review.get("output").asString()).contains("long");
        assertThat(review.get("success_criteria").asString()).isEqualTo("short");
    }

    @Test
    void itemIsAssignedUntilItIsDecided() {
        String colleague = api.bearer(Bootstrap.DEFAULT_WORKSPACE, Scope.all(false));
        String run = waiting(Waits.APPROVAL_STEP);
        waiting(Waits.TASK_REVIEW);
        JsonNode item = items("?run_id=" + run).getFirst();
        String assign = item.get("links").get("assign").stringValue();
        assertThat(stats().get("unassigned").asInt()).isEqualTo(2);

        JsonNode assigned = post(assign, "{\"assignee\": \"tester\", \"due_at\": \"2020-01-01T00:00:00Z\"}", 200);

        assertThat(assigned.get("assignee").stringValue()).isEqualTo("tester");
        assertThat(assigned.get("due_at").stringValue()).isEqualTo("2020-01-01T00:00:00.000Z");
        assertThat(assigned.get("overdue").booleanValue()).isTrue();
        assertThat(items("?assignee=tester")).containsExactly(assigned);
        assertThat(items("?overdue=true")).containsExactly(assigned);
        assertThat(api.get(INBOX + "?assignee=@me", "Authorization", colleague).json().get("items")).hasSize(1);
        assertThat(items("?assignee=@none")).hasSize(1).doesNotContain(assigned);
        assertThat(stats().get("overdue").asInt()).isEqualTo(1);
        assertThat(stats().get("next_due_at").stringValue()).isEqualTo("2020-01-01T00:00:00.000Z");

        JsonNode problem = post(assign, "{\"assignee\": \"unknown\"}", 422).get("problems").get(0);
        assertThat(problem.get("code").stringValue()).isEqualTo("UNKNOWN_PRINCIPAL");
        assertThat(problem.get("pointer").stringValue()).isEqualTo("/assignee");
        post(assign, "{\"due_at\": \"tomorrow\"}", 422);
        assertThat(items("?assignee=tester")).as("a refusal changes nothing").containsExactly(assigned);

        assertThat(post(assign, "{\"assignee\": null, \"due_at\": null}", 200)).isEqualTo(item);
    }

    @Test
    void omittedMembersStayUnchanged() {
        api.bearer(Bootstrap.DEFAULT_WORKSPACE, Scope.all(false));
        JsonNode item = awaitItem(waiting(Waits.APPROVAL_STEP), "approval_step");
        String assign = item.get("links").get("assign").stringValue();
        post(assign, "{\"assignee\": \"tester\"}", 200);

        JsonNode due = post(assign, "{\"due_at\": \"2030-01-01T00:00:00Z\"}", 200);
        assertThat(due.get("assignee").stringValue()).isEqualTo("tester");
        assertThat(due.get("due_at").stringValue()).isEqualTo("2030-01-01T00:00:00.000Z");

        JsonNode nobodys = post(assign, "{\"assignee\": \"@none\"}", 200);
        assertThat(nobodys.get("assignee").isNull()).isTrue();
        assertThat(nobodys.get("due_at")).isEqualTo(due.get("due_at"));

        JsonNode problem = post(assign, "{}", 422).get("problems").get(0);
        assertThat(problem.get("code").stringValue()).isEqualTo("REQUIRED");
        assertThat(post(assign, "{\"due_at\": null}", 200)).isEqualTo(item);
    }

    /** The review of a repeated task is a new item, without the assignee of the first. */
    @Test
    void nextReviewHasNoAssigneeThoughItsDueTimeIsSet() {
        api.bearer(Bootstrap.DEFAULT_WORKSPACE, Scope.all(false));
        String run = waiting(Waits.TASK_REVIEW);
        JsonNode first = items("?run_id=" + run).getFirst();
        String assign = first.get("links").get("assign").stringValue();
        post(assign, "{\"assignee\": \"tester\"}", 200);
        post(first.get("links").get("reject").stringValue(), "{\"retry\": true}", 200);
        Awaitility.await().until(() -> items("?run_id=" + run).stream()
                .anyMatch(item -> item.get("gate").intValue() == 2));

        JsonNode due = post(assign, "{\"due_at\": \"2030-01-01T00:00:00Z\"}", 200);

        assertThat(due.get("assignee").isNull()).isTrue();
    }

    @Test
    void pagesAreStableAndStatsEqualARecount() {
        List<String> runs = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            for (Waits waits : Waits.values()) {
                runs.add(waiting(waits));
            }
        }
        List<JsonNode> all = items("?limit=100");
        assertThat(all).hasSize(runs.size());
        post(all.getLast().get("links").get("assign").stringValue(), "{\"due_at\": \"2020-01-01T00:00:00Z\"}", 200);
        all = items("?limit=100");

        List<JsonNode> paged = new ArrayList<>();
        String cursor = null;
        do {
            JsonNode page = api.get(INBOX + "?limit=5" + (cursor == null ? "" : "&cursor=" + cursor)).json();
            page.get("items").forEach(paged::add);
            cursor = page.get("next_cursor").asString(null);
            if (cursor != null) {
                // A decision on an item already listed: the following pages skip no other item.
                post(page.get("items").get(0).get("links").get("accept").stringValue(), "{}", -1);
            }
        } while (cursor != null);
        assertThat(paged).extracting(each -> each.get("id")).containsExactlyElementsOf(
                all.stream().map(each -> each.get("id")).toList());
        assertThat(paged.getFirst().get("overdue").booleanValue()).isTrue();
        assertThat(paged.getLast().get("due_at").isNull()).isTrue();

        List<JsonNode> left = items("?limit=100");
        Answer stats = api.get(INBOX + "/stats");
        assertThat(stats.json().get("total").asInt()).isEqualTo(left.size());
        for (String kind : InboxKind.words()) {
            assertThat(stats.json().get("by_kind").get(kind).asLong()).as(kind)
                    .isEqualTo(left.stream().filter(each -> each.get("kind").stringValue().equals(kind)).count());
        }
        assertThat(stats.json().get("oldest_at").stringValue()).isEqualTo(left.stream()
                .map(each -> each.get("created_at").stringValue()).min(String::compareTo).orElseThrow());
        assertThat(api.get("/inbox/stats", "If-None-Match", stats.header("ETag")).status()).isEqualTo(304);
        assertThat(api.get(INBOX + "?cursor=bm8").json().get("code").stringValue()).isEqualTo("INVALID_CURSOR");
    }

    @Test
    void othersHaveInboxesOfTheirOwn() {
        waiting(Waits.ESCALATION);
        String id = items("").getFirst().get("id").stringValue();
        String stranger = api.stranger();

        assertThat(api.get(INBOX, "Authorization", stranger).json().get("items")).isEmpty();
        assertThat(api.get(INBOX + "/stats", "Authorization", stranger).json().get("total").asInt()).isZero();
        for (String action : List.of("accept", "reject", "assign")) {
            String body = action.equals("assign") ? "{\"assignee\": null}" : "{}";
            Answer theirs = api.post(INBOX + "/" + id + "/" + action, body, "Authorization", stranger);
            String none = "esc_" + UUID.randomUUID();
            Answer nothing = api.post(INBOX + "/" + none + "/" + action, body, "Authorization", stranger);
            assertThat(theirs.status()).isEqualTo(404);
            assertThat(theirs.text().replace(id, none)).isEqualTo(nothing.text());
        }
        assertThat(items("")).hasSize(1);
    }

    private String waiting(Waits waits) {
        String run = open(api.create(waits.mission));
        awaitItem(run, waits.kind());
        return run;
    }

    private String open(String run) {
        open.add(run);
        return run;
    }

    private static JsonNode awaitItem(String run, String kind) {
        String query = "?run_id=" + run + "&kind=" + kind;
        Awaitility.await().until(() -> !items(query).isEmpty());
        return items(query).getFirst();
    }

    private static List<JsonNode> items(String query) {
        Answer answer = api.get(INBOX + query);
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        return StreamSupport.stream(answer.json().get("items").spliterator(), false).toList();
    }

    private static JsonNode stats() {
        return api.get(INBOX + "/stats").json();
    }

    /** @param status negative for whichever */
    private static JsonNode post(String path, String body, int status) {
        Answer answer = api.post(path, body);
        if (status >= 0) {
            assertThat(answer.status()).as(path + ": " + answer.text()).isEqualTo(status);
        }
        return answer.json();
    }

    private static String events(String run) {
        return api.get("/api/v1/runs/" + run + "/events?limit=500").text();
    }

    private static Instant time(JsonNode item, String member) {
        return Instant.parse(item.get(member).stringValue());
    }

    @Test
    void decisionHasItsSubject() {
        String plan = open(api
                .create("""
                {"name": "seen", "start": true, "goal": "See it", "config": {"autonomy": {"level": "approve"}},
                 "plan": {"reasoning": "because", "tasks": [{"id": "a", "title": "First", "estimated_cost": 0.5,
                  "tools_needed": ["files.read"], "steps": [{"name": "say", "tool": "noop", "input": {"cost": 0}}]}]}}"""));
        JsonNode planned = awaitItem(plan, "plan_approval").path("data");
        assertThat(planned.path("goal").asString()).isEqualTo("See it");
        assertThat(planned.path("task_count").asInt()).isEqualTo(1);
        assertThat(planned.at("/plan/reasoning").asString()).isEqualTo("because");
        JsonNode task = planned.at("/plan/tasks/0");
        assertThat(task.path("title").asString()).isEqualTo("First");
        assertThat(task.path("tools").toString()).isEqualTo("[\"noop\"]");
        assertThat(task.at("/steps/0/input").toString()).isEqualTo("{\"cost\":0}");

        String result = open(api.create("""
                {"name": "result", "start": true, "config": {"acceptance": "human"}, "output": "42", "plan": {"tasks": [
                  {"id": "a", "steps": [{"tool": "noop"}]}]}}"""));
        assertThat(awaitItem(result, "result_acceptance").at("/data/output").asString()).isEqualTo("42");
    }
}
