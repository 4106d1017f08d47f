package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import io.keelson.server.outlet.webhook.Receiver;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Webhooks over HTTP, with the events that the real engine makes, sent to a real receiver. */
@Breadth.Spread
class WebhookApiTest {

    private static final String GOOD =
            "{\"name\": \"good\", \"start\": true, %s \"plan\": {\"tasks\": [{\"id\": \"a\", \"steps\": [{\"tool\": \"noop\"}]}]}}";
    private static final String BAD =
            "{\"name\": \"bad\", \"start\": true, %s \"plan\": {\"tasks\": [{\"id\": \"a\", \"steps\": ["
                    + "{\"tool\": \"fail\", \"input\": {\"times\": 9}, \"retry\": {\"max_attempts\": 1}}]}]}}";

    @TempDir
    private static Path folder;

    private static ApiServer api;
    private Receiver receiver;

    @BeforeAll
    static void start() throws Exception {
        api = new ApiServer(folder, TestDatabase.createUrl(), Map.of("KEELSON_ALLOW_PRIVATE_ADDRESSES", "true"));
    }

    @AfterAll
    static void stop() {
        api.close();
    }

    @BeforeEach
    void listen() throws Exception {
        receiver = new Receiver();
    }

    @AfterEach
    void forget() {
        api.get("/api/v1/webhooks").json().get("items")
                .forEach(each -> assertThat(api.send("DELETE", path(each), null).status()).isEqualTo(204));
        receiver.close();
    }

    private static String path(JsonNode webhook) {
        return "/api/v1/webhooks/" + webhook.get("id").stringValue();
    }

    private JsonNode made(String more) {
        ApiServer.Answer answer = api.post("/api/v1/webhooks", "{\"url\": \"" + receiver.url() + "\"" + more + "}");
        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
        return answer.json();
    }

    private static ApiServer.Answer patch(JsonNode webhook, String body) {
        return api.send("PATCH", path(webhook), body.getBytes(StandardCharsets.UTF_8), "Content-Type",
                "application/json");
    }

    private static JsonNode json(Receiver.Got got) {
        return Json.read(got.body().getBytes(StandardCharsets.UTF_8));
    }

    private Stream<String> ids() {
        return receiver.got().stream().map(Receiver.Got::id).distinct();
    }

    private List<String> types() {
        return receiver.got().stream().map(got -> json(got).get("type").stringValue()).toList();
    }

    /** The secret of a new key, which has sent no ping. */
    private static String administrator() {
        return api.post("/api/v1/api-keys", "{\"name\": \"pings-" + UUID.randomUUID() + "\", \"scopes\": [\"admin\"]}")
                .json()
                .get("key").stringValue();
    }

    private static ApiServer.Answer ping(JsonNode webhook, String key) {
        return api.post(path(webhook) + "/ping", "{}", "Authorization", "Bearer " + key);
    }

    @Test
    void keyPingsFewTimesAMinute() {
        JsonNode webhook = made("");
        String busy = administrator();
        List<ApiServer.Answer> answers = IntStream.range(0, 7).mapToObj(_ -> ping(webhook, busy)).toList();
        assertThat(answers.subList(0, 5)).allMatch(answer -> answer.status() == 200);
        ApiServer.Answer refused = answers.stream().filter(each -> each.status() == 429).findFirst().orElseThrow();
        assertThat(refused.json().get("code").stringValue()).isEqualTo("REQUEST_LIMIT_REACHED");
        assertThat(Integer.parseInt(refused.header("Retry-After"))).isBetween(1, 12);
        assertThat(ping(webhook, administrator()).status()).isEqualTo(200);
    }

    /** Waits until a ping has come, behind which there is nothing. */
    private void awaitPing(JsonNode webhook) {
        ApiServer.Answer ping = ping(webhook, administrator());
        assertThat(ping.status()).as(ping.text()).isEqualTo(200);
        String id = ping.json().get("delivery_id").stringValue();
        Awaitility.await().atMost(Duration.ofSeconds(90))
                .until(() -> receiver.got().stream().anyMatch(got -> got.id().equals(id)));
    }

    private void await(int deliveries) {
        Awaitility.await().atMost(Duration.ofSeconds(90)).until(() -> receiver.got().size() >= deliveries);
    }

    private static String notifications(String text) {
        return "\"config\": {\"notifications\": {" + text + "}},";
    }

    @Test
    void tellsWhatItIsAskedToSignedAndInOrder() {
        JsonNode webhook = made(", \"events\": [\"*\"]");
        String run = api.create(GOOD.formatted(""));
        api.awaitState(run, "completed");
        Awaitility.await().atMost(Duration.ofSeconds(90)).until(() -> types().contains("run.completed"));

        List<Long> ids = receiver.got().stream().map(got -> json(got).at("/data/id").longValue()).toList();
        JsonNode events = api.get("/api/v1/runs/" + run + "/events?limit=500").json().get("items");
        assertThat(ids).isSortedAccordingTo(Comparator.naturalOrder()).doesNotHaveDuplicates()
                .hasSize(events.size());
        String secret = webhook.get("secret").stringValue();
        assertThat(receiver.got()).allSatisfy(got -> {
            assertThat(got.signedBy(secret)).isEqualTo(1);
            assertThat(json(got).at("/data/run_id").stringValue()).isEqualTo(run);
            assertThat(json(got).at("/data/notifications").isMissingNode()).isTrue();
        });
        JsonNode last = json(receiver.got().getLast());
        assertThat(last.at("/data/event_type").stringValue()).isEqualTo("run_completed");
        assertThat(last.at("/data/run_name").stringValue()).isEqualTo("good");
        assertThat(last.get("timestamp")).isEqualTo(last.at("/data/created_at"));
        assertThat(api.get(path(webhook)).json().has("secret")).isFalse();
        assertThat(api.get("/api/v1/webhooks").text()).doesNotContain("whsec_");
    }

    @Test
    void runsNameTheirWebhooks() {
        JsonNode all = made("");
        JsonNode ops = made(", \"events\": [\"run.completed\", \"step_failed\"], \"channel\": \"ops\"");
        for (String mission : List.of(GOOD.formatted(notifications("\"on_completion\": false")),
                BAD.formatted(notifications("\"on_failure\": false")),
                GOOD.formatted(notifications("\"channel\": \"ops\"")), BAD.formatted(""))) {
            String run = api.create(mission);
            Awaitility.await().until(() -> Set.of("completed", "failed")
                    .contains(api.run(run).get("state").stringValue()));
        }
        String asks =
                api.create(ApiServer.WAITS.replace("\"name\": \"waits\",", "\"name\": \"waits\", \"start\": true,"));
        api.awaitStep(asks, "waiting_approval");
        api.post("/api/v1/runs/" + asks + "/cancel", "{}");
        Awaitility.await().atMost(Duration.ofSeconds(90)).until(() -> types().contains("run.cancelled"));
        awaitPing(all);
        awaitPing(ops);

        assertThat(types().stream().filter(type -> !type.equals("webhook.ping")).sorted()).containsExactly(
                "approval.needed", "run.cancelled", "run.completed", "run.completed", "run.failed");
        Set<String> senders = new TreeSet<>();
        receiver.got().stream().filter(got -> json(got).get("type").stringValue().equals("run.completed"))
                .forEach(got -> List.of(all, ops).stream()
                        .filter(each -> got.signedBy(each.get("secret").stringValue()) == 1)
                        .forEach(each -> senders.add(each.get("id").stringValue())));
        assertThat(senders).containsExactlyInAnyOrder(all.get("id").stringValue(), ops.get("id").stringValue());
    }

    @Test
    void completedWithFailuresIsDeliveredToTheCompletedTopic() {
        made(", \"events\": [\"run.completed\"]");
        api.awaitState(api.create(BAD.formatted("\"config\": {\"failure_mode\": \"continue\"},")), "skipped");
        await(1);

        assertThat(types()).containsExactly("run.completed_with_failures");
        assertThat(json(receiver.got().getFirst()).at("/data/payload/failures").intValue()).isEqualTo(1);
    }

    @Test
    void escalationsAreDelivered() {
        made(", \"events\": [\"escalation.opened\"]");
        api.awaitState(api.create(BAD.formatted("\"config\": {\"escalation\": {\"on_exhausted\": true}},")),
                "escalated");
        await(1);

        assertThat(types()).containsExactly("escalation.opened");
    }

    @Test
    void aDownReceiverMissesNothing() {
        JsonNode webhook = made(", \"events\": [\"run.completed\"]");
        receiver.then(503, 301);
        List<String> runs = List.of(api.create(GOOD.formatted("")), api.create(GOOD.formatted("")));
        runs.forEach(run -> api.awaitState(run, "completed"));
        for (int tries = 1; tries <= 2; tries++) {
            int so = tries;
            Awaitility.await().atMost(Duration.ofSeconds(90)).until(() -> api.get(path(webhook) + "/deliveries").json()
                    .get("items").valueStream().anyMatch(each -> each.get("attempts").intValue() >= so));
            api.sql("update webhook_endpoints set due_at = clock_timestamp()");
        }
        await(4);

        assertThat(receiver.got()).extracting(Receiver.Got::path).containsOnly("/");
        assertThat(ids()).hasSize(2);
        assertThat(receiver.got().subList(0, 3)).extracting(Receiver.Got::id)
                .containsOnly(receiver.got().getFirst().id());
        Awaitility.await().until(() -> api.get(path(webhook)).json().get("pending").intValue() == 0);
        JsonNode page = api.get(path(webhook) + "/deliveries?limit=1&state=delivered").json();
        JsonNode next = api.get(path(webhook) + "/deliveries?limit=1&state=delivered&cursor="
                + page.get("next_cursor").stringValue()).json();
        assertThat(Set.of(page.at("/items/0/id").stringValue(), next.at("/items/0/id").stringValue()))
                .isEqualTo(Set.copyOf(receiver.got().stream().map(Receiver.Got::id).toList()));
        assertThat(next.get("next_cursor").isNull()).isTrue();
    }

    @Test
    void earlierEventsAreDeliveredOnRequest() {
        String before = api.create(GOOD.formatted(""));
        JsonNode ended = api.awaitState(before, "completed");
        JsonNode webhook = made(", \"events\": [\"run.completed\"]");
        awaitPing(webhook);
        assertThat(receiver.got()).hasSize(1);

        ApiServer.Answer asked = api.post(path(webhook) + "/redeliver",
                "{\"from\": \"" + ended.get("created_at").stringValue() + "\"}");
        assertThat(asked.status()).as(asked.text()).isEqualTo(200);
        Awaitility.await().atMost(Duration.ofSeconds(90)).until(() -> received(before) == 1);
        Receiver.Got first = receiver.got().getLast();
        Awaitility.await().until(() -> api.get(path(webhook)).json().get("pending").intValue() == 0);

        assertThat(api.post(path(webhook) + "/redeliver", "{\"delivery_id\": \"" + first.id() + "\"}").status())
                .isEqualTo(200);
        Awaitility.await().atMost(Duration.ofSeconds(90)).until(() -> received(before) == 2);
        assertThat(receiver.got().getLast().id()).isEqualTo(first.id());
        assertThat(receiver.got().getLast().body()).isEqualTo(first.body());
        assertThat(api.get(path(webhook)).json().get("replaying").booleanValue()).isFalse();
    }

    private long received(String run) {
        return receiver.got().stream().filter(got -> json(got).at("/data/run_id").asString("").equals(run)).count();
    }

    @Test
    void endpointThatAnswersGoneIsDisabled() {
        JsonNode webhook = made("");
        receiver.then(410);
        String administrator = administrator();
        ping(webhook, administrator);
        Awaitility.await().atMost(Duration.ofSeconds(90))
                .until(() -> !api.get(path(webhook)).json().get("enabled").booleanValue());
        assertThat(api.get(path(webhook)).json().get("disabled_reason").stringValue()).isEqualTo("gone");
        assertThat(ping(webhook, administrator).json().get("code").stringValue()).isEqualTo("WEBHOOK_DISABLED");

        JsonNode enabled = patch(webhook, "{\"enabled\": true}").json();
        assertThat(enabled.get("disabled_reason").isNull()).isTrue();
        await(2);
        assertThat(types()).containsExactly("webhook.ping", "webhook.ping");
    }

    /** More than is held at a time comes as it is, whole and in order. */
    @Test
    void muchAtOnceIsDeliveredInPortions() {
        String run = api.create(ApiServer.WAITS);
        JsonNode first = made(", \"events\": [\"stall_detected\"]");
        JsonNode second = made(", \"events\": [\"*\"]");
        int events = 300;
        api.sql("""
                insert into run_event_packs (run_id, first_seq, body)
                select '%s', 1000 + n, (select json_agg(json_build_object('e', 'stall_detected', 'p',
                           json_build_object('text', repeat('x', 20000)))) from generate_series(1, 2))
                  from generate_series(1, %d, 2) n""".formatted(run, events));

        Awaitility.await().atMost(Duration.ofMinutes(3)).until(() -> ids().count() == 2 * events);

        for (JsonNode each : List.of(first, second)) {
            List<Long> seqs = receiver.got().stream().filter(got -> got.signedBy(each.get("secret").stringValue()) == 1)
                    .map(got -> json(got).get("data").get("seq").longValue()).toList();
            assertThat(seqs).as("a delivery without a timely answer is repeated").isSorted();
            assertThat(seqs.stream().distinct()).hasSize(events);
        }
        assertThat(receiver.got()).allSatisfy(got -> assertThat(json(got).get("data").has("traceparent")).isFalse());
    }

    @Test
    void aSecretIsRotated() {
        JsonNode webhook = made("");
        ApiServer.Answer rotated = api.post(path(webhook) + "/rotate", "{}");
        assertThat(rotated.header("Cache-Control")).isEqualTo("no-store");
        assertThat(rotated.json().get("previous_secret_until").isNull()).isFalse();
        awaitPing(webhook);

        assertThat(receiver.got().getFirst().signedBy(webhook.get("secret").stringValue())).isEqualTo(1);
        assertThat(receiver.got().getFirst().signedBy(rotated.json().get("secret").stringValue())).isEqualTo(1);
    }

    @Test
    void changesWhatIsGivenAndNothingElse() {
        JsonNode webhook = made(", \"channel\": \"ops\", \"description\": \"d\", \"enabled\": false");
        assertThat(webhook.get("disabled_reason").stringValue()).isEqualTo("asked");

        JsonNode changed = patch(webhook, "{\"channel\": null, \"events\": [\"*\", \"*\"]}").json();

        assertThat(changed.get("channel").isNull()).isTrue();
        assertThat(changed.get("description").stringValue()).isEqualTo("d");
        assertThat(changed.get("events").toString()).isEqualTo("[\"*\"]");
        assertThat(patch(webhook, "{\"events\": null}").json().get("events").toString()).contains("run.failed",
                "approval.needed");
        assertThat(changed.get("enabled").booleanValue()).isFalse();
        assertThat(api.get("/api/v1/audit").text()).contains("webhook_created", "webhook_changed");
    }

    @Test
    void saysWhatIsWrong() {
        assertThat(problems("{}")).containsExactly("REQUIRED /url");
        assertThat(problems("{\"url\": \"ftp://a.b/\", \"events\": [\"run.complete\"], \"channel\": \" \"}"))
                .containsExactlyInAnyOrder("INVALID_VALUE /url", "INVALID_VALUE /events/0", "EMPTY /channel");
        assertThat(problems("{\"url\": \"https://u:p@a.b/\", \"events\": []}")).containsExactlyInAnyOrder(
                "INVALID_VALUE /url", "EMPTY /events");
        for (String url : List.of("https://a.b:99999/", "https://a.b:0/", "https://[::1%25lo]/")) {
            assertThat(problems("{\"url\": \"" + url + "\"}")).as(url).containsExactly("INVALID_VALUE /url");
        }
        JsonNode webhook = made("");
        for (String body : List.of("{}", "{\"dead\": true, \"from\": \"2026-01-01T00:00:00Z\"}")) {
            assertThat(api.post(path(webhook) + "/redeliver", body).json().get("code").stringValue())
                    .isEqualTo("REQUIRED");
        }
        assertThat(api
                .post(path(webhook) + "/redeliver", "{\"delivery_id\": \"msg_00000000-0000-0000-0000-000000000001\"}")
                .json().get("code").stringValue()).isEqualTo("WEBHOOK_DELIVERY_NOT_FOUND");
        for (int i = 1; i < 50; i++) {
            made("");
        }
        assertThat(api.post("/api/v1/webhooks", "{\"url\": \"https://a.b/\"}").json().get("code").stringValue())
                .isEqualTo("WEBHOOKS_LIMIT_REACHED");
    }

    private static List<String> problems(String body) {
        ApiServer.Answer answer = api.post("/api/v1/webhooks", body);
        assertThat(answer.status()).as(answer.text()).isEqualTo(422);
        return answer.json().get("problems").valueStream()
                .map(each -> each.get("code").stringValue() + " " + each.get("pointer").stringValue()).toList();
    }
}
