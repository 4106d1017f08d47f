package io.keelson.server.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.api.worker.Completion;
import io.keelson.api.worker.Heartbeat;
import io.keelson.api.worker.ReportAnswer;
import io.keelson.api.worker.WorkItem;
import io.keelson.core.Breadth;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.run.Command;
import io.keelson.core.run.NewRun;
import io.keelson.core.run.Reply;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.dispatch.RemoteDispatch;
import io.keelson.server.engine.dispatch.WorkerClaim;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

@Breadth.Spread
class EngineTest extends GatedEngines {
    private static final String GATED = """
            name: gated
            goal: g
            plan:
              tasks:
                - id: a
                  steps:
                    - {name: hold, tool: test.gate}
                    - {name: after, tool: echo, input: {said: "${ .steps.hold.output }"}}
            """;

    private static final String REMOTE = """
            name: remote
            plan: {tasks: [{id: a, steps: [{tool: far.away}]}]}
            """;

    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    @Override
    Nodes open(Path folder) throws Exception {
        return new Nodes(folder, gate);
    }

    @Test
    void outputsReachDownstreamTasks() throws Exception {
        UUID run = nodes.submit(nodes.node(), """
                name: flow
                goal: g
                inputs: {who: {type: string, default: you}}
                plan:
                  tasks:
                    - id: a
                      steps: [{tool: echo, input: {greeting: "hello ${ .inputs.who }"}}]
                    - id: each
                      depends_on: [a]
                      for_each: "${ [1, 2, 3] }"
                      steps: [{tool: echo, input: {n: "${ .item * 10 }"}}]
                    - id: never
                      depends_on: [a]
                      when: "${ .tasks.a.output.greeting == \\"bye\\" }"
                      steps: [{tool: noop}]
                    - id: nap
                      steps: [{tool: wait, input: {seconds: 0.05}}]
                    - id: end
                      depends_on: [each, never, nap]
                      trigger_rule: none_failed
                      steps: [{tool: echo, input: {sum: "${ [.tasks.each.output[].n] | add }"}}]
                output: {said: "${ .tasks.a.output.greeting }", sum: "${ .tasks.end.output.sum }"}
                """);
        nodes.awaitState(run, "completed");
        assertThat(nodes.text("SELECT output FROM orchestration_runs WHERE id = '" + run + "'"))
                .isEqualTo("{\"sum\": 60, \"said\": \"hello you\"}");
    }

    @Test
    void aFailingToolIsTriedAgain() throws Exception {
        UUID run = nodes.submit(nodes.node(), """
                name: flaky
                goal: g
                plan:
                  tasks:
                    - id: a
                      steps: [{tool: fail, input: {code: FLAKY, class: infrastructure, times: 2}}]
                """);
        nodes.awaitState(run, "completed");
        assertThat(nodes.count("SELECT attempt FROM orchestration_steps WHERE run_id = '" + run + "'")).isEqualTo(3);
    }

    @Test
    void aPauseKeepsTheResultAndStartsNothingNew() throws Exception {
        Engine engine = nodes.node();
        UUID run = nodes.submit(engine, GATED);
        gate.awaitEntered(1);
        assertThat(engine.submit(new Command.Pause(run, null, Nodes.WHO)).join()).isEqualTo(Reply.CHANGED);
        gate.open.release();
        Awaitility.await().untilAsserted(() -> assertThat(step(run, "hold")).isEqualTo("completed"));
        assertThat(step(run, "after")).isEqualTo("pending");
        assertThat(nodes.count("SELECT count(*) FROM work_queue")).isZero();
        engine.submit(new Command.Resume(run, Nodes.WHO)).join();
        nodes.awaitState(run, "completed");
    }

    @Test
    void waiterIsNotifiedOfAnEndCommittedByAnyNode() throws Exception {
        Engine one = nodes.node();
        Engine other = nodes.node();
        UUID run = nodes.submit(one, GATED);
        gate.awaitEntered(1);
        var ends = List.of(one.ended(run), other.ended(run), one.ended(run));
        gate.open.release();
        for (var end : ends) {
            assertThat(end.get(60, TimeUnit.SECONDS).state()).isEqualTo(RunState.COMPLETED);
        }
    }

    /** A node decides on the views that it keeps; what another node has done since must not make its answers wrong. */
    @Test
    void nodeWithAStaleViewDecidesAgain() throws Exception {
        Engine one = nodes.node();
        Engine other = nodes.node();
        UUID run = nodes.submit(one, GATED);
        gate.awaitEntered(1);
        assertThat(other.submit(new Command.Pause(run, null, Nodes.WHO)).join()).isEqualTo(Reply.CHANGED);
        assertThat(one.submit(new Command.Pause(run, null, Nodes.WHO)).join()).isEqualTo(Reply.UNCHANGED);
        assertThat(other.submit(new Command.Cancel(run, null, Nodes.WHO)).join()).isEqualTo(Reply.CHANGED);
        assertThat(one.submit(new Command.Retry(run, false, Nodes.WHO)).join())
                .isInstanceOfSatisfying(Reply.Rejected.class, r -> assertThat(r.current()).isEqualTo("cancelled"));
    }

    @Test
    void cancelInterruptsTheTool() throws Exception {
        Engine engine = nodes.node();
        UUID run = nodes.submit(engine, GATED);
        gate.awaitEntered(1);
        engine.submit(new Command.Cancel(run, "enough", Nodes.WHO)).join();
        assertThat(gate.interrupted.await(60, TimeUnit.SECONDS)).isTrue();
        nodes.awaitState(run, "cancelled");
    }

    @Test
    void aStepThatTakesTooLongIsInterruptedAndTriedAgain() throws Exception {
        UUID run = nodes.submit(nodes.node(), """
                name: slow
                goal: g
                plan:
                  tasks:
                    - id: a
                      steps: [{tool: test.gate, timeout_seconds: 0.2, retry: {max_attempts: 2, base_delay_seconds: 0}}]
                """);
        gate.awaitEntered(2);
        nodes.awaitState(run, "failed");
        assertThat(nodes.text("SELECT error_code FROM orchestration_runs WHERE id = '" + run + "'"))
                .isEqualTo("STEP_TIMEOUT");
    }

    @Test
    void gracefulShutdownReleasesLeasesAndARestartContinues() throws Exception {
        Engine first = nodes.node();
        UUID run = nodes.submit(first, GATED);
        gate.awaitEntered(1);
        first.close();
        assertThat(step(run, "hold")).isEqualTo("running");
        assertThat(nodes.text("SELECT holder FROM work_queue")).isNull();
        gate.open.release();
        nodes.node();
        nodes.awaitState(run, "completed");
        assertThat(nodes.count("SELECT attempt FROM orchestration_steps WHERE name = 'hold'")).isEqualTo(1);
        assertThat(nodes.count("SELECT lease_epoch FROM orchestration_steps WHERE name = 'hold'")).isEqualTo(2);
    }

    @Test
    void twoNodesShareTheWork() throws Exception {
        Engine one = nodes.node();
        Engine two = nodes.node();
        List<UUID> runs = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            runs.add(nodes.submit(i % 2 == 0 ? one : two, """
                    name: many
                    goal: g
                    plan:
                      tasks:
                        - {id: a, for_each: "${ [range(20)] }", steps: [{tool: noop}, {tool: noop}]}
                        - {id: b, depends_on: [a], steps: [{tool: noop}]}
                    """));
        }
        runs.forEach(run -> nodes.awaitState(run, "completed"));
    }

    @Test
    void aWorkerThatWasFrozenPastItsLeaseIsRefused() throws Exception {
        RemoteDispatch remote = nodes.node().remoteWork();
        UUID run = nodes.submit(nodes.node(), """
                name: remote
                goal: g
                plan: {tasks: [{id: a, steps: [{tool: far.away, input: {n: 1}}]}]}
                """, "far.away");
        WorkItem lost = claim(remote, "frozen", Duration.ofMillis(200));
        WorkItem again = claim(remote, "healthy", Duration.ofSeconds(30));
        assertThat(again.stepId()).isEqualTo(lost.stepId());
        assertThat(again.leaseEpoch()).isEqualTo(2);
        assertThat(again.attempt()).isEqualTo(1);
        assertThat(complete(remote, "frozen", lost, "\"late\"").status()).isEqualTo("stale_lease");
        assertThat(remote.heartbeat(Nodes.WORKSPACE, "frozen",
                List.of(new Heartbeat(lost.stepId(), 1, 0, null, null, null, null, List.of(), null))).getFirst()
                .reason())
                .isEqualTo(ReportAnswer.LOST);
        assertThat(complete(remote, "healthy", again, "\"good\"").status()).isEqualTo("ok");
        assertThat(complete(remote, "healthy", again, "\"good\"").status()).isEqualTo("duplicate");
        assertThat(complete(remote, "healthy", again, "\"twice\"").status()).isEqualTo("conflict");
        nodes.awaitState(run, "completed");
        assertThat(nodes.text("SELECT output FROM orchestration_steps")).isEqualTo("\"good\"");
    }

    @Test
    void hundredsOfRunsAtOnce() throws Exception {
        Engine engine = nodes.node();
        List<UUID> runs = new ArrayList<>();
        for (int i = 0; i < Breadth.of(150, 1_000); i++) {
            runs.add(nodes.submit(engine, """
                    name: small
                    goal: g
                    plan: {tasks: [{id: a, steps: [{tool: noop}, {tool: noop}]}, {id: b, depends_on: [a], steps: [{tool: noop}]}]}
                    """));
        }
        runs.forEach(run -> nodes.awaitState(run, "completed"));
    }

    /** Repeated, because a claim may be on its way when its step is queued. */
    @Test
    void waitingClaimHoldsItsStepFromTheCommitOnThatCreatesTheRun() throws Exception {
        Engine engine = nodes.node();
        RemoteDispatch remote = engine.remoteWork();
        Awaitility.await().atMost(1, TimeUnit.MINUTES).until(() -> {
            FutureTask<WorkItem> waiting = new FutureTask<>(() -> claim(remote, "worker", Duration.ofSeconds(30)));
            Thread.startVirtualThread(waiting);
            UUID run = nodes.submit(engine, REMOTE, "far.away");
            WorkItem item = waiting.get();
            long commits = nodes.count("SELECT count(*) FROM run_event_packs WHERE run_id = '" + run + "'");
            assertThat(complete(remote, "worker", item, "1").status()).isEqualTo("ok");
            nodes.awaitState(run, "completed");
            return commits == 1;
        });
    }

    /** What a claim leaves in the queue goes to the next one at once, and before newer work. */
    @Test
    void workerThatClaimsAgainGetsTheRestOfTheQueueInItsOrder() throws Exception {
        Engine engine = nodes.node();
        List<UUID> runs = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            runs.add(nodes.submit(engine, REMOTE, "far.away"));
        }
        List<UUID> claimed = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            List<WorkItem> items = engine.remoteWork().claim(again(Duration.ZERO, () -> false));
            assertThat(items).as("claim " + i).hasSize(1);
            claimed.add(items.getFirst().runId());
            if (i == 0) {
                runs.add(nodes.submit(engine, REMOTE, "far.away"));
            }
            assertThat(complete(engine.remoteWork(), "worker", items.getFirst(), "1").status()).isEqualTo("ok");
        }
        assertThat(claimed).isEqualTo(runs);
    }

    /** Repeated until the first of two steps is given between two claims, which takes less than 250 ms. */
    @Test
    void stepGivenBetweenClaimsHidesNoneInTheQueue() throws Exception {
        Engine engine = nodes.node();
        RemoteDispatch remote = engine.remoteWork();
        Awaitility.await().atMost(1, TimeUnit.MINUTES).until(() -> {
            for (int i = 0; i < 3; i++) {
                assertThat(remote.claim(again(Duration.ZERO, () -> false))).isEmpty();
            }
            UUID first = nodes.submit(engine, REMOTE, "far.away");
            nodes.submit(engine, REMOTE, "far.away");
            WorkItem one = remote.claim(again(TIMEOUT, () -> false)).getFirst();
            boolean given = one.runId().equals(first)
                    && nodes.count("SELECT count(*) FROM run_event_packs WHERE run_id = '" + first + "'") == 1;
            List<WorkItem> rest = remote.claim(again(given ? Duration.ZERO : TIMEOUT, () -> false));
            assertThat(rest).hasSize(1);
            for (WorkItem item : List.of(one, rest.getFirst())) {
                assertThat(complete(remote, "worker", item, "1").status()).isEqualTo("ok");
                nodes.awaitState(item.runId(), "completed");
            }
            return given;
        });
    }

    /** Its key is revoked, or the server stops, while it waits for a commit. */
    @Test
    void claimThatMustNotWaitAnyLongerGivesItsStepBack() throws Exception {
        Engine engine = nodes.node();
        UUID first = nodes.submit(engine, REMOTE, "far.away");
        completeAsAnother(engine, first);
        NewRun run = nodes.run(REMOTE, "far.away");
        AtomicBoolean over = new AtomicBoolean();
        CountDownLatch waits = new CountDownLatch(2);
        FutureTask<List<WorkItem>> ended = new FutureTask<>(() -> engine.remoteWork().claim(again(TIMEOUT, () -> {
            waits.countDown();
            return over.get();
        })));
        Thread.startVirtualThread(ended);
        waits.await();
        over.set(true);
        engine.submit(new Command.Create(run, true, Nodes.WHO)).join();

        assertThat(ended.get()).isEmpty();
        completeAsAnother(engine, run.id());
    }

    private void completeAsAnother(Engine engine, UUID run) throws InterruptedException {
        WorkItem item = claim(engine.remoteWork(), "other", null);
        assertThat(complete(engine.remoteWork(), "other", item, "1").status()).isEqualTo("ok");
        nodes.awaitState(run, "completed");
    }

    /** A claim for one step of a worker that claims again as soon as it has the answer. */
    private static WorkerClaim again(Duration maxWait, BooleanSupplier over) {
        return new WorkerClaim(Nodes.WORKSPACE, "worker", List.of("far.away"), 1, maxWait, null, "test", null,
                true, Set.of(), () -> false, over);
    }

    private String step(UUID run, String name) {
        return nodes
                .text("SELECT state FROM orchestration_steps WHERE run_id = '" + run + "' AND name = '" + name + "'");
    }

    private static WorkItem claim(RemoteDispatch remote, String worker, @Nullable Duration lease)
            throws InterruptedException {
        List<WorkItem> items = remote.claim(new WorkerClaim(Nodes.WORKSPACE, worker, List.of("far.away"), 1,
                TIMEOUT, lease, "test"));
        assertThat(items).hasSize(1);
        return items.getFirst();
    }

    private static ReportAnswer complete(RemoteDispatch remote, String worker, WorkItem item, String output) {
        return remote
                .complete(Nodes.WORKSPACE, worker, List.of(new Completion(item.stepId(), item.leaseEpoch(), 0, null,
                        null, null, null, List.of(), Json.read(output), List.of(), List.of(), List.of())), null)
                .getFirst();
    }
}
