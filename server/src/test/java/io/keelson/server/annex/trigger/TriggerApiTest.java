package io.keelson.server.annex.trigger;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.api.http.ApiServer;
import io.keelson.server.base.db.Sql;
import io.keelson.server.base.json.Json;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Triggers over HTTP, with the runs that the real engine makes of their events. */
@Breadth.Spread
class TriggerApiTest {

    private static final String MISSION = """
            {"name": "triage", "inputs": {"title": {"type": "string"}}, "plan": {"tasks": [
              {"id": "say", "steps": [{"tool": "echo", "input": {"title": "${ .inputs.title }"}}]}]},
             "output": "${ .tasks.say.output }"}""";

    private static final String DEFINITION =
            """
            {"name": "%s", "source": {"kind": "github", "secrets": ["hook", "former"]}, "mission": %s,
             "filter": "${ .body.action == \\"opened\\" and .headers[\\"content-type\\"] != null }",
             "inputs": {"title": "${ .body.title }"},
             "example": {"headers": {"Content-Type": "application/json"}, "body": {"action": "opened", "title": "x"}}}""";

    @TempDir
    private static Path folder;

    private static ApiServer api;

    @BeforeAll
    static void start() throws Exception {
        api = new ApiServer(folder);
        api.put("/api/v1/secrets/hook", "{\"value\": \"" + TestEvents.SECRET + "\"}");
        api.put("/api/v1/secrets/former", "{\"value\": \"the former secret\"}");
    }

    @AfterAll
    static void stop() {
        api.close();
    }

    private static JsonNode made(String name) {
        ApiServer.Answer answer = api.post("/api/v1/triggers", DEFINITION.formatted(name, MISSION));
        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
        return answer.json();
    }

    private static String path(JsonNode trigger) {
        return "/api/v1/triggers/" + trigger.get("id").stringValue();
    }

    private static JsonNode received(JsonNode trigger, String id, String body) {
        ApiServer.Answer answer = TestEvents.github(api, trigger.get("path").stringValue(), id, body);
        assertThat(answer.status()).as(answer.text()).isEqualTo(202);
        return answer.json();
    }

    private static JsonNode decided(JsonNode trigger, JsonNode receipt) {
        String path = path(trigger) + "/deliveries/" + receipt.get("id").stringValue();
        Awaitility.await().atMost(Duration.ofSeconds(60)).pollInterval(Duration.ofMillis(10))
                .until(() -> !api.get(path).json().get("state").stringValue().equals("pending"));
        return api.get(path).json();
    }

    private static String opened(String title) {
        return "{\"action\": \"opened\", \"title\": \"" + title + "\"}";
    }

    @Test
    void eventStartsOneRunHoweverOftenItIsSent() {
        JsonNode trigger = made("once");

        JsonNode first = received(trigger, "1", opened("a"));
        String run = first.get("run_id").stringValue();
        assertThat(first.get("duplicate").booleanValue()).isFalse();
        assertThat(decided(trigger, first).get("run_id").stringValue()).isEqualTo(run);
        JsonNode ended = api.awaitState(run, "completed");
        JsonNode second = received(trigger, "1", opened("b"));

        assertThat(ended.at("/output/title").stringValue()).isEqualTo("a");
        assertThat(ended.get("trigger").stringValue()).isEqualTo("webhook");
        assertThat(second.get("duplicate").booleanValue()).isTrue();
        assertThat(second.get("run_id").stringValue()).isEqualTo(run);
        assertThat(second.get("id")).isEqualTo(first.get("id"));
        JsonNode delivery = decided(trigger, first);
        assertThat(api.get(path(trigger)).json()).isEqualTo(trigger);
        assertThat(delivery.get("state").stringValue()).isEqualTo("started");
        assertThat(delivery.get("repeats").intValue()).isEqualTo(1);
        assertThat(delivery.at("/headers/x-github-delivery").stringValue()).isEqualTo("1");
        assertThat(delivery.at("/body/title").stringValue()).isEqualTo("a");
        assertThat(api.get(path(trigger) + "/deliveries?state=started").json().get("items")).hasSize(1);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            {"source": {}}                                 | /source/kind 'kind' must be given; allowed: standard, github
            {"source": {"kind": "github"}}                 | /source/secrets the kind 'github' needs the name of at least one secret
            {"source": {"kind": "slack", "secrets": ["NO"]}} | /source/secrets/0 the workspace has no secret 'NO'; set it with: keelson secrets set NO
            {"source": {"kind": "event"}}                  | /source/event the kind 'event' needs the name of its events
            {"source": {"kind": "run", "event": "o"}}      | /source/event the kind 'run' has none: only 'event' has the name of its events
            {"source": {"kind": "run", "user": "ann"}}     | /source/user the kind 'run' has none: only 'basic' has a user
            {"source": {"kind": "run", "header": "X-Key"}} | /source/header the kind 'run' has no header: only 'secret' has one
            {"recipe": "other"}                            | /recipe exactly one of recipe, mission and signal is required; given: recipe, mission
            {"mission": null}                              | /recipe exactly one of recipe, mission and signal is required; none is given
            {"filter": ".body.x == 1"}                     | /filter '.body.x == 1' must be exactly one ${ … }, such as ${ .body.total }
            {"filter": "${ .bdy.x == 1 }"}                 | /filter the expression names '.bdy', which an event does not have; did you mean 'body'?; known: batch, body, headers
            {"filter": "${ .body.x == 2 }"}                | /filter the example does not meet the filter
            {"key": "${ .body.y }"}                        | /key a number or a text of 1 to 255 characters; the expression gives null
            {"flow": {"rate": {"key": "${ .body }", "limit": 1, "period_seconds": 1}}} | /flow/rate/key the expression gives object
            {"flow": {"debounce": {"period_seconds": 9, "timeout_seconds": 5}}} | /flow/debounce/timeout_seconds 5 is less than the 9 of period_seconds
            {"signal": {"name": "go"}, "mission": null}    | /signal/external_id exactly one of external_id and tag is required; none is given
            """)
    void wrongDefinitionNamesMemberValueAndChoices(String members, String expected) {
        ObjectNode definition = (ObjectNode) Json.read("""
                {"name": "wrong", "source": {"kind": "event", "event": "o"}, "example": {"body": {"x": 1}},
                 "mission": {"name": "m", "plan": {"tasks": [{"id": "a", "steps": [{"tool": "noop"}]}]}}}""");
        Json.read(members).propertyStream().forEach(each -> {
            if (each.getValue().isNull()) {
                definition.remove(each.getKey());
            } else {
                definition.set(each.getKey(), each.getValue());
            }
        });

        ApiServer.Answer answer = api.post("/api/v1/triggers", definition.toString());

        assertThat(answer.status()).isEqualTo(422);
        String pointer = expected.substring(0, expected.indexOf(' '));
        assertThat(answer.json().get("problems").valueStream()).anySatisfy(problem -> {
            assertThat(problem.get("pointer").stringValue()).isEqualTo(pointer);
            assertThat(problem.get("message").stringValue()).contains(expected.substring(pointer.length() + 1));
        });
    }

    /** Until a server has decided it, a delivery waits for nothing. */
    @Test
    void timeIsShownForADeliveryThatWaits() {
        JsonNode trigger = made("due");
        JsonNode receipt = received(trigger, "1", opened("a"));
        decided(trigger, receipt);
        String path = path(trigger) + "/deliveries/" + receipt.get("id").stringValue();
        String pending =
                "update trigger_deliveries set state = 'pending', decided_at = null, due_at = clock_timestamp()"
                        + " + interval '1 hour', error_code = %s where id = '"
                        + receipt.get("id").stringValue() + "'";

        api.sql(pending.formatted("null"));
        assertThat(api.get(path).json().get("due_at").isNull()).isTrue();

        api.sql(pending.formatted("'RATE_LIMITED'"));
        assertThat(api.get(path).json().get("due_at").isString()).isTrue();
    }

    /** As after a crash between the commit of the run and that of its outcome. */
    @Test
    void runThatExistsIsNotStartedAgain() {
        JsonNode trigger = made("crash");
        JsonNode first = received(trigger, "1", opened("a"));
        String run = decided(trigger, first).get("run_id").stringValue();
        api.awaitState(run, "completed");
        assertThat(api.send("DELETE", "/api/v1/runs/" + run, null).status()).isEqualTo(204);

        api.sql("update trigger_deliveries set state = 'pending', decided_at = null, due_at = clock_timestamp() where id = '"
                + first.get("id").stringValue() + "'");

        assertThat(decided(trigger, first).get("state").stringValue()).isEqualTo("started");
        assertThat(api.get("/api/v1/runs/" + run).status()).isEqualTo(404);
    }

    @Test
    void eventsSentSideBySideStartOneRunForEachKey() {
        JsonNode trigger = made("many");
        List<JsonNode> answers = IntStream.range(0, 40).parallel()
                .mapToObj(i -> received(trigger, "k" + i % 10, opened("x"))).toList();

        assertThat(answers.stream().map(each -> each.get("run_id").stringValue()).distinct()).hasSize(10);
        assertThat(answers.stream().filter(each -> !each.get("duplicate").booleanValue())).hasSize(10);
        answers.forEach(each -> decided(trigger, each));
        assertThat(api.get("/api/v1/runs?limit=100&name=triage&trigger=webhook").json().get("items").valueStream()
                .filter(run -> answers.stream().anyMatch(each -> each.get("run_id").equals(run.get("id")))))
                .hasSize(10);
    }

    @Test
    void filteredAndUnfitEventsStartNoRun() {
        JsonNode trigger = made("filtered");

        JsonNode closed = decided(trigger, received(trigger, "1", "{\"action\": \"closed\"}"));
        JsonNode unfit = decided(trigger, received(trigger, "2", "{\"action\": \"opened\", \"title\": 7}"));
        JsonNode failing = decided(trigger, received(trigger, "3", "[1]"));

        assertThat(closed.get("state").stringValue()).isEqualTo("dropped");
        assertThat(closed.get("error_code").stringValue()).isEqualTo("FILTERED");
        assertThat(closed.get("run_id").isNull()).isTrue();
        assertThat(unfit.get("state").stringValue()).isEqualTo("refused");
        assertThat(unfit.get("error_code").stringValue()).isEqualTo("INPUT_INVALID");
        assertThat(unfit.get("error_message").stringValue()).startsWith("/inputs/title: ");
        assertThat(failing.get("error_code").stringValue()).isEqualTo("EXPRESSION_FAILED");
        assertThat(received(trigger, "1", opened("again")).get("state").stringValue()).isEqualTo("dropped");
    }

    @Test
    void requestsWithoutProofTriggerOrIdentityAreRefused() throws Exception {
        JsonNode trigger = made("refusing");
        String path = trigger.get("path").stringValue();
        String body = opened("x");
        String good = "sha256=" + TestEvents.hex(TestEvents.SECRET, body);
        String former = "sha256=" + TestEvents.hex("the former secret", body);

        assertThat(code(path, body, "X-Hub-Signature-256", good)).isEqualTo("422 DELIVERY_KEY_INVALID");
        assertThat(code(path, body, "X-Hub-Signature-256", former)).isEqualTo("422 DELIVERY_KEY_INVALID");
        assertThat(code(path, body + " ", "X-Hub-Signature-256", good)).isEqualTo("401 SIGNATURE_INVALID");
        assertThat(code(path, body, "X-GitHub-Delivery", "1")).isEqualTo("401 SIGNATURE_INVALID");
        assertThat(code("/hooks/trg_00000000-0000-0000-0000-000000000000", body)).isEqualTo("404 TRIGGER_NOT_FOUND");
        assertThat(code("/hooks/unknown", body)).isEqualTo("404 ROUTE_NOT_FOUND");
        assertThat(code(path, "x".repeat(HookMount.MAX_BYTES + 1))).isEqualTo("413 BODY_TOO_LARGE");
        String broken = "{\"a\": ";
        assertThat(code(path, broken, "X-Hub-Signature-256", "sha256=" + TestEvents.hex(TestEvents.SECRET, broken)))
                .isEqualTo("400 MALFORMED_JSON");
        String deep = "[".repeat(190) + "]".repeat(190);
        assertThat(code(path, deep, "X-Hub-Signature-256", "sha256=" + TestEvents.hex(TestEvents.SECRET, deep)))
                .isEqualTo("422 INVALID_BODY");
        assertThat(api.send("GET", path, null, "Authorization", "").status()).isEqualTo(405);
        assertThat(api.get(path(trigger) + "/deliveries").json().get("items")).isEmpty();
    }

    private static String code(String path, String body, String... headers) {
        String[] all = new String[headers.length + 4];
        System.arraycopy(new String[] {"Authorization", "", "Content-Type", "application/json"}, 0, all, 0, 4);
        System.arraycopy(headers, 0, all, 4, headers.length);
        ApiServer.Answer answer = api.send("POST", path, body.getBytes(StandardCharsets.UTF_8), all);
        return answer.status() + " " + answer.json().get("code").stringValue();
    }

    @Test
    void disabledOrDeletedTriggerStartsNothing() {
        JsonNode trigger = made("off");
        JsonNode first = received(trigger, "1", opened("x"));
        decided(trigger, first);

        JsonNode off = api.send("PATCH", path(trigger), "{\"enabled\": false}".getBytes(StandardCharsets.UTF_8),
                "Content-Type", "application/json").json();
        api.sql("update trigger_deliveries set state = 'pending', decided_at = null, run_id = gen_random_uuid(),"
                + " due_at = clock_timestamp() where id = '" + first.get("id").stringValue() + "'");

        assertThat(off.get("enabled").booleanValue()).isFalse();
        assertThat(TestEvents.github(api, trigger.get("path").stringValue(), "2", opened("x")).status()).isEqualTo(404);
        JsonNode dropped = decided(trigger, first);
        assertThat(dropped.get("error_code").stringValue()).isEqualTo("TRIGGER_DISABLED");
        assertThat(api.send("DELETE", path(trigger), null).status()).isEqualTo(204);
        assertThat(TestEvents.github(api, trigger.get("path").stringValue(), "3", opened("x")).status()).isEqualTo(404);
        assertThat(api.get(path(trigger)).status()).isEqualTo(404);
        assertThat(api.get("/api/v1/audit").json().get("items").valueStream()
                .filter(each -> trigger.get("id").equals(each.get("subject")))
                .map(each -> each.get("action").stringValue()))
                .containsExactly("trigger_deleted", "trigger_disabled", "trigger_created");
    }

    /** The feed of events shows nothing after a transaction that has an id, while it is open. */
    @Test
    void submissionKeepsADeletionWaitingWithoutAnIdOfItsTransaction() {
        JsonNode trigger = made("held");
        TriggerStore store = new TriggerStore(api.database());

        CompletableFuture<Integer> deletion = api.database().inTransaction(c -> {
            assertThat(store.hold(c, List.of(UUID.fromString(trigger.get("id").stringValue())))).hasSize(1);
            CompletableFuture<Integer> waiting =
                    CompletableFuture.supplyAsync(() -> api.send("DELETE", path(trigger), null).status());
            api.awaitLock();
            assertThat(Sql.of("select 1 where pg_current_xact_id_if_assigned() is not null").on(c).exists()).isFalse();
            assertThat(waiting).isNotDone();
            return waiting;
        });

        assertThat(deletion).succeedsWithin(Duration.ofSeconds(60)).isEqualTo(204);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "\"github\" | \"secret\" | REQUIRED /key",
            "\"hook\", \"former\" | \"unknown\" | UNKNOWN_REFERENCE /source/secrets/0",
            ".body.title | .body. | EXPRESSION_SYNTAX /inputs/title",
            ".body.title | secret(\\\"hook\\\") | SECRET_NOT_ALLOWED /inputs/title",
            ".body.title | .body.action / 0 | EXAMPLE_REJECTED /inputs",
            ".body.title | 7 | INPUT_INVALID /inputs/title",
            "\\\"opened\\\" | \\\"closed\\\" | EXAMPLE_REJECTED /filter",
            "\"title\": \"${ | \"other\": \"${ | INPUT_UNKNOWN /inputs/other",
            "\"example\" | \"recipe\": \"x\", \"example\" | REQUIRED /recipe",
            "\"kind\": | \"user\": \"ann\", \"kind\": | INVALID_VALUE /source/user",
            "\"hook\", \"former\" | '' | REQUIRED /source/secrets",
            "\"github\" | \"event\" | REQUIRED /source/event",
            "\"kind\": | \"debounce\": {}, \"kind\": | UNKNOWN_KEY /source/debounce"})
    void definitionIsCheckedWithItsExample(String from, String to, String problem) {
        String definition = DEFINITION.formatted("checked", MISSION).replace(from, to);
        ApiServer.Answer answer = api.post("/api/v1/triggers", definition);

        assertThat(answer.status()).as(answer.text()).isEqualTo(422);
        assertThat(answer.json().get("problems").valueStream()
                .map(each -> each.get("code").stringValue() + " " + each.get("pointer").stringValue()))
                .contains(problem);
    }

    @Test
    void changedTriggerDecidesReplayedDeliveriesAnew() {
        JsonNode trigger = made("replayed");
        JsonNode unfit = received(trigger, "1", "{\"action\": \"opened\", \"title\": 7}");
        assertThat(decided(trigger, unfit).get("state").stringValue()).isEqualTo("refused");
        JsonNode started = received(trigger, "2", opened("x"));
        String before = decided(trigger, started).get("run_id").stringValue();

        ApiServer.Answer changed = api.send("PATCH", path(trigger),
                "{\"inputs\": {\"title\": \"${ .body.title | tostring }\"}}".getBytes(StandardCharsets.UTF_8),
                "Content-Type", "application/json");
        assertThat(changed.status()).as(changed.text()).isEqualTo(200);
        JsonNode tested = api.post(path(trigger) + "/test",
                "{\"headers\": {\"content-type\": \"x\"}, \"body\": {\"action\": \"opened\", \"title\": 7}}").json();
        ApiServer.Answer replayed = api.post(path(trigger) + "/replay", "{\"state\": \"refused\"}");
        assertThat(replayed.json().get("count").intValue()).isEqualTo(1);
        assertThat(api.post(path(trigger) + "/replay",
                "{\"delivery_id\": \"" + started.get("id").stringValue() + "\"}").json().get("count").intValue())
                .isEqualTo(1);

        assertThat(tested.at("/inputs/title").stringValue()).isEqualTo("7");
        JsonNode delivery = decided(trigger, unfit);
        assertThat(delivery.get("state").stringValue()).isEqualTo("started");
        assertThat(api.awaitState(delivery.get("run_id").stringValue(), "completed").at("/output/title").stringValue())
                .isEqualTo("7");
        assertThat(decided(trigger, started).get("run_id").stringValue()).isNotEqualTo(before);
        assertThat(api.post("/api/v1/triggers", DEFINITION.formatted("replayed", MISSION)).status()).isEqualTo(409);
    }

    private static ApiServer.Answer event(String type, String body, String... headers) {
        String[] all = new String[headers.length + 2];
        all[0] = "Content-Type";
        all[1] = type;
        System.arraycopy(headers, 0, all, 2, headers.length);
        return api.send("POST", "/api/v1/events", body.getBytes(StandardCharsets.UTF_8), all);
    }

    @Test
    void eventsOfProgramsStartRunsOfMatchingTriggers() {
        JsonNode trigger = api.post("/api/v1/triggers", """
                {"name": "orders", "source": {"kind": "event", "event": "order.*"}, "mission": %s,
                 "inputs": {"title": "${ .headers[\\"ce-type\\"] + \\" \\" + .body.n }"},
                 "example": {"headers": {"ce-type": "order.paid"}, "body": {"n": "1"}}}""".formatted(MISSION)).json();
        assertThat(trigger.has("id")).as(trigger.toString()).isTrue();

        ApiServer.Answer plain =
                event("application/json", "{\"name\": \"order.paid\", \"id\": \"1\", \"data\": {\"n\": \"a\"}}");
        ApiServer.Answer structured = event("application/cloudevents+json", """
                {"specversion": "1.0", "type": "order.sent", "source": "/shop", "id": "1", "data": {"n": "b"}}""");
        ApiServer.Answer binary = event("application/json", "{\"n\": \"b\"}", "ce-specversion", "1.0", "ce-type",
                "order.sent", "ce-source", "/shop", "ce-id", "1");

        assertThat(plain.status()).as(plain.text()).isEqualTo(202);
        JsonNode first = plain.json().at("/items/0");
        assertThat(first.get("trigger_id")).isEqualTo(trigger.get("id"));
        assertThat(decided(trigger, first).get("state").stringValue()).isEqualTo("started");
        JsonNode run = api.awaitState(first.get("run_id").stringValue(), "completed");
        assertThat(run.at("/output/title").stringValue()).isEqualTo("order.paid a");
        assertThat(run.get("trigger").stringValue()).isEqualTo("event");
        assertThat(structured.json().at("/items/0/duplicate").booleanValue()).isFalse();
        assertThat(binary.json().at("/items/0/duplicate").booleanValue()).as(binary.text()).isTrue();
        assertThat(event("application/json", "{\"name\": \"bill.paid\", \"id\": \"1\"}").json().get("items")).isEmpty();
        assertThat(event("application/json", "{\"name\": \"\", \"x\": 1}").json().get("problems")).hasSize(3);
        assertThat(event("text/plain", "x").status()).isEqualTo(415);
        assertThat(TestEvents.github(api, "/hooks/trg_" + trigger.get("id").stringValue(), "1", "{}").status())
                .isEqualTo(404);
    }

    /** A text that PostgreSQL refuses would keep all deliveries that are decided together. */
    @Test
    void failureWithAnyTextIsRecorded() {
        ApiServer.Answer made = api.post("/api/v1/triggers", """
                {"name": "failing", "source": {"kind": "github", "secrets": ["hook"]}, "mission": %s,
                 "filter": "${ if .body.bad then error([0] | implode) else true end }", "inputs": {"title": "x"},
                 "example": {"body": {}}}""".formatted(MISSION));
        assertThat(made.status()).as(made.text()).isEqualTo(201);

        JsonNode refused = decided(made.json(), received(made.json(), "1", "{\"bad\": true}"));

        assertThat(refused.get("state").stringValue()).isEqualTo("refused");
        assertThat(refused.get("error_message").stringValue()).endsWith("\uFFFD");
    }

    @Test
    void eventWithoutAKeyForOneTriggerIsStoredForNoTrigger() {
        JsonNode all = api.post("/api/v1/triggers", """
                {"name": "all letters", "source": {"kind": "event", "event": "letter.*"}, "mission": %s,
                 "inputs": {"title": "x"}}""".formatted(MISSION)).json();
        ApiServer.Answer keyed = api.post("/api/v1/triggers", """
                {"name": "sent letters", "source": {"kind": "event", "event": "letter.sent"}, "mission": %s,
                 "key": "${ .body.n }", "inputs": {"title": "x"}, "example": {"body": {"n": 1}}}""".formatted(MISSION));
        assertThat(keyed.status()).as(keyed.text()).isEqualTo(201);

        ApiServer.Answer answer = event("application/json", "{\"name\": \"letter.sent\", \"id\": \"1\"}");

        assertThat(answer.json().get("code").stringValue()).isEqualTo("DELIVERY_KEY_INVALID");
        assertThat(api.get(path(all) + "/deliveries").json().get("items")).isEmpty();
    }

    @Test
    void limitOfTheWorkspaceDelaysARun() {
        JsonNode trigger = made("limited");
        api.sql("insert into workspace_limits values ('00000000-0000-7000-8000-000000000001', 'open_runs', 0)");
        JsonNode receipt;
        try {
            receipt = received(trigger, "1", opened("x"));
            Awaitility.await().atMost(Duration.ofSeconds(60))
                    .until(() -> api.get(path(trigger) + "/deliveries/" + receipt.get("id").stringValue()).json()
                            .get("error_code").asString("").equals("OPEN_RUNS_LIMIT_REACHED"));
        } finally {
            api.sql("delete from workspace_limits");
        }
        api.sql("update trigger_deliveries set due_at = clock_timestamp() where state = 'pending'");

        assertThat(decided(trigger, receipt).get("state").stringValue()).isEqualTo("started");
    }
}
