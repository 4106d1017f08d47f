package io.keelson.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.api.inbox.InboxItem;
import io.keelson.api.run.Event;
import io.keelson.api.run.Run;
import io.keelson.api.run.Step;
import io.keelson.client.AgentRequest;
import io.keelson.client.AnswerStream;
import io.keelson.client.AnswerStream.Part;
import io.keelson.client.InboxQuery;
import io.keelson.client.Keelson;
import io.keelson.client.KeelsonException;
import io.keelson.client.RunRequest;
import io.keelson.client.worker.Worker;
import io.keelson.core.Breadth;
import io.keelson.devmodel.TestModel;
import io.keelson.server.annex.mcp.FakeMcpServer;
import io.keelson.server.app.Server;
import io.keelson.server.app.Settings;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Servers are killed while agents call tools, wait for people, and write. */
@Breadth.InPart(3)
class AgentKillsTest {
    private static final Duration LIMIT = Duration.ofSeconds(120);
    private static final String LONG =
            IntStream.range(0, 400).mapToObj(n -> "word" + n).collect(Collectors.joining(" "));
    private static final String FINAL = "In the end the whole text counts.";
    private static final String SCRIPT = """
            rules:
              - {when: {text: "Read", turn: 1}, answer: {calls: [{tool: mcp_other_slow, input: {n: 1}}, {tool: mcp_other_slow, input: {n: 2}},
                  {tool: mcp_other_slow, input: {n: 3}}, {tool: mcp_other_slow, input: {n: 4}}]}}
              - {when: {text: "Pay", turn: 1}, answer: {calls: [{tool: pay, input: {sum: 5}}]}}
              - {when: {text: "Write", first: 1}, answer: {text: "%s", drip_ms: 100}}
              - {answer: {text: "%s"}}
            """.formatted(LONG, FINAL);

    private final DatabaseUrl url = TestDatabase.createUrl();
    @TempDir
    private Path folder;

    private Map<String, String> settings(TestModel model, String calls) throws Exception {
        Files.writeString(folder.resolve("models.yaml"), """
                models:
                  small: {wire: openai-chat, base_url: "%s", model: m, family: f, context_tokens: 90000,
                    max_output_tokens: 5000, prices: {input: 1, output: 1}}
                  kept: {wire: openai-responses, base_url: "%1$s", model: m, family: f, context_tokens: 90000,
                    max_output_tokens: 5000, prices: {input: 1, output: 1}, background: true}
                """.formatted(model.uri("/v1")));
        return Map.of("KEELSON_DATABASE_URL", TestDatabase.text(url), "KEELSON_ALLOW_PRIVATE_ADDRESSES", "true",
                "KEELSON_LEASE_SECONDS", "2", "KEELSON_MODELS", folder.resolve("models.yaml").toString(),
                "KEELSON_MODEL_CALLS", calls);
    }

    private static void ended(Keelson keelson, Run run) {
        assertThat(keelson.runs().awaitEnd(run.id(), LIMIT).state()).isEqualTo("completed");
    }

    private static long charges(Keelson keelson, Run run) {
        return keelson.ledger().ofRun(run.id()).stream().filter(entry -> entry.transactionType().equals("charge"))
                .count();
    }

    @Test
    void callsUnderWayAreRepeatedAndAnApprovedCallIsMadeOnce() throws Exception {
        try (TestModel model = new TestModel(SCRIPT); FakeMcpServer other = new FakeMcpServer("{}")) {
            ServerProcess first = ServerProcess.start(folder.resolve("data"), settings(model, "64"));
            Keelson keelson = first.client();
            keelson.mcpServers().set("other", Json.read("""
                    {"url": "%s", "tools": ["slow"], "effects": {"slow": "read"}}""".formatted(other.url())));
            keelson.agents().create(AgentRequest.of("reader").model("small").tools(List.of("mcp.other.slow")));
            keelson.agents().create(AgentRequest.of("payer").model("small").tools(List.of("pay"))
                    .approval("pay", "always"));
            Run reads = keelson.agents().run("reader", "Read", Map.of());
            Run pays = keelson.agents().run("payer", "Pay", Map.of());
            InboxItem item = Awaitility.await().atMost(LIMIT).until(() -> keelson.inbox()
                    .list(InboxQuery.all().run(pays.id())).items().stream().findFirst(), Optional::isPresent)
                    .orElseThrow();
            Awaitility.await().atMost(LIMIT).until(() -> other.calls("slow").size() == 3);
            keelson.inbox().accept(item.id(), null);
            assertThat(keelson.runs().steps(pays.id()).get(1).state()).isEqualTo("pending");
            first.kill();

            AtomicInteger paid = new AtomicInteger();
            try (ServerProcess second = ServerProcess.start(folder.resolve("data"), settings(model, "64"));
                    Worker worker = Worker.builder(second.client()).tool("pay", step -> {
                        paid.incrementAndGet();
                        return Map.of("paid", true);
                    }).build()) {
                worker.start();
                Keelson again = second.client();
                Awaitility.await().atMost(LIMIT).until(() -> other.calls("slow").size() >= 6);
                other.released.release(100);
                ended(again, reads);
                ended(again, pays);
                assertThat(paid).hasValue(1);
                assertThat(other.calls("slow")).hasSizeGreaterThanOrEqualTo(7);
                assertThat(charges(again, reads)).isEqualTo(2);
                assertThat(charges(again, pays)).isEqualTo(2);
            }
            List<JsonNode> journal = model.journal();
            assertThat(journal).as("no turn is taken twice").hasSize(4);
            assertThat(journal.stream().map(line -> line.at("/body/messages").valueStream()
                    .filter(message -> message.path("role").asString().equals("tool"))
                    .map(message -> message.get("content").stringValue().replaceAll("(?s).*(slow \\d).*", "$1"))
                    .toList()))
                    .contains(List.of("slow 1", "slow 2", "slow 3", "slow 4"));
        }
    }

    /** Reads to the end, or until the server is gone; counts down with each part of a text. */
    private static List<Part> read(AnswerStream stream, CountDownLatch texts) {
        List<Part> parts = new ArrayList<>();
        try {
            for (Part part = stream.next(); part != null; part = stream.next()) {
                parts.add(part);
                texts.countDown();
            }
        } catch (KeelsonException e) {
            assertThat(e.status()).isZero();
        }
        return parts;
    }

    private static String text(List<Part> parts, int epoch) {
        return parts.stream().filter(part -> part.type().equals("text") && part.epoch() == epoch).map(Part::text)
                .collect(Collectors.joining());
    }

    /** The other server takes no turns, so that it does not fetch the answer. */
    @Test
    void answerForAKilledServerIsNamedWhenItsRunIsCancelled() throws Exception {
        try (TestModel model = new TestModel("rules: [{answer: {text: late, delay_ms: 600000}}]");
                Server other = Server.start(Settings.load(settings(model, "0"), folder, folder))) {
            Keelson keelson = Keelson.builder().url(other.baseUrl().toString()).apiKey(other.apiKey()).build();
            ServerProcess first = ServerProcess.start(folder.resolve("first"), settings(model, "64"));
            Run run = keelson.runs().create(RunRequest.of(Json
                    .read("""
                    {"name": "kept", "start": true, "plan": {"tasks": [{"id": "write", "title": "Write",
                     "suggested_agent": {"type": "contractor", "agent_name": "writer", "model": "kept", "tools": []}}]}}""")));
            Awaitility.await().atMost(LIMIT).until(() -> model.journal().stream()
                    .anyMatch(line -> line.path("method").asString("").equals("GET")));
            first.kill();
            keelson.runs().cancel(run.id(), "enough");
            List<Event> lost = Awaitility.await().atMost(LIMIT).until(() -> keelson.runs().events(run.id(), 0, 500)
                    .items().stream().filter(event -> event.eventType().equals("model_answer_lost")).toList(),
                    found -> !found.isEmpty());
            assertThat(lost).singleElement()
                    .satisfies(event -> assertThat(event.payload().path("model").asString()).isEqualTo("kept"));
        }
    }

    @Test
    void aTextThatTheKilledServerHasBegunIsVoidForReadersElsewhere() throws Exception {
        try (TestModel model = new TestModel(SCRIPT);
                Server watching = Server.start(Settings.load(settings(model, "0"), folder, folder))) {
            Keelson keelson = Keelson.builder().url(watching.baseUrl().toString()).apiKey(watching.apiKey()).build();
            ServerProcess first = ServerProcess.start(folder.resolve("first"), settings(model, "64"));
            Run run = keelson.runs().create(RunRequest.of(Json
                    .read("""
                    {"name": "texts", "start": true, "plan": {"tasks": [{"id": "write", "title": "Write",
                     "suggested_agent": {"type": "contractor", "agent_name": "writer", "model": "small", "tools": []}}]}}""")));
            Step turn = Awaitility.await().atMost(LIMIT).until(() -> keelson.runs().steps(run.id()).stream()
                    .filter(step -> step.state().equals("running")).findFirst(), Optional::isPresent).orElseThrow();
            CountDownLatch seen = new CountDownLatch(3);
            CountDownLatch seenThere = new CountDownLatch(3);
            try (AnswerStream stream = keelson.steps().answer(turn.id());
                    AnswerStream other = first.client().steps().answer(turn.id())) {
                CompletableFuture<List<Part>> here = CompletableFuture.supplyAsync(() -> read(stream, seen));
                CompletableFuture<List<Part>> there = CompletableFuture.supplyAsync(() -> read(other, seenThere));
                assertThat(seen.await(60, TimeUnit.SECONDS)).isTrue();
                assertThat(seenThere.await(60, TimeUnit.SECONDS)).isTrue();
                first.kill();
                try (ServerProcess second = ServerProcess.start(folder.resolve("first"), settings(model, "64"))) {
                    List<Part> parts = here.get(2, TimeUnit.MINUTES);
                    String killed = text(parts, parts.getFirst().epoch());
                    assertThat(LONG).startsWith(killed);
                    assertThat(killed).isNotEmpty();
                    assertThat(parts.stream().map(Part::type).filter(type -> !type.equals("text")))
                            .startsWith("superseded").endsWith("answer");
                    assertThat(FINAL).startsWith(text(parts, parts.getLast().epoch()));
                    assertThat(parts.getLast().text()).isEqualTo(FINAL);
                    ended(second.client(), run);
                }
                there.cancel(true);
            }
            assertThat(keelson.runs().tasks(run.id()).getFirst().output().stringValue()).isEqualTo(FINAL);
            List<Event> events = keelson.runs().events(run.id(), 0, 500).items();
            assertThat(events.stream().map(Event::seq))
                    .containsExactlyElementsOf(LongStream.rangeClosed(1, events.size()).boxed().toList());
            assertThat(events.toString()).contains("model_answer_lost").doesNotContain("word1");
        }
    }
}
