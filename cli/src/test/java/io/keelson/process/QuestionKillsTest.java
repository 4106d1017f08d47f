package io.keelson.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.api.inbox.InboxItem;
import io.keelson.api.run.Run;
import io.keelson.api.run.Step;
import io.keelson.client.InboxQuery;
import io.keelson.client.Keelson;
import io.keelson.client.KeelsonException;
import io.keelson.client.RunRequest;
import io.keelson.core.Breadth;
import io.keelson.process.KilledNode.Point;
import io.keelson.server.Invariants;
import io.keelson.server.annex.mcp.FakeMcpServer;
import io.keelson.server.base.db.CountingProxy.Write;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseOptions;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/**
 * A server is killed at each moment around the question of an MCP server and its answer: the question survives, and its answer is sent
 * at most once.
 */
@Timeout(value = 20, unit = TimeUnit.MINUTES)
@Breadth.InPart(5)
class QuestionKillsTest {
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final Write STORED = new Write("insert into call_waits", "");
    private static final Write ANSWERED = new Write("update call_waits", "");

    /** Where the server is killed. */
    private enum Moment {
        /** The other server has asked, and the question is not stored: the outcome of the first call is unknown. */
        BEFORE_THE_QUESTION(1, false),
        /** The question is stored with the deferral of its step. */
        AFTER_THE_QUESTION(2, true),
        /** The answer of a person is not stored: the person has to answer again. */
        BEFORE_THE_ANSWER(2, true),
        /** It is stored, and its step is due. */
        AFTER_THE_ANSWER(2, true),
        /** It is stored that the call is sent again, and it was not sent. */
        BEFORE_IT_IS_SENT(1, false),
        /** The other server has the answer. */
        WHILE_IT_IS_SENT(2, false);

        private final int calls;
        private final boolean completes;

        Moment(int calls, boolean completes) {
            this.calls = calls;
            this.completes = completes;
        }

        private void arm(KilledNode node, FakeMcpServer other) {
            switch (this) {
                case BEFORE_THE_QUESTION -> node.doom(Point.BEFORE_COMMIT, STORED, 1);
                case AFTER_THE_QUESTION -> node.doom(Point.AFTER_COMMIT, STORED, 1);
                case BEFORE_THE_ANSWER -> node.doom(Point.BEFORE_COMMIT, ANSWERED, 0);
                case AFTER_THE_ANSWER -> node.doom(Point.AFTER_COMMIT, ANSWERED, 0);
                case BEFORE_IT_IS_SENT -> node.doom(Point.AFTER_COMMIT, STORED, 2);
                case WHILE_IT_IS_SENT -> {
                    Runnable kill = node.doom();
                    other.before = name -> {
                        if (name.equals("ask") && other.requests.getLast().at("/params").has("inputResponses")) {
                            other.before = any -> {};
                            kill.run();
                        }
                    };
                }
            }
        }

        private boolean beforeAPersonIsAsked() {
            return this == BEFORE_THE_QUESTION || this == AFTER_THE_QUESTION;
        }
    }

    @Test
    void answerIsSentAtMostOnceAndNoQuestionIsLost(@TempDir Path folder) throws Exception {
        DatabaseUrl url = TestDatabase.createUrl();
        try (FakeMcpServer other = new FakeMcpServer("{}");
                Database database = new Database(url, DatabaseOptions.DEFAULTS.withPoolSize(4));
                KilledNode node = new KilledNode(folder.resolve("node"), url,
                        Map.of("KEELSON_LEASE_SECONDS", "6", "KEELSON_ALLOW_PRIVATE_ADDRESSES", "true"))) {
            node.awaitReady();
            node.client().mcpServers().set("other", Json.read("""
                    {"url": "%s", "timeout_seconds": 60, "tools": ["ask"], "effects": {"ask": "once"}}"""
                    .formatted(other.url())));
            for (Moment moment : Moment.values()) {
                String run = run(node, moment, other);
                judge(node.client(), run, moment, other);
            }
            Invariants.hold(database);
        }
    }

    /** Lets a run ask, and kills the server at the moment; a person answers what waits. */
    private static String run(KilledNode node, Moment moment, FakeMcpServer other) throws Exception {
        moment.arm(node, other);
        String run = node.client().runs().create(RunRequest.of(Json.read("""
                {"name": "asks", "plan": {"tasks": [{"id": "one", "title": "One", "steps": [
                  {"name": "call", "tool": "mcp.other.ask", "input": {}}]}]}}""")).start()).id();
        if (!moment.beforeAPersonIsAsked()) {
            answer(node.client(), run);
        }
        node.awaitDeath();
        node.restart();
        node.awaitReady();
        if (moment == Moment.AFTER_THE_QUESTION || moment == Moment.BEFORE_THE_ANSWER) {
            answer(node.client(), run);
        }
        return run;
    }

    /** The reply is lost where the server is killed before it. */
    private static void answer(Keelson client, String run) {
        InboxItem item = Awaitility.await().atMost(LIMIT).until(() -> client.inbox().list(InboxQuery.all().run(run))
                .items().stream().findFirst(), Optional::isPresent).orElseThrow();
        try {
            client.inbox().answer(item.id(), Json.read("{\"name\": \"Ada\"}"));
        } catch (KeelsonException lost) {
            assertThat(lost).as("no refusal").hasMessageNotContaining("INBOX_ITEM_NOT_FOUND");
        }
    }

    private static void judge(Keelson client, String id, Moment moment, FakeMcpServer other) throws Exception {
        Run run = client.runs().awaitEnd(id, LIMIT);
        Step step = client.runs().steps(id).getFirst();
        List<JsonNode> calls = other.calls("ask").stream()
                .filter(call -> call.at("/params/_meta/io.keelson~1effectKey").asString().contains(id)).toList();
        assertThat(run.state()).as("%s %s", moment, step).isEqualTo(moment.completes ? "completed" : "failed");
        assertThat(step.errorCode()).as(moment.name()).isEqualTo(moment.completes ? null : "OUTCOME_UNKNOWN");
        assertThat(calls).as(moment.name()).hasSize(moment.calls);
        assertThat(calls.stream().filter(call -> call.path("params").has("inputResponses")))
                .as("answers that were sent: %s", moment).hasSize(moment.calls - 1);
        assertThat(client.inbox().list(InboxQuery.all().run(id)).items()).as(moment.name()).isEmpty();
    }
}
