package io.keelson.server.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.server.app.contract.ContractCase;
import io.keelson.server.app.contract.ContractSuite;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
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
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** The contract suite of all clients with the Java client, against a whole server. */
class JavaClientTest {
    private static final int THREADS = 6;
    private static final int LEASE_THREADS = 2;
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

    @Test
    @Breadth.InPart(1)
    void keepsTheContract(@TempDir Path folder) throws Exception {
        JsonNode suite = ContractSuite.read();
        Logger logger = Logger.getLogger("io.keelson.client");
        Lines log = new Lines();
        logger.addHandler(log);
        JsonNode exceptions = Json.read(Files.readAllBytes(EXCEPTIONS));
        List<String> wrong = new ArrayList<>();
        try (Server server = Server.start(Settings.load(Map.of("KEELSON_DATA_DIR", folder.toString(),
                "KEELSON_HTTP_PORT", "0", "KEELSON_DATABASE_URL", TestDatabase.text(TestDatabase.createUrl())), folder,
                folder))) {
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
}
