package io.keelson.server.api.http;

import static io.keelson.server.api.http.ToolProgram.message;
import static io.keelson.server.api.http.ToolProgram.replayed;
import static io.keelson.server.api.http.ToolProgram.report;
import static io.keelson.server.api.http.ToolProgram.result;
import static io.keelson.server.api.http.ToolProgram.serve;
import static io.keelson.server.api.http.ToolProgram.text;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.api.http.ApiServer.Answer;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Calls of tools by programs over the gateway: listed by the rules, steps of their own, recorded, and replayed by content. */
@Breadth.Spread
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class GatewayToolsTest {
    private static final String PATH = "/gateway/mcp";
    private static final String JOIN = "text.template";
    private static final int WAIT = 20_000;

    private final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private ApiServer api;

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        api = new ApiServer(folder, TestDatabase.createUrl());
    }

    @AfterAll
    void stop() {
        http.close();
        api.close();
    }

    private ToolProgram program(String grant, String ofTask) {
        return new ToolProgram(api, http, grant, ofTask);
    }

    private static final String TEMPLATE = "{\"template\": \"hi {{name}}\", \"data\": {\"name\": \"ann\"}}";

    @Test
    void clientsOfBothRevisionsAreAnswered() throws Exception {
        ToolProgram program = program("true", "");
        assertThat(program.rpc("server/discover", "{}").at("/error/code").intValue()).isEqualTo(-32601);
        for (String version : List.of("2025-11-25", "2025-06-18")) {
            assertThat(program.rpc("initialize", "{\"protocolVersion\": \"" + version + "\"}")
                    .at("/result/protocolVersion").stringValue()).isEqualTo(version);
        }
        assertThat(program.rpc("initialize", "{\"protocolVersion\": \"2026-07-28\"}").at("/result/protocolVersion")
                .stringValue()).isEqualTo("2025-11-25");
        assertThat(program.rpc("ping", "{}").get("result")).isEmpty();
        HttpResponse<String> notified = http.send(program.request(
                "{\"jsonrpc\": \"2.0\", \"method\": \"notifications/initialized\"}"), BodyHandlers.ofString());
        assertThat(notified.statusCode()).isEqualTo(202);
        assertThat(api.get(PATH).status()).isEqualTo(405);
    }

    @Test
    void theListHasTheToolsThatTheRulesAllow() throws Exception {
        serve(api, "test.listed", "read", 0);
        assertThat(program("true", "").names()).contains("text_template", "test_listed", "ask_person")
                .doesNotContain("agent_delegate", "agent_ask", "approval", "model_generate");
        JsonNode listed = program("true", "").rpc("tools/list", "{}").at("/result/tools").valueStream()
                .filter(each -> each.get("title").stringValue().equals("test.listed")).findFirst().orElseThrow();
        assertThat(listed.at("/annotations/readOnlyHint").booleanValue()).isTrue();
        assertThat(listed.at("/inputSchema/required/0").stringValue()).isEqualTo("n");
        ToolProgram granted = program("{\"tools\": [\"text.template\", \"ask_person\"]}", "");
        assertThat(granted.names()).containsExactlyInAnyOrder("text_template", "ask_person");
        ToolProgram ruled = program("true", "\"denied_tools\": [\"text.*\"], ");
        assertThat(ruled.names()).doesNotContain("text_template").contains("test_listed");
        JsonNode refused = ruled.rpc("tools/call", "{\"name\": \"text_template\", \"arguments\": {}}");
        assertThat(refused.at("/error/data/code").stringValue()).isEqualTo("tool_not_allowed");
        assertThat(ruled.rpc("tools/call", "{\"name\": \"no_such\"}").at("/error/code").intValue()).isEqualTo(-32602);
        assertThat(ruled.rpc("tools/call", "{\"name\": \"test_listd\"}").at("/error/message").stringValue())
                .contains("did you mean 'test_listed'?");
        assertThat(ruled.rpc("tools/call", "{\"name\": \"test_listed\", \"arguments\": {}}").toString())
                .contains("'n'").doesNotContain(": :");
        assertThat(ruled.calls()).isEmpty();
    }

    @Test
    void aCallIsAStepAndItsResultIsReplayed() {
        ToolProgram program = program("true", "");
        HttpResponse<String> first = program.sendCall(JOIN, TEMPLATE).join();
        assertThat(text(result(first))).isEqualTo("hi ann");
        assertThat(replayed(first)).isFalse();
        assertThat(program.calls()).hasSize(1).allSatisfy(step -> {
            assertThat(step.get("tool").stringValue()).isEqualTo(JOIN);
            assertThat(step.get("state").stringValue()).isEqualTo("completed");
            assertThat(step.get("called_by")).isEqualTo(program.item.get("step_id"));
            assertThat(api.get("/api/v1/steps/" + step.get("id").stringValue()).json().get("called_by"))
                    .isEqualTo(program.item.get("step_id"));
        });
        assertThat(api.get("/api/v1/steps/" + program.item.get("step_id").stringValue()).json().get("called_by")
                .isNull()).isTrue();
        program.again();
        HttpResponse<String> again = program.sendCall("text_template", TEMPLATE).join();
        assertThat(replayed(again)).isTrue();
        assertThat(result(again)).isEqualTo(result(first));
        assertThat(replayed(program.sendCall(JOIN, TEMPLATE).join())).as("one more than recorded").isFalse();
        assertThat(program.calls()).hasSize(2);
        program.report("complete", ", \"output\": {\"own\": true}");
        api.awaitState(program.run, "completed");
        JsonNode task = api.get("/api/v1/runs/" + program.run + "/tasks").json().at("/items/0");
        assertThat(task.at("/output/own").booleanValue()).as("the output is the step's, not a call's").isTrue();
    }

    @Test
    void aCallWhoseProgramIsKilledGoesOnAndIsJoined() {
        serve(api, "test.echo", "idempotent", 0);
        ToolProgram program = program("true", "");
        CompletableFuture<HttpResponse<String>> cut = program.sendCall("test_echo", "{\"n\": 1}");
        JsonNode work = serve(api, "test.echo", "idempotent", WAIT).get(0);
        cut.cancel(true);
        program.again();
        CompletableFuture<HttpResponse<String>> joined = program.sendCall("test_echo", "{\"n\": 1}");
        report(api, "server", "complete", work, ", \"output\": {\"got\": 1}");
        assertThat(result(joined.join()).at("/structuredContent/got").intValue()).isEqualTo(1);
        assertThat(replayed(joined.join())).isTrue();
        assertThat(program.calls()).hasSize(1);
    }

    @Test
    void aCallWhoseClientHangsUpIsJoinedAtOnce() throws Exception {
        serve(api, "test.hung", "once", 0);
        ToolProgram program = program("true", "");
        String body = message("tools/call", "{\"name\": \"test.hung\", \"arguments\": {\"n\": 1}}");
        ClosedConnection.after(api, PATH, program.item.at("/gateway/token").stringValue(), body,
                _ -> program.awaitCalls(1));
        CompletableFuture<HttpResponse<String>> joined = program.sendCall("test.hung", "{\"n\": 1}");
        JsonNode work = serve(api, "test.hung", "once", WAIT).get(0);
        report(api, "server", "complete", work, ", \"output\": \"done\"");
        assertThat(text(result(joined.join()))).isEqualTo("done");
        assertThat(replayed(joined.join())).isTrue();
        assertThat(program.calls()).hasSize(1);
    }

    @Test
    void equalParallelCallsAreSeveralAndAreReplayedInTheirOrder() {
        serve(api, "test.pair", "read", 0);
        ToolProgram program = program("true", "");
        CompletableFuture<HttpResponse<String>> one = program.sendCall("test.pair", "{\"n\": 1}");
        program.awaitCalls(1);
        CompletableFuture<HttpResponse<String>> two = program.sendCall("test.pair", "{\"n\": 1}");
        program.awaitCalls(2);
        for (int i = 1; i <= 2; i++) {
            report(api, "server", "complete", serve(api, "test.pair", "read", WAIT).get(0),
                    ", \"output\": \"r" + i + "\"");
        }
        List<String> results = List.of(text(result(one.join())), text(result(two.join())));
        assertThat(results).containsExactlyInAnyOrder("r1", "r2");
        program.again();
        assertThat(text(program.call("test.pair", "{\"n\": 1}"))).isEqualTo(results.getFirst());
        assertThat(text(program.call("test.pair", "{\"n\": 1}"))).isEqualTo(results.getLast());
        assertThat(program.calls()).hasSize(2);
    }

    @Test
    void aPersonAnswersAndApprovesInTheInbox() {
        serve(api, "test.drop", "destructive", 0);
        ToolProgram program = program("true", "");
        CompletableFuture<HttpResponse<String>> asked = program.sendCall("ask_person",
                "{\"question\": \"Which port?\", \"schema\": {\"type\": \"object\", \"properties\": {\"port\": {\"type\": \"integer\"}}}}");
        JsonNode question = program.item("question");
        assertThat(api.post("/api/v1/inbox/" + question.get("id").stringValue() + "/accept",
                "{\"answer\": {\"port\": 80}}").status()).isEqualTo(200);
        assertThat(result(asked.join()).at("/structuredContent/port").intValue()).isEqualTo(80);
        CompletableFuture<HttpResponse<String>> dropped = program.sendCall("test_drop", "{\"n\": 1}");
        JsonNode approval = program.item("call_approval");
        assertThat(serve(api, "test.drop", "destructive", 0)).isEmpty();
        api.post("/api/v1/inbox/" + approval.get("id").stringValue() + "/accept", "{}");
        report(api, "server", "complete", serve(api, "test.drop", "destructive", WAIT).get(0), ", \"output\": 1");
        assertThat(text(result(dropped.join()))).isEqualTo("1");
        CompletableFuture<HttpResponse<String>> refused = program.sendCall("test_drop", "{\"n\": 2}");
        api.post("/api/v1/inbox/" + program.item("call_approval").get("id").stringValue() + "/reject",
                "{\"reason\": \"no\"}");
        assertThat(result(refused.join()).get("isError").booleanValue()).isTrue();
        assertThat(text(result(refused.join()))).startsWith("CALL_REJECTED");
    }

    @Test
    void aCallWithAnUnknownOutcomeIsNotMadeAgain() {
        serve(api, "test.pay", "once", 0);
        ToolProgram program = program("true", "");
        CompletableFuture<HttpResponse<String>> paid = program.sendCall("test_pay", "{\"n\": 1}");
        JsonNode work = serve(api, "test.pay", "once", WAIT).get(0);
        api.sql("update work_queue set lease_expires_at = clock_timestamp() - interval '1 second' where lane > 0"
                + " and task_id = '" + work.get("task_id").stringValue() + "'");
        assertThat(text(result(paid.join()))).startsWith("OUTCOME_UNKNOWN");
        program.again();
        HttpResponse<String> again = program.sendCall("test_pay", "{\"n\": 1}").join();
        assertThat(text(result(again))).startsWith("OUTCOME_UNKNOWN");
        assertThat(replayed(again)).isTrue();
        assertThat(program.calls()).hasSize(1);
    }

    @Test
    void argumentsThatDoNotFitMakeNoCall() {
        serve(api, "test.fits", "read", 0);
        ToolProgram program = program("true", "");
        for (String arguments : List.of("{}", "{\"n\": \"x\"}")) {
            JsonNode result = program.call("test_fits", arguments);
            assertThat(result.get("isError").booleanValue()).isTrue();
            assertThat(text(result)).startsWith("TOOL_INPUT_INVALID");
        }
        assertThat(text(program.call("ask_person", "{}"))).startsWith("TOOL_INPUT_INVALID");
        assertThat(program.calls()).isEmpty();
    }

    @Test
    void aTokenOpensTheToolsOfItsLeaseOnly() throws Exception {
        ToolProgram program = program("true", "");
        HttpRequest before = program.request(message("tools/list", "{}"));
        program.again();
        HttpResponse<String> old = http.send(before, BodyHandlers.ofString());
        assertThat(old.statusCode()).isEqualTo(401);
        assertThat(Json.read(old.body()).at("/error/data/code").stringValue()).isEqualTo("step_ended");
        program.report("complete", ", \"output\": 1");
        assertThat(http.send(program.request(message("ping", "{}")), BodyHandlers.ofString()).statusCode())
                .isEqualTo(401);
        Answer key = api.post(PATH, message("ping", "{}"));
        assertThat(key.status()).as("a key of the API").isEqualTo(401);
        assertThat(api.post(PATH + "/other", "{}").status()).isEqualTo(404);
    }

    @Test
    void theEndOfTheStepEndsItsCalls() {
        serve(api, "test.left", "read", 0);
        ToolProgram program = program("true", "");
        CompletableFuture<HttpResponse<String>> left = program.sendCall("test_left", "{\"n\": 1}");
        program.awaitCalls(1);
        program.report("complete", ", \"output\": 1");
        assertThat(left.join().statusCode()).isEqualTo(401);
        assertThat(program.calls().getFirst().get("state").stringValue()).isEqualTo("cancelled");
        api.awaitState(program.run, "completed");
    }

    @Test
    void malformedAndHugeMessagesAreRefused() throws Exception {
        ToolProgram program = program("true", "");
        for (String body : List.of("{", "[]", "1", "{\"jsonrpc\": \"2.0\"}",
                "{\"jsonrpc\": \"2.0\", \"id\": {}, \"method\": \"ping\"}",
                "[".repeat(100_000), message("tools/call", "{\"name\": \"text_template\", \"arguments\": "
                        + "{\"a\":".repeat(2_000) + "1" + "}".repeat(2_000) + "}"))) {
            int status = http.send(program.request(body), BodyHandlers.ofString()).statusCode();
            assertThat(status).as(body.substring(0, Math.min(60, body.length()))).isEqualTo(400);
        }
        int status;
        try {
            status = http.send(program.request("\"" + "x".repeat(30_000_000) + "\""), BodyHandlers.ofString())
                    .statusCode();
        } catch (IOException e) {
            // the server has closed the connection before the whole body was sent
            status = 413;
        }
        assertThat(status).isEqualTo(413);
        assertThat(program.rpc("ping", "{}").has("result")).isTrue();
        ObjectNode notAnObject = Json.object().put("name", JOIN).put("arguments", "text");
        assertThat(program.rpc("tools/call", notAnObject.toString()).at("/error/code").intValue()).isEqualTo(-32602);
    }
}
