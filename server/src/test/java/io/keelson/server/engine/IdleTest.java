package io.keelson.server.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.api.worker.WorkItem;
import io.keelson.core.Breadth;
import io.keelson.server.base.background.BackgroundTask;
import io.keelson.server.base.db.CountingProxy;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseOptions;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.engine.dispatch.RemoteDispatch;
import io.keelson.server.engine.dispatch.WorkerClaim;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a node asks of the database while there is nothing to do (docs/internals/benchmarks.md: at most 2 statements a second). */
@Breadth.Spread
class IdleTest {
    private static final int STEPS = 20;
    private static final int SAMPLES = 5;

    @TempDir
    Path folder;

    @Test
    void anIdleNodeAsksOnceASecondAndLittleBesides() throws Exception {
        try (var proxy = new CountingProxy(TestDatabase.createUrl());
                var nodes = new Nodes(folder, new Database(proxy.url(), DatabaseOptions.DEFAULTS))) {
            Engine engine = nodes.node();
            UUID run = nodes.submit(engine, """
                    name: before
                    goal: g
                    plan: {tasks: [{id: a, steps: [{tool: noop}]}]}
                    """);
            nodes.awaitState(run, "completed");
            // Events settle once all transactions of the cluster that were open have ended, also those of other tests.
            Awaitility.await().atMost(Duration.ofMinutes(2))
                    .until(() -> nodes.count("select count(*) where keelson_events_unsettled()") == 0);
            List<String> asked = whileLookingAround(proxy);
            assertThat(asked).as(String.join("\n\n", asked)).hasSizeLessThanOrEqualTo(2 * SAMPLES);
        }
    }

    /** Without a notification, as a change by SQL has none. */
    @Test
    void settingsAreReadSoonAfterAChange() throws Exception {
        try (var proxy = new CountingProxy(TestDatabase.createUrl());
                var nodes = new Nodes(folder, new Database(proxy.url(), DatabaseOptions.DEFAULTS))) {
            nodes.node();
            int first = looks(proxy.executed()).length;
            Awaitility.await().until(() -> looks(proxy.executed()).length > first + 2);
            long before = readings(proxy);
            nodes.count("with changed as (insert into workspace_limits (workspace_id, name, most) values ('"
                    + Nodes.WORKSPACE + "', 'tool:echo', 3) returning 1) select count(*) from changed");
            Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> readings(proxy) > before);
            assertThat(readings(proxy)).as("while nothing else changes").isEqualTo(before + 1);
        }
    }

    private static long readings(CountingProxy proxy) {
        return proxy.executed().stream().filter(sql -> sql.contains("from workspace_limits where")).count();
    }

    @Test
    void workersThatWaitAskNothing() throws Exception {
        try (var proxy = new CountingProxy(TestDatabase.createUrl());
                var nodes = new Nodes(folder, new Database(proxy.url(), DatabaseOptions.DEFAULTS));
                var workers = Executors.newVirtualThreadPerTaskExecutor()) {
            RemoteDispatch remote = nodes.node().remoteWork();
            for (int i = 0; i < 10; i++) {
                var claim = new WorkerClaim(Nodes.WORKSPACE, "worker" + i, List.of("far.away"), 1,
                        Duration.ofSeconds(20), null, "test");
                workers.submit(() -> remote.claim(claim));
            }
            Awaitility.await().until(() -> nodes.count("select count(*) from workers") == 10);
            List<String> asked = whileLookingAround(proxy);
            workers.shutdownNow();
            assertThat(asked).as(String.join("\n\n", asked)).hasSizeLessThanOrEqualTo(2 * SAMPLES);
        }
    }

    @Test
    void aQueuedStepIsSearchedByTheClaimsForItsToolOnly() throws Exception {
        try (var proxy = new CountingProxy(TestDatabase.createUrl());
                var nodes = new Nodes(folder, new Database(proxy.url(), DatabaseOptions.DEFAULTS));
                var workers = Executors.newVirtualThreadPerTaskExecutor()) {
            Engine engine = nodes.node();
            for (String tool : List.of("further.away", "furthest.away")) {
                workers.submit(() -> engine.remoteWork().claim(claim(tool)));
            }
            Awaitility.await().until(() -> nodes.count("select count(*) from workers") == 2);
            long before = searches(proxy);
            int looksBefore = looks(proxy.executed()).length;
            for (int i = 0; i < STEPS; i++) {
                Future<List<WorkItem>> claimed =
                        workers.submit(() -> engine.remoteWork().claim(claim("far.away")));
                nodes.submit(engine, """
                        name: far
                        goal: g
                        plan: {tasks: [{id: a, steps: [{tool: far.away}]}]}
                        """, "far.away");
                assertThat(claimed.get()).hasSize(1);
            }
            workers.shutdownNow();
            // Each claim may search in vain once before its step is queued; a look of the poller may wake all three claims.
            int looks = looks(proxy.executed()).length - looksBefore;
            assertThat(searches(proxy) - before).isLessThanOrEqualTo(2 * STEPS + 3 * looks);
        }
    }

    private static WorkerClaim claim(String tool) {
        return new WorkerClaim(Nodes.WORKSPACE, "for " + tool, List.of(tool), 1, Duration.ofSeconds(20), null,
                "test");
    }

    private static long searches(CountingProxy proxy) {
        return proxy.executed().stream().filter(sql -> sql.contains("with recursive heads")).count();
    }

    /** What each task asks where there is nothing to do, by how often it comes: also those that come seldom. */
    @Test
    void allTasksTogetherAskLittle() throws Exception {
        try (var proxy = new CountingProxy(TestDatabase.createUrl());
                var nodes = new Nodes(folder, new Database(proxy.url(), DatabaseOptions.DEFAULTS))) {
            Map<String, Integer> asked = new LinkedHashMap<>();
            double perSecond = 0;
            for (BackgroundTask task : nodes.node().upkeep().tasks()) {
                if (task.period().equals(BackgroundTask.ON_NUDGE)) {
                    continue;
                }
                int count = IntStream.range(0, 3).map(i -> asks(task, proxy)).min().orElseThrow();
                perSecond += count * 1_000.0 / task.period().toMillis();
                asked.put(task.name() + " each " + task.period(), count);
            }
            assertThat(perSecond).as(asked.toString()).isBetween(1.1, 1.3);
        }
    }

    /** What others ask meanwhile is counted, too. */
    private static int asks(BackgroundTask task, CountingProxy proxy) {
        int before = proxy.executed().size();
        try {
            task.runOnce();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        return proxy.executed().size() - before;
    }

    /** From the second look from now on, so that what was under way is over. */
    private static List<String> whileLookingAround(CountingProxy proxy) {
        int first = looks(proxy.executed()).length + 1;
        Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> looks(proxy.executed()).length > first + SAMPLES);
        List<String> executed = proxy.executed();
        int[] looks = looks(executed);
        return executed.subList(looks[first], looks[first + SAMPLES]);
    }

    private static int[] looks(List<String> executed) {
        return IntStream.range(0, executed.size()).filter(i -> executed.get(i).contains("next_lease_ms")).toArray();
    }
}
