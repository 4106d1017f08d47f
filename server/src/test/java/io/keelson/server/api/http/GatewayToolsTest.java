package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.server.api.http.ApiServer.Answer;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Calls of tools by programs over the gateway: listed by the rules, steps of their own, recorded, and replayed by content. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class GatewayToolsTest {
    private static final String PATH = "/gateway/mcp";
    private static final String JOIN = "text.template";
    private static final int WAIT = 20_000;

    private final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private ApiServer api;
    private int tools;

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        api = new ApiServer(folder, TestDatabase.createUrl(), Map.of("KEELSON_PARK_SECONDS", "1"));
    }

    @AfterAll
    void stop() {
        http.close();
        api.close();
    }

    /** Serves a tool that programs may call. */
    private JsonNode serve(String tool, String effects, int wait) {
        return api.post("/api/v1/dispatch/claim", """
                {"worker_id": "server", "tools": ["%1$s"], "wait_ms": %2$d, "tool_specs": [{"name": "%1$s",
                  "effects": "%3$s", "description": "Echoes", "input_schema": {"type": "object",
                  "required": ["n"], "properties": {"n": {"type": "integer"}}}}]}""".formatted(tool, wait, effects))
                .json().get("items");
    }

    private JsonNode report(String worker, String route, JsonNode item, String members) {
        return api.post("/api/v1/dispatch/" + route, "{\"worker_id\": \"" + worker
                + "\", \"items\": [{\"step_id\": " + item.get("step_id") + ", \"lease_epoch\": "
                + item.get("lease_epoch") + members + "}]}").json().at("/items/0");
    }

    /** A step with a program. */
    private final class Program {
        private final String tool = "test.caller" + tools++;
        private final String grant;
        private final String run;
        private JsonNode item;

        Program() {
            this("true", "");
        }

        /** @param ofTask members of the task in the plan */
        Program(String grant, String ofTask) {
            this.grant = grant;
            claim(0);
            run = api.create(ApiServer.REMOTE.replace("test.remote", tool).replace("\"id\": \"one\"",
                    ofTask + "\"id\": \"one\""));
            item = claim(WAIT).get(0);
        }

        private JsonNode claim(int wait) {
            return api
                    .post("/api/v1/dispatch/claim",
                            "{\"worker_id\": \"w\", \"tools\": [\"" + tool + "\"], \"wait_ms\": "
                                    + wait + ", \"tool_specs\": [{\"name\": \"" + tool + "\", \"gateway\": " + grant
                                    + "}]}")
                    .json().get("items");
        }

        /** The program is killed, and executed again. */
        void again() {
            report("w", "release", item, "");
            item = claim(WAIT).get(0);
        }

        HttpRequest request(String body) {
            return HttpRequest.newBuilder(URI.create(api.url() + PATH)).timeout(Duration.ofSeconds(30))
                    .header("Authorization", "Bearer " + item.at("/gateway/token").stringValue())
                    .header("Content-Type", "application/json").POST(BodyPublishers.ofString(body)).build();
        }

        CompletableFuture<HttpResponse<String>> sendCall(String name, String arguments) {
            return http.sendAsync(request(message("tools/call", "{\"name\": \"" + name + "\", \"arguments\": "
                    + arguments + ", \"_meta\": {\"progressToken\": \"" + System.nanoTime() + "\"}}")),
                    BodyHandlers.ofString());
        }

        JsonNode rpc(String method, String params) throws Exception {
            return Json.read(http.send(request(message(method, params)), BodyHandlers.ofString()).body());
        }

        JsonNode call(String name, String arguments) {
            return result(sendCall(name, arguments).join());
        }

        List<JsonNode> calls() {
            return api.get("/api/v1/runs/" + run + "/steps").json().get("items").valueStream()
                    .filter(step -> step.get("kind").stringValue().equals("call")).toList();
        }

        void awaitCalls(int count) {
            Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> calls().size() == count);
        }

        List<String> names() throws Exception {
            return rpc("tools/list", "{}").at("/result/tools").valueStream().map(each -> each.get("name").stringValue())
                    .toList();
        }
    }

    private static String message(String method, String params) {
        return "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"" + method + "\", \"params\": " + params + "}";
    }

    private static JsonNode result(HttpResponse<String> response) {
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return Json.read(response.body()).get("result");
    }

    private static String text(JsonNode result) {
        return result.at("/content/0/text").stringValue();
    }

    private static boolean replayed(HttpResponse<String> response) {
        return response.headers().firstValue("x-keelson-replayed").isPresent();
    }

    private static final String TEMPLATE = "{\"template\": \"hi {{name}}\", \"data\": {\"name\": \"ann\"}}";

    @Test
    void clientsOfBothRevisionsAreAnswered() throws Exception {
        Program program = new Program();
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
        serve("test.listed", "read", 0);
        assertThat(new Program().names()).contains("text_template", "test_listed", "ask_person")
                .doesNotContain("agent_delegate", "agent_ask", "approval", "model_generate");
        JsonNode listed = new Program().rpc("tools/list", "{}").at("/result/tools").valueStream()
                .filter(each -> each.get("title").stringValue().equals("test.listed")).findFirst().orElseThrow();
        assertThat(listed.at("/annotations/readOnlyHint").booleanValue()).isTrue();
        assertThat(listed.at("/inputSchema/required/0").stringValue()).isEqualTo("n");
        Program granted = new Program("{\"tools\": [\"text.template\", \"ask_person\"]}", "");
        assertThat(granted.names()).containsExactlyInAnyOrder("text_template", "ask_person");
        Program ruled = new Program("true", "\"denied_tools\": [\"text.*\"], ");
        assertThat(ruled.names()).doesNotContain("text_template").contains("test_listed");
        JsonNode refused = ruled.rpc("tools/call", "{\"name\": \"text_template\", \"arguments\": {}}");
        assertThat(refused.at("/error/data/code").stringValue()).isEqualTo("tool_not_allowed");
        assertThat(ruled.rpc("tools/call", "{\"name\": \"no_such\"}").at("/error/code").intValue()).isEqualTo(-32602);
        assertThat(ruled.calls()).isEmpty();
    }

    @Test
    void aCallIsAStepAndItsResultIsReplayed() {
        Program program = new Program();
        HttpResponse<String> first = program.sendCall(JOIN, TEMPLATE).join();
        assertThat(text(result(first))).isEqualTo("hi ann");
        assertThat(replayed(first)).isFalse();
        assertThat(program.calls()).hasSize(1).allSatisfy(step -> {
            assertThat(step.get("tool").stringValue()).isEqualTo(JOIN);
            assertThat(step.get("state").stringValue()).isEqualTo("completed");
        });
        program.again();
        HttpResponse<String> again = program.sendCall("text_template", TEMPLATE).join();
        assertThat(replayed(again)).isTrue();
        assertThat(result(again)).isEqualTo(result(first));
        assertThat(replayed(program.sendCall(JOIN, TEMPLATE).join())).as("one more than recorded").isFalse();
        assertThat(program.calls()).hasSize(2);
        report("w", "complete", program.item, ", \"output\": {\"own\": true}");
        api.awaitState(program.run, "completed");
        JsonNode task = api.get("/api/v1/runs/" + program.run + "/tasks").json().at("/items/0");
        assertThat(task.at("/output/own").booleanValue()).as("the output is the step's, not a call's").isTrue();
    }

    @Test
    void aCallWhoseProgramIsKilledGoesOnAndIsJoined() {
        serve("test.echo", "idempotent", 0);
        Program program = new Program();
        CompletableFuture<HttpResponse<String>> cut = program.sendCall("test_echo", "{\"n\": 1}");
        JsonNode work = serve("test.echo", "idempotent", WAIT).get(0);
        cut.cancel(true);
        program.again();
        CompletableFuture<HttpResponse<String>> joined = program.sendCall("test_echo", "{\"n\": 1}");
        report("server", "complete", work, ", \"output\": {\"got\": 1}");
        assertThat(result(joined.join()).at("/structuredContent/got").intValue()).isEqualTo(1);
        assertThat(replayed(joined.join())).isTrue();
        assertThat(program.calls()).hasSize(1);
    }

    @Test
    void equalParallelCallsAreSeveralAndAreReplayedInTheirOrder() {
        serve("test.pair", "read", 0);
        Program program = new Program();
        CompletableFuture<HttpResponse<String>> one = program.sendCall("test.pair", "{\"n\": 1}");
        program.awaitCalls(1);
        CompletableFuture<HttpResponse<String>> two = program.sendCall("test.pair", "{\"n\": 1}");
        program.awaitCalls(2);
        for (int i = 1; i <= 2; i++) {
            report("server", "complete", serve("test.pair", "read", WAIT).get(0), ", \"output\": \"r" + i + "\"");
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
        serve("test.drop", "destructive", 0);
        Program program = new Program();
        CompletableFuture<HttpResponse<String>> asked = program.sendCall("ask_person",
                "{\"question\": \"Which port?\", \"schema\": {\"type\": \"object\", \"properties\": {\"port\": {\"type\": \"integer\"}}}}");
        JsonNode question = item(program, "question");
        assertThat(api.post("/api/v1/inbox/" + question.get("id").stringValue() + "/accept",
                "{\"answer\": {\"port\": 80}}").status()).isEqualTo(200);
        assertThat(result(asked.join()).at("/structuredContent/port").intValue()).isEqualTo(80);
        CompletableFuture<HttpResponse<String>> dropped = program.sendCall("test_drop", "{\"n\": 1}");
        JsonNode approval = item(program, "call_approval");
        assertThat(serve("test.drop", "destructive", 0)).isEmpty();
        api.post("/api/v1/inbox/" + approval.get("id").stringValue() + "/accept", "{}");
        report("server", "complete", serve("test.drop", "destructive", WAIT).get(0), ", \"output\": 1");
        assertThat(text(result(dropped.join()))).isEqualTo("1");
        CompletableFuture<HttpResponse<String>> refused = program.sendCall("test_drop", "{\"n\": 2}");
        api.post("/api/v1/inbox/" + item(program, "call_approval").get("id").stringValue() + "/reject",
                "{\"reason\": \"no\"}");
        assertThat(result(refused.join()).get("isError").booleanValue()).isTrue();
        assertThat(text(result(refused.join()))).startsWith("CALL_REJECTED");
    }

    /** A client that ends calls by itself, as many do, is as good as a killed program: the worker ends it. */
    @Test
    void aProgramThatWaitsForAPersonIsEndedAndGetsTheAnswerInItsNextExecution() throws Exception {
        Program program = new Program();
        String first = "{\"question\": \"First?\"}";
        CompletableFuture<HttpResponse<String>> waits = program.sendCall("ask_person", first);
        JsonNode question = item(program, "question");
        api.awaitStep(program.run, "waiting");
        HttpResponse<String> refused = program.sendCall("text_template", TEMPLATE).join();
        assertThat(refused.statusCode()).isEqualTo(409);
        assertThat(Json.read(refused.body()).at("/error/data/code").stringValue()).isEqualTo("parked");
        assertThat(heartbeat(program).get("status").stringValue()).isEqualTo("stop");
        assertThat(waits).as("no answer").isNotDone();
        waits.cancel(true);
        assertThat(program.claim(0)).as("no lease").isEmpty();
        moveClock(program, 3);
        assertThat(api.run(program.run).get("state").stringValue()).isEqualTo("running");
        api.post("/api/v1/inbox/" + question.get("id").stringValue() + "/accept", "{\"answer\": \"yes\"}");
        JsonNode before = program.item;
        program.item = program.claim(WAIT).get(0);
        assertThat(program.item.get("lease_epoch").intValue()).isEqualTo(before.get("lease_epoch").intValue() + 1);
        assertThat(program.item.get("attempt").intValue()).isEqualTo(1);
        HttpResponse<String> answered = program.sendCall("ask_person", first).join();
        assertThat(text(result(answered))).isEqualTo("yes");
        assertThat(replayed(answered)).isTrue();
        assertThat(program.calls()).hasSize(1);
        report("w", "complete", program.item, ", \"output\": 1");
        api.awaitState(program.run, "completed");
    }

    private JsonNode heartbeat(Program program) {
        return report("w", "heartbeat", program.item, "");
    }

    /** Lets so many days pass for the run and all its timers but the person's. */
    private void moveClock(Program program, int days) {
        String id = "'" + program.run + "'";
        String by = " - interval '" + days + " days'";
        api.sql("update orchestration_tasks set started_at = started_at" + by + ", begun_at = begun_at" + by
                + ", state_since = state_since" + by + ", queued_at = queued_at" + by + " where run_id = " + id);
        api.sql("update task_steps set started_at = started_at" + by + " where run_id = " + id);
        api.sql("update timers set due_at = due_at" + by + " where kind <> 'human' and run_id = " + id);
    }

    private JsonNode item(Program program, String kind) {
        return Awaitility.await().atMost(Duration.ofSeconds(20)).until(
                () -> api.get("/api/v1/inbox?run_id=" + program.run).json().get("items").valueStream()
                        .filter(each -> each.get("kind").stringValue().equals(kind)).findFirst().orElse(null),
                found -> found != null);
    }

    @Test
    void aCallWithAnUnknownOutcomeIsNotMadeAgain() {
        serve("test.pay", "once", 0);
        Program program = new Program();
        CompletableFuture<HttpResponse<String>> paid = program.sendCall("test_pay", "{\"n\": 1}");
        JsonNode work = serve("test.pay", "once", WAIT).get(0);
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
        serve("test.fits", "read", 0);
        Program program = new Program();
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
        Program program = new Program();
        HttpRequest before = program.request(message("tools/list", "{}"));
        program.again();
        HttpResponse<String> old = http.send(before, BodyHandlers.ofString());
        assertThat(old.statusCode()).isEqualTo(401);
        assertThat(Json.read(old.body()).at("/error/data/code").stringValue()).isEqualTo("step_ended");
        report("w", "complete", program.item, ", \"output\": 1");
        assertThat(http.send(program.request(message("ping", "{}")), BodyHandlers.ofString()).statusCode())
                .isEqualTo(401);
        Answer key = api.post(PATH, message("ping", "{}"));
        assertThat(key.status()).as("a key of the API").isEqualTo(401);
        assertThat(api.post(PATH + "/other", "{}").status()).isEqualTo(404);
    }

    @Test
    void theEndOfTheStepEndsItsCalls() {
        serve("test.left", "read", 0);
        Program program = new Program();
        CompletableFuture<HttpResponse<String>> left = program.sendCall("test_left", "{\"n\": 1}");
        program.awaitCalls(1);
        report("w", "complete", program.item, ", \"output\": 1");
        assertThat(left.join().statusCode()).isEqualTo(401);
        assertThat(program.calls().getFirst().get("state").stringValue()).isEqualTo("cancelled");
        api.awaitState(program.run, "completed");
    }

    @Test
    void malformedAndHugeMessagesAreRefused() throws Exception {
        Program program = new Program();
        for (String body : List.of("{", "[]", "1", "{\"jsonrpc\": \"2.0\"}",
                "{\"jsonrpc\": \"2.0\", \"id\": {}, \"method\": \"ping\"}",
                "[".repeat(100_000), message("tools/call", "{\"name\": \"text_template\", \"arguments\": "
                        + "{\"a\":".repeat(2_000) + "1" + "}".repeat(2_000) + "}"))) {
            int status = http.send(program.request(body), BodyHandlers.ofString()).statusCode();
            assertThat(status).as(body.substring(0, Math.min(60, body.length()))).isEqualTo(400);
        }
        int status;
        try {
            status = http.send(program.request("\"" + "x".repeat(100_000_000) + "\""), BodyHandlers.ofString())
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
