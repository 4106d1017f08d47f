package io.keelson.server.annex.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.keelson.api.money.LedgerEntry;
import io.keelson.api.money.TokenUsage;
import io.keelson.api.run.Artifact;
import io.keelson.api.run.Event;
import io.keelson.api.run.Run;
import io.keelson.api.run.Step;
import io.keelson.api.run.TranscriptEntry;
import io.keelson.client.AgentRequest;
import io.keelson.client.ForkRequest;
import io.keelson.client.Keelson;
import io.keelson.client.KeelsonException;
import io.keelson.client.RunRequest;
import io.keelson.core.Breadth;
import io.keelson.devmodel.TestModel;
import io.keelson.server.app.Server;
import io.keelson.server.app.Settings;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import java.io.InputStream;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Agents whose turns a server takes, against a dev-model on all three wires. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Breadth.Spread
class ModelTurnsTest {
    private static final DatabaseUrl URL = TestDatabase.createUrl();
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final String SCRIPT = """
            rules:
              - {name: down, when: {model: down}, answer: {status: 500}}
              - {name: busy, when: {text: "Wait", first: 1}, answer: {status: 429, headers: {retry-after: "1"}}}
              - {name: refuse with secrets, when: {text: "canary-of-refusals"}, answer: {refusal: "I refuse canary-of-refusals and sk-canary-1234", usage: {input: 7, output: 3}}}
              - {name: refuse, when: {text: "Refuse"}, answer: {refusal: "I do not do this", usage: {input: 7, output: 3}}}
              - {name: slow, when: {text: "Sleep"}, answer: {text: "late", delay_ms: 60000}}
              - {name: cut, when: {text: "Break off", first: 1}, answer: {text: "A long text that ends here", usage: {input: 4000, output: 9}, cut_after_bytes: 700}}
              - {name: whole, when: {text: "Break off"}, answer: {text: "whole", usage: {input: 4000, output: 9}}}
              - {name: delay, when: {text: "Delay"}, answer: {text: "late", delay_ms: 60000}}
              - {name: late, when: {text: "Never"}, answer: {text: "late", delay_ms: 60000}}
              - {name: outage, when: {model: flaky, turn: 3, first: 3}, answer: {status: 500}}
              - {name: outage, when: {model: flaky, turn: 3, first: 1}, answer: {cut_after_bytes: 0}}
              - {name: long call, when: {model: reader, turn: 1}, answer: {calls: [{tool: json_transform, input: {expression: '[range(20000)]', input: null}}]}}
              - {name: read, when: {model: reader, turn: 2}, answer: {calls: [{tool: artifact_read, input: {id: "00000000-0000-7000-8000-000000000001", from: 0}}, {tool: echo, input: {}}, {tool: echo, input: {}}]}}
              - {name: end, when: {model: reader}, answer: {text: "read"}}
              - {name: summary, when: {model: tight, text: "about to be shortened"}, answer: {text: "the summary"}}
            %WORK%
              - {name: end, when: {model: tight}, answer: {text: "done"}}
              - {name: overflow, when: {model: over, turn: 3, first: 1}, answer: {status: 400, error: {code: context_length_exceeded}}}
              - {name: summary, when: {model: over, text: "about to be shortened"}, answer: {text: "the summary"}}
              - {name: work, when: {model: over, first: 2}, answer: {calls: [{tool: echo, input: {n: 1}}]}}
              - {name: end, when: {model: over}, answer: {text: "done"}}
              - {name: summary, when: {model: brim, text: "about to be shortened"}, answer: {text: "the summary"}}
              - {name: work, when: {model: brim, first: 2}, answer: {calls: [{tool: echo, input: {n: 1}}]}}
              - {name: overflow, when: {model: brim}, answer: {status: 400, error: {message: "prompt is too long"}}}
              - name: broken arguments
                when: {text: "Count badly", turn: 1}
                answer: {calls: [{tool: echo, arguments: '{"n": '}, {tool: process_run, input: {program: ls}}]}
              - name: cut call
                when: {turn: 2, last_tool: process_run, first: 1}
                answer: {finish: length, calls: [{tool: echo, input: {n: 9}}]}
              - {name: no count, when: {text: "more briefly"}, answer: {json: {n: "none"}}}
              - {name: count, when: {text: "no valid result"}, answer: {json: {n: 3}}}
              - name: first call
                when: {turn: 1}
                answer: {thinking: "one", calls: [{tool: echo, input: {n: 1}}], usage: {input: 1201, cache_write: 31, output: 17, reasoning: 5}}
              - name: second call
                when: {turn: 2}
                answer: {text: "And", calls: [{tool: echo, input: {n: 2}}], usage: {input: 103, cache_read: 1201, output: 19}}
              - name: report
                answer: {text: "three", usage: {input: 77, cache_read: 1301, output: 7}}
            """.replace("%WORK%", IntStream.range(0, 10).mapToObj(
            """
              - {name: work, when: {model: tight, first: 6}, answer: {calls: [{tool: echo, input: {n: "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxy%d"}}]}}
            """::formatted).collect(Collectors.joining()));

    private static final String QUICK = ", \"retry\": {\"base_delay_seconds\": 0.1}";

    private TestModel model;
    private Server server;
    private Keelson keelson;

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        model = new TestModel(SCRIPT);
        Files.writeString(folder.resolve("models.yaml"), """
                models:
                  openai-responses: {wire: openai-responses, base_url: "%1$s/v1", %2$s}
                  openai-chat: {wire: openai-chat, base_url: "%1$s/v1", %2$s}
                  anthropic-messages: {wire: anthropic-messages, base_url: "%1$s", %2$s}
                  primary: {wire: openai-chat, base_url: "%1$s/v1", family: f, context_tokens: 9000, model: down,
                      max_output_tokens: 500, prices: {input: 1, output: 1}, fallback: [anthropic-messages]}
                  flaky: {wire: openai-chat, base_url: "%1$s/v1", family: f, context_tokens: 9000, model: flaky,
                      max_output_tokens: 500, prices: {input: 1, output: 1}}
                  reader: {wire: openai-chat, base_url: "%1$s/v1", family: f, context_tokens: 90000, model: reader,
                      max_output_tokens: 500, prices: {input: 1, output: 1}}
                  tight: {wire: openai-chat, base_url: "%1$s/v1", family: f, context_tokens: 1500, model: tight,
                      max_output_tokens: 500, prices: {input: 0.25, cache_read: 0.025, cache_write: 0.3, output: 2}}
                  brim: {wire: anthropic-messages, base_url: "%1$s", family: f, context_tokens: 90000, model: brim,
                      max_output_tokens: 500, prices: {input: 1, output: 1}}
                  over: {wire: openai-responses, base_url: "%1$s/v1", family: f, context_tokens: 90000, model: over,
                      max_output_tokens: 500, prices: {input: 1, output: 1}}
                """.formatted(model.uri(""), """
                model: m, family: f, context_tokens: 9000, max_output_tokens: 500, api_key: {env: A_KEY},
                      prices: {input: 0.25, cache_read: 0.025, cache_write: 0.3, output: 2}"""));
        server = Server.start(Settings.load(Map.of("KEELSON_DATA_DIR", folder.resolve("data").toString(),
                "KEELSON_HTTP_PORT", "0", "KEELSON_DATABASE_URL", TestDatabase.text(URL), "KEELSON_MODELS",
                "models.yaml", "A_KEY", "sk-canary-1234"), folder, folder));
        keelson = Keelson.builder().url(server.baseUrl().toString()).apiKey(server.apiKey()).build();
    }

    @AfterAll
    void stop() throws Exception {
        server.close();
        model.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"openai-responses", "openai-chat", "anthropic-messages"})
    void anAgentCallsAToolTwiceAndFinishes(String wire) throws Exception {
        int before = model.journal().size();
        keelson.agents().create(AgentRequest.of("counter-" + wire).model(wire).tools(List.of("noop", "echo"))
                .instructions("Count."));
        Run run = keelson.agents().run("counter-" + wire, "Count to three", Map.of("from", 1));
        Run ended = keelson.runs().awaitEnd(run.id(), LIMIT);

        assertThat(ended.state()).isEqualTo("completed");
        assertThat(keelson.runs().tasks(run.id()).getFirst().output().stringValue()).isEqualTo("three");
        assertThat(keelson.runs().steps(run.id()).stream().map(step -> step.tool() + " " + step.state()))
                .containsExactly("model.turn completed", "echo completed", "model.turn completed", "echo completed",
                        "model.turn completed");
        assertThat(event(run, "task_assigned").get("runs_on").stringValue()).isEqualTo("server");
        List<JsonNode> journal = model.journal().stream().skip(before).toList();
        assertThat(journal.stream().map(line -> line.get("rule").stringValue())).containsExactly("first call",
                "second call", "report");
        assertThat(charged(run)).isEqualByComparingTo(billed(journal)).isPositive();
        assertThat(ended.totalCost()).isEqualByComparingTo(billed(journal));
        for (int i = 1; i < journal.size(); i++) {
            assertThat(conversation(journal.get(i))).startsWith(conversation(journal.get(i - 1)));
        }
        List<TranscriptEntry> transcript = keelson.tasks().transcript(keelson.runs().tasks(run.id()).getFirst().id());
        assertThat(transcript.stream().map(entry -> entry.turn() + " " + entry.kind() + " " + entry.state()))
                .containsExactly("1 turn completed", "1 call completed", "2 turn completed", "2 call completed",
                        "3 turn completed");
        assertThat(transcript.getFirst().calls().getFirst().get("name").stringValue()).isEqualTo("echo");
        assertThat(transcript.get(1).input()).isEqualTo(transcript.get(1).output());
        assertThat(transcript.get(2).text()).isEqualTo("And");
        assertThat(transcript.getLast().output().stringValue()).isEqualTo("three");
        assertThat(transcript.get(2).usage()).isEqualTo(new TokenUsage(103, 1201, 0, 19, 0));
        assertThat(transcript.stream().map(TranscriptEntry::cost).reduce(BigDecimal.ZERO, BigDecimal::add))
                .isEqualByComparingTo(billed(journal));
        JsonNode facts = keelson.runs().steps(run.id()).getFirst().output().get("model_call");
        assertThat(facts.get("asked").stringValue()).isEqualTo(wire);
        assertThat(facts.get("answered").stringValue()).isEqualTo("m");
        assertThat(facts.get("request_sha256").stringValue()).hasSize(64);
        assertThat(facts.get("request_id").stringValue()).isNotEmpty();
        assertThat(facts.at("/usage/output").intValue()).isEqualTo(17);
    }

    @Test
    void forkFromATurnCopiesTheTurnsBeforeAndPaysForTheOthers() throws Exception {
        keelson.agents().create(AgentRequest.of("forked").model("openai-chat").tools(List.of("echo")));
        Run source = keelson.agents().run("forked", "Count for a fork", Map.of("from", 1));
        assertThat(keelson.runs().awaitEnd(source.id(), LIMIT).state()).isEqualTo("completed");
        String task = keelson.runs().tasks(source.id()).getFirst().key();
        int before = model.journal().size();

        Run fork = keelson.runs().fork(source.id(), ForkRequest.from(task).turn(2).model("anthropic-messages"));
        Run ended = keelson.runs().awaitEnd(fork.id(), LIMIT);

        assertThat(ended.state()).isEqualTo("completed");
        List<JsonNode> journal = model.journal().stream().skip(before).toList();
        assertThat(journal.stream().map(line -> line.get("rule").stringValue())).containsExactly("second call",
                "report");
        assertThat(journal).allSatisfy(
                line -> assertThat(line.get("wire").stringValue()).isEqualTo("anthropic-messages"));
        assertThat(keelson.runs().steps(fork.id()).stream().map(Step::tool)).containsExactly("model.turn", "echo",
                "model.turn");
        assertThat(charged(fork)).isEqualByComparingTo(billed(journal)).isPositive();
        List<TranscriptEntry> entries = keelson.tasks().transcript(keelson.runs().tasks(fork.id()).getFirst().id());
        assertThat(entries.stream().map(entry -> entry.turn() + " " + entry.kind() + " " + entry.copied()))
                .containsExactly("1 turn true", "1 call true", "2 turn false", "2 call false", "3 turn false");
        assertThat(entries.subList(0, 2)).allSatisfy(entry -> assertThat(entry.cost()).isZero());

        Run again = keelson.runs().fork(fork.id(), ForkRequest.from(task).turn(3).instructions("Be exact."));
        assertThat(keelson.runs().awaitEnd(again.id(), LIMIT).state()).isEqualTo("completed");
        List<JsonNode> last = model.journal().stream().skip(before + journal.size()).toList();
        assertThat(last).hasSize(1);
        assertThat(last.getFirst().get("body").toString()).contains("Be exact.");
        assertThat(conversation(last.getFirst())).isEqualTo(conversation(journal.getLast()));
        assertThat(catchThrowableOfType(KeelsonException.class,
                () -> keelson.runs().fork(source.id(), ForkRequest.from(task).turn(4))).code())
                .isEqualTo("UNKNOWN_REFERENCE");
    }

    /** The messages of a request, without marks for the provider's cache and the bracket that ends their list. */
    private static String conversation(JsonNode line) {
        JsonNode body = line.get("body");
        String messages = (body.has("messages") ? body.get("messages") : body.get("input")).toString()
                .replace(",\"cache_control\":{\"type\":\"ephemeral\"}", "");
        return messages.substring(0, messages.length() - 1);
    }

    /** The exact cost of what the run was charged, whose charges are its sum, rounded once. */
    private BigDecimal charged(Run run) {
        List<LedgerEntry> charges = keelson.ledger().ofRun(run.id()).stream()
                .filter(entry -> entry.transactionType().equals("charge")).toList();
        BigDecimal cost = charges.stream().map(LedgerEntry::cost).reduce(BigDecimal.ZERO, BigDecimal::add);
        assertThat(charges.stream().map(LedgerEntry::amount).reduce(BigDecimal.ZERO, BigDecimal::add))
                .isEqualByComparingTo(cost.setScale(6, RoundingMode.HALF_UP));
        return cost;
    }

    /** By the prices of the models' file. */
    private static BigDecimal billed(List<JsonNode> journal) {
        return journal.stream().map(line -> line.get("billed")).filter(JsonNode::isObject)
                .map(billed -> cost(billed, "input", "0.25").add(cost(billed, "cache_read", "0.025"))
                        .add(cost(billed, "cache_write", "0.3")).add(cost(billed, "output", "2")))
                .reduce(BigDecimal.ZERO, BigDecimal::add);
    }

    private static BigDecimal cost(JsonNode billed, String part, String usdPerMillion) {
        return BigDecimal.valueOf(billed.path(part).asLong(0)).multiply(new BigDecimal(usdPerMillion)).movePointLeft(6);
    }

    private JsonNode event(Run run, String type) {
        return keelson.runs().events(run.id(), 0, 500).items().stream().filter(each -> each.eventType().equals(type))
                .map(Event::payload).findFirst().orElseThrow();
    }

    private Run contractor(String title, String more) {
        return contractor("openai-chat", title, more);
    }

    private Run contractor(String model, String title, String more) {
        return keelson.runs().create(RunRequest.of(Json.read("""
                {"name": "one", "start": true, "plan": {"tasks": [{"id": "t", "title": "%s", "tools_needed": ["echo"],
                 "suggested_agent": {"type": "contractor", "agent_name": "c", "model": "%s"}%s}]}}"""
                .formatted(title, model, more))));
    }

    private Run ended(Run run) {
        return keelson.runs().awaitEnd(run.id(), LIMIT);
    }

    @Test
    void badAnswersAreNotExecutedAndAreCorrected() throws Exception {
        int before = model.journal().size();
        Run run = contractor("Count badly", """
                , "output_schema": {"type": "object", "properties": {"n": {"type": "integer"}}}""");
        assertThat(ended(run).state()).isEqualTo("completed");
        assertThat(keelson.runs().tasks(run.id()).getFirst().output().toString()).isEqualTo("{\"n\":3}");
        assertThat(keelson.runs().steps(run.id()).stream().map(ModelTurnsTest::shown)).containsExactly(
                "turn completed null", "call skipped TOOL_INPUT_INVALID", "call skipped TOOL_NOT_ALLOWED",
                "turn completed null", "turn completed null", "turn completed null");
        assertThat(model.journal().stream().skip(before).map(line -> line.get("rule").stringValue()))
                .containsExactly("broken arguments", "cut call", "no count", "count");
        assertThat(charged(run)).isEqualByComparingTo(billed(model.journal().stream().skip(before).toList()));
    }

    private static String shown(Step step) {
        return step.kind() + " " + step.state() + " " + step.errorCode();
    }

    @Test
    void aRefusalIsChargedAndNotAskedForAgain() throws Exception {
        Run run = contractor("Refuse this", ", \"retry\": {\"max_attempts\": 1}");
        assertThat(ended(run).state()).isEqualTo("failed");
        assertThat(ended(run).errorCode()).isEqualTo("MODEL_REFUSED");
        assertThat(event(run, "run_failed").toString()).contains("I do not do this");
        assertThat(model.journal().stream().filter(line -> line.path("rule").asString("").equals("refuse"))).hasSize(1);
        assertThat(keelson.runs().events(run.id(), 0, 500).items()).extracting(Event::eventType)
                .doesNotContain("model_answer_lost");
        Artifact request = keelson.runs().artifacts(run.id()).getFirst();
        assertThat(request.name()).startsWith("request-").endsWith(".json");
        assertThat(charged(run)).isEqualByComparingTo("0.00000775");
    }

    @Test
    void aRefusalShowsNeitherTheKeyNorASecret() throws Exception {
        keelson.secrets().set("password", "canary-of-refusals");
        Run run = keelson.runs().create(RunRequest.of(Json.read("""
                {"name": "refused", "start": true, "config": {"retry": {"max_retries_per_task": 0}}, "plan": {"tasks": [
                 {"id": "t", "steps": [{"tool": "model.generate",
                 "input": {"model": "openai-chat", "prompt": "Judge ${ secret(\\"password\\") }"}}]}]}}""")));
        assertThat(ended(run).errorCode()).isEqualTo("MODEL_REFUSED");
        assertThat(event(run, "run_failed").toString()).contains("I refuse [secret] and ***");
        assertThat(keelson.runs().events(run.id(), 0, 500).items().toString() + keelson.runs().steps(run.id())
                + keelson.runs().tasks(run.id()) + ended(run)).doesNotContain("canary");
        try (InputStream request = keelson.runs().content(keelson.runs().artifacts(run.id()).getFirst())) {
            assertThat(new String(request.readAllBytes(), StandardCharsets.UTF_8)).contains("Judge")
                    .doesNotContain("canary");
        }
    }

    @Test
    void theTurnsOfAModelOutOfOrderGoToTheFallbackAfterASecondTry() throws Exception {
        int before = model.journal().size();
        Run run = contractor("primary", "Go on without the first model", "");
        assertThat(ended(run).state()).isEqualTo("completed");
        List<JsonNode> journal = model.journal().stream().skip(before).toList();
        assertThat(journal.stream().map(line -> line.get("rule").stringValue())).containsExactly("down", "down",
                "first call", "second call", "report");
        assertThat(charged(run)).isEqualByComparingTo(billed(journal)).isPositive();
        JsonNode fallback = event(run, "model_fallback");
        assertThat(fallback.get("requested_model").stringValue()).isEqualTo("primary");
        assertThat(fallback.get("fallback_model").stringValue()).isEqualTo("anthropic-messages");
        assertThat(fallback.get("reason").stringValue()).isEqualTo("MODEL_BUSY");
        assertThat(keelson.runs().steps(run.id())).allMatch(step -> step.attempt() == 1);
    }

    @Test
    void aBusyModelCostsNoAttempt() throws Exception {
        Run run = contractor("Wait for it", "");
        assertThat(ended(run).state()).isEqualTo("completed");
        assertThat(keelson.runs().steps(run.id()).getFirst().attempt()).isEqualTo(1);
        assertThat(event(run, "step_deferred")).isNotNull();
    }

    @Test
    void aCancelledRunClosesTheConnectionToTheModel() throws Exception {
        Run run = contractor("Sleep long", "");
        Awaitility.await().atMost(LIMIT).until(() -> outcome("slow").equals("open"));
        keelson.runs().cancel(run.id(), null);
        Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> outcome("slow").equals("gone"));
        assertNamed(run, "run_cancelled");
    }

    /** The event is the only one after the end, and comes once. */
    private void assertNamed(Run run, String end) throws Exception {
        List<String> events = Awaitility.await().atMost(LIMIT).until(() -> keelson.runs().events(run.id(), 0, 500)
                .items().stream().map(Event::eventType).toList(), all -> all.contains("model_answer_lost"));
        assertThat(events.subList(events.indexOf(end), events.size()))
                .filteredOn(type -> !type.equals("cost_snapshot") && !type.equals("credits_refunded"))
                .containsExactly(end, "model_answer_lost");
        assertPaid(run);
    }

    /** The run is charged for what its provider billed at least, and the ledger says what is an estimate. */
    private void assertPaid(Run run) throws Exception {
        List<LedgerEntry> charges = keelson.ledger().ofRun(run.id()).stream()
                .filter(entry -> entry.transactionType().equals("charge")).toList();
        assertThat(charges).anySatisfy(charge -> assertThat(charge.estimated()).isTrue());
        String title = keelson.runs().tasks(run.id()).getFirst().title();
        long billed = model.journal().stream().filter(line -> line.path("body").toString().contains(title))
                .flatMap(line -> line.path("billed").valueStream()).mapToLong(JsonNode::asLong).sum();
        assertThat(charges.stream().mapToLong(LedgerEntry::tokens).sum()).isGreaterThanOrEqualTo(billed).isPositive();
    }

    @Test
    void aBrokenAnswerIsChargedByTheReportedInputAndAllOfTheOutput() throws Exception {
        Run run = contractor("anthropic-messages", "Break off", QUICK);
        assertThat(ended(run).state()).isEqualTo("completed");
        assertThat(keelson.runs().tasks(run.id()).getFirst().output().stringValue()).isEqualTo("whole");
        assertThat(outcome("cut")).isEqualTo("cut");
        JsonNode lost = event(run, "model_answer_lost");
        assertThat(event(run, "step_completed").has("estimated")).isFalse();
        List<LedgerEntry> charges = keelson.ledger().ofRun(run.id()).stream()
                .filter(entry -> entry.transactionType().equals("charge")).toList();
        assertThat(charges).extracting(LedgerEntry::estimated).containsExactly(true, false);
        assertThat(charges.getFirst().amount()).isEqualByComparingTo(new BigDecimal(lost.get("charged").stringValue()));
        assertThat(charges.getFirst().usage().input()).isEqualTo(4000);
        assertThat(charges.getFirst().usage().output()).isEqualTo(500);
    }

    @Test
    void aTaskThatTakesTooLongClosesTheConnectionToTheModel() throws Exception {
        Run run = contractor("Delay it", ", \"timeout_seconds\": 1, \"retry\": {\"max_attempts\": 1}");
        Awaitility.await().atMost(LIMIT).until(() -> outcome("delay").equals("gone"));
        assertThat(ended(run).errorCode()).isEqualTo("TASK_TIMEOUT");
        assertNamed(run, "run_failed");
    }

    @Test
    void anAnswerThatComesTooLateIsChargedAtMost() throws Exception {
        Run run = keelson.runs().create(RunRequest.of(Json.read("""
                {"name": "late", "start": true, "plan": {"tasks": [{"id": "t", "steps": [{"tool": "model.generate",
                 "timeout_seconds": 1, "retry": {"max_attempts": 1},
                 "input": {"model": "openai-chat", "prompt": "Never answer"}}]}]}}""")));
        assertThat(ended(run).errorCode()).isIn("STEP_TIMEOUT", "MODEL_UNAVAILABLE");
        Awaitility.await().atMost(LIMIT).until(() -> outcome("late").equals("gone"));
        JsonNode lost = event(run, "model_answer_lost");
        assertThat(lost.get("model").stringValue()).isEqualTo("openai-chat");
        assertThat(lost.get("lease_epoch").intValue()).isEqualTo(1);
        assertThat(lost.get("estimated_tokens").intValue()).as("bytes of the request, 1,000 and all of the output")
                .isBetween(1_501, 1_900);
        List<LedgerEntry> charges = keelson.ledger().ofRun(run.id()).stream()
                .filter(entry -> entry.transactionType().equals("charge")).toList();
        assertThat(charges).singleElement().satisfies(charge -> {
            assertThat(charge.estimated()).isTrue();
            assertThat(charge.tokens()).isEqualTo(lost.get("estimated_tokens").longValue());
        });
    }

    @Test
    void aTurnOutlastsItsProvider() throws Exception {
        int before = model.journal().size();
        Run run = contractor("flaky", "Outlast them", "");
        assertThat(ended(run).state()).isEqualTo("completed");
        List<JsonNode> journal = model.journal().stream().skip(before).toList();
        assertThat(journal.stream().map(line -> line.get("rule").stringValue())).containsExactly("first call",
                "second call", "outage", "outage", "outage", "outage", "report");
        assertThat(keelson.runs().steps(run.id()).getLast().attempt()).isEqualTo(1);
        assertThat(keelson.runs().events(run.id(), 0, 500).items()).extracting(Event::eventType)
                .filteredOn(type -> type.equals("step_deferred")).hasSize(4);
    }

    @Test
    void aLongResultIsReadInParts() throws Exception {
        int before = model.journal().size();
        Run run = keelson.runs().create(RunRequest.of(Json.read("""
                {"name": "long", "start": true, "plan": {"tasks": [{"id": "t", "title": "Read", "tools_needed": ["echo", "json.transform"],
                 "limits": {"max_calls_by_tool": {"echo": 1}},
                 "suggested_agent": {"type": "contractor", "agent_name": "c", "model": "reader"}}]}}""")));
        assertThat(ended(run).state()).isEqualTo("completed");
        List<Step> steps = keelson.runs().steps(run.id());
        assertThat(steps.stream().map(step -> step.tool() + " " + step.state() + " " + step.errorCode()))
                .containsExactly("model.turn completed null", "json.transform completed null",
                        "model.turn completed null", "artifact.read failed RESULT_NOT_FOUND", "echo completed null",
                        "echo skipped CALL_LIMIT", "model.turn completed null");
        JsonNode asked = model.journal().get(before + 1).get("body");
        String shown = asked.get("messages").get(asked.get("messages").size() - 1).get("content").stringValue();
        assertThat(shown).hasSizeBetween(30_000, 32_768).contains("artifact_read reads other parts with the id "
                + steps.get(1).id());
        assertThat(asked.get("tools")).extracting(tool -> tool.at("/function/name").stringValue())
                .containsExactly("artifact_read", "echo", "json_transform");
    }

    @Test
    void turnsPastTheContextAreSummarised() throws Exception {
        int before = model.journal().size();
        Run run = keelson.runs().create(RunRequest.of(Json
                .read("""
                {"name": "tight", "start": true, "plan": {"tasks": [{"id": "t", "title": "Go on", "tools_needed": ["echo"],
                 "suggested_agent": {"type": "contractor", "agent_name": "c", "model": "tight", "max_turns": 100}}]}}""")));
        assertThat(ended(run).state()).isEqualTo("completed");
        List<JsonNode> journal = model.journal().stream().skip(before).toList();
        long summaries = journal.stream().filter(ModelTurnsTest::summarises).count();
        assertThat(summaries).isBetween(2L, 20L);
        assertThat(journal).hasSize((int) summaries + 61);
        for (int i = 0; i < journal.size(); i++) {
            JsonNode body = journal.get(i).get("body");
            if (i > 0) {
                assertThat(body.get("tools")).as("part of the cached prefix")
                        .isEqualTo(journal.get(i - 1).at("/body/tools"));
            }
            if (i > 0 && !summarises(journal.get(i - 1))) {
                assertThat(conversation(journal.get(i))).startsWith(conversation(journal.get(i - 1)));
            }
            assertThat(body.findValuesAsString("tool_call_id")).as("one result for each call").isEqualTo(
                    body.findValues("tool_calls").stream().flatMap(JsonNode::valueStream)
                            .map(call -> call.get("id").stringValue()).toList())
                    .doesNotHaveDuplicates();
            assertThat(journal.get(i).at("/billed/input").longValue()
                    + journal.get(i).at("/billed/cache_read").longValue())
                    .isLessThan(1500);
        }
        assertThat(charged(run)).isEqualByComparingTo(billed(journal)).isPositive();
        assertThat(keelson.ledger().ofRun(run.id()).stream().filter(entry -> "compaction".equals(entry.purpose())))
                .hasSize((int) summaries);
    }

    private static boolean summarises(JsonNode line) {
        return line.get("rule").stringValue().equals("summary");
    }

    @Test
    void aRequestThatIsTooLongForItsModelIsShortenedOnce() throws Exception {
        int before = model.journal().size();
        Run run = contractor("over", "Go over it", "");
        assertThat(ended(run).state()).isEqualTo("completed");
        List<JsonNode> journal = model.journal().stream().skip(before).toList();
        assertThat(journal.stream().map(line -> line.get("rule").stringValue())).containsExactly("work", "work",
                "overflow", "summary", "end");
        assertThat(journal.getLast().get("body").toString()).contains("the summary").contains("function_call_output");
    }

    @Test
    void aRequestThatIsTooLongAgainAfterTheSummaryEndsTheTask() throws Exception {
        int before = model.journal().size();
        Run run = contractor("brim", "Go over it twice", "");
        assertThat(ended(run).errorCode()).isEqualTo("CONTEXT_OVERFLOW");
        List<JsonNode> journal = model.journal().stream().skip(before).toList();
        assertThat(journal.stream().map(line -> line.get("rule").stringValue())).containsExactly("work", "work",
                "overflow", "summary", "overflow");
        assertThat(journal.getLast().get("body").toString()).contains("the summary");
        assertThat(charged(run)).as("the turns and the summary").isPositive();
    }

    private String outcome(String rule) throws Exception {
        return model.journal().stream().filter(line -> line.path("rule").asString("").equals(rule))
                .map(line -> line.get("outcome").stringValue()).findFirst().orElse("");
    }
}
