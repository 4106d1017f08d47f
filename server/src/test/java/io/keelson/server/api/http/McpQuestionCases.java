package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.annex.mcp.FakeMcpServer;
import io.keelson.server.api.http.ApiServer.Answer;
import io.keelson.server.base.json.Json;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** Questions of MCP servers, which people answer in the inbox. */
@Breadth.Spread
abstract class McpQuestionCases extends McpCases {
    McpQuestionCases(McpWorkspace mcp) {
        super(mcp);
    }

    @Test
    void questionBecomesAnInboxItemWhoseAnswerIsSentOnce() {
        String run = mcp.run("mcp.other.ask", "{}");
        JsonNode item = mcp.item(run);
        assertThat(item.path("kind").asString()).isEqualTo("elicitation");
        assertThat(item.path("question").asString()).isEqualTo("The MCP server 'other' asks: Whom?");
        assertThat(api.get("/api/v1/runs/" + run + "/explain").text()).contains("QUESTION");
        String accept = item.at("/links/accept").asString();
        assertThat(api.post(accept, "{\"content\": {\"name\": 1}}").json().path("problems").valueStream()
                .map(problem -> problem.path("code").asString() + problem.path("pointer").asString()))
                .containsExactly("ANSWER_INVALID/content/name");
        assertThat(api.post(accept, "{\"content\": {}}").text()).contains("ANSWER_INVALID");
        Answer accepted = api.post(accept, "{\"content\": {\"name\": \"Ada\"}}");
        assertThat(accepted.status()).as(accepted.text()).isEqualTo(200);
        api.awaitState(run, "completed");
        assertThat(mcp.text(run)).isEqualTo("accept Ada opaque");
        assertThat(other.calls("ask").stream().filter(call -> call.path("params").has("inputResponses")
                && call.at("/params/_meta/io.keelson~1effectKey").asString().contains(run))).hasSize(1);
        assertThat(api.post(accept, "{\"content\": {\"name\": \"Bob\"}}").status()).isEqualTo(404);
    }

    @Test
    void questionIsStoredWithTheDeferralOfItsStepAndWaitsForAYear() {
        String run = mcp.run("mcp.other.ask", "{}");
        mcp.item(run);
        JsonNode step = mcp.step(run);
        assertThat(Instant.parse(step.path("next_run_at").asString()))
                .isAfter(Instant.now().plus(Duration.ofDays(364)));
        assertThat(api.get("/api/v1/runs/" + run + "/events").text()).contains("step_deferred")
                .contains("inbox:elic_" + step.path("id").asString());
        assertThat(api.count("select lease_epoch from call_waits where run_id = '" + run + "'")).isEqualTo(1);
        api.post("/api/v1/runs/" + run + "/cancel", "{}");
    }

    @Test
    void answerIsAnEventAndMakesItsStepDueInTheSameCommit() {
        String run = mcp.run("mcp.other.ask", "{}");
        JsonNode item = mcp.item(run);
        api.post(item.at("/links/accept").asString(), "{\"content\": {\"name\": \"Ada\"}}");
        api.awaitState(run, "completed");
        List<String> events = api.get("/api/v1/runs/" + run + "/events?limit=500").json().path("items").valueStream()
                .map(event -> event.path("event_type").asString()).filter(type -> type.startsWith("step_")).toList();
        assertThat(events).containsExactly("step_started", "step_deferred", "step_answered", "step_reclaimed",
                "step_completed");
    }

    @Test
    void ofTwoAnswersAtOnceOneIsTaken() throws Exception {
        String run = mcp.run("mcp.other.ask", "{}");
        String accept = mcp.item(run).at("/links/accept").asString();
        CountDownLatch both = new CountDownLatch(2);
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<Integer>> answers = Stream.of("Ada", "Bob").map(name -> threads.submit(() -> {
                both.countDown();
                both.await();
                return api.post(accept, "{\"content\": {\"name\": \"" + name + "\"}}").status();
            })).toList();
            assertThat(List.of(answers.get(0).get(), answers.get(1).get())).containsExactlyInAnyOrder(200, 404);
        }
        api.awaitState(run, "completed");
        assertThat(api.count("select count(*) from orchestration_events where run_id = '" + run
                + "' and event_type = 'step_answered'")).isEqualTo(1);
    }

    @Test
    void answerToAPausedRunIsSentAfterItsResumption() {
        String run = mcp.run("mcp.other.ask", "{}");
        String accept = mcp.item(run).at("/links/accept").asString();
        api.post("/api/v1/runs/" + run + "/pause", "{}");
        assertThat(api.post(accept, "{\"content\": {\"name\": \"Ada\"}}").status()).isEqualTo(200);
        assertThat(api.count("select count(*) from work_queue where run_id = '" + run + "'")).isZero();
        assertThat(other.calls("ask").stream().filter(call -> call.toString().contains(run))).hasSize(1);
        api.post("/api/v1/runs/" + run + "/resume", "{}");
        api.awaitState(run, "completed");
        assertThat(mcp.text(run)).isEqualTo("accept Ada opaque");
    }

    @Test
    void answerAfterTheEndOfTheRunIsRefused() {
        String run = mcp.run("mcp.other.ask", "{}");
        String accept = mcp.item(run).at("/links/accept").asString();
        api.post("/api/v1/runs/" + run + "/cancel", "{}");
        api.awaitState(run, "cancelled");
        Answer late = api.post(accept, "{\"content\": {\"name\": \"Ada\"}}");
        assertThat(late.status()).as(late.text()).isEqualTo(404);
        assertThat(late.text()).contains("INBOX_ITEM_NOT_FOUND");
        Awaitility.await().atMost(LIMIT).until(
                () -> api.count("select count(*) from call_waits where run_id = '" + run + "'") == 0);
    }

    @ParameterizedTest
    @CsvSource({"Whom?, name, false", "Enter the password, name, true", "Whom?, apiKey, true",
            "Whom?, access_token, true"})
    void formThatAsksForASecretHasAWarning(String message, String field, boolean warned) {
        String run = mcp.run("mcp.other.ask", "{}");
        awaitDeferral(run);
        api.sql("""
                update call_waits set questions = '{"who": {"method": "elicitation/create", "params": {"mode": "form",
                  "message": "%s", "requestedSchema": {"type": "object", "properties": {"%s": {}}}}}}'
                 where run_id = '%s'""".formatted(message, field, run));
        JsonNode item = mcp.item(run);
        assertThat(item.path("body").asString("").startsWith("Warning: this form asks for")).isEqualTo(warned);
        api.post("/api/v1/runs/" + run + "/cancel", "{}");
    }

    @Test
    void answerUnderAKeyIsRepeated() {
        String run = mcp.run("mcp.other.ask", "{}");
        String accept = mcp.item(run).at("/links/accept").asString();
        awaitDeferral(run);
        for (int i = 0; i < 2; i++) {
            Answer accepted = api.post(accept, "{\"content\": {\"name\": \"Ada\"}}", "Idempotency-Key", run);
            assertThat(accepted.status()).as(accepted.text()).isEqualTo(200);
        }
        api.awaitState(run, "completed");
    }

    private void awaitDeferral(String run) {
        Awaitility.await().atMost(LIMIT).until(
                () -> api.get("/api/v1/runs/" + run + "/explain").text().contains("QUESTION"));
    }

    @Test
    void declinedQuestionIsSentAsDeclined() {
        String run = mcp.run("mcp.other.ask", "{}");
        JsonNode item = mcp.item(run);
        api.post(item.at("/links/reject").asString(), "{}");
        api.awaitState(run, "completed");
        assertThat(mcp.text(run)).startsWith("decline");
    }

    @Test
    void dismissedQuestionIsSentAsCancelled() {
        String run = mcp.run("mcp.other.ask", "{}");
        JsonNode item = mcp.item(run);
        assertThat(api.post(item.at("/links/reject").asString(), "{\"cancel\": true}").status()).isEqualTo(200);
        api.awaitState(run, "completed");
        assertThat(mcp.text(run)).startsWith("cancel");
    }

    @Test
    void questionWithAnAddressShowsItAndTakesNoContent() {
        String run = mcp.run("mcp.other.visit", "{}");
        JsonNode item = mcp.item(run);
        assertThat(item.at("/data/questions/page/url").asString()).isEqualTo("https://sign-in.example/1");
        String accept = item.at("/links/accept").asString();
        assertThat(api.post(accept, "{\"content\": {\"a\": 1}}").text()).contains("ANSWER_INVALID");
        assertThat(api.post(accept, "{}").status()).isEqualTo(200);
        api.awaitState(run, "completed");
        assertThat(mcp.text(run)).isEqualTo("accept");
        assertThat(other.calls("visit").getLast().at("/params/inputResponses/page").has("content")).isFalse();
    }

    @Test
    void absurdQuestionIsShownAndAnswered() throws Exception {
        try (FakeMcpServer absurd = new FakeMcpServer("{}")) {
            mcp.put("odder", absurd, "note");
            absurd.result = Json.read("""
                    {"resultType": "input_required", "inputRequests": {"": {"method": "elicitation/create", "params":
                      {"mode": 4, "message": ["x"], "requestedSchema": {"type": "object", "properties": "none"}}},
                      "b/~": {"method": "elicitation/create"}}}""");
            String run = mcp.run("mcp.odder.note", "{}");
            JsonNode item = mcp.item(run);
            absurd.result = null;
            Answer accepted = api.post(item.at("/links/accept").asString(), "{}");
            assertThat(accepted.status()).as(accepted.text()).isEqualTo(200);
            api.awaitState(run, "completed");
        }
    }

    @Test
    void secretInAQuestionIsRedacted() throws Exception {
        try (FakeMcpServer curious = new FakeMcpServer("{}")) {
            curious.question = "Is your token very-secret?";
            mcp.put("curious", """
                    {"url": "%s", "bearer": "${ secret(\\"token\\") }", "tools": ["*"]}""".formatted(curious.url()));
            String inbox = "/api/v1/inbox?run_id=" + mcp.run("mcp.curious.ask", "{}");
            Awaitility.await().atMost(LIMIT).until(() -> !api.get(inbox).json().path("items").isEmpty());
            assertThat(api.get(inbox).text()).contains("Is your token").doesNotContain("very-secret");
        }
    }
}
