package io.keelson.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.ChildJvm;
import io.keelson.api.run.Run;
import io.keelson.api.worker.WorkQueues;
import io.keelson.client.Keelson;
import io.keelson.client.RunRequest;
import io.keelson.client.plan.Mission;
import io.keelson.client.worker.Worker;
import io.keelson.server.Invariants;
import io.keelson.server.app.Server;
import io.keelson.server.app.Settings;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseOptions;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import java.math.BigDecimal;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two servers, workers and a RabbitMQ broker that fails: each step is executed once and charged once.
 */
@EnabledIfSystemProperty(named = "keelson.long", matches = "true")
@Timeout(value = 20, unit = TimeUnit.MINUTES)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RabbitTest {

    private static final String TOOL = "test.rabbit";
    private static final int TASKS = 5;
    private static final int FIGURES = Integer.getInteger("keelson.figures", 100);
    private static final BigDecimal COST = new BigDecimal("0.01");
    private static final Duration LONG = Duration.ofMinutes(3);

    private final String key = Settings.newBootstrapKey();
    private final DatabaseUrl url = TestDatabase.createUrl();
    private final Map<String, Integer> executions = new ConcurrentHashMap<>();
    private final List<String> runs = new ArrayList<>();
    private final List<Worker> workers = new ArrayList<>();
    private Path folder;
    private final CountDownLatch never = new CountDownLatch(1);
    private RabbitNode broker;
    private Server first;
    private Server second;
    private String queue;

    @BeforeAll
    void start(@TempDir Path temporary) throws Exception {
        folder = temporary;
        Assumptions.assumeTrue(RabbitNode.isInstalled(),
                "scripts/rabbitmq-node names the package that is missing: rabbitmq-server");
        broker = RabbitNode.start();
        first = server("first");
        second = server("second");
        queue = WorkQueues.name(UUID.fromString(client(first).whoAmI().workspace().id()), TOOL, 100);
    }

    private Server server(String name) throws Exception {
        Path data = folder.resolve(name);
        return Server.start(Settings.load(Map.of("KEELSON_DATA_DIR", data.toString(), "KEELSON_HTTP_PORT", "0",
                "KEELSON_DATABASE_URL", TestDatabase.text(url), "KEELSON_INITIAL_CREDITS", "1000000",
                "KEELSON_LEASE_SECONDS", "3", "KEELSON_RABBITMQ_URL", broker.url().toString(),
                "KEELSON_RABBITMQ_REPEAT_SECONDS", "2", "KEELSON_SECRET_KEY",
                "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=", "KEELSON_BOOTSTRAP_KEY",
                key), data, data));
    }

    @BeforeEach
    void clear() {
        executions.clear();
        runs.clear();
    }

    @AfterEach
    void invariants() {
        workers.forEach(Worker::close);
        workers.clear();
        try (Database database = new Database(url, DatabaseOptions.DEFAULTS.withPoolSize(2))) {
            Invariants.hold(database);
        }
    }

    @AfterAll
    void stop() throws Exception {
        if (first != null) {
            first.close();
        }
        if (second != null) {
            second.close();
        }
        if (broker != null) {
            broker.close();
        }
    }

    private static Keelson client(Server server) {
        return Keelson.builder().url(server.baseUrl().toString()).apiKey(server.apiKey()).build();
    }

    private Worker worker(Server server, int slots) {
        Worker worker = Worker.builder(client(server)).slots(slots).lease(Duration.ofSeconds(3)).tool(TOOL, step -> {
            executions.merge(step.stepId(), 1, Integer::sum);
            step.usage(0, COST);
            assertThat(never.await(20, TimeUnit.MILLISECONDS)).isFalse();
            return 1;
        }).rabbitmq(broker.url()).build();
        worker.register();
        workers.add(worker.start());
        return worker;
    }

    private void submit(int count) {
        Mission mission = Mission.named("by message").goal("one execution each");
        for (int i = 0; i < TASKS; i++) {
            mission.task("t" + i, task -> task.step("work", TOOL, Map.of()));
        }
        for (int i = 0; i < count; i++) {
            Keelson client = client(i % 2 == 0 ? first : second);
            runs.add(client.runs().create(RunRequest.of(mission.toJson()).start()).id());
        }
    }

    /** Waits for all runs; each step was executed and charged once. */
    private void completedOnce() {
        for (String run : runs) {
            Run ended = client(first).runs().awaitEnd(run, LONG);
            assertThat(ended.state()).isEqualTo("completed");
            assertThat(ended.totalCost()).isEqualByComparingTo(COST.multiply(new BigDecimal(TASKS)));
        }
        assertThat(executions).hasSize(runs.size() * TASKS).allSatisfy((step, times) -> assertThat(times).isOne());
    }

    @Test
    void messagesDispatchTheWorkOfTwoServers() throws Exception {
        worker(first, 4);
        worker(second, 4);
        submit(20);
        completedOnce();
        assertThat(metric("sent")).isPositive();
        emptied();
    }

    @Test
    void repeatedMessagesCauseNoSecondExecution() throws Exception {
        worker(first, 4);
        submit(4);
        for (String run : runs) {
            for (int i = 0; i < TASKS * 3; i++) {
                String task = client(first).runs().tasks(run).get(i % TASKS).id();
                broker.send(queue, task + ":0");
            }
        }
        completedOnce();
        emptied();
    }

    @Test
    void brokerIsKilledUnderLoad() throws Exception {
        worker(first, 4);
        worker(second, 4);
        submit(20);
        broker.kill();
        submit(20);
        Thread restart = Thread.ofVirtual().start(() -> {
            try {
                broker.startAgain();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
        submit(20);
        completedOnce();
        restart.join();
        Awaitility.await().atMost(LONG).until(() -> gauge("keelson_rabbitmq_connected") == 2);
        runs.clear();
        executions.clear();
        double before = metric("sent");
        submit(10);
        completedOnce();
        assertThat(metric("sent")).isGreaterThan(before);
        emptied();
    }

    /** The dispatch of work that fits into no queue only begins later. */
    @Test
    void fullQueueRefusesMessages() throws Exception {
        worker(first, 1).close();
        workers.clear();
        broker.control("set_policy", "small", "^runs\\.normal", "{\"max-length\": 5}", "--apply-to", "queues");
        try {
            submit(10);
            Awaitility.await().atMost(LONG).until(() -> metric("refused") > 0);
            worker(second, 4);
            completedOnce();
        } finally {
            broker.control("clear_policy", "small");
        }
        emptied();
    }

    @Test
    void messageWithoutWorkIsDead() throws Exception {
        worker(first, 4);
        submit(1);
        completedOnce();
        int before = broker.waiting(WorkQueues.DEAD);
        broker.send(queue, "no id of work");
        Awaitility.await().atMost(LONG).until(() -> broker.waiting(WorkQueues.DEAD) == before + 1);
        broker.send(queue, UUID.randomUUID() + ":0");
        runs.clear();
        executions.clear();
        submit(2);
        completedOnce();
        assertThat(broker.waiting(WorkQueues.DEAD)).isEqualTo(before + 1);
        emptied();
    }

    /** The program `keelson worker` is killed with its steps: they are executed again, and charged once. */
    @Test
    void workerIsKilled() throws Exception {
        Path begun = folder.resolve("begun");
        List<String> command = new ArrayList<>(ChildJvm.command());
        command.addAll(List.of("io.keelson.cli.Main", "worker", "--tool", TOOL, "--slots", "4", "--", "sh", "-c",
                "echo x >>" + begun + "; sleep 60"));
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().keySet().removeIf(name -> name.startsWith("KEELSON_"));
        builder.environment().putAll(new HashMap<>(Map.of("KEELSON_URL", first.baseUrl().toString(), "KEELSON_API_KEY",
                first.apiKey(), "KEELSON_RABBITMQ_URL", broker.url().toString(), "KEELSON_DATA_DIR",
                folder.resolve("worker").toString())));
        Path log = folder.resolve("worker.log");
        Process process = builder.redirectErrorStream(true).redirectOutput(log.toFile()).start();
        try {
            Awaitility.await().atMost(LONG).ignoreExceptions().until(() -> Files.readString(log).contains("serves"));
            submit(2);
            Awaitility.await().atMost(LONG)
                    .until(() -> Files.exists(begun) && Files.readAllLines(begun).size() == 4);
        } finally {
            List<ProcessHandle> programs = process.descendants().toList();
            process.destroyForcibly().waitFor();
            programs.forEach(ProcessHandle::destroyForcibly);
        }
        worker(second, 8);
        completedOnce();
        emptied();
    }

    /** Prints the table of <a href="../../../../../../../docs/operate/rabbitmq.md">its page</a>. */
    @Test
    void figures() throws Exception {
        System.out.println("""
                | | submitted | steps | steps/s | to the handler, median | 99 % | requests of workers a step |
                |---|---|---|---|---|---|---|""");
        for (boolean messages : List.of(false, true)) {
            for (Server at : List.of(first, second)) {
                row(messages, at, 1, FIGURES);
                row(messages, at, 50, FIGURES * 5);
            }
        }
        for (boolean messages : List.of(false, true)) {
            List<Worker> idle = figureWorkers(messages, new ConcurrentHashMap<>());
            pause(15);
            double before = requests();
            pause(30);
            System.out.printf("%s: %.1f requests a minute of an idle worker%n", messages ? "messages" : "polls",
                    (requests() - before) * 2 / idle.size());
            idle.forEach(Worker::close);
        }
    }

    /** Workers are at the first server. */
    private void row(boolean messages, Server at, int atOnce, int steps) throws Exception {
        Map<String, Long> begun = new ConcurrentHashMap<>();
        List<Worker> its = figureWorkers(messages, begun);
        List<Long> micros = new ArrayList<>();
        Keelson client = client(at);
        execute(client, 10 * atOnce, atOnce, begun, micros);
        micros.clear();
        double before = requests();
        long start = System.nanoTime();
        execute(client, steps, atOnce, begun, micros);
        double seconds = (System.nanoTime() - start) / 1e9;
        double requests = (requests() - before) / steps;
        micros.sort(null);
        System.out.printf("| %s | at the %s server, %d at a time | %d | %.0f | %.1f ms | %.1f ms | %.2f |%n",
                messages ? "messages" : "polls", at == first ? "workers'" : "other", atOnce, steps, steps / seconds,
                micros.get(micros.size() / 2) / 1e3, micros.get(micros.size() * 99 / 100) / 1e3, requests);
        its.forEach(Worker::close);
    }

    private List<Worker> figureWorkers(boolean messages, Map<String, Long> begun) {
        List<Worker> its = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            Worker.Builder builder = Worker.builder(client(first)).slots(8).tool("test.figure", step -> {
                begun.put(step.runId(), System.nanoTime());
                return 1;
            });
            its.add((messages ? builder.rabbitmq(broker.url()) : builder).build().register().start());
        }
        pause(3);
        return its;
    }

    private static void execute(Keelson client, int steps, int atOnce, Map<String, Long> begun, List<Long> micros)
            throws Exception {
        Mission mission = Mission.named("figure").goal("begin soon");
        mission.task("t", task -> task.step("work", "test.figure", Map.of()));
        Semaphore free = new Semaphore(atOnce);
        CountDownLatch left = new CountDownLatch(steps);
        for (int i = 0; i < steps; i++) {
            free.acquire();
            Thread.ofVirtual().start(() -> {
                long start = System.nanoTime();
                String run = client.runs().create(RunRequest.of(mission.toJson()).start()).id();
                client.runs().awaitEnd(run, LONG);
                synchronized (micros) {
                    micros.add(
                            (begun.get(UUID.fromString(run.substring(run.length() - 36)).toString()) - start) / 1_000);
                }
                free.release();
                left.countDown();
            });
        }
        assertThat(left.await(5, TimeUnit.MINUTES)).isTrue();
    }

    /** Requests of workers to both servers. */
    private double requests() throws Exception {
        return sum(line -> line.startsWith("keelson_http_requests_total") && line.contains("/dispatch/"));
    }

    private static void pause(int seconds) {
        Awaitility.await().atMost(LONG).pollDelay(Duration.ofSeconds(seconds)).until(() -> true);
    }

    private void emptied() {
        Awaitility.await().atMost(LONG).until(() -> broker.waiting(queue) == 0);
    }

    private double metric(String outcome) throws Exception {
        return gauge("keelson_rabbitmq_messages_total{outcome=\"" + outcome + "\"}");
    }

    /** The sum of both servers. */
    private double gauge(String name) throws Exception {
        return sum(line -> line.startsWith(name + " "));
    }

    private double sum(Predicate<String> lines) throws Exception {
        double sum = 0;
        try (HttpClient http = HttpClient.newHttpClient()) {
            for (Server server : List.of(first, second)) {
                String page = http.send(HttpRequest.newBuilder(URI.create(server.baseUrl() + "/metrics")).build(),
                        BodyHandlers.ofString()).body();
                sum += page.lines().filter(lines)
                        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1))).sum();
            }
        }
        return sum;
    }
}
