package io.keelson.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.api.money.LedgerEntry;
import io.keelson.api.run.Run;
import io.keelson.client.Keelson;
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
import java.io.IOException;
import java.math.BigDecimal;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/**
 * A server is killed around the commits of a request of a program, and the program is executed again: each recorded answer was requested
 * and charged once. A request that was held and whose answer is not recorded is charged once at its worst case and sent again.
 */
@Timeout(value = 60, unit = TimeUnit.MINUTES)
@Breadth.InPart(5)
class GatewayKillsTest {
    private static final int KILLS = Breadth.of(4, 200);
    /** Kills before the programs are executed again: a lost request is closed 15 s after the kill. */
    private static final int TOGETHER = 12;
    private static final int REQUESTS = 3;
    private static final String TOOL = "test.program";
    private static final BigDecimal COST = new BigDecimal("0.0006");
    private static final BigDecimal LIMIT = new BigDecimal("0.2");
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    /** Where the server is killed. */
    private enum Moment {
        /** The request is held, and was not sent. */
        AFTER_HOLD(Point.AFTER_COMMIT, "insert into gateway_requests", true, 1),
        /** The provider has answered, and the answer is not recorded. */
        BEFORE_ANSWER(Point.BEFORE_COMMIT, "update gateway_requests", true, 2),
        /** The request is not held. */
        BEFORE_HOLD(Point.BEFORE_COMMIT, "insert into gateway_requests", false, 1),
        /** The answer is recorded, and has not passed on. */
        AFTER_ANSWER(Point.AFTER_COMMIT, "update gateway_requests", false, 1);

        private final Point point;
        private final String statement;
        private final boolean loses;
        private final int sent;

        Moment(Point point, String statement, boolean loses, int sent) {
            this.point = point;
            this.statement = statement;
            this.loses = loses;
            this.sent = sent;
        }
    }

    private final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    @Test
    void eachRecordedAnswerIsRequestedAndChargedOnce(@TempDir Path folder) throws Exception {
        DatabaseUrl url = TestDatabase.createUrl();
        try (TestModel model = new TestModel(script()); Database database = new Database(url,
                DatabaseOptions.DEFAULTS.withPoolSize(4))) {
            Path models = Files.writeString(folder.resolve("models.yaml"), """
                    models:
                      m: {wire: openai-chat, base_url: "%s/v1", model: m, family: f, context_tokens: 9000,
                          max_output_tokens: 500, prices: {input: 1, output: 10}}
                    """.formatted(model.uri("")));
            try (KilledNode node = new KilledNode(folder.resolve("node"), url,
                    Map.of("KEELSON_MODELS", models.toString()))) {
                node.awaitReady();
                for (int first = 0; first < KILLS; first += TOGETHER) {
                    List<Program> programs = new ArrayList<>();
                    for (int kill = first; kill < Math.min(KILLS, first + TOGETHER); kill++) {
                        programs.add(new Program(node, kill));
                        programs.getLast().executeUntilTheServerIsKilled();
                    }
                    for (Program program : programs) {
                        program.executeAgain();
                        program.look(model, database);
                    }
                }
                assertThat(node.client().credits().balance().reserved()).isEqualByComparingTo("0");
            } finally {
                http.close();
            }
            Invariants.hold(database);
            System.out.printf("gateway kills: %d kills, %d answers recorded, %d requests sent%n", KILLS,
                    KILLS * REQUESTS, model.journal().size());
        }
    }

    /** An answer names its request, so that the commit that records it is known. */
    private static String script() {
        StringBuilder rules = new StringBuilder("rules:\n");
        for (int kill = 0; kill < KILLS; kill++) {
            for (int request = 0; request < REQUESTS; request++) {
                rules.append(
                        "  - {name: any, when: {text: \"%1$s\"}, answer: {text: \"to %1$s\", usage: {input: 100, output: 50}}}\n"
                                .formatted(text(kill, request)));
            }
        }
        return rules.toString();
    }

    private static String text(int kill, int request) {
        return "kill " + kill + " request " + request + ".";
    }

    /** A step with a program of three requests, the second one with a stream. */
    private final class Program {
        private final KilledNode node;
        private final int kill;
        private final Moment moment;
        private final int killed;
        private final List<HttpResponse<String>> first = new ArrayList<>();
        private final String run;
        private JsonNode item;

        Program(KilledNode node, int kill) throws Exception {
            this.node = node;
            this.kill = kill;
            this.moment = Moment.values()[kill % Moment.values().length];
            this.killed = (kill + kill / Moment.values().length) % REQUESTS;
            claim(0);
            run = node.client().runs().create(RunRequest.of(Json.read("""
                    {"name": "%s", "start": true, "config": {"budget": {"hard_limit_usd": %s}},
                     "plan": {"tasks": [{"id": "t", "steps": [{"tool": "%s"}]}]}}""".formatted("kill " + kill, LIMIT,
                    tool())))).id();
            item = claim(20_000).get(0);
        }

        private String tool() {
            return TOOL + kill;
        }

        private JsonNode claim(int wait) throws Exception {
            return dispatch("claim", """
                    {"worker_id": "w", "tools": ["%1$s"], "wait_ms": %2$d, "lease_ms": 300000,
                     "tool_specs": [{"name": "%1$s", "gateway": true}]}""".formatted(tool(), wait)).get("items");
        }

        private JsonNode report(String route, String members) throws Exception {
            return dispatch(route, "{\"worker_id\": \"w\", \"items\": [{\"step_id\": " + item.get("step_id")
                    + ", \"lease_epoch\": " + item.get("lease_epoch") + members + "}]}").at("/items/0");
        }

        private JsonNode dispatch(String route, String body) throws Exception {
            return Json.read(send("/api/v1/dispatch/" + route, node.address().get("KEELSON_API_KEY"), body).body());
        }

        private HttpResponse<String> ask(int request) throws Exception {
            return send("/gateway/openai/v1/chat/completions", item.at("/gateway/token").stringValue(), """
                    {"model": "m", "messages": [{"role": "user", "content": "%s"}], "stream": %b}"""
                    .formatted(text(kill, request), request == 1));
        }

        private HttpResponse<String> send(String path, String token, String body) throws Exception {
            return http.send(HttpRequest.newBuilder(URI.create(node.address().get("KEELSON_URL") + path))
                    .header("Authorization", "Bearer " + token).header("Content-Type", "application/json")
                    .timeout(Duration.ofMinutes(1)).POST(BodyPublishers.ofString(body)).build(),
                    BodyHandlers.ofString());
        }

        void executeUntilTheServerIsKilled() throws Exception {
            node.doom(moment.point, new Write(moment.statement, text(kill, killed)), 0);
            IOException broken = null;
            while (broken == null) {
                try {
                    first.add(ask(first.size()));
                } catch (IOException e) {
                    broken = e;
                }
            }
            node.awaitDeath();
            node.restart();
            node.awaitReady();
            assertThat(first).as("%s", what()).hasSize(killed).allSatisfy(
                    answer -> assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200));
        }

        /** Under the same lease, or under the next one. */
        void executeAgain() throws Exception {
            if (kill % 2 == 1) {
                report("release", "");
                item = claim(20_000).get(0);
            }
            int recorded = killed + (moment == Moment.AFTER_ANSWER ? 1 : 0);
            for (int request = 0; request < REQUESTS; request++) {
                HttpResponse<String> answer = ask(request);
                assertThat(answer.statusCode()).as("%s %s", what(), answer.body()).isEqualTo(200);
                assertThat(answer.headers().firstValue("x-keelson-replayed").isPresent()).as("%s request %d", what(),
                        request).isEqualTo(request < recorded);
                if (request == 0 && killed > 0) {
                    assertThat(answer.body()).as(what()).isEqualTo(first.getFirst().body());
                }
            }
            report("complete", ", \"output\": 1");
        }

        private String what() {
            return "kill " + kill + " " + moment + " of request " + killed + " of run " + run;
        }

        void look(TestModel model, Database database) throws Exception {
            Keelson client = node.client();
            Run ended = client.runs().awaitEnd(run, PATIENCE);
            assertThat(ended.state()).as("%s %s", what(), ended.errorCode()).isEqualTo("completed");
            for (int request = 0; request < REQUESTS; request++) {
                String text = text(kill, request);
                assertThat(model.journal().stream().filter(line -> line.path("body").toString().contains(text)))
                        .as("%s: sent %s", what(), text).hasSize(request == killed ? moment.sent : 1);
            }
            Map<Boolean, List<LedgerEntry>> charges = client.ledger().ofRun(run).stream()
                    .filter(entry -> entry.transactionType().equals("charge"))
                    .collect(Collectors.partitioningBy(LedgerEntry::estimated));
            assertThat(charges.get(false)).as(what()).hasSize(REQUESTS)
                    .allSatisfy(charge -> assertThat(charge.amount()).isEqualByComparingTo(COST));
            assertThat(charges.get(true)).as(what()).hasSize(moment.loses ? 1 : 0)
                    .allSatisfy(charge -> assertThat(charge.amount()).isEqualByComparingTo(held(database)));
            assertThat(ended.creditsCharged()).as(what()).isLessThanOrEqualTo(LIMIT)
                    .isEqualByComparingTo(COST.multiply(BigDecimal.valueOf(REQUESTS))
                            .add(moment.loses ? held(database) : BigDecimal.ZERO));
            assertThat(client.runs().events(run, 0, 500).items().stream()
                    .filter(event -> event.eventType().equals("model_answer_lost"))).as(what())
                    .hasSize(moment.loses ? 1 : 0);
        }

        /** The worst case of the one request that was lost. */
        private BigDecimal held(Database database) {
            return database.withConnection(c -> {
                try (var statement = c.prepareStatement(
                        "select held_credits from gateway_requests where run_id = ?::uuid and state = 'lost'")) {
                    statement.setString(1, run);
                    try (var row = statement.executeQuery()) {
                        assertThat(row.next()).isTrue();
                        return row.getBigDecimal(1);
                    }
                }
            });
        }
    }
}
