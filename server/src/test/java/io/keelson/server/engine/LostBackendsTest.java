package io.keelson.server.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.Breadth;
import io.keelson.core.run.Command;
import io.keelson.core.run.NewRun;
import io.keelson.core.run.Reply;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseOptions;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Five times a second PostgreSQL ends one of the node's connections, committers'
 * and pool's alike.
 */
@Timeout(value = 60, unit = TimeUnit.MINUTES)
class LostBackendsTest {
    private static final Duration LENGTH = Duration.ofSeconds(Breadth.of(5, 1_800));
    private static final Duration LIMIT = Duration.ofSeconds(5);
    private static final int POOL = 8;
    private static final String MISSION = """
            name: short
            plan:
              tasks:
                - {id: a, title: A, steps: [{name: one, tool: noop}, {name: nap, tool: wait, input: {seconds: 0.1}}]}
                - {id: b, title: B, depends_on: [a], steps: [{name: one, tool: echo, input: {n: "${ .run.id }"}}]}
            """;
    private static final String END_ONE = """
            select pg_terminate_backend(pid) from pg_stat_activity
             where datname = ? and backend_type = 'client backend' order by random() limit 1""";

    private final AtomicInteger ended = new AtomicInteger();
    /** What was asked for, and whether it was answered. */
    private final Map<UUID, Boolean> asked = new ConcurrentHashMap<>();

    @Test
    void nodeContinues(@TempDir Path folder) throws Exception {
        DatabaseUrl url = TestDatabase.createUrl();
        try (Database database = new Database(url, DatabaseOptions.DEFAULTS.withPoolSize(POOL));
                Nodes nodes = new Nodes(folder, database);
                Connection elsewhere = new DatabaseUrl(url.hosts(), "postgres", url.user(), url.password(),
                        url.parameters()).connect();
                ScheduledExecutorService clock = Executors.newScheduledThreadPool(2)) {
            Engine engine = nodes.node(Duration.ofSeconds(2));
            clock.scheduleAtFixedRate(() -> end(elsewhere, url.database()), 200, 200, TimeUnit.MILLISECONDS);
            clock.scheduleAtFixedRate(() -> submit(nodes, engine), 0, 50, TimeUnit.MILLISECONDS);
            assertThat(clock.awaitTermination(LENGTH.toMillis(), TimeUnit.MILLISECONDS)).isFalse();
            clock.shutdownNow();
            assertThat(clock.awaitTermination(1, TimeUnit.MINUTES)).isTrue();

            assertThat(engine.submit(new Command.Create(nodes.run(MISSION), true, Nodes.WHO)).get(LIMIT.toSeconds(),
                    TimeUnit.SECONDS)).as("the first afterwards").isEqualTo(Reply.CHANGED);
            allConnectionsAreThere(database);
            asked.forEach((run, answered) -> {
                if (answered) {
                    nodes.awaitState(run, "completed");
                }
            });
            Awaitility.await().atMost(Duration.ofMinutes(1)).untilAsserted(() -> assertThat(
                    nodes.count("select count(*) from orchestration_runs where state <> 'completed'")).isZero());
            nodes.assertSound();
            System.out.printf("lost backends: %d ended, %d runs asked for, %d answered%n", ended.get(), asked.size(),
                    asked.values().stream().filter(answered -> answered).count());
            assertThat(ended.get()).isGreaterThan((int) LENGTH.toSeconds());
        }
    }

    private void end(Connection elsewhere, String database) {
        try (PreparedStatement statement = elsewhere.prepareStatement(END_ONE)) {
            statement.setString(1, database);
            try (ResultSet row = statement.executeQuery()) {
                ended.addAndGet(row.next() && row.getBoolean(1) ? 1 : 0);
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private void submit(Nodes nodes, Engine engine) {
        NewRun run = nodes.run(MISSION);
        asked.put(run.id(), false);
        engine.submit(new Command.Create(run, true, Nodes.WHO)).thenAccept(reply -> asked.put(run.id(), true));
    }

    /**
     * Takes all of the pool's connections at the same time: none has leaked. The pool still considers a connection valid that
     * PostgreSQL ended just after its last use.
     */
    private static void allConnectionsAreThere(Database database) throws InterruptedException {
        CountDownLatch held = new CountDownLatch(POOL);
        CompletableFuture<Void> enough = new CompletableFuture<>();
        List<Thread> holders = new ArrayList<>();
        for (int i = 0; i < POOL; i++) {
            holders.add(Thread.ofVirtual().start(() -> database.withConnection(connection -> {
                held.countDown();
                enough.join();
                try (Statement ask = connection.createStatement()) {
                    return ask.execute("select 1");
                } catch (SQLException ended) {
                    return false;
                }
            })));
        }
        assertThat(held.await(60, TimeUnit.SECONDS)).as("all %s connections at once", POOL).isTrue();
        enough.complete(null);
        for (Thread holder : holders) {
            holder.join();
        }
    }
}
