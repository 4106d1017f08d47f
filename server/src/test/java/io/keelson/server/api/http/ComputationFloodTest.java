package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.HotSpotDiagnosticMXBean;
import com.sun.management.HotSpotDiagnosticMXBean.ThreadDumpFormat;
import io.keelson.core.Breadth;
import io.keelson.server.base.compute.Computation;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.json.Json;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.IntFunction;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Endless computations of one workspace, while others work: their runs complete before the computations have ended. */
class ComputationFloodTest {

    private static final String ENDLESS = "reduce range(1e9) as $i (0; . + $i)";
    /** Of half of the probes. */
    private static final Duration PROMPT = Duration.ofSeconds(1);
    private static final int PROBES = 10;
    /** Number of probes in a row. */
    private static final int STREAK = 3;
    private static final List<String> WORK =
            List.of("io.keelson.server.base.expr.", "java.util.regex.", "com.google.re2j.");
    /** Of threads of tests, and of those that wait. */
    private static final List<String> OTHER = List.of("org.junit.", ".park(");
    /** Names of the threads of {@link Computation}: their stacks may be too deep for a dump to have their bottom. */
    private static final Pattern HOME = Pattern.compile("(compute|files)-[0-9]+");

    @TempDir
    Path folder;

    @Test
    @Breadth.InPart(0)
    void othersAreServedMeanwhileAndTheRunsBudgetEnds() throws Exception {
        try (ApiServer api = new ApiServer(folder, TestDatabase.createUrl(),
                Map.of("KEELSON_RUN_COMPUTE_SECONDS", "20"))) {
            String flood = api.create(flood());
            awaitRunning(api, flood);
            String stranger = api.stranger();
            String run = api.post("/api/v1/runs", """
                    {"name": "small", "start": true, "plan": {"tasks": [
                      {"id": "one", "steps": [{"name": "sum", "tool": "json.transform",
                        "input": {"expression": "[range(10)] | add"}}]},
                      {"id": "two", "depends_on": ["one"], "when": "${ .tasks.one.output == 45 }", "steps": [
                        {"name": "text", "tool": "text.template",
                         "input": {"template": "{{n}}", "data": {"n": "${ .tasks.one.output + 1 }"}}}]}]},
                     "output": "${ .tasks.two.output }"}""", "Authorization", stranger).json().get("id")
                    .stringValue();
            awaitPromptly(api, run, stranger);
            assertThat(api.run(flood).get("state").stringValue()).isEqualTo("running");
            Awaitility.await().atMost(Duration.ofSeconds(90)).until(() -> !api.run(flood).get("state").stringValue()
                    .equals("running"));
            assertThat(api.get("/api/v1/runs/" + flood + "/steps").text()).contains("EXPRESSION_TIMEOUT",
                    "RUN_COMPUTATION_SPENT");
        }
    }

    /** 60 searches whose patterns take their whole time in each line, while others read files and compute. */
    @Test
    @Breadth.InPart(1)
    void fileSearchesDoNotBlockOtherRequests() throws Exception {
        Path files = Files.createDirectory(folder.resolve("files"));
        for (int i = 0; i < 20; i++) {
            Files.writeString(files.resolve("long" + i), "a".repeat(8 << 20));
        }
        Files.writeString(files.resolve("note"), "hello");
        try (ApiServer api = new ApiServer(folder.resolve("data"), TestDatabase.createUrl(),
                Map.of("KEELSON_ALLOWED_FOLDERS", files.toString()))) {
            String pattern = "(a{20}){1,40}(b|c{10}){10}$";
            String flood = api.create(plan("searches", i -> """
                    {"name": "s", "tool": "files.search", "retry": {"max_attempts": 1},
                     "input": {"path": ".", "pattern": "%s"}}""".formatted(pattern)));
            awaitRunning(api, flood);
            String stranger = api.stranger();
            String run = api.post("/api/v1/runs", """
                    {"name": "small", "start": true, "plan": {"tasks": [{"id": "one", "steps": [
                      {"name": "read", "tool": "files.search", "input": {"path": "note", "pattern": "l+"}}]}]},
                     "output": "${ .tasks.one.output.total_matches }"}""", "Authorization", stranger).json()
                    .get("id").stringValue();
            awaitPromptly(api, run, stranger);
            assertThat(api.run(flood).get("state").stringValue()).isEqualTo("running");
            assertThat(api.post("/api/v1/runs/" + flood + "/cancel", "{}").status()).isEqualTo(200);
        }
    }

    /** Missions whose schemas take 2 s for each of their inputs, sent 60 at a time. */
    @Test
    @Breadth.InPart(5)
    void slowMissionChecksDoNotBlockOtherRequests() throws Exception {
        try (ApiServer api = new ApiServer(folder, TestDatabase.createUrl());
                ExecutorService senders = Executors.newVirtualThreadPerTaskExecutor()) {
            String hard = hardInputs();
            CountDownLatch sent = new CountDownLatch(60);
            List<Future<Integer>> answers = IntStream.range(0, 60).mapToObj(i -> senders.submit(() -> {
                sent.countDown();
                return api.post("/api/v1/runs", hard).status();
            })).toList();
            sent.await();
            String stranger = api.stranger();
            String run = api.post("/api/v1/runs", """
                    {"name": "small", "start": true, "inputs": {"n": {"type": "integer", "default": 3}},
                     "plan": {"tasks": [{"id": "one", "steps": [{"name": "echo", "tool": "echo",
                       "input": {"n": "${ .inputs.n }"}}]}]}}""", "Authorization", stranger).json().get("id")
                    .stringValue();
            awaitPromptly(api, run, stranger);
            assertThat(answers).as("those that are checked at length").anyMatch(answer -> !answer.isDone());
            senders.shutdownNow();
        }
    }

    /** A pattern of 100 KB for each of eight inputs of 100 KB. */
    private static String hardInputs() {
        String pattern = "(a|b)*".repeat(1 << 12) + "c";
        String inputs = IntStream.range(0, 8).mapToObj(i -> "\"i" + i + "\": {\"type\": \"string\", \"pattern\": \""
                + pattern + "\", \"default\": \"" + "ab".repeat(1 << 15) + "\"}").collect(Collectors.joining(", "));
        return "{\"name\": \"hard\", \"inputs\": {" + inputs + "}, \"plan\": {\"tasks\": [{\"id\": \"one\","
                + " \"steps\": [{\"name\": \"echo\", \"tool\": \"echo\"}]}]}}";
    }

    private static void awaitRunning(ApiServer api, String run) {
        Awaitility.await().atMost(Duration.ofSeconds(30)).pollInterval(Duration.ofMillis(20)).until(() -> api
                .get("/api/v1/runs/" + run + "/steps").json().get("items").valueStream()
                .filter(step -> step.get("state").stringValue().equals("running")).count() > 2);
    }

    /**
     * Waits for the run, and probes the server meanwhile: a busy machine delays few probes, a blocked server all. Threads
     * that are not those of computations are at one for an instant only, so that nothing is blocked for a short time, either.
     */
    private void awaitPromptly(ApiServer api, String run, String bearer) {
        List<Duration> probes = new ArrayList<>();
        Map<String, Integer> streaks = new HashMap<>();
        Awaitility.await().atMost(Duration.ofSeconds(60)).pollInterval(Duration.ofMillis(50)).until(() -> {
            long asked = System.nanoTime();
            assertThat(api.get("/healthz").status()).isEqualTo(200);
            probes.add(Duration.ofNanos(System.nanoTime() - asked));
            Set<String> astray = astray(folder.resolve("threads" + probes.size() + ".json"));
            streaks.keySet().retainAll(astray);
            astray.forEach(thread -> streaks.merge(thread, 1, Integer::sum));
            assertThat(streaks).as("threads at one computation for some probes")
                    .allSatisfy((_, streak) -> assertThat(streak).isLessThan(STREAK));
            return probes.size() >= PROBES && api.get("/api/v1/runs/" + run, "Authorization", bearer).json()
                    .get("state").stringValue().equals("completed");
        });
        assertThat(probes.stream().sorted().toList().get(probes.size() / 2)).isLessThan(PROMPT);
    }

    /** The threads, without those of {@link Computation} and of tests, that match patterns or evaluate expressions now. */
    private static Set<String> astray(Path file) throws IOException {
        ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class).dumpThreads(file.toString(),
                ThreadDumpFormat.JSON);
        return Json.read(Files.readString(file)).at("/threadDump/threadContainers").valueStream()
                .flatMap(container -> container.path("threads").valueStream())
                .filter(thread -> has(thread, WORK) && !has(thread, OTHER)
                        && !HOME.matcher(thread.path("name").asString()).matches())
                .map(thread -> thread.path("tid").asString())
                .collect(Collectors.toSet());
    }

    private static boolean has(JsonNode thread, List<String> frames) {
        return thread.path("stack").valueStream().map(JsonNode::asString)
                .anyMatch(frame -> frames.stream().anyMatch(frame::contains));
    }

    /** Lines of 4 MB took the YAML parser 14 s. */
    @Test
    void hugeMissionsAreRefusedUnparsed() throws Exception {
        try (ApiServer api = new ApiServer(folder, TestDatabase.createUrl())) {
            String line = "x".repeat(2 << 20);
            for (String yaml : List.of("name: " + line, "name: a # " + line, "a: 1\n".repeat(1 << 20))) {
                assertRefused(api, yaml, "application/yaml", 413, "TOO_LARGE");
            }
            assertRefused(api, "name: " + "x".repeat(1 << 19), "application/yaml", 422, "LINE_TOO_LONG");
            assertRefused(api, "{\"name\": \"a\", \"input\": {\"x\": \"" + line + "\"}}", "application/json", 413,
                    "TOO_LARGE");
        }
    }

    private static void assertRefused(ApiServer api, String body, String type, int status, String code) {
        for (String path : List.of("/api/v1/runs", "/api/v1/recipes")) {
            long asked = System.nanoTime();
            ApiServer.Answer answer =
                    api.send("POST", path, body.getBytes(StandardCharsets.UTF_8), "Content-Type", type);
            assertThat(answer.status()).as(answer.text()).isEqualTo(status);
            assertThat(answer.json().get("code").stringValue()).isEqualTo(code);
            assertThat(Duration.ofNanos(System.nanoTime() - asked)).isLessThan(Duration.ofSeconds(20));
        }
    }

    /** 20 tasks that compute endlessly before their steps, and 40 in their steps. */
    private static String flood() {
        return plan("flood", i -> """
                {"name": "s", "tool": "json.transform", "retry": {"max_attempts": 1},
                 "input": {"expression": "%s"}}""".formatted(ENDLESS), i -> i < 20 ? "\"when\": \"${ " + ENDLESS
                + " }\"," : "");
    }

    private static String plan(String name, IntFunction<String> step) {
        return plan(name, step, i -> "");
    }

    private static String plan(String name, IntFunction<String> step, IntFunction<String> members) {
        return IntStream.range(0, 60).mapToObj(i -> "{\"id\": \"t" + i + "\", " + members.apply(i) + " \"steps\": ["
                + step.apply(i) + "]}").collect(Collectors.joining(",", "{\"name\": \"" + name + """
                        ", "start": true, "config": {"agent_failure_mode": "continue"},
                         "plan": {"tasks": [""", "]}}"));
    }
}
