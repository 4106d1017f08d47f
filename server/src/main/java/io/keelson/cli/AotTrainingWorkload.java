package io.keelson.cli;

import io.keelson.cli.common.ExitCode;
import io.keelson.cli.common.ServerConnection;
import io.keelson.cli.common.Sleep;
import io.keelson.client.Keelson;
import io.keelson.client.Run;
import io.keelson.client.plan.Mission;
import io.keelson.client.plan.TaskBuilder;
import io.keelson.client.worker.Worker;
import io.keelson.server.Settings;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;

/**
 * What the JVM watches to make the start cache ({@code scripts/aot-cache}): a command that brings its own server, then a
 * server that has much to do. One that starts from the cache knows what is hot before it has served a request.
 */
public final class AotTrainingWorkload {
    private static final String TOOL = "training.step";
    private static final int CALLERS = 8;
    private static final int STEPS = 5;
    private static final int READ_EVERY = 10;
    private static final Duration LOAD = Duration.ofSeconds(20);
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final Duration PAUSE = Duration.ofMillis(50);

    private AotTrainingWorkload() {}

    /** @param arguments the command */
    public static void main(String[] arguments) throws Exception {
        int code = Main.run(arguments);
        if (code == ExitCode.OK) {
            try (ServerConnection server = ServerConnection.open(Settings.load(System.getenv()),
                    ServerConnection.Work.ALL, System.err::println)) {
                load(server.keelson(), LOAD);
            }
        }
        System.exit(code);
    }

    /** Runs, reads and reports of a worker, side by side, for that long; one of each at least. */
    static void load(Keelson keelson, Duration time) throws Exception {
        try (Worker worker = Worker.builder(keelson).tool(TOOL, step -> Map.of()).slots(CALLERS).build();
                ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
            worker.start();
            while (keelson.workers().isEmpty()) {
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
        Run ended = keelson.runs().awaitEnd(run.id(), PATIENCE);
        if (!ended.completed()) {
            throw new IllegalStateException("a training run ended as " + ended.state() + ": " + ended.errorMessage());
        }
        if (read) {
            keelson.runs().tasks(run.id());
            keelson.runs().steps(run.id());
            keelson.runs().events(run.id(), 0, 100);
        }
    }
}
