package io.keelson.server.annex.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.api.money.LedgerEntry;
import io.keelson.api.run.Event;
import io.keelson.api.run.Explanation;
import io.keelson.api.run.Run;
import io.keelson.api.run.Step;
import io.keelson.client.Keelson;
import io.keelson.client.RunRequest;
import io.keelson.core.Breadth;
import io.keelson.devmodel.TestModel;
import io.keelson.server.app.Server;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Turns whose provider is busy, unreadable or of another name, and models that make mistakes. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Breadth.Spread
class ModelFaultsTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    /** Seconds that a busy model asks for. */
    private static final int PAUSE = Breadth.of(2, 7);
    private static final String SCRIPT = """
            rules:
              - {when: {model: seconds, first: 1}, answer: {status: 429, headers: {retry-after: "%1$d"}}}
              - {when: {model: millis, first: 1}, answer: {status: 503, headers: {retry-after-ms: "%1$d000"}}}
              - {when: {model: closed}, answer: {status: 429, headers: {retry-after: "3000"}}}
              - {when: {model: absurd}, answer: {status: 529, headers: {retry-after: "864000"}}}
              - {when: {text: malformed, first: 1}, answer: {text: half, malformed: true}}
              - {when: {text: html, first: 1}, answer: {body: "<html></html>", content_type: text/html}}
              - {when: {text: empty, first: 1}, answer: {body: ""}}
              - {when: {text: plain, first: 1}, answer: {text: plain, content_type: text/plain}}
              - {when: {model: prone}, answer: {calls: [{tool: json_transform, input: {expression: 7}}], usage: {input: 100, output: 10}}}
              - {when: {model: keen}, answer: {calls: [{tool: echo, input: {n: 1}}], usage: {input: 100, output: 10}}}
              - {when: {model: alias, turn: 1}, answer: {calls: [{tool: echo, input: {n: 1}}], model: another-2026, usage: {input: 100, output: 10}}}
              - {when: {model: alias}, answer: {text: done, usage: {input: 100, output: 10}}}
              - {when: {model: calm, turn: 1}, answer: {calls: [{tool: echo, input: {n: 1}}], delay_ms: 1500}}
              - {when: {model: loose}, answer: {json: {n: none}, usage: {input: 100, output: 10}}}
              - {answer: {text: done}}
            """.formatted(PAUSE);

    private TestModel model;
    private Server server;
    private Keelson keelson;

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        model = new TestModel(SCRIPT);
        StringBuilder models = new StringBuilder("models:\n");
        Stream.of("seconds", "millis", "closed", "absurd", "spoilt", "prone", "keen", "alias", "calm", "loose", "free")
                .forEach(name -> models.append("""
                          %s: {wire: openai-chat, base_url: "%s/v1", family: f, context_tokens: 9000, model: %s,
                            max_output_tokens: 500, prices: {input: 1, output: 1}}
                        """.formatted(name, model.uri(""), name)));
        Files.writeString(folder.resolve("models.yaml"), models);
        server = ModelServer.start(folder, TestDatabase.createUrl());
        keelson = Keelson.builder().url(server.baseUrl().toString()).apiKey(server.apiKey()).build();
    }

    @AfterAll
    void stop() throws Exception {
        server.close();
        model.close();
    }

    private Run run(String model, String title, String more) {
        return run(model, title, 1, more);
    }

    /** @param more members of the task */
    private Run run(String model, String title, int attempts, String more) {
        return keelson.runs().create(RunRequest.of(Json.read("""
                {"name": "one", "start": true, "config": {"timeouts": {"provider_wait_seconds": %s}, "escalation": {"enabled": false}},
                 "plan": {"tasks": [{"id": "t", "title": "%s", "retry": {"max_attempts": %d, "base_delay_seconds": 0.1}, "suggested_agent":
                 {"type": "contractor", "agent_name": "c", "model": "%s", "tools": ["echo", "json.transform"]}%s}]}}"""
                .formatted(model.equals("absurd") ? 1 : 3600, title, attempts, model, more))));
    }

    private Run ended(Run run) {
        return keelson.runs().awaitEnd(run.id(), LIMIT);
    }

    private List<JsonNode> requests(String of) throws Exception {
        return model.journal().stream().filter(line -> line.path("model").asString("").equals(of)).toList();
    }

    private Event event(Run run, String type) {
        return Awaitility.await().atMost(LIMIT).pollInterval(Duration.ofMillis(20)).until(
                () -> keelson.runs().events(run.id(), 0, 500).items().stream()
                        .filter(each -> each.eventType().equals(type)).toList(),
                found -> !found.isEmpty()).getFirst();
    }

    private List<Step> steps(Run run) {
        return keelson.runs().steps(run.id());
    }

    private BigDecimal charged(Run run) {
        return keelson.ledger().ofRun(run.id()).stream().filter(entry -> entry.transactionType().equals("charge"))
                .map(LedgerEntry::amount).reduce(BigDecimal.ZERO, BigDecimal::add);
    }

    @ParameterizedTest
    @ValueSource(strings = {"seconds", "millis"})
    void aBusyModelIsAskedAgainAfterItsTimeWithTheSameAttempt(String busy) throws Exception {
        Run run = run(busy, "Wait", "");
        assertThat(ended(run).state()).isEqualTo("completed");
        assertThat(Duration.between(event(run, "step_deferred").createdAt(), event(run, "step_completed").createdAt()))
                .isGreaterThanOrEqualTo(Duration.ofSeconds(PAUSE).minusMillis(10));
        assertThat(requests(busy)).hasSize(2);
        assertThat(steps(run).getFirst().attempt()).isEqualTo(1);
    }

    @Test
    void busyModelHoldsOnlyItsOwnTurnsBack() throws Exception {
        Run first = run("closed", "Wait", "");
        event(first, "step_deferred");
        Run sibling = run("closed", "Wait, too", "");
        event(sibling, "step_deferred");
        assertThat(ended(run("free", "Go on", "")).state()).isEqualTo("completed");

        Explanation.Reason busy = keelson.runs().explain(sibling.id()).reasons().stream()
                .filter(reason -> reason.code().equals("MODEL_BUSY")).findFirst().orElseThrow();
        assertThat(busy.text()).contains("'closed'");
        assertThat(Duration.between(event(first, "step_deferred").createdAt(), busy.until()))
                .as("the longest pause without a probe").isBetween(Duration.ofSeconds(290), Duration.ofSeconds(330));
        assertThat(requests("closed")).as("of both turns").hasSize(1);
        assertThat(keelson.runs().get(sibling.id()).state()).isEqualTo("running");
        keelson.runs().cancel(first.id(), null);
        keelson.runs().cancel(sibling.id(), null);
    }

    @Test
    void aPauseOfDaysEndsAtTheLimitOfTheRun() throws Exception {
        Run run = run("absurd", "Wait", "");
        assertThat(ended(run).errorCode()).isEqualTo("MODEL_UNAVAILABLE");
        assertThat(requests("absurd")).hasSize(1);
    }

    @ParameterizedTest
    @CsvSource({"malformed, MODEL_ANSWER_UNREADABLE", "html, MODEL_ANSWER_UNREADABLE", "plain, MODEL_ANSWER_UNREADABLE",
            "empty, MODEL_ANSWER_UNREADABLE"})
    void anUnreadableAnswerIsTriedAgain(String fault, String code) {
        Run run = run("spoilt", "An answer that is " + fault, 3, "");
        assertThat(ended(run).state()).isEqualTo("completed");
        assertThat(event(run, "task_retrying").payload().path("error_code").asString(""))
                .isEqualTo(code);
        assertThat(steps(run)).hasSize(1);
    }

    @Test
    void anAgentThatRepeatsItsMistakeIsStuckAndOpensNoTicket() throws Exception {
        Run run = run("prone", "Transform", "");
        assertThat(ended(run).errorCode()).isEqualTo("AGENT_STUCK");
        assertThat(requests("prone")).hasSize(5);
        assertThat(requests("prone").get(1).get("body").toString()).contains("TOOL_INPUT_INVALID", "/expression");
        assertThat(steps(run).stream().filter(step -> step.kind().equals("call")))
                .hasSize(5).allMatch(step -> step.state().equals("failed") && step.output().isNull());
        assertThat(keelson.runs().events(run.id(), 0, 500).items()).extracting(Event::eventType)
                .doesNotContain("run_escalated");
        assertThat(charged(run)).isEqualByComparingTo("0.00055");
    }

    @Test
    void anAgentThatRepeatsACallWithOneResultIsToldAndThenStuck() throws Exception {
        Run run = run("keen", "Look", "");
        assertThat(ended(run).errorCode()).isEqualTo("AGENT_STUCK");
        assertThat(requests("keen")).hasSize(8);
        assertThat(requests("keen").get(4).get("body").toString()).doesNotContain("in a row");
        assertThat(requests("keen").get(7).get("body").toString()).contains("had this result 5 times in a row",
                "had this result 7 times in a row; the task fails at 8");
        assertThat(steps(run).stream().filter(step -> step.kind().equals("call")))
                .hasSize(8).allMatch(step -> step.state().equals("completed"));
    }

    @Test
    void anAnswerOfAnotherModelIsNamedAndChargedAtThePriceOfTheAskedOne() {
        Run run = run("alias", "Answer", "");
        assertThat(ended(run).state()).isEqualTo("completed");
        JsonNode facts = steps(run).getFirst().output().get("model_call");
        assertThat(facts.get("asked").stringValue()).isEqualTo("alias");
        assertThat(facts.get("answered").stringValue()).isEqualTo("another-2026");
        assertThat(charged(run)).isEqualByComparingTo("0.00022");
    }

    @Test
    void aPausedRunEndsItsTurnAndBeginsNoFurtherStep() throws Exception {
        Run run = run("calm", "Work", "");
        Awaitility.await().atMost(LIMIT).pollInterval(Duration.ofMillis(20)).until(() -> requests("calm").size() == 1);
        keelson.runs().pause(run.id());
        event(run, "step_completed");
        assertThat(steps(run).stream().map(step -> step.kind() + " " + step.state()))
                .containsExactly("turn completed", "call pending", "turn pending");
        assertThat(keelson.runs().get(run.id()).state()).isEqualTo("paused");
        assertThat(requests("calm")).hasSize(1);
        keelson.runs().resume(run.id());
        assertThat(ended(run).state()).isEqualTo("completed");
        assertThat(requests("calm")).hasSize(2);
    }

    @Test
    void theThirdOutputThatDoesNotFitFailsTheTaskAndAllAreCharged() throws Exception {
        Run run = run("loose", "Count",
                """
                , "output_schema": {"type": "object", "properties": {"n": {"type": "integer", "not": {"const": 4}}}}""");
        assertThat(ended(run).errorCode()).isEqualTo("OUTPUT_INVALID");
        assertThat(requests("loose")).hasSize(3);
        assertThat(requests("loose").getLast().get("body").toString()).contains("/n");
        assertThat(charged(run)).isEqualByComparingTo("0.00033");
    }
}
