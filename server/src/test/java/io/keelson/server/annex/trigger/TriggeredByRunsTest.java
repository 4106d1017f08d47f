package io.keelson.server.annex.trigger;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.api.http.ApiServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** Triggers whose events are ends of runs, and triggers that signal runs. */
@Breadth.Spread
class TriggeredByRunsTest {

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

    private static String trigger(String definition) {
        ApiServer.Answer made = api.post("/api/v1/triggers", definition);
        assertThat(made.status()).as(made.text()).isEqualTo(201);
        return made.json().get("id").stringValue();
    }

    private static List<JsonNode> decided(String trigger, int count) {
        String path = "/api/v1/triggers/" + trigger + "/deliveries";
        Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> api.get(path).json().get("items").valueStream()
                .filter(each -> !each.get("state").asString().equals("pending")).count() >= count);
        return api.get(path).json().get("items").valueStream().toList();
    }

    private static void event(String name, String id, String data) {
        ApiServer.Answer answer = api.post("/api/v1/events",
                "{\"name\": \"%s\", \"id\": \"%s\", \"data\": %s}".formatted(name, id, data));
        assertThat(answer.status()).as(answer.text()).isEqualTo(202);
    }

    @Test
    void endOfARunStartsAnotherOneByItsRecipeStateTagsAndOutput() {
        api.post("/api/v1/recipes", """
                {"name": "first", "inputs": {"n": {"type": "integer"}}, "tags": ["night"], "output": "${ .inputs }",
                 "plan": {"tasks": [{"id": "a", "steps": [{"tool": "noop"}]}]}}""");
        String trigger = trigger("""
                {"name": "after first", "source": {"kind": "run"},
                 "filter": "${ .body.recipe == \\"first\\" and .body.state == \\"completed\\" and .body.output.n > 1 }",
                 "inputs": {"of": "${ .body.run_id }", "n": "${ .body.output.n }"},
                 "example": {"body": {"recipe": "first", "state": "completed", "run_id": "x", "output": {"n": 2}}},
                 "mission": {"name": "second", "inputs": {"of": {"type": "string"}, "n": {"type": "integer"}},
                  "plan": {"tasks": [{"id": "a", "steps": [{"tool": "noop"}]}]}}}""");
        assertThat(api.get("/api/v1/triggers/" + trigger).json().get("path").isNull()).isTrue();
        for (int n = 1; n <= 2; n++) {
            api.awaitState(api.create("{\"recipe\": \"first\", \"start\": true, \"input\": {\"n\": %d}}".formatted(n)),
                    "completed");
        }

        List<JsonNode> deliveries = decided(trigger, 3);

        JsonNode started =
                deliveries.stream().filter(each -> each.get("state").asString().equals("started")).findFirst()
                        .orElseThrow();
        JsonNode run = api.awaitState(started.get("run_id").asString(), "completed");
        assertThat(run.get("trigger").asString()).isEqualTo("run");
        assertThat(run.at("/inputs/n").intValue()).isEqualTo(2);
        JsonNode event = api.get("/api/v1/triggers/" + trigger + "/deliveries/" + started.get("id").asString()).json();
        assertThat(event.at("/body/tags").toString()).contains("night");
        assertThat(event.at("/body/depth").intValue()).isZero();
        assertThat(deliveries.stream().filter(each -> each.get("error_code").asString("").equals("FILTERED")))
                .hasSize(2);
    }

    /** Each run that the trigger starts ends, and is an event of it. */
    @Test
    void cycleEndsAtItsDepth() {
        String trigger = trigger("""
                {"name": "circle", "source": {"kind": "run"}, "filter": "${ .body.name == \\"circle\\" }",
                 "example": {"body": {"name": "circle"}},
                 "mission": {"name": "circle", "plan": {"tasks": [{"id": "a", "steps": [{"tool": "noop"}]}]}}}""");
        api.create("""
                {"name": "circle", "start": true, "plan": {"tasks": [{"id": "a", "steps": [{"tool": "noop"}]}]}}""");

        String path = "/api/v1/triggers/" + trigger + "/deliveries?state=";
        Awaitility.await().atMost(Duration.ofSeconds(120))
                .until(() -> api.get(path + "refused").json().get("items").size() == 1);

        assertThat(api.get(path + "started").json().get("items")).hasSize(TriggeredRuns.MAX_DEPTH);
        assertThat(api.get(path + "refused").json().at("/items/0/error_code").asString())
                .isEqualTo("TRIGGER_DEPTH_EXCEEDED");
        api.send("DELETE", "/api/v1/triggers/" + trigger, null);
    }

    @Test
    void endsOfChildRunsAreNoEvents() {
        api.post("/api/v1/recipes", """
                {"name": "child", "plan": {"tasks": [{"id": "a", "steps": [{"tool": "noop"}]}]}}""");
        String trigger = trigger("""
                {"name": "families", "source": {"kind": "run"},
                 "filter": "${ .body.name == \\"parent\\" or .body.recipe == \\"child\\" }",
                 "example": {"body": {"name": "parent"}},
                 "mission": {"name": "after", "plan": {"tasks": [{"id": "a", "steps": [{"tool": "noop"}]}]}}}""");
        String parent = api.create("""
                {"name": "parent", "start": true, "plan": {"tasks": [{"id": "a", "steps": [
                  {"tool": "run.start", "name": "c", "input": {"recipe": "child"}}]}]}}""");
        api.awaitState(parent, "completed");

        assertThat(decided(trigger, 1).stream().filter(each -> each.get("state").asString().equals("started")))
                .hasSize(1);
    }

    private static String waiting(String externalId, String tag) {
        String run = api.create("""
                {"name": "waits", "start": true, "external_id": "%s", "tags": ["%s"], "output": "${ .tasks.a.output }",
                 "plan": {"tasks": [{"id": "a", "steps": [{"tool": "signal.wait", "input": {"name": "paid",
                  "schema": {"type": "object", "required": ["total"]}}}]}]}}""".formatted(externalId, tag));
        api.awaitStep(run, "waiting");
        return run;
    }

    @Test
    void eventSignalsTheRunWithItsExternalIdOnce() {
        String run = waiting("order-17", "x");
        String trigger = trigger("""
                {"name": "payments", "source": {"kind": "event", "event": "order.paid"},
                 "signal": {"name": "paid", "external_id": "${ .body.order }", "payload": {"total": "${ .body.total }"}},
                 "example": {"body": {"order": "order-1", "total": 1}}}""");

        event("order.paid", "1", "{\"order\": \"order-17\", \"total\": 9}");
        event("order.paid", "1", "{\"order\": \"order-17\", \"total\": 9}");

        JsonNode delivery = decided(trigger, 1).getFirst();
        assertThat(delivery.get("state").asString()).as(delivery.toString()).isEqualTo("signalled");
        assertThat(delivery.get("run_id").asString()).isEqualTo(run);
        assertThat(api.awaitState(run, "completed").at("/output/total").intValue()).isEqualTo(9);
        api.sql("update trigger_deliveries set state = 'pending', decided_at = null, due_at = clock_timestamp() where id = '"
                + delivery.get("id").asString() + "'");
        event("order.paid", "2", "{\"order\": \"order-18\", \"total\": 9}");
        Awaitility.await().atMost(Duration.ofSeconds(60))
                .until(() -> api.get("/api/v1/triggers/" + trigger + "/deliveries").json().at("/items/0/error_code")
                        .asString("").equals("SIGNAL_RUN_NOT_FOUND"));
    }

    @Test
    void eventSignalsAllOpenRunsWithATagAndAnUnfitPayloadIsRefused() {
        List<String> runs = List.of(waiting("t1", "shop-1"), waiting("t2", "shop-1"));
        String other = waiting("t3", "shop-2");
        String trigger = trigger("""
                {"name": "shops", "source": {"kind": "event", "event": "shop.paid"},
                 "signal": {"name": "paid", "tag": "${ .body.shop }", "payload": "${ .body }"},
                 "example": {"body": {"shop": "x"}}}""");

        event("shop.paid", "1", "{\"shop\": \"shop-1\", \"total\": 9}");
        runs.forEach(run -> api.awaitState(run, "completed"));
        event("shop.paid", "2", "{\"shop\": \"shop-2\"}");

        List<JsonNode> deliveries = decided(trigger, 2);
        assertThat(deliveries.getFirst().get("error_code").asString()).isEqualTo("SCHEMA_VIOLATION");
        assertThat(deliveries.getLast().get("state").asString()).isEqualTo("signalled");
        assertThat(api.run(other).get("state").asString()).isEqualTo("running");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "{\"name\": \"a b\", \"tag\": \"x\"}|/signal/name", "{\"name\": \"a\"}|/signal/external_id",
            "{\"name\": \"a\", \"tag\": \"x\", \"external_id\": \"y\"}|/signal/external_id",
            "{\"name\": \"a\", \"tag\": \"${ .body. }\"}|/signal/tag"})
    void wrongSignalIsRefused(String signal, String pointer) {
        ApiServer.Answer answer = api.post("/api/v1/triggers",
                "{\"name\": \"wrong\", \"source\": {\"kind\": \"run\"}, \"example\": {\"body\": {}}, \"signal\": "
                        + signal
                        + "}");

        assertThat(answer.status()).isEqualTo(422);
        assertThat(answer.json().at("/problems/0/pointer").asString()).isEqualTo(pointer);
    }
}
