package io.keelson.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.api.money.LedgerEntry;
import io.keelson.api.run.Run;
import io.keelson.api.run.Step;
import io.keelson.client.AgentRequest;
import io.keelson.client.Keelson;
import io.keelson.core.Breadth;
import io.keelson.devmodel.TestModel;
import io.keelson.process.KilledNode.Point;
import io.keelson.server.Invariants;
import io.keelson.server.annex.mcp.FakeMcpServer;
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
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/**
 * Agents call tools of an MCP server and over HTTP, and the server is killed at each moment around a call: a call that must not be
 * repeated is sent at most once, its agent is shown that its outcome is unknown, and no call is charged twice.
 */
@Timeout(value = 60, unit = TimeUnit.MINUTES)
@Breadth.InPart(5)
class CallKillsTest {
    private static final int KILLS = Breadth.of(6, 200);
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final Write SENT = new Write("insert into call_waits", "");
    private static final Write CHARGE = new Write("billing_ledger", "charge");
    private static final String ADD = "mcp.other.add";
    private static final String NOTE = "mcp.other.note";
    private static final String HTTP = "http.request";
    private static final Map<String, BigDecimal> PRICES = Map.of(ADD, new BigDecimal("0.25"), NOTE,
            new BigDecimal("0.5"), HTTP, new BigDecimal("0.125"));
    private static final BigDecimal TURNS = new BigDecimal("0.202");

    /** Where the node is killed. */
    private enum Moment {
        /** The row of the call that is about to be sent is not stored. */
        BEFORE_THE_ROW(ADD),
        /** It is stored, and nothing was sent. */
        AFTER_THE_ROW(ADD),
        /** The other server has the call, and has not answered. */
        WHILE_ADDING(ADD),
        /** The answer is here, and its step is not completed. */
        BEFORE_THE_RESULT(ADD),
        /** The other server has a call that may be repeated. */
        WHILE_NOTING(NOTE),
        /** The other system has a request over HTTP. */
        WHILE_POSTING(HTTP);

        private final String killed;

        Moment(String killed) {
            this.killed = killed;
        }

        private void arm(KilledNode node, FakeMcpServer other) {
            switch (this) {
                case BEFORE_THE_ROW -> node.doom(Point.BEFORE_COMMIT, SENT, 0);
                case AFTER_THE_ROW -> node.doom(Point.AFTER_COMMIT, SENT, 0);
                case BEFORE_THE_RESULT -> node.doom(Point.BEFORE_COMMIT, CHARGE, 1);
                case WHILE_ADDING -> at("add", node.doom(), other);
                case WHILE_NOTING -> at("note", node.doom(), other);
                case WHILE_POSTING -> at("/effect", node.doom(), other);
            }
        }

        private static void at(String place, Runnable kill, FakeMcpServer other) {
            other.before = name -> {
                if (name.equals(place)) {
                    other.before = any -> {};
                    kill.run();
                }
            };
        }
    }

    @Test
    void callsThatMustNotBeRepeatedHaveAtMostOneEffectAndAreChargedOnce(@TempDir Path folder) throws Exception {
        DatabaseUrl url = TestDatabase.createUrl();
        try (FakeMcpServer other = new FakeMcpServer("{}"); TestModel model = new TestModel(script(other));
                Database database = new Database(url, DatabaseOptions.DEFAULTS.withPoolSize(4))) {
            Path models = Files.writeString(folder.resolve("models.yaml"), """
                    models:
                      m: {wire: openai-chat, base_url: "%s/v1", model: m, family: f, context_tokens: 9000,
                          max_output_tokens: 500, prices: {input: 100, output: 100}}
                    """.formatted(model.uri("")));
            // A busy machine may hold the node up for seconds, and a call must lose its lease by the kill alone.
            try (KilledNode node = new KilledNode(folder.resolve("node"), url, Map.of("KEELSON_LEASE_SECONDS", "6",
                    "KEELSON_MODELS", models.toString(), "KEELSON_ALLOW_PRIVATE_ADDRESSES", "true"))) {
                node.awaitReady();
                prepare(node.client(), other);
                Sums sums = new Sums();
                for (int kill = 0; kill < KILLS; kill++) {
                    Moment moment = Moment.values()[kill % Moment.values().length];
                    moment.arm(node, other);
                    String run = node.client().agents().run("killed", "kill " + kill + ".", Map.of()).id();
                    node.awaitDeath();
                    node.restart();
                    node.awaitReady();
                    look(node.client(), run, moment, other, model, "kill " + kill + ".", sums);
                }
                System.out.printf(
                        "call kills: %d kills, %d calls sent that must not be repeated, %d of unknown outcome, "
                                + "%d deliveries of %d calls that may be repeated%n",
                        KILLS, sums.once, sums.unknown, sums.notes, KILLS);
            }
            Invariants.hold(database);
        }
    }

    private static String script(FakeMcpServer other) {
        return """
                rules:
                  - name: calls
                    when: {turn: 1}
                    answer:
                      calls:
                        - {tool: mcp_other_add, input: {n: 1}}
                        - {tool: mcp_other_note, input: {n: 1}}
                        - {tool: http_request, input: {method: POST, url: "%s"}}
                      usage: {input: 1000, output: 10}
                  - {name: end, answer: {text: "done", usage: {input: 1000, output: 10}}}
                """.formatted(other.url().replace("/mcp", "/effect"));
    }

    private static void prepare(Keelson keelson, FakeMcpServer other) {
        keelson.mcpServers().set("other",
                Json.read(
                        """
                {"url": "%s", "timeout_seconds": 60, "tools": ["add", "note"], "effects": {"add": "once", "note": "idempotent"}}"""
                                .formatted(other.url())));
        PRICES.forEach((tool, price) -> keelson.prices().setTool(tool, price));
        keelson.agents().create(AgentRequest.of("killed").model("m").tools(List.of(ADD, NOTE, HTTP))
                .approval(HTTP, "never").instructions("Go."));
    }

    /** Over all runs. */
    private static final class Sums {
        private int once;
        private int notes;
        private int unknown;
    }

    private static void look(Keelson client, String id, Moment moment, FakeMcpServer other, TestModel model,
            String goal, Sums sums) throws Exception {
        Run run = client.runs().awaitEnd(id, LIMIT);
        List<Step> steps = client.runs().steps(id);
        String what = goal + " " + moment + " " + steps;
        assertThat(run.state()).as("%s %s", what, run.errorCode()).isEqualTo("completed");
        List<String> added = keys(other, "add", id);
        List<String> noted = keys(other, "note", id);
        List<String> posted = other.effects.stream().filter(key -> key.contains(id)).toList();
        assertThat(added).as(what).hasSizeLessThanOrEqualTo(1);
        assertThat(posted).as(what).hasSizeLessThanOrEqualTo(1);
        assertThat(noted).as(what).hasSizeBetween(1, 2);
        assertThat(noted.stream().distinct()).as(what).hasSize(1);
        BigDecimal charged = TURNS;
        for (Step step : steps) {
            boolean unknown = moment.killed.equals(step.tool()) && moment != Moment.WHILE_NOTING;
            if (PRICES.containsKey(step.tool())) {
                assertThat(step.state()).as("%s %s", what, step.tool()).isEqualTo(unknown ? "failed" : "completed");
                assertThat(step.errorCode()).as(what).isEqualTo(unknown ? "OUTCOME_UNKNOWN" : null);
                charged = unknown ? charged : charged.add(PRICES.get(step.tool()));
                sums.unknown += unknown ? 1 : 0;
            }
        }
        List<JsonNode> asked = model.journal().stream().map(line -> line.get("body"))
                .filter(body -> body.toString().contains(goal)).toList();
        assertThat(asked.getLast().toString().contains("OUTCOME_UNKNOWN")).as("%s: the model is shown it", what)
                .isEqualTo(moment != Moment.WHILE_NOTING);
        BigDecimal ledger = client.ledger().ofRun(id).stream().filter(entry -> entry.transactionType().equals("charge"))
                .map(LedgerEntry::amount).reduce(BigDecimal.ZERO, BigDecimal::add);
        assertThat(ledger).as(what).isEqualByComparingTo(charged);
        sums.once += added.size() + posted.size();
        sums.notes += noted.size();
    }

    /** The effect keys of a run's calls of the tool, as the other server got them. */
    private static List<String> keys(FakeMcpServer other, String tool, String run) {
        return other.calls(tool).stream().map(call -> call.at("/params/_meta/io.keelson~1effectKey").asString())
                .filter(key -> key.contains(run)).toList();
    }
}
