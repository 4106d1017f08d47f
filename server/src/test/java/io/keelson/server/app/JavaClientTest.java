package io.keelson.server.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.ServerProxy;
import io.keelson.server.app.contract.ContractCase;
import io.keelson.server.app.contract.ContractSuite;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** The contract suite of all clients with the Java client, against a whole server. */
class JavaClientTest {
    private static final int THREADS = 6;
    private static final int LEASE_THREADS = 4;
    /** Cases that the client cannot pass, with the reason of each. */
    static final Path EXCEPTIONS = Path.of("../client/src/test/contract/exceptions.json");

    private final Queue<ContractSuite.Proxy> idle = new ConcurrentLinkedQueue<>();

    /** Keeps the lines that the client logs. */
    private static final class Lines extends Handler {
        private final Queue<String> lines = new ConcurrentLinkedQueue<>();

        @Override
        public void publish(LogRecord line) {
            lines.add(new SimpleFormatter().format(line));
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    }

    private static Server started(Path folder, DatabaseUrl database) throws Exception {
        return Server.start(Settings.load(Map.of("KEELSON_DATA_DIR", folder.toString(), "KEELSON_HTTP_PORT", "0",
                "KEELSON_DATABASE_URL", TestDatabase.text(database)), folder, folder));
    }

    @Test
    @Breadth.InPart(1)
    void keepsTheContract(@TempDir Path folder) throws Exception {
        JsonNode suite = ContractSuite.read();
        Logger logger = Logger.getLogger("io.keelson.client");
        Lines log = new Lines();
        logger.addHandler(log);
        JsonNode exceptions = Json.read(Files.readAllBytes(EXCEPTIONS));
        List<String> wrong = new ArrayList<>();
        try (Server server = started(folder, TestDatabase.createUrl())) {
            ContractCase.Target target = new ContractCase.Target(server.baseUrl().toString(), server.apiKey());
            Map<String, Future<String>> results = new LinkedHashMap<>();
            // Cases about short leases last, when all code is compiled, and few at a time.
            for (boolean leases : List.of(false, true)) {
                try (ExecutorService threads = Executors.newFixedThreadPool(leases ? LEASE_THREADS : THREADS)) {
                    suite.path("cases").valueStream()
                            .filter(each -> leases == each.path("given").path("worker").has("lease_ms"))
                            .forEach(each -> results.put(
                                    each.path("group").stringValue() + "/" + each.path("name").stringValue(),
                                    threads.submit(() -> failure(each, suite.path("missions"), target))));
                }
            }
            for (Map.Entry<String, Future<String>> result : results.entrySet()) {
                String failure = result.getValue().get();
                if (failure.isEmpty() == exceptions.has(result.getKey())) {
                    wrong.add(result.getKey() + ": " + failure);
                }
            }
            assertThat(log.lines).isNotEmpty().noneMatch(line -> line.contains(server.apiKey()));
        } finally {
            logger.removeHandler(log);
            for (ContractSuite.Proxy proxy : idle) {
                proxy.close();
            }
        }
        assertThat(wrong).as("cases that fail, or that pass and are exceptions").isEmpty();
        assertThat(suite.path("cases").size()).isGreaterThan(60);
    }

    /** Executes a case; returns its failure, or an empty text. */
    private String failure(JsonNode document, JsonNode missions, ContractCase.Target target) throws Exception {
        ContractSuite.Proxy proxy = idle.poll();
        proxy = proxy == null ? new ContractSuite.Proxy(target.server()) : proxy;
        try {
            new ContractCase(document, missions, target, proxy).execute();
            return "";
        } catch (Exception | Error e) {
            return e + " " + e.getCause() + Arrays.asList(e.getStackTrace()).subList(0, 8);
        } finally {
            idle.add(proxy);
        }
    }

    @Test
    @Breadth.InPart(2)
    void killedWorkersLoseNothing(@TempDir Path folder) throws Exception {
        try (Server server = started(folder, TestDatabase.createUrl())) {
            Process process = program(folder, "Kills", Breadth.all() ? "200" : "6", server.baseUrl().toString(),
                    server.apiKey());
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

            assertThat(process.waitFor()).as(output).isZero();
            assertThat(output).contains(" kills, ");
        }
    }

    @Test
    @EnabledIfSystemProperty(named = "keelson.long", matches = "true")
    void streamsOutlastRestartsOfTheServer(@TempDir Path folder) throws Exception {
        DatabaseUrl database = TestDatabase.createUrl();
        AtomicReference<Server> server = new AtomicReference<>(started(folder, database));
        try (ServerProxy proxy = new ServerProxy(() -> server.get().baseUrl())) {
            Process process = program(folder, "Stream", "4900", proxy.url().toString(), server.get().apiKey());
            List<String> lines = new ArrayList<>();
            try (BufferedReader output = process.inputReader(); BufferedWriter input = process.outputWriter()) {
                for (String line = output.readLine(); line != null; line = output.readLine()) {
                    lines.add(line);
                    if (line.equals("restart")) {
                        server.get().close();
                        server.set(started(folder, database));
                        input.newLine();
                        input.flush();
                    }
                }
            }
            assertThat(process.waitFor()).as("%s", lines).isZero();
            assertThat(lines).hasSize(4).last().asString().endsWith(" events");
        } finally {
            server.get().close();
        }
    }

    /** Starts a program of {@code clients/java}. */
    private static Process program(Path folder, String name, String argument, String url, String key) throws Exception {
        Path classes = Files.createDirectories(folder.resolve("classes"));
        Path source = Path.of("../clients/java", name + ".java");
        assertThat(ToolProvider.getSystemJavaCompiler().run(null, null, null, "-proc:none", "-d", classes.toString(),
                "-cp",
                System.getProperty("java.class.path"), source.toString())).isZero();
        ProcessBuilder builder = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp",
                classes + File.pathSeparator + System.getProperty("java.class.path"), name, argument);
        builder.environment().putAll(Map.of("KEELSON_URL", url, "KEELSON_API_KEY", key));
        return builder.redirectError(ProcessBuilder.Redirect.INHERIT).start();
    }
}
