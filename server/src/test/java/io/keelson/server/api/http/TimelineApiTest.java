package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.keelson.core.Breadth;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** The stretches of a run's tasks are those of its real history. */
@Breadth.Spread
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class TimelineApiTest {

    private ApiServer api;

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        api = new ApiServer(folder);
    }

    @AfterAll
    void stop() {
        api.close();
    }

    /** Lets the server's clock go on by as long as another run waits. */
    private void pass(double seconds) {
        api.awaitState(api.create("""
                {"name": "clock", "start": true, "plan": {"tasks": [{"id": "t", "steps": [
                  {"name": "w", "tool": "wait", "input": {"seconds": %s}}]}]}}""".formatted(seconds)), "completed");
    }

    private JsonNode timeline(String run, String query) {
        ApiServer.Answer answer = api.get("/api/v1/runs/" + run + "/timeline" + query);
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        return answer.json();
    }

    private List<String> kinds(JsonNode task) {
        return task.get("stretches").valueStream().map(each -> each.get("kind").stringValue()).toList();
    }

    private JsonNode claim() {
        return api.post("/api/v1/dispatch/claim",
                "{\"worker_id\": \"w\", \"tools\": [\"test.remote\"], \"wait_ms\": 20000}")
                .json().at("/items/0");
    }

    @Test
    void timeAfterTheFirstFailureIsBackoff() {
        String run = api.create("""
                {"name": "backoff", "start": true, "plan": {"tasks": [{"id": "a", "steps": [
                  {"name": "flaky", "tool": "fail", "input": {"times": 1},
                   "retry": {"max_attempts": 2, "base_delay_seconds": 900, "max_delay_seconds": 900}}]}]}}""");
        api.awaitSteps(run, "awaiting_retry", 1);
        pass(0.2);
        JsonNode timeline = timeline(run, "");
        assertThat(kinds(timeline.at("/tasks/0"))).endsWith("failed", "backoff");
        assertThat(timeline.at("/tasks/0/stretches").valueStream().toList().getLast().get("to_ms").isNull()).isTrue();
        assertThat(timeline.at("/spent/backoff_ms").longValue()).isPositive();
    }

    @Test
    void questionsAboutPlanBudgetAndResultAreTimeOfAPerson() {
        String run = api.create("""
                {"name": "asks", "start": true, "config": {"autonomy": {"level": "approve"}, "acceptance": "human",
                  "budget": {"hard_limit_usd": 1}},
                 "plan": {"tasks": [{"id": "a", "steps": [{"name": "one", "tool": "noop", "input": {"cost": 1}},
                  {"name": "two", "tool": "noop", "input": {"cost": 1}}]}]}}""");
        for (String answer : List.of("{}", "{\"hard_limit_usd\": 3}", "{}")) {
            Awaitility.await().until(() -> api.get("/api/v1/inbox?run_id=" + run).json().get("items").size() == 1);
            pass(0.2);
            if (answer.contains("limit")) {
                JsonNode last = timeline(run, "").at("/tasks/0/stretches").valueStream().toList().getLast();
                assertThat(last.get("kind").stringValue()).isEqualTo("person");
                assertThat(last.get("to_ms").isNull()).isTrue();
            }
            JsonNode agent = api.get("/api/v1/runs/" + run + "/agents").json().at("/items/0");
            if (agent.isObject() && api.run(run).get("state").stringValue().equals("running")) {
                assertThat(agent.get("tasks_ended_at").isString()).as("its work has ended").isTrue();
                assertThat(agent.get("completed_at").isNull()).as("its result is not accepted").isTrue();
            }
            String item = api.get("/api/v1/inbox?run_id=" + run).json().at("/items/0/id").stringValue();
            assertThat(api.post("/api/v1/inbox/" + item + "/accept", answer).status()).isEqualTo(200);
        }
        api.awaitState(run, "completed");
        JsonNode timeline = timeline(run, "");
        assertThat(timeline.at("/spent/person_ms").longValue()).isGreaterThanOrEqualTo(590);
        assertThat(timeline.get("asked")).as("a plan, a budget, a result").hasSize(3)
                .allSatisfy(each -> assertThat(each.get("to_ms").longValue() - each.get("from_ms").longValue())
                        .isGreaterThanOrEqualTo(190));
        assertThat(timeline.at("/asked/0/to_ms").longValue())
                .isLessThanOrEqualTo(timeline.at("/tasks/0/stretches/0/from_ms").longValue());
    }

    @Test
    void anEscalatedRunWaitsForAPersonWithAllItsTasks() {
        api.post("/api/v1/dispatch/claim", "{\"worker_id\": \"w\", \"tools\": [\"test.remote\"]}");
        String run = api.create("""
                {"name": "escalated", "start": true, "config": {"escalation": {"on_exhausted": true}},
                 "plan": {"tasks": [
                  {"id": "backoff", "steps": [{"name": "s", "tool": "fail", "input": {"times": 1},
                   "retry": {"max_attempts": 2, "base_delay_seconds": 900, "max_delay_seconds": 900}}]},
                  {"id": "queued", "steps": [{"name": "s", "tool": "test.remote", "input": {}}]},
                  {"id": "fails", "depends_on": ["gate"], "steps": [{"name": "s", "tool": "fail", "input": {},
                   "retry": {"max_attempts": 1}}]},
                  {"id": "gate", "steps": [{"name": "ask", "kind": "approval", "input": {"question": "Fail?"}}]}]}}""");
        api.awaitSteps(run, "awaiting_retry", 1);
        JsonNode asked = api.awaitSteps(run, "waiting_approval", 1).getFirst();
        api.post("/api/v1/steps/" + asked.get("id").stringValue() + "/approve", "{}");
        api.awaitState(run, "escalated");
        pass(0.5);
        JsonNode timeline = timeline(run, "");
        assertThat(timeline.at("/spent/person_ms").longValue()).isGreaterThanOrEqualTo(490);
        for (int task = 0; task < 3; task++) {
            JsonNode last = timeline.at("/tasks/" + task + "/stretches").valueStream().toList().getLast();
            assertThat(last.get("kind").stringValue()).as(timeline.at("/tasks/" + task).toString()).isEqualTo("person");
            assertThat(last.get("to_ms").isNull()).isTrue();
        }
        assertThat(timeline.get("asked").valueStream().toList().getLast().get("to_ms").isNull()).isTrue();
    }

    @Test
    void timeInWhichARunHadEndedIsNoPartOfItsDuration() {
        String run = api.create("""
                {"name": "ended", "start": true, "config": {"escalation": {"enabled": false}}, "plan": {"tasks": [
                  {"id": "a", "steps": [{"name": "s", "tool": "fail", "input": {"class": "permanent"}}]}]}}""");
        api.awaitState(run, "failed");
        pass(1.5);
        api.post("/api/v1/runs/" + run + "/retry", "{}");
        JsonNode ended = Awaitility.await().until(() -> api.run(run), each -> each.get("attempt_number").intValue() == 2
                && each.get("state").stringValue().equals("failed"));
        JsonNode timeline = timeline(run, "");
        assertThat(timeline.at("/spent/ended_ms").longValue()).isGreaterThanOrEqualTo(1490);
        long whole = Instant.parse(ended.get("completed_at").stringValue()).toEpochMilli()
                - Instant.parse(ended.get("started_at").stringValue()).toEpochMilli();
        assertThat(ended.get("duration_ms").longValue()).isCloseTo(whole - timeline.at("/spent/ended_ms").longValue(),
                within(50L));
        assertThat(timeline.at("/spent/other_ms").longValue()).isBetween(0L, ended.get("duration_ms").longValue() + 50);
    }

    @Test
    void anOpenRunThatWasRetriedHasNoEndAndTellsHowLongItHadEnded() {
        String run = api.create("""
                {"name": "reopened", "start": true, "plan": {"tasks": [
                  {"id": "a", "steps": [{"name": "s", "kind": "approval", "input": {"question": "Go on?"}}]}]}}""");
        api.post("/api/v1/steps/" + api.awaitSteps(run, "waiting_approval", 1).getFirst().get("id").stringValue()
                + "/reject", "{}");
        assertThat(api.awaitState(run, "failed").get("ended_ms").longValue()).isZero();
        pass(0.5);
        api.post("/api/v1/runs/" + run + "/retry", "{}");
        api.awaitState(run, "running");
        JsonNode listed = api.get("/api/v1/runs?state=running").json().get("items").valueStream()
                .filter(each -> each.get("id").stringValue().equals(run)).findFirst().orElseThrow();
        for (JsonNode each : List.of(listed, api.run(run))) {
            assertThat(each.get("completed_at").isNull()).isTrue();
            assertThat(each.get("duration_ms").isNull()).isTrue();
            assertThat(each.get("ended_ms").longValue()).isGreaterThanOrEqualTo(490);
        }
    }

    @Test
    void fourKindsOfStretchesAddUpToTheDuration() {
        api.post("/api/v1/dispatch/claim", "{\"worker_id\": \"w\", \"tools\": [\"test.remote\"]}");
        String run = api.create("""
                {"name": "four", "start": true, "plan": {"tasks": [{"id": "a", "steps": [
                  {"name": "flaky", "tool": "fail", "input": {"times": 1},
                   "retry": {"max_attempts": 2, "base_delay_seconds": 0.4, "jitter": 0}},
                  {"name": "ask", "kind": "approval", "input": {"question": "Go on?"}},
                  {"name": "work", "tool": "test.remote", "input": {}}]}]}}""");
        JsonNode asked = api.awaitSteps(run, "waiting_approval", 1).getFirst();
        pass(0.3);
        api.post("/api/v1/steps/" + asked.get("id").stringValue() + "/approve", "{}");
        pass(0.3);
        JsonNode item = claim();
        pass(0.3);
        assertThat(kinds(timeline(run, "").at("/tasks/0"))).endsWith("person", "queued", "work");
        assertThat(timeline(run, "").at("/tasks/0/stretches").valueStream().toList().getLast().get("to_ms").isNull())
                .isTrue();
        api.post("/api/v1/dispatch/complete", "{\"worker_id\": \"w\", \"items\": [{\"step_id\": \""
                + item.get("step_id").stringValue() + "\", \"lease_epoch\": 1, \"output\": 1}]}");
        long duration = api.awaitState(run, "completed").get("duration_ms").longValue();

        JsonNode timeline = timeline(run, "");
        Map<String, Long> sums = timeline.at("/tasks/0/stretches").valueStream().collect(Collectors.groupingBy(
                each -> each.get("kind").stringValue(), TreeMap::new,
                Collectors.summingLong(each -> each.get("to_ms").longValue() - each.get("from_ms").longValue())));
        assertThat(sums.keySet()).contains("backoff", "person", "queued", "work");
        assertThat(sums.get("backoff")).isGreaterThanOrEqualTo(300);
        assertThat(sums.get("person")).isGreaterThanOrEqualTo(300);
        assertThat(sums.get("queued")).isGreaterThanOrEqualTo(300);
        assertThat(sums.get("work")).isGreaterThanOrEqualTo(300);
        assertThat(sums.values().stream().mapToLong(Long::longValue).sum()).isCloseTo(duration, within(1_000L));
        JsonNode spent = timeline.get("spent");
        long all = Stream.of("work", "failed", "queued", "backoff", "person", "timer", "other")
                .mapToLong(each -> spent.get(each + "_ms").longValue()).sum();
        assertThat(all).isCloseTo(duration, within(1_000L));
        assertThat(spent.get("other_ms").longValue()).isLessThan(1_000);
    }

    @Test
    void onlyTasksWithLaterEventsAreAnsweredAfterOne() {
        String run = api.create("""
                {"name": "later", "start": true, "plan": {"tasks": [
                  {"id": "done", "steps": [{"name": "s", "tool": "noop"}]},
                  {"id": "ask", "steps": [{"name": "ask", "kind": "approval", "input": {"question": "Go on?"}}]},
                  {"id": "end", "depends_on": ["ask", "done"], "steps": [{"name": "s", "tool": "noop"}]}]}}""");
        JsonNode asked = api.awaitSteps(run, "waiting_approval", 1).getFirst();
        api.awaitSteps(run, "completed", 1);
        JsonNode before = timeline(run, "");
        assertThat(before.get("tasks").size()).isEqualTo(3);
        assertThat(before.at("/tasks/1/waits").stringValue()).isEqualTo("waiting_approval");
        assertThat(kinds(before.at("/tasks/2"))).isEmpty();
        assertThat(timeline(run, "?after=" + before.get("last_seq").longValue()).get("tasks").size()).isZero();

        api.post("/api/v1/steps/" + asked.get("id").stringValue() + "/approve", "{}");
        api.awaitState(run, "completed");
        JsonNode since = timeline(run, "?after=" + before.get("last_seq").longValue());
        assertThat(since.get("tasks").valueStream().map(each -> each.get("key").stringValue()))
                .containsExactly("ask", "end");
        assertThat(since.get("spent").isNull()).isTrue();
        assertThat(api.get("/api/v1/runs/00000000-0000-7000-8000-00000000dead/timeline").status()).isEqualTo(404);
    }

    @Test
    void attemptsBeforeAreThereUnlessOneIsAskedFor() {
        String run = api.create("""
                {"name": "again", "start": true, "config": {"escalation": {"enabled": false}}, "plan": {"tasks": [
                  {"id": "a", "steps": [{"name": "s", "tool": "fail", "input": {"class": "permanent"}}]}]}}""");
        api.awaitState(run, "failed");
        api.post("/api/v1/runs/" + run + "/retry", "{}");
        api.awaitState(run, "failed");
        assertThat(kinds(timeline(run, "").at("/tasks/0"))).filteredOn("failed"::equals).hasSize(2);
        assertThat(kinds(timeline(run, "?attempt=1").at("/tasks/0"))).filteredOn("failed"::equals).hasSize(1);
    }

    @Test
    void aGraphHasPlacesAndCountsOfStates() {
        String run = api
                .create("""
                {"name": "picture", "start": true, "plan": {"tasks": [
                  {"id": "a", "title": "First", "steps": [{"name": "s", "tool": "noop"}]},
                  {"id": "each", "depends_on": ["a"], "for_each": "${ [range(5)] }", "steps": [{"name": "s", "tool": "noop"}]},
                  {"id": "end", "depends_on": ["each"], "steps": [{"name": "ask", "kind": "approval", "input": {"question": "?"}}]}]}}""");
        api.awaitStep(run, "waiting_approval");
        JsonNode graph = api.get("/api/v1/runs/" + run + "/graph").json();
        assertThat(graph.at("/boxes/id").toString()).isEqualTo("[\"a\",\"group:each\",\"end\"]");
        assertThat(graph.at("/boxes/states/1").toString()).isEqualTo("{\"completed\":5}");
        assertThat(graph.at("/boxes/tasks/1").intValue()).isEqualTo(5);
        assertThat(graph.at("/edges/from").toString() + graph.at("/edges/to")).isEqualTo("[0,1][1,2]");
        JsonNode open = api.get("/api/v1/runs/" + run + "/graph?expand=group:each").json();
        assertThat(open.at("/boxes/id").size()).isEqualTo(7);
        assertThat(open.at("/edges/from").size()).isEqualTo(10);
        JsonNode planned = api.get("/api/v1/runs/" + run + "/graph?version=1").json();
        assertThat(planned.get("width")).isEqualTo(graph.get("width"));
        assertThat(api.get("/api/v1/runs/" + run + "/graph?version=7").status()).isEqualTo(400);
        ApiServer.Answer first = api.get("/api/v1/runs/" + run + "/graph");
        assertThat(api.get("/api/v1/runs/" + run + "/graph", "If-None-Match", first.header("ETag")).status())
                .isEqualTo(304);
    }

    @Test
    void aPlanThatWaitsForApprovalHasAGraph() {
        String run = api.create("""
                {"name": "planned", "start": true, "config": {"autonomy": {"level": "approve"}}, "plan": {"tasks": [
                  {"id": "a", "steps": [{"name": "s", "tool": "noop"}]},
                  {"id": "b", "depends_on": ["a"], "steps": [{"name": "s", "tool": "noop"}]}]}}""");
        api.awaitState(run, "awaiting_approval");
        JsonNode graph = api.get("/api/v1/runs/" + run + "/graph").json();
        assertThat(graph.at("/boxes/id").toString()).isEqualTo("[\"a\",\"b\"]");
        assertThat(graph.at("/edges/to").toString()).isEqualTo("[1]");
    }
}
