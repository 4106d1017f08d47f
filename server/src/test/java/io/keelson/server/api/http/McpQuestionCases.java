package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.api.http.ApiServer.Answer;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.queue.CallWaits;
import io.keelson.server.engine.store.queue.CallWaits.State;
import io.keelson.server.engine.store.queue.CallWaits.Wait;
import io.keelson.server.tenant.auth.Bootstrap;
import io.keelson.server.work.mcp.FakeMcpServer;
import java.util.UUID;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** Questions of MCP servers, which people answer in the inbox. */
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

    /** As between the question and the deferral of its step, or while that looks for an answer. */
    @Test
    void answerDuringAnExecutionIsStored() {
        String run = mcp.run("mcp.other.slow", "{\"n\": 1}");
        Awaitility.await().atMost(LIMIT).until(() -> other.calls("slow").size() == 1);
        String step = mcp.step(run).path("id").asString();
        api.sql("""
                update call_waits set state = 'asked', questions = '{"who": {"method": "elicitation/create", "params": {
                  "mode": "form", "message": "Whom?", "requestedSchema": {"type": "object", "properties": {"size": {}, "at": {}}}}}}'
                 where step_id = '%s'""".formatted(step));
        String accept = "/api/v1/inbox/elic_" + step + "/accept";
        assertThat(api.get("/api/v1/inbox/elic_" + step).text()).as("the server's order of fields")
                .contains("\"properties\":{\"size\":{},\"at\":{}}");
        Answer accepted = api.post(accept, "{\"content\": {}}", "Idempotency-Key", "during");
        assertThat(accepted.status()).as(accepted.text()).isEqualTo(200);
        assertThat(api.post(accept, "{\"content\": {}}").status()).isEqualTo(404);
        other.released.release();
        api.awaitState(run, "completed");
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

    /** As after a crash between the answer and the wake-up of its step. */
    @Test
    void storedAnswerWakesItsStepAfterACrash() {
        String run = mcp.run("mcp.other.ask", "{}");
        awaitDeferral(run);
        api.sql("""
                update call_waits set state = 'answered',
                    answers = '{"who": {"action": "accept", "content": {"name": "Ada"}}}' where run_id = '%s'"""
                .formatted(run));
        api.awaitState(run, "completed");
        assertThat(mcp.text(run)).isEqualTo("accept Ada opaque");
    }

    @Test
    void executionWithoutTheLeaseChangesNothingOfACall() throws Exception {
        try (FakeMcpServer fenced = new FakeMcpServer("{}")) {
            mcp.put("fenced", "{\"url\": \"%s\", \"tools\": [\"*\"], \"effects\": {\"slow\": \"idempotent\"}}"
                    .formatted(fenced.url()));
            String run = mcp.run("mcp.fenced.slow", "{\"n\": 1}");
            Awaitility.await().atMost(LIMIT).until(() -> fenced.calls("slow").size() == 1);
            JsonNode step = mcp.step(run);
            UUID id = UUID.fromString(step.path("id").asString());
            int epoch = step.path("lease_epoch").asInt();
            CallWaits waits = new CallWaits(DbClock.DATABASE);
            Wait wait = new Wait(id, Bootstrap.DEFAULT_WORKSPACE, UUID.fromString(run),
                    UUID.fromString(step.path("task_id").asString()), "fenced", "slow", State.ANSWERED, null, null,
                    null, null, 1);
            api.database().runInTransaction(c -> {
                assertThat(waits.put(c, wait, epoch - 1)).isFalse();
                assertThat(waits.send(c, wait, epoch - 1)).isFalse();
                assertThat(waits.find(c, id)).isEmpty();
                assertThat(waits.put(c, wait, epoch)).isTrue();
                assertThat(waits.sendAnswered(c, wait, epoch - 1)).isFalse();
                waits.remove(c, id, epoch - 1);
                assertThat(waits.find(c, id)).contains(wait);
                assertThat(waits.sendAnswered(c, wait, epoch)).isTrue();
                waits.remove(c, id, epoch);
                assertThat(waits.find(c, id)).isEmpty();
            });
            fenced.released.release();
            api.awaitState(run, "completed");
        }
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
