package io.keelson.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.api.money.LedgerEntry;
import io.keelson.api.run.Event;
import io.keelson.api.run.Run;
import io.keelson.client.Keelson;
import io.keelson.client.KeelsonException;
import io.keelson.client.RunRequest;
import io.keelson.core.Breadth;
import io.keelson.devmodel.TestModel;
import io.keelson.process.KilledNode.Point;
import io.keelson.server.Invariants;
import io.keelson.server.base.db.CountingProxy.Write;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseOptions;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/**
 * Servers are killed between a model's answer and its commit, and after it: each turn is charged once, and each request that its
 * provider billed beyond that is named.
 */
@Timeout(value = 60, unit = TimeUnit.MINUTES)
class ModelKillsTest {
    private static final int KILLS = Breadth.of(3, 200);
    private static final int NODES = 2;
    private static final int TURNS = 3;
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final Write CHARGE = new Write("billing_ledger", "charge");
    private static final String SCRIPT = """
            rules:
              - {name: turn, when: {turn: 1}, answer: {calls: [{tool: echo, input: {n: 1}}], usage: {input: 1000, output: 10}}}
              - {name: turn, when: {turn: 2}, answer: {calls: [{tool: echo, input: {n: 2}}], usage: {input: 1000, output: 10}}}
              - {name: end, answer: {text: "done", usage: {input: 1000, output: 10}}}
            """;

    /** One answer stays away, one is deferred for longer than the third one takes. */
    private static final String HELD = """
            rules:
              - {name: slow, when: {text: "slow", first: 1}, answer: {text: never, delay_ms: 600000}}
              - {name: busy, when: {text: "busy", first: 1}, answer: {status: 429, headers: {retry-after: "8"}}}
              - {name: late, when: {text: "late", first: 1}, answer: {text: done, delay_ms: 4000, usage: {input: 1000, output: 10}}}
              - {name: end, answer: {text: done, usage: {input: 1000, output: 10}}}
            """;

    @Test
    @Breadth.InPart(0)
    void eachTurnIsChargedOnceAndLostAnswersAreNamed(@TempDir Path folder) throws Exception {
        assertThat(surplus(folder, "openai-chat", "")).as("a kill loses the answers of all turns under way")
                .isPositive();
    }

    /** Only answers whose ids were not written are bought again: those of the requests that a node is sending when it is killed. */
    @Test
    @Breadth.InPart(4)
    void answersInTheBackgroundAreFetchedAndNotBoughtAgain(@TempDir Path folder) throws Exception {
        assertThat(surplus(folder, "openai-responses", ", background: true"))
                .isLessThanOrEqualTo(Math.max(3, KILLS));
    }

    /**
     * A kill at the charge of one agent, while another waits for its answer with a hold and a third is deferred: both go on after
     * the restart, and nothing stays held.
     */
    @Test
    @Breadth.InPart(6)
    void aKillLeavesNothingHeld(@TempDir Path folder) throws Exception {
        DatabaseUrl url = TestDatabase.createUrl();
        try (TestModel model = new TestModel(HELD); Database database = new Database(url,
                DatabaseOptions.DEFAULTS.withPoolSize(4))) {
            Path models = Files.writeString(folder.resolve("models.yaml"), """
                    models:
                      m: {wire: openai-chat, base_url: "%s/v1", model: m, family: f, context_tokens: 9000,
                          max_output_tokens: 500, prices: {input: 1, output: 40}}
                    """.formatted(model.uri("")));
            try (KilledNodes nodes = new KilledNodes(1, folder, url,
                    Map.of("KEELSON_LEASE_SECONDS", "2", "KEELSON_MODELS", models.toString()))) {
                List<String> runs = new ArrayList<>();
                nodes.kill(0, Point.BEFORE_COMMIT, CHARGE, 0, () -> {
                    if (runs.isEmpty()) {
                        runs.add(nodes.client(0).runs().create(RunRequest.of(Json.read("""
                                {"name": "held", "start": true, "config": {"budget": {"hard_limit_usd": 0.08}},
                                 "plan": {"tasks": [%s, %s, %s]}}""".formatted(agent("slow"), agent("busy"),
                                agent("late"))))).id());
                    }
                });
                nodes.awaitReady(0);
                Run run = nodes.client(0).runs().awaitEnd(runs.getFirst(), LIMIT);
                assertThat(run.state()).as(run.errorCode()).isEqualTo("completed");
                assertThat(nodes.client(0).ledger().ofRun(run.id()).stream()
                        .filter(entry -> entry.transactionType().equals("charge") && !entry.estimated())
                        .map(LedgerEntry::amount).reduce(BigDecimal.ZERO, BigDecimal::add))
                        .as("three turns of 0.0014").isEqualByComparingTo("0.0042");
                assertThat(run.creditsCharged())
                        .as("and, at most, the request under way and the one whose answer the kill has lost")
                        .isBetween(new BigDecimal("0.0442"), new BigDecimal("0.0538"));
                assertThat(run.creditsUncollected()).isEqualByComparingTo("0");
                assertThat(model.journal().stream().filter(line -> line.path("rule").asString("").equals("slow")))
                        .as("it was under way when the node died").hasSize(1);
                assertThat(nodes.client(0).credits().balance().reserved()).isEqualByComparingTo("0");
            }
            Invariants.hold(database);
        }
    }

    private static String agent(String title) {
        return """
                {"id": "%1$s", "title": "%1$s", "suggested_agent": {"type": "contractor", "agent_name": "%1$s", "model": "m"}}"""
                .formatted(title);
    }

    /** Kills nodes at the charge of a turn, and returns how many requests were billed beyond those that were charged. */
    private static int surplus(Path folder, String wire, String more) throws Exception {
        DatabaseUrl url = TestDatabase.createUrl();
        Path journal = folder.resolve("journal.jsonl");
        try (TestModel model = new TestModel(SCRIPT, journal); Database database = new Database(url,
                DatabaseOptions.DEFAULTS.withPoolSize(4))) {
            Path models = Files.writeString(folder.resolve("models.yaml"), """
                    models:
                      m: {wire: %s, base_url: "%s/v1", model: m, family: f, context_tokens: 9000,
                          max_output_tokens: 500, prices: {input: 100, output: 100}%s}
                    """.formatted(wire, model.uri(""), more));
            List<String> runs = new ArrayList<>();
            int surplus;
            try (KilledNodes nodes = new KilledNodes(NODES, folder, url,
                    Map.of("KEELSON_LEASE_SECONDS", "2", "KEELSON_MODELS", models.toString()))) {
                for (int kill = 0; kill < KILLS; kill++) {
                    int node = kill % NODES;
                    nodes.awaitReady(node);
                    nodes.kill(node, (kill + kill / NODES) % 2 == 0 ? Point.BEFORE_COMMIT : Point.AFTER_COMMIT, CHARGE,
                            kill % TURNS, () -> submit(nodes.client(node), runs));
                }
                nodes.awaitReady(0);
                surplus = assertCharged(nodes.client(0), runs, journal);
            }
            Invariants.hold(database);
            return surplus;
        }
    }

    /** Submits two runs; the node may die meanwhile. */
    private static void submit(Keelson client, List<String> runs) {
        for (int i = 0; i < 2; i++) {
            try {
                runs.add(client.runs().create(mission("run " + UUID.randomUUID())).id());
            } catch (KeelsonException e) {
                assertThat(e.status()).isZero();
            }
        }
    }

    /** Each kill takes the leases of all turns of a node, so that a turn may lose its holder often. */
    private static RunRequest mission(String title) {
        return RunRequest.of(Json.read("""
                {"name": "%1$s", "start": true, "config": {"limits": {"max_deliveries": 100}},
                 "plan": {"tasks": [{"id": "t", "title": "%1$s.", "tools_needed": ["echo"],
                 "suggested_agent": {"type": "contractor", "agent_name": "c", "model": "m"}}]}}""".formatted(title)));
    }

    private static int assertCharged(Keelson client, List<String> runs, Path file) throws Exception {
        for (String id : runs) {
            client.runs().awaitEnd(id, LIMIT);
        }
        List<JsonNode> journal = Files.readAllLines(file).stream().map(Json::read).toList();
        int surplus = 0;
        int named = 0;
        for (String id : runs) {
            Run run = client.runs().get(id);
            assertThat(run.state()).as(run.name() + " " + run.errorCode()).isEqualTo("completed");
            List<LedgerEntry> charges = client.ledger().ofRun(id).stream()
                    .filter(entry -> entry.transactionType().equals("charge")).toList();
            assertThat(charges.stream().filter(charge -> !charge.estimated())).as(run.name()).hasSize(TURNS)
                    .allSatisfy(charge -> assertThat(charge.amount()).isEqualByComparingTo("0.101"));
            int billed = (int) journal.stream().filter(line -> line.path("billed").isObject()
                    && line.path("body").toString().contains(run.name() + ".")).count();
            assertThat(billed).as(run.name()).isGreaterThanOrEqualTo(TURNS);
            assertThat(run.creditsCharged()).as("%s: the run pays what its provider bills", run.name())
                    .isGreaterThanOrEqualTo(new BigDecimal("0.101").multiply(BigDecimal.valueOf(billed)));
            List<JsonNode> lost = client.runs().events(id, 0, 500).items().stream()
                    .filter(event -> event.eventType().equals("model_answer_lost")).map(Event::payload).toList();
            assertThat(lost.size()).as("%s: billed %d times, charged %d times", run.name(), billed, TURNS)
                    .isGreaterThanOrEqualTo(billed - TURNS);
            assertThat(lost).allSatisfy(each -> {
                assertThat(each.get("model").stringValue()).isEqualTo("m");
                assertThat(each.get("request_sha256").stringValue()).hasSize(64);
                assertThat(new BigDecimal(each.get("estimated_cost").stringValue())).isPositive();
            });
            surplus += billed - TURNS;
            named += lost.size();
        }
        System.out.printf("model kills: %d kills, %d runs, %d requests billed, %d charged, %d lost, %d named%n", KILLS,
                runs.size(), runs.size() * TURNS + surplus, runs.size() * TURNS, surplus, named);
        return surplus;
    }
}
