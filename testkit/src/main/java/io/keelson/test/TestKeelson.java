package io.keelson.test;

import io.keelson.api.run.Run;
import io.keelson.api.run.Step;
import io.keelson.api.tenant.ApiKey;
import io.keelson.api.tenant.NewApiKey;
import io.keelson.api.tenant.Workspace;
import io.keelson.client.Json;
import io.keelson.client.Keelson;
import io.keelson.client.RunRequest;
import io.keelson.client.plan.Mission;
import io.keelson.client.worker.Worker;
import io.keelson.server.base.problem.StartupException;
import io.keelson.server.testing.TestClock;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.dataformat.yaml.YAMLMapper;

/**
 * Keelson for one test: a workspace of its own on the server of the class, with scripted tools and a scripted model. Waits of
 * this class last at most 30 seconds of real time; the test's own time moves by {@link #clock()} only.
 */
public final class TestKeelson implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final Duration POLL = Duration.ofMillis(10);
    private static final List<String> SCOPES =
            List.of("runs:read", "runs:write", "approve", "work", "credits:read", "credits:grant", "admin");
    private static final BigDecimal CREDITS = new BigDecimal(1_000);
    private static final YAMLMapper YAML = YAMLMapper.builder().build();

    private final KitServer kit;
    private final Keelson client;
    private final String key;
    private final Map<String, ScriptedTool> tools = new LinkedHashMap<>();
    private final List<Worker> workers = new ArrayList<>();
    private final boolean ownsServer;

    TestKeelson(KitServer kit, String name) {
        this(kit, name, false);
    }

    private TestKeelson(KitServer kit, String name, boolean ownsServer) {
        this.kit = kit;
        this.ownsServer = ownsServer;
        Keelson operator = kit.client(kit.server().operatorKey());
        Workspace workspace = operator.workspaces().create(name.isBlank() ? "test" : name, Map.of());
        operator.workspaces().grant(workspace.id(), CREDITS, "of the test kit", UUID.randomUUID().toString());
        ApiKey made = operator.apiKeys().create(workspace.id(), new NewApiKey("test", null, null, SCOPES, null));
        this.key = String.valueOf(made.key());
        this.client = kit.client(key);
        reset();
    }

    /**
     * Starts a server for tests without {@link KeelsonTest}; closing the result ends the server.
     *
     * @param settings of the server, {@code KEELSON_…}
     * @throws IllegalStateException with the reason, if the server does not start
     */
    public static TestKeelson open(Map<String, String> settings) {
        try {
            return new TestKeelson(KitServer.start(settings), "test", true);
        } catch (IOException | StartupException e) {
            throw new IllegalStateException("the test's server did not start: " + e.getMessage(), e);
        }
    }

    /** Ends scripts, faults and recorded calls, as at the begin of a test. */
    public synchronized void reset() {
        kit.model().clear();
        kit.server().clearFaults();
        tools.values().forEach(ScriptedTool::clear);
    }

    /** A client with all scopes in the test's workspace. */
    public Keelson client() {
        return client;
    }

    /** The server's address, for clients and workers of the test's own. */
    public String url() {
        return kit.server().url().toString();
    }

    /** The key of {@link #client()}. */
    public String apiKey() {
        return key;
    }

    /** The clock of the server, for timers, schedules, leases, timeouts and expiry. */
    public TestClock clock() {
        return kit.server().clock();
    }

    /** The model {@code scripted}. */
    public TestModel model() {
        return new TestModel(kit.model());
    }

    /** The tool of this name, served by a worker of the test from now on. */
    public synchronized ScriptedTool tool(String name) {
        return tools.computeIfAbsent(name, this::serve);
    }

    private ScriptedTool serve(String name) {
        ScriptedTool tool = new ScriptedTool(name);
        ObjectNode announced = Json.object().put("worker_id", "test");
        announced.putArray("tool_specs").addObject().put("name", name);
        client.api().post("/dispatch/register", announced);
        workers.add(Worker.builder(client).poll(Duration.ofMillis(500)).grace(Duration.ZERO).tool(name, tool::call)
                .build().start());
        return tool;
    }

    /** Has the next request fail so, once: of a worker about any tool, or to the scripted model. */
    public void fault(Fault fault) {
        if (fault == Fault.PROVIDER_500) {
            kit.model().fail(1);
        } else {
            kit.server().fault(fault.ofServer(), null, 1);
        }
    }

    /**
     * Has the next request of a worker about a tool fail so, once.
     *
     * @throws IllegalArgumentException if the fault is one of a provider, which has no tools
     */
    public void fault(Fault fault, String tool) {
        if (fault == Fault.PROVIDER_500) {
            throw new IllegalArgumentException(fault + " has no tool");
        }
        kit.server().fault(fault.ofServer(), tool, 1);
    }

    /** Creates and starts a run of a mission that is built in code. */
    public Run start(Mission mission) {
        return start(mission.toJson(), Map.of());
    }

    /**
     * Creates and starts a run of a mission file.
     *
     * @param mission YAML or JSON
     * @param inputs values by name, any that Jackson can write
     */
    public Run start(Path mission, Map<String, ?> inputs) {
        try {
            return start(Json.of(YAML.readTree(Files.readString(mission))), inputs);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Creates and starts a run of a mission document. */
    public Run start(JsonNode mission, Map<String, ?> inputs) {
        RunRequest request = RunRequest.of(mission).start();
        for (Map.Entry<String, ?> input : inputs.entrySet()) {
            request = request.input(input.getKey(), input.getValue());
        }
        return client.runs().create(request);
    }

    /**
     * Waits for the end of a run.
     *
     * @throws AssertionError with the reasons of the wait, if it has not ended within 30 seconds
     */
    public Run end(Run run) {
        return await("run " + run.id() + " has not ended: " + run.name(), () -> client.runs().get(run.id()), Run::ended,
                run);
    }

    /**
     * Waits until a step is in a state, such as {@code waiting} for a timer or a signal.
     *
     * @param name of the step
     */
    public Step step(Run run, String name, String state) {
        return await("step " + name + " is not " + state, () -> client.runs().steps(run.id()).stream()
                .filter(each -> each.name().equals(name)).reduce((first, last) -> last).orElse(null),
                step -> step != null && step.state().equals(state), run);
    }

    /** Waits until a tool was called so often. */
    public void awaitCalls(ScriptedTool tool, int number) {
        until(tool.name() + " was not called " + number + " times", () -> tool.calls().size() >= number);
    }

    /**
     * Waits until a condition holds.
     *
     * @param problem for the error, if it does not hold within 30 seconds
     */
    public void until(String problem, BooleanSupplier condition) {
        long end = System.nanoTime() + LIMIT.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > end) {
                throw new AssertionError(problem);
            }
            LockSupport.parkNanos(POLL.toNanos());
        }
    }

    /** Waits until a run has an event of a type, such as {@code step_deferred}. */
    public void awaitEvent(Run run, String type) {
        await("run " + run.name() + " has no event " + type, () -> new RunAssert(client, run).types(),
                types -> types.contains(type), run);
    }

    private <T> T await(String problem, Supplier<T> read, Predicate<T> wanted, Run run) {
        long end = System.nanoTime() + LIMIT.toNanos();
        while (true) {
            T found = read.get();
            if (wanted.test(found)) {
                return found;
            }
            if (System.nanoTime() > end) {
                throw new AssertionError(problem + "; " + client.runs().explain(run.id()));
            }
            LockSupport.parkNanos(POLL.toNanos());
        }
    }

    /** Waits for the end of a run, and begins checks of it. */
    public RunAssert assertEnd(Run run) {
        return new RunAssert(client, end(run));
    }

    /** Begins checks of a run as it is now. */
    public RunAssert assertThat(Run run) {
        return new RunAssert(client, client.runs().get(run.id()));
    }

    /**
     * Stops the workers of the test, and its server if {@link #open} has started it. Workers are not waited for, because an
     * idle worker ends when its claim is answered.
     */
    @Override
    public synchronized void close() {
        workers.forEach(worker -> Thread.ofVirtual().start(worker::close));
        if (ownsServer) {
            try {
                kit.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
