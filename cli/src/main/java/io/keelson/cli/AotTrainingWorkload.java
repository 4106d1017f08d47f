package io.keelson.cli;

import io.keelson.api.run.Run;
import io.keelson.cli.common.ExitCode;
import io.keelson.cli.common.ServerConnection;
import io.keelson.cli.common.Sleep;
import io.keelson.cli.models.DevModelStart;
import io.keelson.client.Keelson;
import io.keelson.client.RunRequest;
import io.keelson.client.plan.Mission;
import io.keelson.client.plan.TaskBuilder;
import io.keelson.client.worker.Worker;
import io.keelson.server.app.Settings;
import io.keelson.server.base.json.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;

/**
 * The workload from which the JVM makes the start cache of servers ({@code scripts/aot-cache}): a command that brings
 * its own server, then a server that has much to do. A server that starts from the cache has profiles of hot methods
 * before its first request, and the classes of an agent's first turn. The script {@code keelson.training.commands}
 * makes the cache of other commands, {@link AotTrainingCommands}, beside that server.
 */
public final class AotTrainingWorkload {
    private static final String TOOL = "training.step";
    private static final int CALLERS = 8;
    private static final int STEPS = 5;
    private static final int READ_EVERY = 10;
    private static final Duration LOAD = Duration.ofSeconds(20);
    private static final Duration RUN_TIMEOUT = Duration.ofMinutes(1);
    private static final Duration PAUSE = Duration.ofMillis(50);
    private static final List<String> WIRES = List.of("openai-responses", "openai-chat", "anthropic-messages");
    private static final String SCRIPT = """
            rules:
              - {when: {turn: 1, text: Call}, answer: {calls: [{tool: echo, input: {n: 1}}]}}
            """;

    private AotTrainingWorkload() {}

    /** @param arguments the command */
    public static void main(String[] arguments) throws Exception {
        int code = Main.run(arguments);
        if (code == ExitCode.OK) {
            Settings settings = Settings.load(System.getenv());
            Map<String, String> variables = new HashMap<>(System.getenv());
            variables.put("KEELSON_MODELS", models(settings.dataDir()).toString());
            try (ServerConnection server = ServerConnection.open(Settings.load(variables),
                    ServerConnection.Work.ALL, System.err::println)) {
                turns(server.keelson());
                new ProcessBuilder("sh", System.getProperty("keelson.training.commands")).inheritIO().start().waitFor();
                load(server.keelson(), LOAD);
            }
        }
        System.exit(code);
    }

    /** Starts dev-model, and names it as a model of each wire in a file of models in the folder. */
    static Path models(Path folder) throws IOException {
        Path script = Files.writeString(folder.resolve("training-script.yaml"), SCRIPT);
        int port = DevModelStart.start("127.0.0.1", 0, script.toString(), null, Main.CLOCK);
        StringBuilder models = new StringBuilder("models:\n");
        for (String wire : WIRES) {
            models.append("""
                      %1$s: {wire: %1$s, model: trained, base_url: "http://127.0.0.1:%2$d%3$s", family: training, context_tokens: 9000,
                          max_output_tokens: 500, prices: {input: 0, output: 0}}
                    """.formatted(wire, port, wire.startsWith("openai") ? "/v1" : ""));
        }
        return Files.writeString(folder.resolve("training-models.yaml"), models);
    }

    /** An agent with a call, a judge and an answer by a schema, on each wire. */
    static void turns(Keelson keelson) {
        for (String wire : WIRES) {
            Run run = keelson.runs().create(RunRequest.of(Json.read("""
                    {"name": "training", "start": true, "plan": {"tasks": [
                      {"id": "agent", "title": "Call a tool", "tools_needed": ["echo"],
                       "suggested_agent": {"type": "contractor", "agent_name": "trained", "model": "%1$s"}},
                      {"id": "judge", "steps": [{"tool": "model.judge", "input": {"model": "%1$s", "output": "a text",
                       "criteria": [{"criterion": "It is a text"}]}}]},
                      {"id": "answer", "steps": [{"tool": "model.generate", "input": {"model": "%1$s", "prompt": "Answer",
                       "output_schema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}}}]}
                    ]}}""".formatted(wire))));
            completed(keelson.runs().awaitEnd(run.id(), RUN_TIMEOUT));
        }
    }

    private static void completed(Run ended) {
        if (!ended.completed()) {
            throw new IllegalStateException("a training run ended as " + ended.state() + ": " + ended.errorMessage());
        }
    }

    /** Runs, reads and reports of a worker, side by side, for that long; one of each at least. */
    static void load(Keelson keelson, Duration time) throws Exception {
        try (Worker worker = Worker.builder(keelson).tool(TOOL, step -> Map.of()).slots(CALLERS).build();
                ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
            worker.start();
            long latest = System.nanoTime() + RUN_TIMEOUT.toNanos();
            while (keelson.workers().isEmpty()) {
                if (System.nanoTime() > latest) {
                    throw new IllegalStateException("the training's worker has claimed nothing in " + RUN_TIMEOUT);
                }
                Sleep.of(PAUSE);
            }
            long end = System.nanoTime() + time.toNanos();
            Callable<Void> caller = () -> {
                int done = 0;
                do {
                    work(keelson, done++ % READ_EVERY == 0);
                } while (System.nanoTime() < end);
                return null;
            };
            List<Future<Void>> all = callers.invokeAll(Stream.generate(() -> caller).limit(CALLERS).toList());
            for (Future<Void> each : all) {
                each.get();
            }
        }
    }

    private static TaskBuilder steps(TaskBuilder task, String tool) {
        for (int i = 1; i <= STEPS; i++) {
            task.step("s" + i, tool, Map.of());
        }
        return task;
    }

    private static void work(Keelson keelson, boolean read) {
        Run run = keelson.runs().create(Mission.named("training").goal("learn what is hot").start()
                .task("here", task -> steps(task, "noop"))
                .task("elsewhere", task -> steps(task, TOOL).dependsOn("here")));
        completed(keelson.runs().awaitEnd(run.id(), RUN_TIMEOUT));
        if (read) {
            keelson.runs().tasks(run.id());
            keelson.runs().steps(run.id());
            keelson.runs().events(run.id(), 0, 100);
        }
    }
}
