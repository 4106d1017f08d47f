package io.keelson.server.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.api.worker.WorkItem;
import io.keelson.core.run.Command;
import io.keelson.core.run.NewRun;
import io.keelson.core.run.Reply;
import io.keelson.server.base.db.CountingProxy;
import io.keelson.server.base.db.CountingProxy.Loss;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseOptions;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.engine.dispatch.WorkerClaim;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The connection is lost during the message that writes and commits: the node cannot know whether it committed. */
class LostCommitTest {
    private CountingProxy proxy;
    private Nodes nodes;
    private Engine engine;

    @BeforeEach
    void start(@TempDir Path folder) throws Exception {
        proxy = new CountingProxy(TestDatabase.createUrl());
        nodes = new Nodes(folder, new Database(proxy.url(), DatabaseOptions.DEFAULTS));
        engine = nodes.node();
    }

    @AfterEach
    void stop() throws Exception {
        nodes.close();
        proxy.close();
    }

    @ParameterizedTest
    @EnumSource(Loss.class)
    void requestIsExecutedOnce(Loss loss) throws Exception {
        UUID run = nodes.submit(engine, """
                name: short
                plan:
                  tasks:
                    - {id: a, title: A, steps: [{name: one, tool: remote.work}]}
                """, "remote.work");
        proxy.lose(loss, "merge into run_heads");
        Reply reply = engine.submit(new Command.Pause(run, null, Nodes.WHO)).join();

        assertThat(proxy.lost()).isTrue();
        assertThat(reply).isEqualTo(loss == Loss.REQUEST ? Reply.CHANGED : Reply.UNCHANGED);
        assertThat(nodes.state(run)).isEqualTo("paused");
        assertThat(nodes.count("select count(*) from orchestration_events where event_type = 'run_paused'"))
                .isEqualTo(1);
        assertThat(engine.submit(new Command.Resume(run, Nodes.WHO)).join()).isEqualTo(Reply.CHANGED);
        nodes.assertSound();
    }

    /** Where the step was leased by a commit that the node does not know of, it gets the step when that lease has ended. */
    @Timeout(120)
    @ParameterizedTest
    @EnumSource(Loss.class)
    void waitingClaimGetsTheStepOfTheCommit(Loss loss) throws Exception {
        NewRun run = nodes.run("{name: short, plan: {tasks: [{id: a, steps: [{tool: remote.work}]}]}}",
                "remote.work");
        CountDownLatch waits = new CountDownLatch(2);
        FutureTask<List<WorkItem>> claim = new FutureTask<>(() -> engine.remoteWork()
                .claim(new WorkerClaim(Nodes.WORKSPACE,
                        "worker", List.of("remote.work"), 1, Duration.ofMinutes(1), Duration.ofSeconds(1), "1", null,
                        false, Set.of(), () -> false, () -> {
                            waits.countDown();
                            return false;
                        })));
        Thread.startVirtualThread(claim);
        waits.await();
        proxy.lose(loss, "run_heads");
        engine.submit(new Command.Create(run, true, Nodes.WHO)).join();

        assertThat(claim.get()).extracting(WorkItem::runId).containsExactly(run.id());
        assertThat(proxy.lost()).isTrue();
        nodes.assertSound();
    }
}
