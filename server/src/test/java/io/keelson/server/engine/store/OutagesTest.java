package io.keelson.server.engine.store;

import static io.keelson.server.engine.store.RunFixtures.run;
import static io.keelson.server.engine.store.RunFixtures.step;
import static io.keelson.server.engine.store.RunFixtures.task;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.TimerKind;
import io.keelson.server.engine.store.queue.WorkerRegistry;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The first node that starts after an outage records it, and timeouts do not count it. */
class OutagesTest {
    private static final Duration SILENCE = Duration.ofSeconds(15);
    private static final String NOTED = "select from_at || ' ' || to_at from engine_outages order by 1";

    private final World world = new World();
    private final WorkerRegistry workers = new WorkerRegistry(() -> world.now);

    @AfterEach
    void close() throws SQLException {
        world.close();
    }

    @Test
    void firstNodeBackRecordsTheOutage() throws SQLException {
        arrive("one");
        world.tick(Duration.ofSeconds(10));
        arrive("two");
        assertThat(world.query(NOTED)).as("one sent a heartbeat lately").isEmpty();
        world.tick(Duration.ofSeconds(10));
        world.database.runInTransaction(c -> workers.deregister(c, "one"));
        world.tick(Duration.ofMinutes(10));
        arrive("three");
        assertThat(world.query(NOTED)).as("from the last goodbye")
                .containsExactly("2026-01-01 00:00:20+00 2026-01-01 00:10:20+00");
        world.tick(Duration.ofDays(2));
        arrive("four");
        assertThat(world.query("select id from engine_nodes")).containsExactly("four");
        assertThat(world.query(NOTED)).hasSize(2);
    }

    @Test
    void nodesThatStartAtOnceNoteItOnce() throws Exception {
        arrive("first");
        world.tick(Duration.ofMinutes(10));
        CyclicBarrier barrier = new CyclicBarrier(4);
        try (var nodes = Executors.newFixedThreadPool(4)) {
            List<? extends Future<?>> started = List.of("a", "b", "c", "d").stream().map(node -> nodes.submit(() -> {
                barrier.await();
                arrive(node);
                return node;
            })).toList();
            for (Future<?> each : started) {
                each.get();
            }
        }
        assertThat(world.query(NOTED)).hasSize(1);
    }

    @Test
    void aNightWithoutAnEngineTimesNothingOut() throws SQLException {
        UUID run = new UUID(1, 1);
        arrive("evening");
        world.send(new Command.Create(run(run, world.workspace, RunPolicy.DEFAULT, task("a", List.of(), step("one"))),
                true, Actor.human("tester")));
        world.tick(Duration.ofHours(30));
        arrive("morning");
        world.forget(run);
        world.send(new Command.TimerDue(run, TimerKind.WATCH, run, Actor.RECONCILER));
        assertThat(world.view(run).run().state()).isEqualTo(RunState.PENDING);

        world.tick(Duration.ofHours(25));
        world.send(new Command.TimerDue(run, TimerKind.WATCH, run, Actor.RECONCILER));
        assertThat(world.view(run).run().errorCode()).isEqualTo("RUN_NOT_STARTED");
    }

    private void arrive(String node) {
        world.database.runInTransaction(c -> workers.register(c, node, "test", SILENCE));
    }
}
