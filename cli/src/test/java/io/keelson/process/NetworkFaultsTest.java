package io.keelson.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.client.Keelson;
import io.keelson.client.worker.Effects;
import io.keelson.client.worker.ToolSpec;
import io.keelson.client.worker.Worker;
import io.keelson.core.Breadth;
import io.keelson.server.FaultyLink;
import io.keelson.server.FaultyLink.Way;
import io.keelson.server.Lapse;
import io.keelson.server.annex.mcp.FakeMcpServer;
import io.keelson.server.app.Server;
import io.keelson.server.app.Settings;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseOptions;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Servers under load. The network between one of them and PostgreSQL, the provider of its commands, an MCP server, or a worker is slow, holds one
 * direction or both for less and for more than a lease, ends one direction, resets, and flaps.
 */
@Timeout(value = 60, unit = TimeUnit.MINUTES)
@Breadth.InPart(1)
class NetworkFaultsTest {

    private static final int TRIES = Integer.getInteger("keelson.faults", Breadth.of(1, 5));
    private static final Duration BELOW_LEASE = Duration.ofMillis(1_500);
    private static final Duration WORKER_LEASE = Duration.ofSeconds(3);
    private static final Duration OVER_LEASE = Duration.ofSeconds(6);
    /** Time that a call takes, so that faults meet calls under way. */
    private static final Duration WORK = Duration.ofMillis(200);
    private static final Duration FLAP = Duration.ofMillis(300);
    private static final Duration DELAY = Duration.ofMillis(40);
    private static final Duration PAUSE = Duration.ofSeconds(10);

    @TempDir
    private Path folder;

    private FaultyLink link;

    @Test
    void theWayToTheDatabase() throws Exception {
        DatabaseUrl url = TestDatabase.createUrl();
        try (FaultTrials trials = new FaultTrials();
                FaultyLink faulty = new FaultyLink(() -> URI.create("tcp://" + url.hosts()));
                Server first = server("first", trials.settings(Map.of("KEELSON_DATABASE_URL",
                        TestDatabase.text(at(url, faulty.authority())))));
                Server second = server("second",
                        trials.settings(Map.of("KEELSON_DATABASE_URL", TestDatabase.text(url))));
                Database database = new Database(url, DatabaseOptions.DEFAULTS.withPoolSize(2))) {
            link = faulty;
            trials.load("first-", first::baseUrl, first.apiKey());
            trials.load("second-", second::baseUrl, second.apiKey());
            for (int i = 0; i < TRIES; i++) {
                trials.run("database: connections reset", this::reset);
                trials.run("database: held both ways, below a lease", () -> holdFor(BELOW_LEASE, Way.values()));
                if (Breadth.all()) {
                    trials.run("database: held both ways, over a lease", () -> holdFor(OVER_LEASE, Way.values()));
                    trials.run("database: answers held, over a lease", () -> holdFor(OVER_LEASE, Way.ANSWERS));
                    trials.run("database: requests held, over a lease", () -> holdFor(OVER_LEASE, Way.REQUESTS));
                    trials.run("database: answers end", () -> end(Way.ANSWERS));
                    trials.run("database: requests end", () -> end(Way.REQUESTS));
                    trials.run("database: refused, over a lease", this::refuse);
                    trials.run("database: flaps", this::flap);
                    trials.run("database: 40 ms later", this::delay);
                }
            }
            assertThat(faulty.hits()).as("faults").isPositive();
            trials.end(database, PAUSE);
        }
    }

    /** The answer to a payment is late, or its connection is refused: it is not made twice, and its outcome is known. */
    @Test
    void theWayToTheProvider() throws Exception {
        DatabaseUrl url = TestDatabase.createUrl();
        try (FaultTrials trials = new FaultTrials(); FaultyLink faulty = new FaultyLink(trials.bank()::url);
                Server server = server("one", trials.settings(Map.of("KEELSON_DATABASE_URL", TestDatabase.text(url),
                        "KEELSON_COMMAND_TYPES", Bank.types(faulty.url()))));
                Database database = new Database(url, DatabaseOptions.DEFAULTS.withPoolSize(2))) {
            link = faulty;
            trials.load("one-", server::baseUrl, server.apiKey());
            for (int i = 0; i < TRIES; i++) {
                trials.run("provider: answers held, below its time limit", () -> holdFor(BELOW_LEASE, Way.ANSWERS));
                if (Breadth.all()) {
                    trials.run("provider: answers held, over a lease", () -> holdFor(OVER_LEASE, Way.ANSWERS));
                    trials.run("provider: 40 ms later", this::delay);
                }
            }
            assertThat(faulty.hits()).as("faults").isPositive();
            trials.end(database, PAUSE);
        }
    }

    /**
     * Calls that may be repeated have one key, and the outcome of a call that may not is known, or said to be unknown. Without an
     * escalation, as many failures of one run would have a person asked.
     */
    @Test
    void theWayToAnMcpServer() throws Exception {
        DatabaseUrl url = TestDatabase.createUrl();
        try (FakeMcpServer other = new FakeMcpServer("{}");
                FaultyLink faulty = new FaultyLink(() -> URI.create(other.url()));
                FaultTrials trials = new FaultTrials(
                        ", {\"name\": \"note\", \"tool\": \"mcp.other.note\", \"input\": {\"n\": 1}, \"retry\": {\"max_attempts\": 20}}",
                        ", {\"id\": \"once\", \"failure_mode\": \"continue\", \"steps\": [{\"name\": \"begin\", \"tool\": \"noop\"},"
                                + " {\"name\": \"add\", \"tool\": \"mcp.other.add\", \"input\": {\"n\": 1}}]}",
                        "{\"escalation\": {\"enabled\": false}}");
                Server server = server("one", trials.settings(Map.of("KEELSON_DATABASE_URL", TestDatabase.text(url))));
                Database database = new Database(url, DatabaseOptions.DEFAULTS.withPoolSize(2))) {
            link = faulty;
            other.before = tool -> Lapse.of(WORK);
            Keelson.builder().url(server.baseUrl().toString()).apiKey(server.apiKey()).build().mcpServers().set("other",
                    Json.read(
                            """
                            {"url": "%s/mcp", "tools": ["add", "note"], "effects": {"add": "once", "note": "idempotent"}}"""
                                    .formatted(faulty.url())));
            trials.load("one-", server::baseUrl, server.apiKey());
            for (int i = 0; i < TRIES; i++) {
                trials.run("MCP server: connections reset during calls", () -> resetDuring(other, "add", "note"));
                trials.run("MCP server: answers held, below its time limit", () -> holdFor(BELOW_LEASE, Way.ANSWERS));
                if (Breadth.all()) {
                    trials.run("MCP server: held both ways, over a lease", () -> holdFor(OVER_LEASE, Way.values()));
                    trials.run("MCP server: requests held, over a lease", () -> holdFor(OVER_LEASE, Way.REQUESTS));
                    trials.run("MCP server: answers end", () -> end(Way.ANSWERS));
                    trials.run("MCP server: requests end", () -> end(Way.REQUESTS));
                    trials.run("MCP server: refused, over a lease", this::refuse);
                    trials.run("MCP server: flaps", this::flap);
                    trials.run("MCP server: 40 ms later", this::delay);
                }
            }
            assertThat(faulty.hits()).as("faults").isPositive();
            trials.end(database, PAUSE);
            assertCalls(database, other);
        }
    }

    /** Resets connections when the server has a call of each tool and has not answered. */
    private long resetDuring(FakeMcpServer other, String... tools) throws InterruptedException {
        for (String tool : tools) {
            CountDownLatch called = new CountDownLatch(1);
            other.before = each -> {
                if (each.equals(tool) && called.getCount() > 0) {
                    called.countDown();
                    reset();
                }
                Lapse.of(WORK);
            };
            called.await();
        }
        return System.nanoTime();
    }

    private static void assertCalls(Database database, FakeMcpServer other) {
        Map<String, Integer> added = keys(other, "add");
        assertThat(added.values()).as("deliveries of calls that must not be repeated").allMatch(count -> count == 1);
        assertThat(FaultTrials.read(database, """
                select id::text from orchestration_steps where tool = 'mcp.other.add' and state <> 'completed'
                   and error_code is distinct from 'OUTCOME_UNKNOWN'""")).as("outcomes").isEmpty();
        Set<String> unknown = FaultTrials.read(database, """
                select id::text from orchestration_steps where tool = 'mcp.other.add' and state <> 'completed'""");
        int runs = FaultTrials.read(database, "select id::text from orchestration_runs").size();
        assertThat(added.size()).as("calls").isBetween(runs - unknown.size(), runs);
        Map<String, Integer> noted = keys(other, "note");
        assertThat(noted).as("keys of calls that may be repeated").hasSize(runs);
        assertThat(unknown).as("unknown outcomes").isNotEmpty();
        System.out.printf("fault: %d runs, outcomes of %d calls unknown, %d calls delivered again%n", runs,
                unknown.size(), noted.values().stream().mapToInt(count -> count - 1).sum());
    }

    /** Number of the deliveries of each call, by its effect key. */
    private static Map<String, Integer> keys(FakeMcpServer other, String tool) {
        return other.calls(tool).stream().collect(Collectors.toMap(
                call -> call.at("/params/_meta/io.keelson~1effectKey").asString(), call -> 1, Integer::sum));
    }

    /** A worker loses its server for longer than its lease: its late report is not taken, and another execution completes the step. */
    @Test
    void theWayOfAWorker() throws Exception {
        DatabaseUrl url = TestDatabase.createUrl();
        try (FaultTrials trials = new FaultTrials(", {\"name\": \"far\", \"tool\": \"test.far\"}");
                Server server = server("one", trials.settings(Map.of("KEELSON_DATABASE_URL", TestDatabase.text(url))));
                FaultyLink faulty = new FaultyLink(server::baseUrl);
                Worker worker = Worker.builder(Keelson.builder().url(faulty.url().toString()).apiKey(server.apiKey())
                        .timeout(BELOW_LEASE).build()).lease(WORKER_LEASE).poll(Duration.ofMillis(500)).slots(4)
                        .tool(new ToolSpec("test.far", null, null, Effects.READ), step -> "done").build().register()
                        .start();
                Database database = new Database(url, DatabaseOptions.DEFAULTS.withPoolSize(2))) {
            link = faulty;
            trials.load("one-", server::baseUrl, server.apiKey());
            for (int i = 0; i < TRIES; i++) {
                trials.run("worker: connections reset", this::reset);
                trials.run("worker: answers held, below a lease", () -> holdFor(BELOW_LEASE, Way.ANSWERS));
                if (Breadth.all()) {
                    trials.run("worker: held both ways, over a lease", () -> holdFor(OVER_LEASE, Way.values()));
                    trials.run("worker: answers held, over a lease", () -> holdFor(OVER_LEASE, Way.ANSWERS));
                    trials.run("worker: requests held, over a lease", () -> holdFor(OVER_LEASE, Way.REQUESTS));
                    trials.run("worker: answers end", () -> end(Way.ANSWERS));
                    trials.run("worker: requests end", () -> end(Way.REQUESTS));
                    trials.run("worker: flaps", this::flap);
                }
            }
            assertThat(worker.id()).isNotEmpty();
            assertThat(faulty.hits()).as("faults").isPositive();
            trials.end(database, PAUSE);
        }
    }

    private long reset() {
        link.reset();
        return System.nanoTime();
    }

    private long holdFor(Duration time, Way... ways) throws Exception {
        List.of(ways).forEach(link::hold);
        Lapse.of(time);
        return heal();
    }

    private long end(Way way) {
        link.end(way);
        return System.nanoTime();
    }

    private long refuse() throws Exception {
        link.refuse();
        link.reset();
        Lapse.of(OVER_LEASE);
        return heal();
    }

    private long flap() throws Exception {
        for (int i = 0; i < 10; i++) {
            link.refuse();
            link.reset();
            Lapse.of(FLAP);
            link.heal();
            Lapse.of(FLAP);
        }
        return System.nanoTime();
    }

    private long delay() throws Exception {
        link.delay(DELAY);
        Lapse.of(OVER_LEASE);
        return heal();
    }

    private long heal() {
        link.heal();
        return System.nanoTime();
    }

    static DatabaseUrl at(DatabaseUrl url, String authority) {
        return new DatabaseUrl(authority, url.database(), url.user(), url.password(), url.parameters());
    }

    private Server server(String name, Map<String, String> settings) throws Exception {
        Path data = folder.resolve(name);
        Map<String, String> all = new HashMap<>(settings);
        all.putAll(Map.of("KEELSON_DATA_DIR", data.toString(), "KEELSON_HTTP_PORT", "0"));
        return Server.start(Settings.load(all, data, data));
    }
}
