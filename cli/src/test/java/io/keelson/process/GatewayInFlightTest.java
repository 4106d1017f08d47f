package io.keelson.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.keelson.client.Keelson;
import io.keelson.client.RunRequest;
import io.keelson.core.Breadth;
import io.keelson.devmodel.TestModel;
import io.keelson.process.HeldProxy.Hold;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseOptions;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.ResultSet;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** One server has 2,000 streamed requests of programs in flight, with the memory, threads and connections to the database of few. */
@Timeout(value = 15, unit = TimeUnit.MINUTES)
class GatewayInFlightTest {
    private static final int PROGRAMS = 20;
    private static final int OF_EACH = 100;
    private static final int REQUESTS = PROGRAMS * OF_EACH;
    private static final int HEAP_MB = 512;
    private static final int MAX_RESIDENT_MB = 900;
    private static final int MAX_THREADS = 120;
    private static final int POOL = 10;
    private static final BigDecimal COST = new BigDecimal("0.0006");
    private static final Duration PATIENCE = Duration.ofMinutes(5);
    private static final String TOOL = "test.program";
    /** About 100 kB of 400 events. */
    private static final int WORDS = 1_280;
    private static final Pattern LAST_TEXT = Pattern.compile("\"content\":\"six");

    private final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private Keelson keelson;
    private String key = "";

    @Test
    void twoThousandAnswersAreHeldOpen(@TempDir Path folder) throws Exception {
        assumeTrue(Breadth.all());
        DatabaseUrl url = TestDatabase.createUrl();
        try (TestModel model = new TestModel(
                "rules: [{answer: {text: \"" + "word ".repeat(WORDS) + "six\", usage: {input: 100, output: 50}}}]");
                HeldProxy provider = new HeldProxy(() -> model.uri(""));
                Database database = new Database(url, DatabaseOptions.DEFAULTS.withPoolSize(2));
                ServerProcess server = ServerProcess.start(folder.resolve("node"), Map.of("KEELSON_MODELS",
                        models(folder, provider.url().toString()).toString(), "KEELSON_DATABASE_URL",
                        TestDatabase.text(url), "KEELSON_DATABASE_CONNECTIONS", Integer.toString(POOL),
                        "JAVA_TOOL_OPTIONS", "-Xmx" + HEAP_MB + "m"))) {
            keelson = server.client();
            key = Files.readString(folder.resolve("node/api-key")).strip();
            List<String> tokens = tokens();
            Hold hold = provider.after("/v1/", "", 0, LAST_TEXT);
            String idle = figures(server, database);
            long begun = System.nanoTime();
            List<CompletableFuture<HttpResponse<InputStream>>> answers = new ArrayList<>();
            for (int i = 0; i < REQUESTS; i++) {
                answers.add(http.sendAsync(request(tokens.get(i % PROGRAMS), i), BodyHandlers.ofInputStream()));
            }
            for (CompletableFuture<HttpResponse<InputStream>> answer : answers) {
                HttpResponse<InputStream> begin = answer.join();
                assertThat(begin.statusCode()).isEqualTo(200);
                assertThat(begin.body().read()).as("text has begun").isPositive();
            }
            Duration opened = Duration.ofNanos(System.nanoTime() - begun);
            assertThat(open(database)).isEqualTo(REQUESTS);
            String held = figures(server, database);
            assertThat(status(server, "VmRSS") / 1024).as("MB").isLessThan(MAX_RESIDENT_MB);
            assertThat(status(server, "Threads")).isLessThan(MAX_THREADS);
            assertThat(connections(database)).isLessThanOrEqualTo(POOL + 4);
            hold.release();
            for (CompletableFuture<HttpResponse<InputStream>> answer : answers) {
                try (InputStream rest = answer.join().body()) {
                    assertThat(new String(rest.readAllBytes(), StandardCharsets.UTF_8)).contains("six", "[DONE]");
                }
            }
            Awaitility.await().atMost(PATIENCE).until(() -> open(database) == 0);
            assertThat(charged(database)).isEqualByComparingTo(COST.multiply(BigDecimal.valueOf(REQUESTS)));
            assertThat(provider.exchanges("/v1/")).hasSize(REQUESTS);
            System.out.printf("gateway in flight: %d opened in %d ms; idle: %s; held: %s; at the end: %s, peak %d MB%n",
                    REQUESTS, opened.toMillis(), idle, held, figures(server, database),
                    status(server, "VmHWM") / 1024);
        } finally {
            http.close();
        }
    }

    private static Path models(Path folder, String provider) throws IOException {
        return Files.writeString(folder.resolve("models.yaml"), """
                models:
                  m: {wire: openai-chat, base_url: "%s/v1", model: m, family: f, context_tokens: 9000,
                      max_output_tokens: 500, prices: {input: 1, output: 10}}
                """.formatted(provider));
    }

    /** A step for each program, as a step has 128 requests in flight at the most. */
    private List<String> tokens() throws Exception {
        claim(0);
        for (int i = 0; i < PROGRAMS; i++) {
            keelson.runs().create(RunRequest.of(Json.read("""
                    {"name": "in flight", "start": true, "plan": {"tasks": [{"id": "t", "steps": [{"tool": "%s"}]}]}}"""
                    .formatted(TOOL))));
        }
        List<String> tokens = new ArrayList<>();
        while (tokens.size() < PROGRAMS) {
            claim(20_000).forEach(item -> tokens.add(item.at("/gateway/token").stringValue()));
        }
        return tokens;
    }

    private JsonNode claim(int wait) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(keelson.url().resolve("/api/v1/dispatch/claim"))
                .header("Authorization", "Bearer " + key).header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString("""
                        {"worker_id": "w", "tools": ["%1$s"], "wait_ms": %2$d, "lease_ms": 300000, "max": %3$d,
                         "tool_specs": [{"name": "%1$s", "gateway": true}]}""".formatted(TOOL, wait, PROGRAMS)))
                .build();
        String answer = http.send(request, BodyHandlers.ofString()).body();
        assertThat(Json.read(answer).has("items")).as(answer).isTrue();
        return Json.read(answer).get("items");
    }

    private HttpRequest request(String token, int number) {
        return HttpRequest.newBuilder(URI.create(keelson.url() + "/gateway/openai/v1/chat/completions"))
                .header("Authorization", "Bearer " + token).header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString("{\"model\": \"m\", \"stream\": true, \"messages\": [{\"role\": \"user\","
                        + " \"content\": \"request " + number + "\"}]}"))
                .build();
    }

    private static String figures(ServerProcess server, Database database) throws IOException {
        return "%d MB, %d threads, %d connections".formatted(status(server, "VmRSS") / 1024,
                status(server, "Threads"), connections(database));
    }

    /** A number of the process, as the kernel has it. */
    private static long status(ServerProcess server, String name) throws IOException {
        Matcher found = Pattern.compile("(?m)^" + name + ":\\s+(\\d+)")
                .matcher(Files.readString(Path.of("/proc/" + server.pid() + "/status")));
        assertThat(found.find()).isTrue();
        return Long.parseLong(found.group(1));
    }

    private static int open(Database database) {
        return (int) number(database, "select count(*) from gateway_requests where state = 'open'").longValue();
    }

    private static BigDecimal charged(Database database) {
        return number(database,
                "select coalesce(sum(amount), 0) from billing_ledger where transaction_type = 'charge'");
    }

    /** Of all processes but this one. */
    private static int connections(Database database) {
        return number(database, "select count(*) - 2 from pg_stat_activity where datname = current_database()")
                .intValue();
    }

    private static BigDecimal number(Database database, String sql) {
        return database.withConnection(c -> {
            try (var statement = c.createStatement(); ResultSet row = statement.executeQuery(sql)) {
                assertThat(row.next()).isTrue();
                return row.getBigDecimal(1);
            }
        });
    }
}
