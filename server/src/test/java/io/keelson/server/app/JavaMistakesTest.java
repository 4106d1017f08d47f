package io.keelson.server.app;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.keelson.api.run.Run;
import io.keelson.api.run.Step;
import io.keelson.client.Keelson;
import io.keelson.client.RunRequest;
import io.keelson.client.plan.Mission;
import io.keelson.client.worker.StepHandler;
import io.keelson.client.worker.Turn;
import io.keelson.client.worker.Worker;
import io.keelson.core.Breadth;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import java.io.IOException;
import java.math.BigDecimal;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Makes each mistake of docs/guide/client-mistakes.md that Java's types allow, and compares the text. */
class JavaMistakesTest {
    private static final Path PAGE = Path.of("../docs/guide/client-mistakes.md");
    private static final Pattern ROW =
            Pattern.compile("(?m)^\\| `([\\w-]+)`: [^|]+ \\| (all|Java) \\| [^|]+ \\| `(.+)` \\|$");
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private String url = "";
    private String key = "";

    /** The first warning about a worker. */
    private static final class Warning extends Handler {
        private final CompletableFuture<String> text = new CompletableFuture<>();
        private final String about;

        Warning(String about) {
            this.about = about;
        }

        @Override
        public void publish(LogRecord line) {
            String message = new SimpleFormatter().formatMessage(line);
            if (line.getLevel() == Level.WARNING && message.contains(about)) {
                text.complete(message);
            }
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    }

    private Keelson client() {
        return client(url, key);
    }

    private static Keelson client(String url, String key) {
        return Keelson.builder().url(url).apiKey(key).build();
    }

    private static Worker.Builder serving(Keelson client, StepHandler handler) {
        return Worker.builder(client).poll(Duration.ofMillis(100)).grace(Duration.ZERO)
                .tool("mistakes." + handler.hashCode(), handler);
    }

    private static String warning(Keelson client) throws Exception {
        Logger logger = Logger.getLogger("io.keelson.client.worker");
        Worker worker = serving(client, step -> 1).build();
        Warning warning = new Warning(worker.id());
        logger.addHandler(warning);
        try (worker) {
            worker.start();
            return warning.text.get(10, TimeUnit.SECONDS);
        } finally {
            logger.removeHandler(warning);
        }
    }

    private String failure(StepHandler handler) {
        try (Worker _ = serving(client(), handler).build().register().start()) {
            Mission mission = Mission.named("mistake").task("t",
                    t -> t.step("s", "mistakes." + handler.hashCode(), Map.of("n", "Ada"), s -> s.maxAttempts(1)))
                    .start();
            Step step = client().runs().steps(client().runs().execute(mission, PATIENCE).id()).getLast();
            return step.errorCode() + ": " + step.errorMessage();
        }
    }

    private interface ByUrl {
        Object use(String url) throws Exception;
    }

    /** An HTTP server that is another one: 404, but a page under {@code /page}. */
    private static Object atOtherServer(ByUrl use) throws Exception {
        HttpServer other = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        other.createContext("/", exchange -> {
            exchange.getRequestBody().readAllBytes();
            exchange.sendResponseHeaders(exchange.getRequestURI().getPath().startsWith("/page") ? 200 : 404, 0);
            try (exchange; var body = exchange.getResponseBody()) {
                body.write("<h1>Welcome</h1>".getBytes());
            }
        });
        other.start();
        try {
            return use.use("http://127.0.0.1:" + other.getAddress().getPort());
        } finally {
            other.stop(0);
        }
    }

    private static Object atTls(ByUrl use) throws Exception {
        try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            Thread.ofVirtual().start(() -> {
                try {
                    while (true) {
                        server.accept().close();
                    }
                } catch (IOException e) {
                    // the server is closed
                }
            });
            return use.use("http://127.0.0.1:" + server.getLocalPort());
        }
    }

    private String keyOfReaders() {
        return client().api()
                .post("/api-keys", io.keelson.client.Json.of(Map.of("name", "reader", "scopes", List.of("runs:read"))))
                .path("key")
                .stringValue();
    }

    private Object faulty() {
        return client().runs().create(RunRequest.of(Json.read("""
                {"name": "faults", "plan": {"tasks": [{"id": "a", "depends_on": 5, "steps": [{"tool": "no.such.tool"}]},
                  {"id": "b", "steps": [{"tool": "echo", "colour": "red"}]}]}}""")));
    }

    private Object tooShort() throws Exception {
        Run run = client().runs().create(
                Mission.named("mistake").task("t", t -> t.step("s", "signal.wait", Map.of("name", "x"))).start());
        try {
            return client().runs().awaitEnd(run.id(), Duration.ofMillis(50));
        } finally {
            client().runs().cancel(run.id(), null);
        }
    }

    private record Order(int n) {}

    private static List<Object> containsItself() {
        List<Object> list = new ArrayList<>();
        list.add(list);
        return list;
    }

    private Map<String, Callable<Object>> mistakes() {
        Map<String, Callable<Object>> made = new LinkedHashMap<>();
        made.put("wrong-key", () -> warning(client(url, "kl_wrong")));
        made.put("no-key", () -> warning(Keelson.builder().url(url).build()));
        made.put("key-of-readers", () -> warning(client(url, keyOfReaders())));
        made.put("server-away", () -> warning(client("http://127.0.0.1:9", "k")));
        made.put("http-to-https", () -> atTls(other -> warning(client(other, "k"))));
        made.put("wrong-key-of-a-client", () -> client(url, "kl_wrong").runs().get(UUID.randomUUID().toString()));
        made.put("no-server", () -> client("http://127.0.0.1:9", "k").runs().get("r"));
        made.put("no-scheme", () -> client("localhost:7331", "k"));
        made.put("api-path", () -> client("http://localhost:7331/api/v1", "k"));
        made.put("https-to-http", () -> client(url.replace("http:", "https:"), "k").runs().get("r"));
        made.put("other-server", () -> atOtherServer(other -> warning(client(other, "k"))));
        made.put("page-of-another-server", () -> atOtherServer(other -> warning(client(other + "/page", "k"))));
        made.put("three-faults", this::faulty);
        made.put("input-does-not-fit", () -> failure(step -> step.input(Order.class).n));
        made.put("output-not-json", () -> failure(step -> containsItself()));
        made.put("tool-twice",
                () -> Worker.builder(client()).tool("mistakes.twice", _ -> 1).tool("mistakes.twice", _ -> 2));
        made.put("use-negative", () -> failure(step -> {
            step.usage(1, BigDecimal.ONE.negate());
            return 1;
        }));
        made.put("call-of-no-object", () -> Turn.call("noop", "x"));
        made.put("handler-error", () -> failure(_ -> {
            throw new IllegalStateException("broken", new IOException("disk full"));
        }));
        made.put("wait-too-short", this::tooShort);
        return made;
    }

    private static String read(Callable<Object> mistake) {
        try {
            return String.valueOf(mistake.call());
        } catch (Exception e) {
            return e.toString().replaceFirst("^[\\w.]+: ", "");
        }
    }

    private static String pattern(String text) {
        return Arrays.stream(text.split("…", -1)).map(Pattern::quote).collect(Collectors.joining(".*"));
    }

    @Test
    @Breadth.InPart({1, 3, 5})
    void pageSaysWhatTheAuthorReads(@TempDir Path folder) throws Exception {
        Map<String, String> rows = ROW.matcher(Files.readString(PAGE)).results()
                .collect(Collectors.toMap(row -> row.group(1), row -> row.group(3)));
        try (Server server = Server.start(Settings.load(Map.of("KEELSON_DATA_DIR", folder.toString(),
                "KEELSON_HTTP_PORT", "0", "KEELSON_DATABASE_URL", TestDatabase.text(TestDatabase.createUrl())), folder,
                folder))) {
            url = server.baseUrl().toString();
            key = server.apiKey();
            Map<String, Callable<Object>> mistakes = mistakes();

            Map<String, String> shown = new ConcurrentHashMap<>();
            try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
                mistakes.forEach((name, mistake) -> threads.execute(() -> shown.put(name, read(mistake))));
            }

            assertThat(shown.keySet()).isEqualTo(rows.keySet());
            shown.forEach((name, text) -> assertThat(text.replaceAll("\\s+", " ")).as(name)
                    .matches(pattern(rows.get(name))));
        }
    }
}
