package io.keelson.server.annex.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.api.money.LedgerEntry;
import io.keelson.api.run.Event;
import io.keelson.api.run.Run;
import io.keelson.client.AgentRequest;
import io.keelson.client.Keelson;
import io.keelson.client.RunRequest;
import io.keelson.devmodel.TestModel;
import io.keelson.server.app.Server;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Answers that a provider makes in the background, and that a server fetches by their ids. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class BackgroundAnswersTest {
    private final DatabaseUrl url = TestDatabase.createUrl();
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final String SCRIPT = """
            rules:
              - {name: call, when: {turn: 1, text: "Count"}, answer: {calls: [{tool: echo, input: {n: 1}}], delay_ms: 300, usage: {input: 1000, output: 10}}}
              - {name: slow, when: {turn: 1, text: "Restart"}, answer: {text: "late", delay_ms: 3000, usage: {input: 1000, output: 10}}}
              - {name: never, when: {turn: 1, text: "Never"}, answer: {text: "late", delay_ms: 600000}}
              - {name: change, when: {text: "Change", first: 1}, answer: {text: "late", delay_ms: 600000}}
              - {name: refuse, when: {text: "Refuse", first: 1}, answer: {refusal: "no", usage: {input: 1000, output: 10}}}
              - {name: end, answer: {text: "done", usage: {input: 1000, output: 10}}}
            """;

    private Path folder;
    private TestModel model;
    private int maxOutputTokens = 500;
    private Server server;
    private Keelson keelson;

    @BeforeAll
    void start(@TempDir Path temporary) throws Exception {
        folder = temporary;
        model = new TestModel(SCRIPT);
        serve();
        keelson.agents().create(AgentRequest.of("worker").model("small").tools(List.of("echo")));
    }

    private void serve() throws Exception {
        Files.writeString(folder.resolve("models.yaml"), """
                models:
                  small: {wire: openai-responses, base_url: "%s/v1", family: f, context_tokens: 9000, model: m,
                      max_output_tokens: %d, prices: {input: 100, output: 100}, background: true}
                """.formatted(model.uri(""), maxOutputTokens));
        server = ModelServer.start(folder, url);
        keelson = Keelson.builder().url(server.baseUrl().toString()).apiKey(server.apiKey()).build();
    }

    @AfterAll
    void stop() throws Exception {
        server.close();
        model.close();
    }

    /** Requests for answers to that goal. */
    private List<JsonNode> begun(String goal) throws Exception {
        return model.journal().stream().filter(line -> line.path("path").asString("").equals(TestModel.RESPONSES)
                && line.path("body").toString().contains(goal)).toList();
    }

    /** Requests about the answers to that goal, by their ids. */
    private List<String> later(String goal) throws Exception {
        List<JsonNode> ids = begun(goal).stream().map(line -> line.get("response_id")).toList();
        return model.journal().stream().filter(line -> ids.contains(line.get("response_id")))
                .map(line -> line.get("method").stringValue() + " " + line.get("path").stringValue()
                        .replace(line.get("response_id").stringValue(), "ID"))
                .filter(line -> !line.equals("POST " + TestModel.RESPONSES)).toList();
    }

    private List<JsonNode> lost(Run run) {
        return keelson.runs().events(run.id(), 0, 500).items().stream()
                .filter(event -> event.eventType().equals("model_answer_lost")).map(Event::payload).toList();
    }

    private void assertCharged(Run run, int turns) {
        assertThat(keelson.runs().awaitEnd(run.id(), LIMIT).state()).isEqualTo("completed");
        assertThat(keelson.ledger().ofRun(run.id()).stream()
                .filter(entry -> entry.transactionType().equals("charge")).map(LedgerEntry::amount)).hasSize(turns)
                .allSatisfy(amount -> assertThat(amount).isEqualByComparingTo("0.101"));
        assertThat(lost(run)).isEmpty();
    }

    @Test
    void eachTurnIsBegunOnceAndFetchedByItsId() throws Exception {
        assertCharged(keelson.agents().run("worker", "Count", Map.of()), 2);
        List<JsonNode> begun = begun("Count");
        assertThat(begun).hasSize(2).allSatisfy(line -> {
            assertThat(line.get("body").get("background").booleanValue()).isTrue();
            assertThat(line.get("body").get("store").booleanValue()).isTrue();
            assertThat(line.get("outcome").stringValue()).isEqualTo("stored");
        });
        assertThat(later("Count")).containsOnly("GET /v1/responses/ID").hasSizeGreaterThan(1);
    }

    @Test
    void anotherServerFetchesWhatThisOneHasBegun() throws Exception {
        Run run = keelson.agents().run("worker", "Restart", Map.of());
        Awaitility.await().atMost(LIMIT).until(() -> !later("Restart").isEmpty());
        server.close();
        serve();
        assertCharged(run, 1);
        assertThat(begun("Restart")).hasSize(1);
        assertThat(later("Restart")).doesNotContain("POST /v1/responses/ID/cancel");
    }

    @Test
    void anAnswerWhoseFailureIsReportedIsNotFetchedAndChargedAgain() throws Exception {
        Run run = keelson.runs().create(RunRequest.of(Json.read("""
                {"name": "refused once", "plan": {"tasks": [{"id": "ask", "title": "Ask", "steps": [
                  {"name": "ask", "tool": "model.generate", "input": {"model": "small", "prompt": "Refuse once"},
                    "retry": {"max_attempts": 3, "base_delay_seconds": 0.1}}]}]}}""")).start());
        assertCharged(run, 2);
        assertThat(begun("Refuse once")).hasSize(2);
    }

    @Test
    void cancellingARunCancelsAndNamesTheAnswer() throws Exception {
        Run run = keelson.agents().run("worker", "Never", Map.of());
        Awaitility.await().atMost(LIMIT).until(() -> !later("Never").isEmpty());
        keelson.runs().cancel(run.id(), "enough");
        Awaitility.await().atMost(LIMIT).until(() -> later("Never").contains("POST /v1/responses/ID/cancel"));
        Awaitility.await().atMost(LIMIT).until(() -> lost(run).size() == 1);
        assertThat(begun("Never").getFirst().get("outcome").stringValue()).isEqualTo("cancelled");
    }

    @Test
    void anAnswerThatTheNextExecutionDoesNotAskForIsCancelledAndNamed() throws Exception {
        Run run = keelson.agents().run("worker", "Change", Map.of());
        Awaitility.await().atMost(LIMIT).until(() -> !later("Change").isEmpty());
        server.close();
        maxOutputTokens -= 100;
        serve();
        assertThat(keelson.runs().awaitEnd(run.id(), LIMIT).state()).isEqualTo("completed");
        assertThat(begun("Change")).hasSize(2);
        assertThat(lost(run)).hasSize(1);
        Awaitility.await().atMost(LIMIT).until(() -> later("Change").contains("POST /v1/responses/ID/cancel"));
        assertThat(keelson.ledger().ofRun(run.id()).stream()
                .filter(entry -> entry.transactionType().equals("charge"))).as("with all that the other may have cost")
                .singleElement().satisfies(charge -> {
                    assertThat(charge.estimated()).isTrue();
                    assertThat(charge.tokens()).isGreaterThan(1_010 + 500);
                });
    }
}
