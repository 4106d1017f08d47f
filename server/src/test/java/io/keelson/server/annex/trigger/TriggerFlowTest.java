package io.keelson.server.annex.trigger;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.api.http.ApiServer;
import io.keelson.server.engine.store.read.RunReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Rules of flow, with times that are moved in the database. */
@Breadth.Spread
class TriggerFlowTest {

    @TempDir
    private static Path folder;

    private static ApiServer api;

    @BeforeAll
    static void start() throws Exception {
        api = new ApiServer(folder);
        api.put("/api/v1/secrets/hook", "{\"value\": \"" + TestEvents.SECRET + "\"}");
    }

    @AfterAll
    static void stop() {
        api.close();
    }

    /** A trigger whose runs end at once, or wait for a person. */
    private static JsonNode made(String name, String flow, boolean waits) {
        ApiServer.Answer answer = api.post("/api/v1/triggers", """
                {"name": "%s", "source": {"kind": "github", "secrets": ["hook"]}, "flow": %s,
                 "inputs": {"n": "${ .body.n }", "all": "${ [(.batch // [])[].body.n] }"}, "priority": "${ .body.n }",
                 "example": {"body": {"n": 1, "who": "a"}},
                 "mission": {"name": "flow", "inputs": {"n": {"type": "integer"}, "all": {"type": "array"}},
                  "plan": {"tasks": [{"id": "a", "steps": [%s]}]},
                  "output": "${ .inputs.all + [.inputs.n] }"}}""".formatted(name, flow,
                waits ? "{\"kind\": \"approval\", \"name\": \"ask\", \"input\": {\"question\": \"Go on?\"}}"
                        : "{\"tool\": \"noop\"}"));
        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
        return answer.json();
    }

    private static String sent(JsonNode trigger, int n, String who) {
        ApiServer.Answer answer = TestEvents.github(api, trigger.get("path").stringValue(), "e" + n,
                "{\"n\": " + n + ", \"who\": \"" + who + "\"}");
        assertThat(answer.status()).as(answer.text()).isEqualTo(202);
        return answer.json().get("id").stringValue();
    }

    private static JsonNode delivery(JsonNode trigger, String id) {
        return api.get("/api/v1/triggers/" + trigger.get("id").stringValue() + "/deliveries/" + id).json();
    }

    /** State, or the reason of the wait. */
    private static String outcome(JsonNode trigger, String id) {
        JsonNode found = delivery(trigger, id);
        return found.get("state").stringValue() + " " + found.get("error_code").asString("");
    }

    private static void await(JsonNode trigger, String id, String outcome) {
        Awaitility.await().atMost(Duration.ofSeconds(60)).pollInterval(Duration.ofMillis(10))
                .untilAsserted(() -> assertThat(outcome(trigger, id)).isEqualTo(outcome));
    }

    /** Moves the past of a trigger's deliveries back, and has the waiting ones looked at. */
    private static void passes(JsonNode trigger, int seconds) {
        String id = trigger.get("id").stringValue();
        api.sql("update trigger_deliveries set received_at = received_at - interval '" + seconds
                + " seconds', admitted_at = admitted_at - interval '" + seconds
                + " seconds', due_at = clock_timestamp() where trigger_id = '" + id + "'");
        look(id);
    }

    /** Replays none, which has due deliveries looked at. */
    private static void look(String id) {
        api.post("/api/v1/triggers/" + id + "/replay", "{\"state\": \"dead\"}");
    }

    private static JsonNode output(JsonNode trigger, String id) {
        return api.awaitState(delivery(trigger, id).get("run_id").stringValue(), "completed").get("output");
    }

    @Test
    void rateDropsWhatIsAboveItsLimitForEachKey() {
        JsonNode trigger = made("drop",
                "{\"rate\": {\"key\": \"${ .body.who }\", \"limit\": 2, \"period_seconds\": 3600, \"over\": \"drop\"}}",
                false);

        await(trigger, sent(trigger, 1, "a"), "started ");
        await(trigger, sent(trigger, 2, "a"), "started ");
        await(trigger, sent(trigger, 3, "a"), "dropped RATE_LIMITED");
        await(trigger, sent(trigger, 4, "b"), "started ");
        passes(trigger, 3600);
        await(trigger, sent(trigger, 5, "a"), "started ");
    }

    @Test
    void flowIsCheckedAndRemoved() {
        JsonNode trigger = made("checked", "{\"rate\": {\"limit\": 1, \"period_seconds\": 60}}", false);
        String path = "/api/v1/triggers/" + trigger.get("id").stringValue();

        assertThat(patched(path, "{\"flow\": {\"batch\": {\"max\": 2, \"period_seconds\": 1},"
                + " \"debounce\": {\"period_seconds\": 2, \"timeout_seconds\": 1}}}").toString())
                .contains("/flow/debounce\"", "/flow/debounce/timeout_seconds");
        assertThat(patched(path, "{\"flow\": {\"singleton\": {\"key\": \"${ .body.x }\", \"over\": \"skip\"}}}")
                .toString()).contains("EXAMPLE_REJECTED", "/flow/singleton/key");
        assertThat(patched(path, "{\"flow\": {\"throttle\": {}}}").toString()).contains("UNKNOWN_KEY");
        assertThat(patched(path, "{\"name\": \"renamed\"}").at("/flow/rate/limit").intValue()).isEqualTo(1);
        assertThat(patched(path, "{\"flow\": {}}").get("flow").isNull()).isTrue();
    }

    private static JsonNode patched(String path, String body) {
        return api.send("PATCH", path, body.getBytes(StandardCharsets.UTF_8), "Content-Type", "application/json")
                .json();
    }

    @Test
    void rateQueuesUntilThePeriodHasPassed() {
        JsonNode trigger = made("queue", "{\"rate\": {\"limit\": 1, \"period_seconds\": 3600}}", false);

        await(trigger, sent(trigger, 1, "a"), "started ");
        String second = sent(trigger, 2, "a");
        String third = sent(trigger, 3, "a");
        await(trigger, second, "pending RATE_LIMITED");
        await(trigger, third, "pending RATE_LIMITED");
        passes(trigger, 3600);
        await(trigger, second, "started ");
        await(trigger, third, "pending RATE_LIMITED");
    }

    /** Seconds until a waiting delivery is due, rounded to tens. */
    private static long due(String id) {
        return Math.round(
                TestTriggers.count(api.database(), "select extract(epoch from due_at - clock_timestamp())::bigint"
                        + " from trigger_deliveries where id = '" + id + "'") / 10.0)
                * 10;
    }

    @Test
    void deliveriesThatWaitForARateAreDueByTheirPlaces() {
        JsonNode trigger = made("line", "{\"rate\": {\"limit\": 2, \"period_seconds\": 1000}}", false);
        String path = "/api/v1/triggers/" + trigger.get("id").stringValue();
        await(trigger, sent(trigger, 1, "a"), "started ");
        await(trigger, sent(trigger, 2, "a"), "started ");
        List<String> line = new ArrayList<>();
        for (int n = 3; n <= 7; n++) {
            line.add(sent(trigger, n, "a"));
        }
        line.forEach(each -> await(trigger, each, "pending RATE_LIMITED"));
        assertThat(line.stream().map(TriggerFlowTest::due)).containsExactly(1000L, 1000L, 2000L, 2000L, 3000L);

        api.sql("update trigger_deliveries set received_at = received_at - interval '1001 s',"
                + " admitted_at = admitted_at - interval '1001 s', due_at = due_at - interval '1001 s'"
                + " where trigger_id = '" + trigger.get("id").stringValue() + "'");
        look(trigger.get("id").stringValue());
        await(trigger, line.get(0), "started ");
        await(trigger, line.get(1), "started ");
        assertThat(line.subList(2, 5).stream().map(TriggerFlowTest::due)).containsExactly(1000L, 1000L, 2000L);

        patched(path, "{\"flow\": {\"rate\": {\"limit\": 4, \"period_seconds\": 1000}}}");
        look(trigger.get("id").stringValue());
        await(trigger, line.get(2), "started ");
        await(trigger, line.get(3), "started ");
        await(trigger, line.get(4), "pending RATE_LIMITED");
        patched(path, "{\"enabled\": false}");
        look(trigger.get("id").stringValue());
        await(trigger, line.get(4), "dropped TRIGGER_DISABLED");
    }

    @Test
    void deliveriesThatWaitForASingletonStartInOrderAndOnlyTheFirstLooks() {
        JsonNode trigger = made("single-line", "{\"singleton\": {\"over\": \"queue\"}}", true);
        String open = sent(trigger, 1, "a");
        await(trigger, open, "started ");
        String first = sent(trigger, 2, "a");
        await(trigger, first, "pending SINGLETON_OPEN");
        String second = sent(trigger, 3, "a");
        String third = sent(trigger, 4, "a");
        await(trigger, second, "pending SINGLETON_OPEN");
        await(trigger, third, "pending SINGLETON_OPEN");
        assertThat(due(first)).isZero();
        assertThat(due(second)).isEqualTo(60);
        assertThat(due(third)).isEqualTo(60);

        cancel(trigger, open);
        await(trigger, first, "started ");
        assertThat(due(second)).isZero();
        assertThat(due(third)).isEqualTo(60);
        cancel(trigger, first);
        await(trigger, second, "started ");
        assertThat(outcome(trigger, third)).isEqualTo("pending SINGLETON_OPEN");
    }

    @Test
    void batchStartsOneRunForItsEvents() {
        JsonNode trigger = made("batch",
                "{\"batch\": {\"key\": \"${ .body.who }\", \"max\": 3, \"period_seconds\": 3600}}", false);

        List<String> full = new ArrayList<>();
        for (int n = 1; n <= 3; n++) {
            full.add(sent(trigger, n, "a"));
        }
        String other = sent(trigger, 4, "b");
        await(trigger, full.getFirst(), "started ");
        await(trigger, full.get(1), "merged ");
        await(trigger, full.get(2), "merged ");
        await(trigger, other, "pending BATCHED");
        assertThat(delivery(trigger, other).get("run_id").isNull()).isTrue();
        assertThat(full.stream().map(each -> delivery(trigger, each).get("run_id")).distinct()).hasSize(1);
        assertThat(output(trigger, full.getFirst()).toString()).isEqualTo("[1,2,3,1]");
        passes(trigger, 3600);
        await(trigger, other, "started ");
        assertThat(output(trigger, other).toString()).isEqualTo("[4,4]");
    }

    @Test
    void debounceStartsARunForTheLastEvent() {
        JsonNode trigger =
                made("debounce", "{\"debounce\": {\"period_seconds\": 60, \"timeout_seconds\": 600}}", false);

        String first = sent(trigger, 1, "a");
        await(trigger, first, "pending DEBOUNCED");
        passes(trigger, 50);
        String second = sent(trigger, 2, "a");
        await(trigger, second, "pending DEBOUNCED");
        assertThat(outcome(trigger, first)).isEqualTo("pending DEBOUNCED");
        passes(trigger, 70);
        await(trigger, second, "started ");
        await(trigger, first, "merged ");
        assertThat(delivery(trigger, first).get("run_id")).isEqualTo(delivery(trigger, second).get("run_id"));
        assertThat(output(trigger, second).toString()).isEqualTo("[2]");
    }

    @Test
    void debounceWaitsNoLongerThanItsTimeout() {
        JsonNode trigger = made("timeout", "{\"debounce\": {\"period_seconds\": 60, \"timeout_seconds\": 100}}", false);

        String first = sent(trigger, 1, "a");
        await(trigger, first, "pending DEBOUNCED");
        passes(trigger, 55);
        String second = sent(trigger, 2, "a");
        await(trigger, second, "pending DEBOUNCED");
        passes(trigger, 55);

        await(trigger, second, "started ");
        await(trigger, first, "merged ");
    }

    @Test
    void refusedStarterRefusesItsGroup() {
        JsonNode trigger = made("unfit", "{\"debounce\": {\"period_seconds\": 60, \"timeout_seconds\": 100}}", false);
        String first = sent(trigger, 1, "a");
        await(trigger, first, "pending DEBOUNCED");
        String second = sent(trigger, -2, "a");
        await(trigger, second, "pending DEBOUNCED");
        passes(trigger, 70);

        await(trigger, second, "refused OUT_OF_RANGE");
        await(trigger, first, "refused OUT_OF_RANGE");
    }

    @Test
    void singletonSkipsQueuesOrReplaces() {
        JsonNode skip = made("skip", "{\"singleton\": {\"key\": \"${ .body.who }\", \"over\": \"skip\"}}", true);
        String held = sent(skip, 1, "a");
        await(skip, held, "started ");
        await(skip, sent(skip, 2, "a"), "dropped SINGLETON_OPEN");
        await(skip, sent(skip, 3, "b"), "started ");
        cancel(skip, held);
        await(skip, sent(skip, 4, "a"), "started ");

        JsonNode queue = made("queued", "{\"singleton\": {\"over\": \"queue\"}}", true);
        String open = sent(queue, 1, "a");
        await(queue, open, "started ");
        String waiting = sent(queue, 2, "a");
        await(queue, waiting, "pending SINGLETON_OPEN");
        cancel(queue, open);
        passes(queue, 0);
        await(queue, waiting, "started ");

        JsonNode replace = made("replace", "{\"singleton\": {\"over\": \"replace\"}}", true);
        String former = sent(replace, 1, "a");
        await(replace, former, "started ");
        String latter = sent(replace, 2, "a");
        await(replace, latter, "started ");
        assertThat(api.awaitState(delivery(replace, former).get("run_id").stringValue(), "cancelled")).isNotNull();
        assertThat(api.run(delivery(replace, latter).get("run_id").stringValue()).get("priority").intValue())
                .isEqualTo(2);
    }

    /** As after a stop of all servers: the period ends before the first event is decided. */
    @Test
    void eventsAreDebouncedByTheTimesOfTheirReceipt() {
        JsonNode trigger = made("late", "{\"debounce\": {\"period_seconds\": 60, \"timeout_seconds\": 600}}", false);
        String first = sent(trigger, 1, "a");
        await(trigger, first, "pending DEBOUNCED");
        String second = sent(trigger, 2, "a");
        await(trigger, second, "pending DEBOUNCED");
        passes(trigger, 70);
        await(trigger, first, "merged ");
        await(trigger, second, "started ");
        JsonNode run = delivery(trigger, second).get("run_id");

        assertThat(replayed(trigger)).isEqualTo(2);

        await(trigger, first, "merged ");
        await(trigger, second, "started ");
        assertThat(delivery(trigger, second).get("run_id")).isNotEqualTo(run)
                .isEqualTo(delivery(trigger, first).get("run_id"));
    }

    /** The second event is leased to a server that was stopped. */
    @Test
    void groupWaitsForEventsThatDidNotJoinYet() {
        JsonNode trigger = made("leased", "{\"debounce\": {\"period_seconds\": 60, \"timeout_seconds\": 600}}", false);
        String first = sent(trigger, 1, "a");
        await(trigger, first, "pending DEBOUNCED");
        String second = sent(trigger, 2, "a");
        await(trigger, second, "pending DEBOUNCED");
        api.sql("update trigger_deliveries set received_at = received_at - interval '65 seconds', group_key = null,"
                + " error_code = null, due_at = clock_timestamp() + interval '1 hour' where id = '" + second + "'");
        api.sql("update trigger_deliveries set received_at = received_at - interval '70 seconds', error_code = 'X',"
                + " due_at = clock_timestamp() where id = '" + first + "'");
        look(trigger.get("id").stringValue());

        await(trigger, first, "pending DEBOUNCED");
        passes(trigger, 0);
        await(trigger, first, "merged ");
        await(trigger, second, "started ");
    }

    @Test
    void droppedStarterDropsItsGroup() {
        JsonNode trigger = made("occupied", "{\"debounce\": {\"period_seconds\": 60, \"timeout_seconds\": 600},"
                + " \"singleton\": {\"over\": \"skip\"}}", true);
        String open = sent(trigger, 1, "a");
        await(trigger, open, "pending DEBOUNCED");
        passes(trigger, 70);
        await(trigger, open, "started ");
        String first = sent(trigger, 2, "a");
        await(trigger, first, "pending DEBOUNCED");
        String second = sent(trigger, 3, "a");
        await(trigger, second, "pending DEBOUNCED");
        passes(trigger, 70);

        await(trigger, second, "dropped SINGLETON_OPEN");
        await(trigger, first, "dropped SINGLETON_OPEN");
        assertThat(delivery(trigger, first).get("run_id").isNull()).isTrue();
    }

    @Test
    void oldDeliveryIsDeletedUnlessItsRunHoldsASingleton() {
        JsonNode trigger =
                made("aged", "{\"singleton\": {\"key\": \"${ .body.who }\", \"over\": \"skip\"}}", true);
        String ended = sent(trigger, 1, "a");
        String open = sent(trigger, 2, "b");
        await(trigger, ended, "started ");
        await(trigger, open, "started ");
        cancel(trigger, ended);
        api.sql("update trigger_deliveries set decided_at = decided_at - interval '8 days' where trigger_id = '"
                + trigger.get("id").stringValue() + "'");
        DeliveryStore deliveries = new DeliveryStore(api.database());

        new FlowGate(api.database(), new TriggerStore(api.database()), new FlowStore(api.database()), deliveries,
                new RunReader(), null).free(7);
        deliveries.forget(7);

        assertThat(outcome(trigger, open)).isEqualTo("started ");
        assertThat(delivery(trigger, ended).get("code").stringValue()).isEqualTo("TRIGGER_DELIVERY_NOT_FOUND");
    }

    @Test
    void deliveryWithAnOpenRunOfASingletonIsNotReplayed() {
        JsonNode trigger = made("held", "{\"singleton\": {\"over\": \"skip\"}}", true);
        String first = sent(trigger, 1, "a");
        await(trigger, first, "started ");
        JsonNode run = delivery(trigger, first).get("run_id");
        assertThat(replayed(trigger)).isZero();

        cancel(trigger, first);
        assertThat(replayed(trigger)).isEqualTo(1);
        await(trigger, first, "started ");
        assertThat(delivery(trigger, first).get("run_id")).isNotEqualTo(run);
    }

    private static int replayed(JsonNode trigger) {
        return api.post("/api/v1/triggers/" + trigger.get("id").stringValue() + "/replay", "{}").json().get("count")
                .intValue();
    }

    private static void cancel(JsonNode trigger, String id) {
        String run = delivery(trigger, id).get("run_id").stringValue();
        api.send("POST", "/api/v1/runs/" + run + "/cancel", "{}".getBytes(StandardCharsets.UTF_8), "Content-Type",
                "application/json");
        api.awaitState(run, "cancelled");
    }
}
