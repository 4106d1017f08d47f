import io.keelson.api.run.Event;
import io.keelson.api.run.Run;
import io.keelson.api.run.Step;
import io.keelson.client.Json;
import io.keelson.client.Keelson;
import io.keelson.client.RunRequest;
import io.keelson.client.plan.Mission;
import io.keelson.client.worker.Worker;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/**
 * Kills workers under load: java -cp CLASSES:CLIENT Kills KILLS. KEELSON_URL and KEELSON_API_KEY name the server.
 *
 * <p>Two worker processes execute steps while one after the other is killed and started again. At the end every run has completed,
 * every step has one result, that of its input, and all effects have the keys of the steps.
 */
public class Kills {
    private static final int STEPS = 5;
    private static final int OPEN_RUNS = 12;
    private static final Duration TIMEOUT = Duration.ofMinutes(2);

    private final Keelson client = Keelson.connect();
    private final String tool = "kills." + UUID.randomUUID().toString().substring(0, 8);
    private final long seed = new Random().nextInt(1 << 30);
    private final Random chance = new Random(seed);
    private final List<Run> runs = new ArrayList<>();
    private final Path file;
    private int completed;

    private Kills(Path file) {
        this.file = file;
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments[0].equals("--serve")) {
            serve(arguments[1], Path.of(arguments[2]));
            return;
        }
        Path file = Files.createTempFile("kills-", "");
        try {
            new Kills(file).execute(Integer.parseInt(arguments[0]));
        } finally {
            Files.delete(file);
        }
    }

    /** The worker: notes the effect, works for a while, and squares. */
    private static void serve(String tool, Path file) throws Exception {
        try (Worker worker = Worker.builder(Keelson.connect()).lease(Duration.ofSeconds(3)).poll(Duration.ofMillis(500))
                .tool(tool, step -> {
                    Files.writeString(file, step.effectKey() + "\n", StandardOpenOption.APPEND);
                    TimeUnit.MILLISECONDS.sleep(20);
                    int n = step.input().path("n").asInt();
                    return n * n;
                }).build().start()) {
            System.out.println("serving");
            worker.awaitStop();
        }
    }

    private Process start() throws Exception {
        Process worker = new ProcessBuilder(ProcessHandle.current().info().command().orElse("java"), "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC", "-cp", System.getProperty("java.class.path"), Kills.class.getName(), "--serve", tool, file.toString())
                .redirectError(ProcessBuilder.Redirect.DISCARD).start();
        check("serving".equals(worker.inputReader().readLine()), "a worker does not serve");
        return worker;
    }

    private void check(boolean holds, String problem) {
        if (!holds) {
            throw new AssertionError(problem + ", seed " + seed);
        }
    }

    private void execute(int kills) throws Exception {
        client.api().post("/dispatch/register", Json.of(Map.of("worker_id", "kills", "tool_specs", List.of(Map.of("name", tool)))));
        Mission mission = Mission.named(tool).declare("n", Map.of("type", "integer")).task("t", task -> {
            for (int i = 0; i < STEPS; i++) {
                task.step("s" + i, tool, Map.of("n", Mission.expr(".inputs.n + " + i)));
            }
            return task;
        });
        Process[] workers = {start(), start()};
        try {
            for (int kill = 0; kill < kills; kill++) {
                long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(300 + chance.nextInt(700));
                while (System.nanoTime() < end) {
                    load(mission);
                }
                workers[kill % 2].destroyForcibly().waitFor();
                workers[kill % 2] = start();
            }
            compare(kills);
        } finally {
            for (Process each : workers) {
                each.destroyForcibly();
            }
        }
    }

    /** Keeps runs open, and counts the ended runs in order. */
    private void load(Mission mission) {
        while (runs.size() < completed + OPEN_RUNS) {
            runs.add(client.runs().create(RunRequest.of(mission.toJson()).input("n", runs.size()).start()));
        }
        while (completed < runs.size() && client.runs().get(runs.get(completed).id()).ended()) {
            completed++;
        }
    }

    private void compare(int kills) throws Exception {
        // After ten lost workers in a row, a task is tried again with new steps.
        long retried = 0;
        for (int n = 0; n < runs.size(); n++) {
            Run ended = client.runs().awaitEnd(runs.get(n).id(), TIMEOUT);
            check(ended.completed(), "run " + n + " is " + ended.state() + " " + ended.errorCode());
            List<Step> steps = client.runs().steps(ended.id());
            for (int i = 0; i < STEPS; i++) {
                check(steps.get(i).output().asInt() == (n + i) * (n + i), "output of step " + i + " of run " + n);
            }
            List<Event> events = client.runs().events(ended.id(), 0, 500).items();
            List<String> results = events.stream().filter(each -> each.eventType().equals("step_completed")).map(Event::stepId).toList();
            check(results.size() == Set.copyOf(results).size() && results.containsAll(steps.stream().map(Step::id).toList()),
                    "results of run " + n);
            retried += events.stream().filter(each -> each.eventType().equals("task_retrying")).count();
        }
        List<String> executions = Files.readAllLines(file);
        Set<String> keys = new HashSet<>(executions);
        int steps = runs.size() * STEPS;
        check(keys.size() >= steps && keys.size() <= steps + retried * STEPS, keys.size() + " effects of " + runs.size() + " runs");
        System.out.println(kills + " kills, " + runs.size() + " runs, " + steps + " steps, " + retried + " tasks tried again, " + executions.size() + " executions, seed " + seed);
    }
}
