package io.keelson.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.api.run.ResultSource;
import io.keelson.api.run.Run;
import io.keelson.client.Keelson;
import io.keelson.client.RunRequest;
import io.keelson.client.plan.Mission;
import io.keelson.client.worker.Worker;
import io.keelson.core.Breadth;
import io.keelson.process.KilledNode.Point;
import io.keelson.server.Invariants;
import io.keelson.server.base.db.CountingProxy.Write;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseOptions;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.hamcrest.Matchers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A run waits for the result that a worker computes for another one. The server is killed after the wait began, before and after the
 * commit of the result, and before the result is taken over: it is computed and paid once.
 */
@Breadth.InPart(1)
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class ReuseKillsTest {
    private static final String TOOL = "test.slow";
    private static final Duration LIMIT = Duration.ofMinutes(2);

    private final AtomicInteger executions = new AtomicInteger();
    private final CountDownLatch computed = new CountDownLatch(1);

    @Test
    void resultIsComputedAndPaidOnce(@TempDir Path folder) throws Exception {
        DatabaseUrl url = TestDatabase.createUrl();
        try (Database database = new Database(url, DatabaseOptions.DEFAULTS.withPoolSize(2));
                KilledNode node = new KilledNode(folder, url, Map.of())) {
            node.awaitReady();
            Keelson client = node.client();
            try (Worker _ = Worker.builder(client).slots(2).poll(Duration.ofMillis(500)).tool(TOOL, step -> {
                executions.incrementAndGet();
                computed.await();
                return Map.of("n", 7);
            }).build().start()) {
                Awaitility.await().atMost(LIMIT).until(
                        () -> client.tools().stream().anyMatch(tool -> tool.name().equals(TOOL)));
                String first = create(client);
                client.runs().start(first);
                Awaitility.await().atMost(LIMIT).untilAtomic(executions, Matchers.is(1));
                String second = create(client);
                node.doom(Point.AFTER_COMMIT, event("step_result_awaited"), 0);
                client.runs().start(second);
                node.awaitDeath();
                node.doom(Point.BEFORE_COMMIT, event("step_completed"), 0);
                node.restart();
                computed.countDown();
                node.awaitDeath();
                node.doom(Point.AFTER_COMMIT, event("step_completed"), 0);
                node.restart();
                node.awaitDeath();
                node.doom(Point.BEFORE_COMMIT, event("step_result_reused"), 0);
                node.restart();
                node.awaitDeath();
                node.restart();
                node.awaitReady();

                assertThat(client.runs().awaitEnd(first, LIMIT).state()).isEqualTo("completed");
                Run reader = client.runs().awaitEnd(second, LIMIT);
                assertThat(reader.state()).isEqualTo("completed");
                assertThat(reader.creditsCharged()).isZero();
                ResultSource source = Objects.requireNonNull(client.runs().steps(second).getFirst().resultFrom());
                assertThat(source.runId()).isEqualTo(first);
                assertThat(executions).hasValue(1);
            }
            Invariants.hold(database);
        }
    }

    private static String create(Keelson client) {
        return client.runs().create(RunRequest.of(Mission.named("reuse").task("a",
                t -> t.step("s", TOOL, Map.of(), s -> s.cache("1", Duration.ofHours(1)))).toJson())).id();
    }

    private static Write event(String type) {
        return new Write("insert into run_event_packs", type);
    }
}
