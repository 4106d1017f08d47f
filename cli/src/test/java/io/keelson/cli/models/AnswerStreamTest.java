package io.keelson.cli.models;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.api.run.Event;
import io.keelson.api.run.Step;
import io.keelson.cli.CliProcess;
import io.keelson.cli.InProcessCli;
import io.keelson.client.AnswerStream;
import io.keelson.client.AnswerStream.Part;
import io.keelson.client.Keelson;
import io.keelson.client.RunRequest;
import io.keelson.devmodel.TestModel;
import io.keelson.server.app.Server;
import io.keelson.server.app.Settings;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseOptions;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
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
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** The text of a turn while it arrives, at the node that takes it and at another one. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class AnswerStreamTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final String LONG =
            IntStream.range(0, 400).mapToObj(n -> "word" + n).collect(Collectors.joining(" "));
    private static final String FINAL = "In the end the whole text counts.";
    private static final String SCRIPT = """
            rules:
              - {when: {text: "Interrupted", first: 1}, answer: {text: "%s", drip_ms: 100}}
              - {answer: {text: "%s", drip_ms: 20}}
            """.formatted(LONG, FINAL);
    private static final String MISSION = """
            {"name": "texts", "goal": "%s", "start": true, "plan": {"tasks": [{"id": "write", "title": "%1$s",
              "suggested_agent": {"type": "contractor", "agent_name": "writer", "model": "small", "tools": []}}]}}""";

    private final DatabaseUrl url = TestDatabase.createUrl();
    private final HttpClient http = HttpClient.newHttpClient();
    private Path folder;
    private TestModel model;
    private Server second;
    private Keelson keelson;
    private Database database;

    @BeforeAll
    void start(@TempDir Path temporary) throws Exception {
        folder = temporary;
        model = new TestModel(SCRIPT);
        Files.writeString(folder.resolve("models.yaml"), """
                models:
                  small: {wire: openai-chat, base_url: "%s", model: m, family: f, context_tokens: 90000,
                    max_output_tokens: 5000, prices: {input: 1, output: 1}}
                """.formatted(model.uri("/v1")));
        database = new Database(url, DatabaseOptions.DEFAULTS.withPoolSize(1));
        second = server("second", "0");
        keelson = client(second);
    }

    /** @param calls of models at a time */
    private Server server(String name, String calls) throws Exception {
        return Server.start(Settings.load(Map.of("KEELSON_DATA_DIR", folder.resolve(name).toString(),
                "KEELSON_HTTP_PORT", "0", "KEELSON_DATABASE_URL", TestDatabase.text(url), "KEELSON_MODELS",
                "models.yaml", "KEELSON_MODEL_CALLS", calls), folder, folder));
    }

    private Keelson client(Server server) {
        return Keelson.builder().url(server.baseUrl().toString()).apiKey(second.apiKey()).build();
    }

    @AfterAll
    void stop() throws Exception {
        second.close();
        database.close();
        model.close();
        http.close();
    }

    private String run(String words) {
        return keelson.runs().create(RunRequest.of(Json.read(MISSION.formatted(words)))).id();
    }

    private Step turn(String run, String state) {
        return Awaitility.await().atMost(LIMIT).pollInterval(Duration.ofMillis(20)).until(
                () -> keelson.runs().steps(run).stream().filter(step -> step.state().equals(state)).findFirst(),
                Optional::isPresent).orElseThrow();
    }

    /** Reads to the end; counts down with each part of a text. */
    private static List<Part> read(AnswerStream stream, CountDownLatch texts) {
        List<Part> parts = new ArrayList<>();
        for (Part part = stream.next(); part != null; part = stream.next()) {
            parts.add(part);
            texts.countDown();
        }
        return parts;
    }

    /** The lines of a stream until it ends, each of which has an id. */
    private List<String> raw(Server server, Step step, String after, CountDownLatch texts) throws Exception {
        HttpResponse<Stream<String>> response = http.send(HttpRequest.newBuilder(URI.create(server.baseUrl()
                + "/api/v1/steps/" + step.id() + "/stream")).header("Authorization", "Bearer " + second.apiKey())
                .header("Last-Event-ID", after).build(), BodyHandlers.ofLines());
        List<String> lines = new ArrayList<>();
        try (Stream<String> body = response.body()) {
            body.filter(line -> line.startsWith("id: ") || line.startsWith("data: ")).forEach(line -> {
                lines.add(line);
                texts.countDown();
            });
        } catch (UncheckedIOException e) {
            lines.add("broken off");
        }
        return lines;
    }

    private static String text(List<Part> parts, int epoch) {
        return parts.stream().filter(part -> part.type().equals("text") && part.epoch() == epoch).map(Part::text)
                .collect(Collectors.joining());
    }

    @Test
    void restartOfTheNodeVoidsTheTextForEveryReader() throws Exception {
        Server first = server("first", "64");
        try {
            String run = run("Interrupted");
            Step turn = turn(run, "running");
            CountDownLatch seenHere = new CountDownLatch(6);
            CountDownLatch seenElsewhere = new CountDownLatch(3);
            Server begun = first;
            CompletableFuture<List<String>> here = CompletableFuture.supplyAsync(() -> {
                try {
                    return raw(begun, turn, "", seenHere);
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
            });
            try (AnswerStream stream = keelson.steps().answer(turn.id())) {
                CompletableFuture<List<Part>> elsewhere =
                        CompletableFuture.supplyAsync(() -> read(stream, seenElsewhere));
                assertThat(seenHere.await(60, TimeUnit.SECONDS)).isTrue();
                assertThat(seenElsewhere.await(60, TimeUnit.SECONDS)).isTrue();
                first.close();
                List<String> before = here.get();
                first = server("first", "64");
                String last = before.stream().filter(line -> line.startsWith("id: ")).toList().getLast().substring(4);
                List<String> after = raw(first, turn, last, new CountDownLatch(0));
                List<Part> parts = elsewhere.get();

                assertThat(last).startsWith("1-");
                assertThat(after.stream().dropWhile(line -> !line.startsWith("id: 2-")))
                        .as("after stored text of the lost one")
                        .startsWith("id: 2-0", "data: {\"type\":\"superseded\",\"epoch\":2}");
                assertThat(after.getLast()).contains("\"answer\"", "\"state\":\"completed\"", FINAL);
                assertThat(parts.stream().map(Part::type).filter(type -> !type.equals("text")))
                        .containsExactly("superseded", "answer");
                assertThat(text(parts, 1)).isNotEmpty();
                assertThat(LONG).startsWith(text(parts, 1));
                assertThat(FINAL).startsWith(text(parts, 2));
                assertThat(parts.getLast().text()).isEqualTo(FINAL);
                assertThat(keelson.runs().tasks(run).getFirst().output().stringValue()).isEqualTo(FINAL);
                keelson.runs().awaitEnd(run, LIMIT);
                List<Event> events = keelson.runs().events(run, 0, 500).items();
                assertThat(events.stream().map(Event::seq))
                        .containsExactlyElementsOf(LongStream.rangeClosed(1, events.size()).boxed().toList());
                assertThat(events.toString()).doesNotContain("word1");
                assertThat(http.send(HttpRequest.newBuilder(URI.create(first.baseUrl() + "/api/v1/steps/" + turn.id()
                        + "/stream?after=end")).header("Authorization", "Bearer " + second.apiKey()).build(),
                        BodyHandlers.discarding()).statusCode()).isEqualTo(204);
            }
        } finally {
            first.close();
        }
    }

    @Test
    void partsMakeTheStoredTextAndRowsAreWrittenOnlyForReadersElsewhere() throws Exception {
        try (Server first = server("third", "64")) {
            Keelson there = client(first);
            String run = run("Plain");
            Step turn = turn(run, "running");
            try (AnswerStream stream = there.steps().answer(turn.id())) {
                CompletableFuture<List<Part>> all =
                        CompletableFuture.supplyAsync(() -> read(stream, new CountDownLatch(0)));
                CliProcess.Result logs = InProcessCli.run(Map.of("KEELSON_URL", first.baseUrl().toString(),
                        "KEELSON_API_KEY", second.apiKey()), "logs", run, "--follow");
                List<Part> parts = all.get();
                assertThat(logs.out()).containsOnlyOnce(FINAL);
                CliProcess.Result transcript = InProcessCli.run(Map.of("KEELSON_URL", first.baseUrl().toString(),
                        "KEELSON_API_KEY", second.apiKey()), "transcript", run);
                assertThat(transcript.out()).contains("turn 1  small", " out, ", FINAL);

                assertThat(parts.getLast().type()).isEqualTo("answer");
                assertThat(FINAL).startsWith(text(parts, 1));
                assertThat(text(parts, 1)).isNotEmpty();
            }
            assertThat(database.<Long>withConnection(c -> {
                try (var statement = c.createStatement();
                        var row = statement.executeQuery("select count(*) from live_texts where step_id = '"
                                + turn.id().replace("step_", "") + "' and text <> ''")) {
                    row.next();
                    return row.getLong(1);
                }
            })).isZero();
        }
    }
}
