package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.api.http.ApiServer.Answer;
import io.keelson.server.api.http.TestProvider.Mood;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Commands to a provider: once under each key, with any response and after any crash. */
@Breadth.Spread
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class CommandApiTest {

    private static final String ORDER = """
            {"symbol": "BTC-USD", "side": "buy", "type": "limit", "quantity": "1.50", "limit_price": "60000"}""";

    /** Held from before the provider's address is known until the end. */
    private TestProvider provider;
    private ApiServer api;
    private int before;

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        provider = new TestProvider();
        api = new ApiServer(folder, TestDatabase.createUrl(), Map.of("KEELSON_PROVIDER_URL", provider.url(),
                "KEELSON_PROVIDER_TOKEN", "of-the-provider", "KEELSON_PROVIDER_TIMEOUT_SECONDS", "60",
                "KEELSON_ALLOW_PRIVATE_ADDRESSES", "true", "KEELSON_COMMAND_TYPES",
                "crm.note=" + provider.url() + "/notes idempotent, mail.send=" + provider.url() + "/mails"));
    }

    @AfterAll
    void stop() {
        provider.close();
        api.close();
    }

    @BeforeEach
    void count() {
        before = provider.asked().size();
    }

    @AfterEach
    void nothingIsLeftUnderWay() {
        Awaitility.await().untilAsserted(() -> assertThat(api.get("/api/v1/commands?state=executing").json()
                .get("items").isEmpty()).isTrue());
    }

    private Answer place(String key, String body) {
        return api.post("/api/v1/orders", body, "Idempotency-Key", key);
    }

    private Answer send(String type, String key) {
        return api.post("/api/v1/commands", "{\"type\": \"" + type + "\", \"payload\": {\"n\": 1}}",
                "Idempotency-Key", key);
    }

    private static String key() {
        return UUID.randomUUID().toString();
    }

    private List<TestProvider.Asked> asked() {
        List<TestProvider.Asked> all = provider.asked();
        return all.subList(before, all.size());
    }

    private static String code(Answer answer) {
        return answer.json().get("code").stringValue();
    }

    private JsonNode command(Answer answer) {
        JsonNode document = answer.json();
        return command(document.has("command_id") ? document.get("command_id") : document.get("id"));
    }

    private JsonNode command(JsonNode id) {
        return api.get("/api/v1/commands/" + id.stringValue()).json();
    }

    private JsonNode await(JsonNode command, String state) {
        Awaitility.await().atMost(Duration.ofSeconds(60)).untilAsserted(
                () -> assertThat(command(command.get("id")).get("state").stringValue()).isEqualTo(state));
        return command(command.get("id"));
    }

    @Test
    void sameKeyAndPayloadReplaysWithoutACall() {
        String key = key();
        Answer first = place(key, ORDER);
        assertThat(first.status()).as(first.text()).isEqualTo(201);
        assertThat(first.header("Location")).isEqualTo("/api/v1/orders/" + first.json().get("id").stringValue());
        Answer again = place(key, ORDER.replace("1.50", "1.5"));
        assertThat(again.status()).isEqualTo(200);
        assertThat(again.json()).isEqualTo(first.json());
        assertThat(again.header("Idempotent-Replayed")).isEqualTo("true");
        assertThat(asked()).singleElement().satisfies(call -> {
            assertThat(call.path()).isEqualTo("/orders");
            assertThat(call.key()).isEqualTo(command(first).get("provider_key").stringValue());
            assertThat(call.token()).isEqualTo("Bearer of-the-provider");
            assertThat(call.body()).contains("\"quantity\":\"1.5\"");
        });
        assertThat(command(first).get("actor_kind").stringValue()).isNotBlank();
    }

    @Test
    void theSameKeyWithAnotherPayloadConflicts() {
        String key = key();
        place(key, ORDER);
        Answer other = place(key, ORDER.replace("buy", "sell"));
        assertThat(other.status()).isEqualTo(409);
        assertThat(code(other)).isEqualTo("IDEMPOTENCY_KEY_CONFLICT");
        assertThat(asked()).hasSize(1);
        Answer elsewhere = api.post("/api/v1/deployments", "{\"strategy\": \"s\"}", "Idempotency-Key", key);
        assertThat(elsewhere.status()).as("another endpoint's keys are its own").isEqualTo(201);
    }

    @Test
    void withoutAKeyNothingIsMade() {
        for (String path : List.of("/orders", "/deployments")) {
            Answer refused = api.post("/api/v1" + path, path.equals("/orders") ? ORDER : "{\"strategy\": \"s\"}");
            assertThat(refused.status()).isEqualTo(400);
            assertThat(code(refused)).isEqualTo("IDEMPOTENCY_KEY_REQUIRED");
        }
        assertThat(asked()).isEmpty();
    }

    @Test
    void oneOfTwoConcurrentCommandsIsSent() {
        String key = key();
        provider.next(Mood.HOLDS_AND_LOSES_ITS_ANSWER);
        CompletableFuture<Answer> held = CompletableFuture.supplyAsync(() -> place(key, ORDER));
        Awaitility.await().until(() -> asked().size() == 1);
        CompletableFuture<Answer> second = CompletableFuture.supplyAsync(() -> place(key, ORDER));
        provider.letGo();
        Answer first = held.join();
        assertThat(first.status()).isEqualTo(202);
        assertThat(second.join().status()).as("it waits for the command's end").isEqualTo(200);
        assertThat(second.join().header("Idempotent-Replayed")).isEqualTo("true");
        await(command(first), "completed");
        assertThat(asked()).hasSize(2).extracting(TestProvider.Asked::key).containsOnly(asked().getFirst().key());
    }

    @Test
    void failedCommandIsRetriedUnderItsKeyAndMadeOnce() {
        int made = provider.made();
        provider.next(Mood.FAILS, Mood.BUSY);
        Answer first = place(key(), ORDER);
        assertThat(first.status()).isEqualTo(202);
        assertThat(await(command(first), "completed").get("attempts").intValue()).isEqualTo(3);
        assertThat(asked()).hasSize(3).extracting(TestProvider.Asked::key).containsOnly(asked().getFirst().key());
        assertThat(provider.made()).isEqualTo(made + 1);
    }

    @Test
    void refusedCommandFailsWithoutRetry() {
        String key = key();
        provider.next(Mood.REFUSES);
        Answer refused = place(key, ORDER);
        assertThat(refused.status()).isEqualTo(422);
        assertThat(code(refused)).isEqualTo("COMMAND_REFUSED");
        assertThat(refused.text()).contains("no such symbol");
        assertThat(code(place(key, ORDER))).isEqualTo("COMMAND_REFUSED");
        assertThat(asked()).hasSize(1);
        assertThat(command(refused).get("state").stringValue()).isEqualTo("failed");
    }

    @Test
    void sentNonIdempotentCommandIsNeverRepeated() {
        String key = key();
        provider.next(Mood.FAILS);
        Answer open = send("mail.send", key);
        assertThat(open.status()).isEqualTo(502);
        assertThat(code(open)).isEqualTo("COMMAND_OUTCOME_UNKNOWN");
        assertThat(command(open).get("advice").stringValue())
                .contains(command(open).get("provider_key").stringValue());
        assertThat(code(send("mail.send", key))).isEqualTo("COMMAND_OUTCOME_UNKNOWN");
        provider.next(Mood.LOSES_ITS_ANSWER);
        assertThat(code(send("mail.send", key()))).isEqualTo("COMMAND_OUTCOME_UNKNOWN");
        assertThat(asked()).hasSize(2);
        provider.next(Mood.BUSY);
        assertThat(await(command(send("mail.send", key())), "completed").get("attempts").intValue())
                .as("what did not arrive may be repeated").isEqualTo(2);
    }

    @Test
    void rejectedRequestDoesNotSettleAnEarlierAttempt() {
        provider.next(Mood.LOSES_ITS_ANSWER, Mood.FORBIDS);
        JsonNode placed = await(command(place(key(), ORDER)), "completed");
        assertThat(placed.get("attempts").intValue()).isEqualTo(3);
        provider.next(Mood.LOSES_ITS_ANSWER, Mood.FORBIDS, Mood.FORBIDS);
        assertThat(await(command(place(key(), ORDER)), "unknown").get("error_code").stringValue())
                .isEqualTo("HTTP_STATUS_401");
        provider.next(Mood.FORBIDS);
        assertThat(command(place(key(), ORDER)).get("state").stringValue()).isEqualTo("failed");
        provider.next(Mood.FAILS, Mood.REFUSES);
        assertThat(await(command(place(key(), ORDER)), "failed").get("attempts").intValue()).isEqualTo(2);
    }

    @Test
    void providersNumbersAreKeptExactly() {
        provider.next(Mood.ANSWERS_BEYOND_NUMBERS);
        Answer placed = place(key(), ORDER);
        assertThat(placed.status()).as(placed.text()).isEqualTo(201);
        assertThat(command(placed).at("/response/most").stringValue()).isEqualTo("1E+400000");
    }

    @Test
    void aCommandOfANodeThatDiedIsSentOnceMoreUnderItsKey() {
        String key = key();
        Answer sent = place(key, ORDER);
        die(sent);
        JsonNode again = await(command(sent), "completed");
        assertThat(again.get("attempts").intValue()).isEqualTo(2);
        assertThat(asked()).hasSize(2).extracting(TestProvider.Asked::key).containsOnly(asked().getFirst().key());
        assertThat(place(key, ORDER).json()).isEqualTo(sent.json());
        assertThat(asked()).hasSize(2);
    }

    @Test
    void nonIdempotentCommandOfACrashedNodeIsUnknown() {
        Answer sent = send("mail.send", key());
        assertThat(sent.status()).isEqualTo(201);
        die(sent);
        assertThat(await(command(sent), "unknown").get("error_code").stringValue()).isEqualTo("OUTCOME_UNKNOWN");
        assertThat(asked()).hasSize(1);
    }

    /** As if its node had died between the call and the note of its outcome, and its lease had run out. */
    private void die(Answer sent) {
        api.sql("""
                update execution_commands set state = 'executing', completed_at = null, response = null,
                    wake_at = now() - interval '1 second' where id = '%s'"""
                .formatted(command(sent).get("id").stringValue()));
    }

    @Test
    void readsGoToTheProvider() {
        JsonNode order = place(key(), ORDER).json();
        String path = "/api/v1/orders/" + order.get("id").stringValue();
        assertThat(api.get(path).json().get("status").stringValue()).isEqualTo("open");
        assertThat(api.get("/api/v1/orders?limit=1").json().at("/items/0/id")).isEqualTo(order.get("id"));
        Answer cancelled = api.post(path + "/cancel", "{}");
        assertThat(cancelled.status()).as(cancelled.text()).isEqualTo(200);
        assertThat(cancelled.json().get("status").stringValue()).isEqualTo("cancelled");
        assertThat(asked().getLast().path())
                .isEqualTo("/orders/" + order.get("provider_reference").stringValue() + "/cancel");
        assertThat(api.get("/api/v1/commands?type=order.cancel&limit=1").json().at("/items/0/target_id"))
                .isEqualTo(order.get("id"));
    }

    @Test
    void cancelledCommandStaysCancelled() {
        String path = "/api/v1/orders/" + place(key(), ORDER).json().get("id").stringValue() + "/cancel";
        String key = key();
        Answer first = api.post(path, "{}", "Idempotency-Key", key);
        assertThat(first.status()).as(first.text()).isEqualTo(200);
        for (Answer again : List.of(api.post(path, "{}"), api.post(path, "{}", "Idempotency-Key", key()),
                api.post(path, "{}", "Idempotency-Key", key))) {
            assertThat(again.status()).isEqualTo(200);
            assertThat(again.json()).isEqualTo(first.json());
            assertThat(again.header("Idempotent-Replayed")).isEqualTo("true");
        }
        assertThat(asked()).as("placed and cancelled").hasSize(2);
        assertThat(api.get("/api/v1/commands?limit=1").json().at("/items/0/id"))
                .isEqualTo(first.json().get("command_id"));
        String other = "/api/v1/orders/" + place(key(), ORDER).json().get("id").stringValue() + "/cancel";
        assertThat(api.post(other, "{}").status()).isEqualTo(200);
        assertThat(code(api.post(other, "{}", "Idempotency-Key", key))).isEqualTo("IDEMPOTENCY_KEY_CONFLICT");
    }

    @Test
    void aRefusedCancelMayBeAskedForAgain() {
        String path = "/api/v1/orders/" + place(key(), ORDER).json().get("id").stringValue() + "/cancel";
        provider.next(Mood.REFUSES);
        assertThat(code(api.post(path, "{}"))).isEqualTo("COMMAND_REFUSED");
        assertThat(api.post(path, "{}").json().get("status").stringValue()).isEqualTo("cancelled");
    }

    @Test
    void longListsAreReadAPageAtATimeAndAskedForInParts() {
        String made = place(key(), ORDER).json().get("id").stringValue();
        api.sql("""
                insert into execution_commands
                select (jsonb_populate_record(e, jsonb_build_object('id', '00000000-0000-4000-8000-' || n,
                    'provider_key', 'copy-' || n, 'idempotency_key', 'copy-' || n))).*
                  from execution_commands e, generate_series(100000000001, 100000000250) as n where e.id = '%s'"""
                .formatted(made));
        JsonNode all = api.get("/api/v1/orders?limit=500").json();
        assertThat(all.get("items").size()).isGreaterThan(250);
        assertThat(all.get("items").valueStream().map(order -> order.get("status"))).allMatch(JsonNode::isString);
        assertThat(all.get("next_cursor").isNull()).isTrue();
        assertThat(provider.mostAskedFor()).isEqualTo(100);
        JsonNode page = api.get("/api/v1/orders?limit=200").json();
        assertThat(page.get("items").size()).isEqualTo(200);
        JsonNode rest = api.get("/api/v1/orders?cursor=" + page.get("next_cursor").stringValue()).json();
        assertThat(rest.at("/items/0")).isEqualTo(all.at("/items/200"));
    }

    @Test
    void invalidCommandIsRefusedWithThePosition() {
        Map.of("{\"quantity\": 1.5}", "/quantity", "{\"quantity\": \"0\"}", "/quantity", "{\"side\": \"hold\"}",
                "/side", "{\"limit_price\": null}", "/limit_price", "{\"type\": \"market\"}", "/limit_price",
                "{\"colour\": 1}", "/colour", "{\"quantity\": \"-1\"}", "/quantity", "{\"symbol\": \"a b\"}",
                "/symbol").forEach((change, pointer) -> {
                    var body = Json.read(ORDER.getBytes()).deepCopy();
                    ((tools.jackson.databind.node.ObjectNode) body).setAll(
                            (tools.jackson.databind.node.ObjectNode) Json.read(change.getBytes()));
                    Answer refused = place(key(), body.toString());
                    assertThat(refused.status()).as(change).isEqualTo(422);
                    assertThat(refused.json().at("/problems/0/pointer").stringValue()).as(change).isEqualTo(pointer);
                });
        assertThat(code(send("order.place", key()))).isEqualTo("INVALID_VALUE");
        assertThat(asked()).isEmpty();
    }

    @Test
    void auditLogNamesTheCaller() {
        Answer sent = send("crm.note", key());
        List<String> actions = api.get("/api/v1/audit?limit=100").json().get("items").valueStream()
                .filter(entry -> entry.path("subject").asString("").equals(sent.json().get("id").stringValue()))
                .map(entry -> entry.get("action").stringValue()).toList();
        assertThat(actions).containsExactly("command_completed", "command_accepted");
    }

    @Test
    void approvedCommandStepIsSentOnceDespiteARetry() {
        provider.next(Mood.FAILS);
        String run = api.create("""
                {"name": "trade", "start": true, "plan": {"tasks": [{"id": "t", "steps": [
                  {"name": "sign-off", "kind": "approval"},
                  {"name": "buy", "tool": "order.place", "input": %s, "retry": {"max_attempts": 3}},
                  {"name": "undo", "tool": "order.cancel", "input": {"order_id": "${ .steps.buy.output.id }"}}]}]},
                 "output": "${ .tasks.t.output.status }"}""".formatted(ORDER));
        api.awaitStep(run, "waiting_approval");
        assertThat(asked()).isEmpty();
        api.post("/api/v1/runs/" + run + "/approve", "{}");
        assertThat(api.awaitState(run, "completed").get("output").stringValue()).isEqualTo("cancelled");
        assertThat(asked()).hasSize(3);
        assertThat(asked().subList(0, 2)).extracting(TestProvider.Asked::key)
                .containsOnly(asked().getFirst().key());
        JsonNode commands = api.get("/api/v1/commands?run_id=" + run).json().get("items");
        assertThat(commands.valueStream().map(each -> each.get("type").stringValue()))
                .containsExactly("order.cancel", "order.place");
    }

    @Test
    void stepWaitsForARetriedCommandWithoutAnotherAttempt() {
        provider.next(Mood.FAILS, Mood.BUSY);
        String run = api.create("""
                {"name": "trade", "start": true, "plan": {"tasks": [{"id": "t", "steps": [
                  {"name": "buy", "tool": "order.place", "input": %s, "retry": {"max_attempts": 1}}]}]}}"""
                .formatted(ORDER));
        api.awaitState(run, "completed");
        assertThat(asked()).hasSize(3).extracting(TestProvider.Asked::key).containsOnly(asked().getFirst().key());
        assertThat(api.get("/api/v1/runs/" + run + "/steps").json().at("/items/0/attempt").intValue()).isOne();
    }

    @Test
    void refusedStepAsksAgainWhenItsRunIsRetried() {
        provider.next(Mood.REFUSES);
        String run = api.create("""
                {"name": "trade", "start": true, "plan": {"tasks": [{"id": "t", "steps": [
                  {"name": "note", "tool": "crm.note", "input": {"text": "x"}}]}]}}""");
        assertThat(api.awaitState(run, "failed").get("error_code").stringValue()).isEqualTo("COMMAND_REFUSED");
        api.post("/api/v1/runs/" + run + "/retry", "{}");
        api.awaitState(run, "completed");
        assertThat(asked()).hasSize(2);
    }

    @Test
    void secretInACommandIsRefused() {
        api.send("PUT", "/api/v1/secrets/token", "{\"value\": \"canary-of-commands\"}".getBytes(), "Content-Type",
                "application/json");
        String run = api.create("""
                {"name": "leak", "start": true, "plan": {"tasks": [{"id": "t", "steps": [
                  {"name": "note", "tool": "crm.note", "input": {"text": "${ secret(\\"token\\") }"}}]}]}}""");
        assertThat(api.awaitState(run, "failed").get("error_code").stringValue()).isEqualTo("SECRET_IN_COMMAND");
        assertThat(asked()).isEmpty();
    }
}
