package io.keelson.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.api.trigger.Trigger;
import io.keelson.core.Breadth;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseOptions;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Events at two servers, of which some are sent again and some servers are killed: each event starts one run. */
@Timeout(value = 30, unit = TimeUnit.MINUTES)
@Breadth.InPart(2)
class TriggerKillsTest {

    private static final int DELIVERIES = Breadth.of(300, 10_000);
    private static final int DISTINCT = DELIVERIES * 7 / 10;
    private static final int KILLS = Breadth.of(1, 3);
    private static final int SENDERS = 16;
    private static final String SECRET = "the secret of the hook";

    @TempDir
    Path folder;

    private final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(5)).build();
    private final AtomicReferenceArray<URI> urls = new AtomicReferenceArray<>(2);
    private final Map<Integer, String> runs = new ConcurrentHashMap<>();
    private final Queue<Long> micros = new ConcurrentLinkedQueue<>();
    private final AtomicInteger repeats = new AtomicInteger();

    @Test
    void eachEventStartsOneRunThroughRepeatsAndKills() throws Exception {
        DatabaseUrl url = TestDatabase.createUrl();
        Map<String, String> shared =
                Map.of("KEELSON_DATABASE_URL", TestDatabase.text(url), "KEELSON_LEASE_SECONDS", "3");
        ServerProcess[] servers = {ServerProcess.start(folder.resolve("0"), shared),
                ServerProcess.start(folder.resolve("1"), shared)};
        try (Database database = new Database(url, DatabaseOptions.DEFAULTS.withPoolSize(2));
                ExecutorService senders = Executors.newVirtualThreadPerTaskExecutor()) {
            urls.set(0, servers[0].url());
            urls.set(1, servers[1].url());
            String path = trigger(servers[0]).path();
            Semaphore permits = new Semaphore(SENDERS);
            CountDownLatch left = new CountDownLatch(DELIVERIES);
            Random random = new Random(7);
            for (int i = 0; i < DELIVERIES; i++) {
                if (i > 0 && i % (DELIVERIES / (KILLS + 1)) == 0 && i / (DELIVERIES / (KILLS + 1)) <= KILLS) {
                    int which = i / (DELIVERIES / (KILLS + 1)) % 2;
                    servers[which].killNow();
                    senders.submit(() -> {
                        servers[which] = ServerProcess.start(folder.resolve("" + which), shared);
                        urls.set(which, servers[which].url());
                        return null;
                    });
                }
                int event = i < DISTINCT ? i : random.nextInt(DISTINCT);
                int server = random.nextInt(2);
                permits.acquire();
                senders.submit(() -> {
                    deliver(path, event, server);
                    permits.release();
                    left.countDown();
                });
            }
            assertThat(left.await(10, TimeUnit.MINUTES)).isTrue();
            Awaitility.await().atMost(Duration.ofMinutes(10)).pollInterval(Duration.ofMillis(200))
                    .until(() -> count(database,
                            "select count(*) from trigger_deliveries where state = 'pending'") == 0);

            assertThat(count(database, "select count(*) from trigger_deliveries where state = 'started'"))
                    .isEqualTo(DISTINCT);
            assertThat(count(database, "select count(*) from orchestration_runs where trigger = 'webhook'"))
                    .isEqualTo(DISTINCT);
            assertThat(runs).hasSize(DISTINCT);
            assertThat(count(database, "select count(*) from orchestration_runs where id::text = any ('{"
                    + String.join(",", runs.values()) + "}')")).isEqualTo(DISTINCT);
            long[] sorted = micros.stream().mapToLong(Long::longValue).sorted().toArray();
            System.out.printf("%d deliveries of %d events, %d repeated after a lost answer, %d kills: median %.1f ms, "
                    + "99 %% within %.1f ms%n", DELIVERIES, DISTINCT, repeats.get(), KILLS,
                    sorted[sorted.length / 2] / 1e3, sorted[sorted.length * 99 / 100] / 1e3);
        } finally {
            for (ServerProcess each : servers) {
                each.close();
            }
        }
    }

    @Test
    void burstIsStoredWithoutLoss() throws Exception {
        DatabaseUrl url = TestDatabase.createUrl();
        int events = Breadth.of(200, 10_000);
        try (ServerProcess server = ServerProcess.start(folder.resolve("burst"),
                Map.of("KEELSON_DATABASE_URL", TestDatabase.text(url)));
                Database database = new Database(url, DatabaseOptions.DEFAULTS.withPoolSize(2));
                ExecutorService senders = Executors.newVirtualThreadPerTaskExecutor()) {
            urls.set(0, server.url());
            urls.set(1, server.url());
            String path = trigger(server).path();
            Semaphore permits = new Semaphore(64);
            CountDownLatch left = new CountDownLatch(events);
            Cpu before = Cpu.of(server, database);
            long begun = System.nanoTime();
            for (int i = 0; i < events; i++) {
                int event = i;
                permits.acquire();
                senders.submit(() -> {
                    deliver(path, event, 0);
                    permits.release();
                    left.countDown();
                });
            }
            assertThat(left.await(10, TimeUnit.MINUTES)).isTrue();
            double seconds = (System.nanoTime() - begun) / 1e9;
            Cpu after = Cpu.of(server, database);
            long undecided =
                    count(database, "select count(*) from trigger_deliveries where state = 'pending'");

            assertThat(count(database, "select count(*) from trigger_deliveries")).isEqualTo(events);
            long[] sorted = micros.stream().mapToLong(Long::longValue).sorted().toArray();
            System.out.printf("%d events were stored in %.1f s, %d repeated: median %.1f ms, 99 %% within %.1f ms; "
                    + "%d not decided yet; processor time of the server %.1f s, of its database %.1f s, "
                    + "%d transactions%n", events, seconds, repeats.get(), sorted[sorted.length / 2] / 1e3,
                    sorted[sorted.length * 99 / 100] / 1e3, undecided, after.server - before.server,
                    after.database - before.database, after.transactions - before.transactions);
        }
    }

    /** Processor time in seconds, and transactions. */
    private record Cpu(double server, double database, long transactions) {

        static Cpu of(ServerProcess server, Database database) throws IOException {
            long ticks = 0;
            for (String pid : text(database, "select string_agg(pid::text, ' ') from pg_stat_activity"
                    + " where datname = current_database()").split(" ")) {
                String stat = Files.readString(Path.of("/proc", pid, "stat"));
                String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
                ticks += Long.parseLong(fields[11]) + Long.parseLong(fields[12]);
            }
            return new Cpu(server.process().info().totalCpuDuration().orElse(Duration.ZERO).toMillis() / 1e3,
                    ticks / 100.0, count(database,
                            "select xact_commit from pg_stat_database where datname = current_database()"));
        }
    }

    private static Trigger trigger(ServerProcess server) throws IOException {
        server.client().secrets().set("hook", SECRET);
        return server.client().triggers().create((ObjectNode) Json.read("""
                {"name": "events", "source": {"kind": "secret", "secrets": ["hook"]}, "key": "${ .body.id }",
                 "inputs": {"id": "${ .body.id }"}, "example": {"body": {"id": 1}},
                 "mission": {"name": "event", "inputs": {"id": {"type": "integer"}},
                  "plan": {"tasks": [{"id": "a", "steps": [{"tool": "noop"}]}]}}}"""));
    }

    /** Sends an event until it is acknowledged, as a provider does, each time to the other server. */
    private void deliver(String path, int event, int first) {
        int server = first;
        while (true) {
            HttpRequest request = HttpRequest.newBuilder(URI.create(urls.get(server) + path))
                    .timeout(Duration.ofSeconds(20)).header("Content-Type", "application/json")
                    .header("X-Webhook-Secret", SECRET).POST(BodyPublishers.ofString("{\"id\": " + event + "}"))
                    .build();
            long begun = System.nanoTime();
            try {
                HttpResponse<String> answer = http.send(request, BodyHandlers.ofString());
                if (answer.statusCode() == 202) {
                    micros.add((System.nanoTime() - begun) / 1_000);
                    JsonNode receipt = Json.read(answer.body());
                    String run = receipt.get("run_id").stringValue();
                    String before = runs.putIfAbsent(event, run);
                    if (before != null && !before.equals(run)) {
                        runs.put(-event - 1, run);
                    }
                    return;
                }
            } catch (IOException e) {
                // the server was killed
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            repeats.incrementAndGet();
            server = 1 - server;
        }
    }

    private static long count(Database database, String sql) {
        return Long.parseLong(text(database, sql));
    }

    private static String text(Database database, String sql) {
        return database.withConnection(c -> {
            try (var statement = c.createStatement(); var row = statement.executeQuery(sql)) {
                row.next();
                return row.getString(1);
            }
        });
    }
}
