package io.keelson.server.annex.trigger;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.api.http.ApiServer;
import io.keelson.server.tenant.auth.Bootstrap;
import io.keelson.server.tenant.auth.Scope;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Deliveries whose runs failed to start repeatedly, in the inbox. */
@Breadth.InPart(3)
class DeadLettersTest {

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

    /** A trigger whose runs need more credits than there are. */
    private static String trigger(String name) {
        ApiServer.Answer made = api.post("/api/v1/triggers", """
                {"name": "%1$s", "source": {"kind": "event", "event": "%1$s"}, "mission": {"name": "%1$s",
                  "plan": {"tasks": [{"id": "a", "estimated_cost": 900000, "steps": [{"tool": "noop"}]}]}}}"""
                .formatted(name));
        assertThat(made.status()).as(made.text()).isEqualTo(201);
        return made.json().get("id").stringValue();
    }

    /** Sends events, and lets their last attempts fail. */
    private static void die(String trigger, String name, String... ids) {
        for (String id : ids) {
            assertThat(api.post("/api/v1/events", "{\"name\": \"%s\", \"id\": \"%s\"}".formatted(name, id)).status())
                    .isEqualTo(202);
        }
        kill(trigger, ids.length);
    }

    /** Lets the last attempts of waiting deliveries fail. */
    private static void kill(String trigger, int count) {
        awaitCode(trigger, "INSUFFICIENT_CREDITS", count);
        api.sql("update trigger_deliveries set failures = 7, due_at = clock_timestamp() where state = 'pending' and trigger_id = '"
                + trigger + "'");
        Awaitility.await().atMost(Duration.ofSeconds(60))
                .until(() -> deliveries(trigger, "pending").isEmpty());
    }

    private static void awaitCode(String trigger, String code, int count) {
        Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> deliveries(trigger, "pending").stream()
                .filter(each -> each.get("error_code").asString("").equals(code)).count() == count);
    }

    private static List<JsonNode> deliveries(String trigger, String state) {
        return api.get("/api/v1/triggers/" + trigger + "/deliveries?state=" + state).json().get("items").valueStream()
                .toList();
    }

    private static List<JsonNode> notices(String trigger) {
        return api.get("/api/v1/inbox?kind=dead_letter").json().get("items").valueStream()
                .filter(each -> each.at("/data/trigger_id").stringValue().equals(trigger)).toList();
    }

    @Test
    void acceptanceOfTheQuestionReplaysDeadDeliveries() {
        String trigger = trigger("unpaid");
        die(trigger, "unpaid", "1", "2");

        JsonNode item = notices(trigger).getFirst();
        assertThat(notices(trigger)).hasSize(1);
        assertThat(item.get("question").stringValue())
                .isEqualTo("Trigger 'unpaid' has given up 2 events after repeated failures. Try again?");
        assertThat(item.get("run_id").isNull()).isTrue();
        assertThat(item.at("/data/error_code").stringValue()).isEqualTo("INSUFFICIENT_CREDITS");
        assertThat(item.at("/data/count").intValue()).isEqualTo(2);
        assertThat(api.get("/api/v1/inbox/stats").json().at("/by_kind/dead_letter").intValue()).isPositive();
        String accept = item.at("/links/accept").stringValue();
        assertThat(api.post(accept, "{}", "Authorization", api.bearer(Bootstrap.DEFAULT_WORKSPACE, Set.of(Scope.APPROVE,
                Scope.RUNS_READ))).json().get("code").stringValue()).isEqualTo("SCOPE_MISSING");
        assertThat(api.post(accept, "{}", "Authorization", api.stranger()).status()).isEqualTo(404);

        ApiServer.Answer accepted = api.post(accept, "{\"reason\": \"paid\"}");

        assertThat(accepted.status()).as(accepted.text()).isEqualTo(200);
        assertThat(accepted.json().get("decision").stringValue()).isEqualTo("accepted");
        assertThat(notices(trigger)).isEmpty();
        assertThat(api.post(accept, "{}").json().get("code").stringValue()).isEqualTo("INBOX_ITEM_NOT_FOUND");
        awaitCode(trigger, "INSUFFICIENT_CREDITS", 2);
    }

    @Test
    void dismissedDeliveriesAreNoPartOfTheNextQuestion() {
        String trigger = trigger("dismissed");
        die(trigger, "dismissed", "1");
        JsonNode first = notices(trigger).getFirst();

        assertThat(api.post(first.at("/links/reject").stringValue(), "{}").json().get("decision").stringValue())
                .isEqualTo("rejected");
        assertThat(notices(trigger)).isEmpty();
        die(trigger, "dismissed", "2");

        JsonNode second = notices(trigger).getFirst();
        assertThat(second.at("/data/count").intValue()).isEqualTo(1);
        assertThat(second.get("id")).isNotEqualTo(first.get("id"));
        assertThat(api.post(second.at("/links/accept").stringValue(), "{}").status()).isEqualTo(200);
        awaitCode(trigger, "INSUFFICIENT_CREDITS", 1);
        assertThat(deliveries(trigger, "dead")).hasSize(1);
    }

    /** The late answer to a question that a replay has closed reaches no later question. */
    @Test
    void replayClosesTheQuestion() {
        String trigger = trigger("replayed");
        die(trigger, "replayed", "1");
        JsonNode first = notices(trigger).getFirst();
        api.post("/api/v1/triggers/" + trigger + "/replay", "{\"state\": \"dead\"}");
        assertThat(notices(trigger)).isEmpty();
        kill(trigger, 1);

        JsonNode second = notices(trigger).getFirst();
        assertThat(second.get("id")).isNotEqualTo(first.get("id"));
        assertThat(api.post(first.at("/links/accept").stringValue(), "{}").status()).isEqualTo(404);
        assertThat(deliveries(trigger, "dead")).hasSize(1);
    }

    /** More than one transaction replays. */
    @Test
    void manyDeliveriesAreReplayedInBatches() {
        String trigger = trigger("many");
        die(trigger, "many", "1");
        api.sql("""
                insert into trigger_deliveries (id, workspace_id, trigger_id, key, run_id, state, headers, body, decided_at)
                select gen_random_uuid(), workspace_id, trigger_id, 'k' || n, gen_random_uuid(), 'dropped', headers, body,
                       clock_timestamp()
                  from trigger_deliveries, generate_series(1, %d) as n where trigger_id = '%s'"""
                .formatted(2 * Replays.BATCH_SIZE + 7, trigger));
        api.send("PATCH", "/api/v1/triggers/" + trigger, "{\"enabled\": false}".getBytes(), "Content-Type",
                "application/json");

        JsonNode replayed =
                api.post("/api/v1/triggers/" + trigger + "/replay", "{\"state\": \"dropped\"}").json();

        assertThat(replayed.get("count").intValue()).isEqualTo(Replays.BATCH_SIZE);
        assertThat(replayed.get("more").booleanValue()).isTrue();
        Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> api.database().withConnection(c -> {
            try (var rows = c.createStatement().executeQuery("select (select count(*) from trigger_replays) + "
                    + "count(*) filter (where error_code is null) from trigger_deliveries where key like 'k%'")) {
                rows.next();
                return rows.getLong(1);
            }
        }) == 0);
        assertThat(deliveries(trigger, "dead")).hasSize(1);
    }
}
