package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.GeneratedDocs;
import io.keelson.core.Breadth;
import io.keelson.server.annex.mcp.NpmServers;
import io.keelson.server.base.json.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** The conformance suites of the protocol, and the official TypeScript clients, against this server. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Breadth.InPart(5)
class McpConformanceTest {
    private static final List<String> TASKS = List.of("tasks-lifecycle", "tasks-capability-negotiation",
            "tasks-wire-fields", "tasks-request-state-removal", "tasks-mrtr-input", "tasks-request-headers",
            "tasks-dispatch-and-envelope", "tasks-required-task-error", "tasks-mrtr-composition");

    /** For one scenario, in milliseconds. */
    private static final String PATIENCE = "120000";

    private ApiServer api;
    private Process proxy;
    private Path folder;
    private String url;

    @BeforeAll
    void start(@TempDir Path temporary) throws Exception {
        NpmServers.assumeAvailable();
        folder = temporary;
        api = new ApiServer(folder.resolve("data"));
        recipe("""
                {"name": "slow_compute", "mcp": true,
                 "inputs": {"seconds": {"type": "number", "default": 1}, "label": {"type": "string", "default": ""}},
                 "plan": {"tasks": [{"id": "one", "title": "One", "steps": [
                   {"name": "wait", "tool": "wait", "input": {"seconds": "${ .inputs.seconds }"}}]}]}}""");
        recipe("""
                {"name": "failing_job", "mcp": true, "plan": {"tasks": [{"id": "one", "title": "One", "steps": [
                  {"name": "fail", "tool": "fail", "input": {"code": "BROKEN", "class": "permanent"}}]}]}}""");
        recipe("""
                {"name": "confirm_delete", "mcp": true, "inputs": {"filename": {"type": "string", "default": "x"}},
                 "plan": {"tasks": [{"id": "one", "title": "One", "steps": [
                   {"name": "ask", "kind": "approval", "input": {"question": "Delete ${ .inputs.filename }?"}}]}]}}""");
        recipe("""
                {"name": "sum", "mcp": true, "inputs": {"a": {"type": "integer"}, "b": {"type": "integer", "default": 2}},
                 "plan": {"tasks": [{"id": "one", "title": "One", "steps": [
                   {"name": "add", "tool": "echo", "input": {"sum": "${ .inputs.a + .inputs.b }"}}]}]},
                 "output": "${ .tasks.one.output.sum }"}""");
        proxy = new ProcessBuilder(NpmServers.own("bearer.mjs", api.url().toString(), api.key()))
                .redirectError(ProcessBuilder.Redirect.DISCARD).start();
        BufferedReader line = proxy.inputReader();
        url = URI.create("http://127.0.0.1:" + line.readLine() + "/mcp").toString();
    }

    private void recipe(String mission) {
        ApiServer.Answer made = api.post("/api/v1/recipes", mission);
        assertThat(made.status()).as(made.text()).isEqualTo(201);
    }

    @AfterAll
    void stop() {
        if (proxy != null) {
            proxy.destroy();
        }
        if (api != null) {
            api.close();
        }
    }

    /** Results of one suite. */
    private record Count(int passed, int failed) {
        Count and(Count other) {
            return new Count(passed + other.passed, failed + other.failed);
        }
    }

    @Test
    void suitesPassButForTheBaselines() throws Exception {
        Count old;
        Count current;
        Count tasks = new Count(0, 0);
        try (ExecutorService all = Executors.newFixedThreadPool(3)) {
            Future<Count> first = all.submit(() -> suite("conformance-2025", "conformance-2025-11-25.yaml", "--suite",
                    "all"));
            Future<Count> second = all.submit(() -> suite("conformance-2026", "conformance-2026-07-28.yaml", "--suite",
                    "all", "--spec-version", "2026-07-28", "--timeout", PATIENCE));
            List<Future<Count>> others = TASKS.stream().map(scenario -> all.submit(
                    () -> suite("conformance-2026", "conformance-2026-07-28.yaml", "--scenario", scenario,
                            "--timeout", PATIENCE)))
                    .toList();
            old = first.get();
            current = second.get();
            for (Future<Count> each : others) {
                tasks = tasks.and(each.get());
            }
        }
        GeneratedDocs.check("docs/internals/proof.md", "mcp conformance", """
                | suite | revision | checks passed | not passed, each with its reason in the baseline |
                |---|---|---|---|
                | 0.1.16, all scenarios of servers | 2025-11-25 | %d | %d |
                | 0.2.0-alpha.12, all scenarios of servers | 2026-07-28 | %d | %d |
                | 0.2.0-alpha.12, tasks extension | 2026-07-28 | %d | %d |
                """.formatted(old.passed, old.failed, current.passed, current.failed, tasks.passed, tasks.failed));
    }

    private Count suite(String name, String baseline, String... which) throws IOException, InterruptedException {
        Path results = folder.resolve(name + String.join("", which));
        String said = run(NpmServers.suite(name, Stream.concat(Stream.of("server", "--url", url, "-o",
                results.toString(), "--expected-failures", NpmServers.source(baseline).toString()), Stream.of(which))
                .toArray(String[]::new)));
        assertThat(said).contains("Baseline check passed");
        try (Stream<Path> files = Files.walk(results)) {
            return files.filter(file -> file.endsWith("checks.json")).map(McpConformanceTest::count)
                    .reduce(new Count(0, 0), Count::and);
        }
    }

    private static Count count(Path checks) {
        try {
            List<String> states = Json.read(Files.readString(checks)).valueStream()
                    .map(check -> check.path("status").asString()).toList();
            return new Count((int) states.stream().filter("SUCCESS"::equals).count(),
                    (int) states.stream().filter(List.of("FAILURE", "WARNING")::contains).count());
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void typescriptClientsOfBothErasStartRuns() throws Exception {
        JsonNode said = Json.read(run(NpmServers.own("client.mjs", api.url() + "/mcp", api.key(), "sum")));
        for (String era : List.of("modern", "legacy")) {
            JsonNode seen = said.path(era);
            assertThat(seen.path("server").asString()).isEqualTo("keelson");
            assertThat(seen.path("tools").valueStream().map(JsonNode::asString)).contains("mission_start", "sum");
            assertThat(seen.path("status")).isEqualTo(seen.path("run"));
            assertThat(seen.path("resource")).isEqualTo(seen.path("run"));
            assertThat(seen.path("refused").asBoolean()).isTrue();
            api.awaitState(seen.path("run").asString(), "completed");
        }
        assertThat(said.at("/legacy/messages/0").asString()).isEqualTo("taskCreated");
        assertThat(said.at("/legacy/output").asInt()).isEqualTo(42);
    }

    private static String run(List<String> command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        process.getOutputStream().close();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(5, TimeUnit.MINUTES)).isTrue();
        assertThat(process.exitValue()).as(said).isZero();
        return said;
    }
}
