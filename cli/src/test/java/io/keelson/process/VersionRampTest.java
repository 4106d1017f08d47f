package io.keelson.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.ChildJvm;
import io.keelson.api.work.ToolVersions;
import io.keelson.client.Keelson;
import io.keelson.client.RunRequest;
import io.keelson.client.plan.Mission;
import io.keelson.core.Breadth;
import io.keelson.server.Invariants;
import io.keelson.server.app.Server;
import io.keelson.server.app.Settings;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseOptions;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import java.nio.file.Path;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Worker programs of two versions at two servers, while the new version is ramped under load and rolled back. */
@Breadth.InPart(3)
class VersionRampTest {
    private static final String TOOL = VersionWorker.TOOL;
    private static final Duration LONG = Duration.ofMinutes(3);
    /** Runs of a phase. */
    private static final int RUNS = Integer.getInteger("keelson.figures", 30);
    /** Polls of a server without rules until it reads them. */
    private static final int POLLS = 6;

    private final String key = Settings.newBootstrapKey();
    private final DatabaseUrl url = TestDatabase.createUrl();
    private final Database database = new Database(url, DatabaseOptions.DEFAULTS.withPoolSize(2));
    private final List<Process> workers = new ArrayList<>();
    private final List<String> all = new ArrayList<>();
    /** Runs of all phases whose second task waits for a signal. */
    private final List<String> held = new ArrayList<>();
    private Path folder;
    private Server first;
    private Server second;
    private Keelson here;
    private Keelson there;

    @BeforeEach
    void start(@TempDir Path temporary) throws Exception {
        folder = temporary;
        first = server("first");
        second = server("second");
        here = client(first);
        there = client(second);
    }

    private Server server(String name) throws Exception {
        Path data = folder.resolve(name);
        return Server.start(Settings.load(Map.of("KEELSON_DATA_DIR", data.toString(), "KEELSON_HTTP_PORT", "0",
                "KEELSON_DATABASE_URL", TestDatabase.text(url), "KEELSON_SECRET_KEY",
                "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=", "KEELSON_BOOTSTRAP_KEY", key), data, data));
    }

    @AfterEach
    void stop() throws Exception {
        workers.forEach(Process::destroyForcibly);
        first.close();
        second.close();
        Invariants.hold(database);
        database.close();
    }

    private static Keelson client(Server server) {
        return Keelson.builder().url(server.baseUrl().toString()).apiKey(server.apiKey()).build();
    }

    private Process worker(Server server, String version) throws Exception {
        List<String> command = new ArrayList<>(ChildJvm.command());
        command.addAll(List.of(VersionWorker.class.getName(), version, "w" + workers.size() + "-" + version));
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().keySet().removeIf(name -> name.startsWith("KEELSON_"));
        builder.environment().putAll(Map.of("KEELSON_URL", server.baseUrl().toString(), "KEELSON_API_KEY",
                server.apiKey()));
        Path log = folder.resolve("worker-" + workers.size() + ".log");
        Process process = builder.redirectErrorStream(true).redirectOutput(log.toFile()).start();
        workers.add(process);
        return process;
    }

    private ToolVersions.Version version(String version) {
        return here.versions().get(TOOL).versions().stream().filter(each -> each.version().equals(version))
                .findFirst().orElseThrow();
    }

    /** Has both servers read the rule, and submits runs. */
    private List<String> submit() throws InterruptedException {
        for (int i = 0; i < POLLS; i++) {
            first.clockMoved();
            second.clockMoved();
        }
        List<String> runs = new ArrayList<>();
        for (int i = 0; i < RUNS; i++) {
            boolean holds = i % 10 == 0;
            Mission mission =
                    Mission.named("ramp").task("a", t -> t.step("s", TOOL, Map.of()).step("again", TOOL, Map.of()))
                            .task("b", t -> t.after("a").step("hold", holds ? "signal.wait" : "echo",
                                    holds ? Map.of("name", "go") : Map.of()))
                            .task("c", t -> t.after("b").step("s", TOOL, Map.of()));
            String run = (i % 2 == 0 ? here : there).runs().create(RunRequest.of(mission.toJson()).start())
                    .id();
            runs.add(run);
            (holds ? held : all).add(run);
        }
        return runs;
    }

    /** Waits until each of them has a version, and returns how many have that one. */
    private long share(List<String> runs, String version) {
        Awaitility.await().atMost(LONG).until(() -> versions().keySet().containsAll(runs));
        Map<String, List<String>> all = versions();
        return runs.stream().filter(run -> all.get(run).getFirst().equals(version)).count();
    }

    /** The versions of the workers that have completed steps, by run; of each execution. */
    private Map<String, List<String>> versions() {
        return database.withConnection(c -> {
            Map<String, List<String>> versions = new HashMap<>();
            try (PreparedStatement statement = c.prepareStatement("""
                    select run_id, output ->> 'version' as version from orchestration_steps
                     where tool = 'test.version' and state = 'completed'
                    union all
                    select r.run_id, split_part(r.holder, '-', 2) from step_results r
                     where r.holder like 'w%-%'"""); ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    versions.computeIfAbsent(row.getString("run_id"), _ -> new ArrayList<>())
                            .add(row.getString("version"));
                }
            }
            return versions;
        });
    }

    private static long inFirst(int percent, List<String> runs) {
        return runs.stream().filter(run -> Long.parseLong(run.substring(run.length() - 8), 16) % 100 < percent).count();
    }

    @Test
    void versionIsRampedUnderLoadAndRolledBack() throws Exception {
        worker(first, "1");
        worker(second, "1");
        Process early = worker(first, "2");
        worker(second, "2");
        Awaitility.await().atMost(LONG).until(() -> here.tools().stream()
                .anyMatch(tool -> tool.name().equals(TOOL)));
        here.versions().promote(TOOL, "1", null);
        Awaitility.await().atMost(LONG).until(() -> here.versions().get(TOOL).versions().stream()
                .mapToInt(ToolVersions.Version::workers).sum() == workers.size());

        assertThat(share(submit(), "2")).as("before the ramp").isZero();
        for (int percent : List.of(10, 50, 100)) {
            (percent == 50 ? there : here).versions().ramp(TOOL, "2", percent, null);
            List<String> runs = submit();
            if (percent == 50) {
                early.destroyForcibly().waitFor();
                worker(first, "2");
            }
            assertThat(share(runs, "2")).as("%d percent", percent).isEqualTo(inFirst(percent, runs));
        }
        there.versions().rollback(TOOL);
        assertThat(share(submit(), "1")).as("after the rollback").isEqualTo(RUNS);
        assertThat(version("2").state()).isEqualTo("draining");
        assertThat(version("2").runs()).isPositive();

        held.forEach(run -> there.runs().signal(run, "go", null));
        all.addAll(held);
        for (String run : all) {
            assertThat(there.runs().awaitEnd(run, LONG).state()).isEqualTo("completed");
        }
        Map<String, List<String>> executions = versions();
        for (String run : all) {
            assertThat(executions.get(run)).as("one version, nothing lost").hasSizeGreaterThanOrEqualTo(3)
                    .allMatch(executions.get(run).getFirst()::equals);
        }
        assertThat(version("2").runs()).as("nothing stays with it").isZero();
    }
}
