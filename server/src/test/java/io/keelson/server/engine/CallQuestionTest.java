package io.keelson.server.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.policy.Effects;
import io.keelson.core.run.CallWait;
import io.keelson.core.run.CallWait.State;
import io.keelson.core.run.Command;
import io.keelson.core.run.Deferral;
import io.keelson.core.run.Reply;
import io.keelson.server.engine.store.queue.CallWaits;
import io.keelson.server.engine.tool.HandBackException;
import io.keelson.server.engine.tool.HandBackException.Busy;
import io.keelson.server.engine.tool.SlotKind;
import io.keelson.server.engine.tool.Tool;
import io.keelson.server.engine.tool.ToolCall;
import io.keelson.server.engine.tool.ToolFailure;
import io.keelson.server.engine.tool.ToolResult;
import io.keelson.server.engine.tool.ToolSpec;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.node.JsonNodeFactory;

/** A tool whose system asks a person. Races are held open after an execution has read its call from the database. */
class CallQuestionTest {
    private static final Duration YEAR = Duration.ofDays(365);
    private static final String ANSWERS = "{\"who\": {\"action\": \"accept\"}}";

    /** The answers with which the call was sent; "none" for its first time. */
    private final List<String> sent = new CopyOnWriteArrayList<>();
    private final Semaphore entered = new Semaphore(0);
    private final Semaphore open = new Semaphore(1_000);
    private volatile boolean refuses;
    private Nodes nodes;

    private final Tool tool = new Tool() {
        @Override
        public ToolSpec spec() {
            var any = JsonNodeFactory.instance.objectNode();
            return new ToolSpec("test.ask", "Asks a person", any, any, Duration.ofSeconds(60), false, SlotKind.WAITING,
                    Effects.ONCE);
        }

        @Override
        public ToolResult execute(ToolCall call) throws ToolFailure, InterruptedException {
            CallWait before = nodes.database.withConnection(c -> CallWaits.find(c, call.stepId())).orElse(null);
            entered.release();
            open.acquire();
            if (before != null && before.state() == State.ASKED) {
                throw asks(call, before);
            }
            if (before != null && before.state() == State.SENT || !call.execution().track(before == null
                    ? new CallWait(State.SENT, "other", "ask", null, null, null, null, 0)
                    : before.in(State.SENT))) {
                throw ToolFailure.permanent("OUTCOME_UNKNOWN", "it was sent");
            }
            sent.add(before == null ? "none" : String.valueOf(before.answers()));
            if (refuses) {
                refuses = false;
                call.execution().track(before);
                throw ToolFailure.infrastructure("REFUSED", "try again");
            }
            if (before == null) {
                throw asks(call, new CallWait(State.ASKED, "other", "ask", "opaque", null, "{\"who\": {}}", null, 1));
            }
            return ToolResult.of(JsonNodeFactory.instance.stringNode("done"));
        }
    };

    private static HandBackException asks(ToolCall call, CallWait question) {
        return new HandBackException(
                new Busy(Deferral.INBOX + "elic_" + call.stepId(), "MCP_NOT_ANSWERED", YEAR, YEAR), question, "asks");
    }

    @BeforeEach
    void start(@TempDir Path folder) throws Exception {
        nodes = new Nodes(folder, tool);
    }

    @AfterEach
    void stop() throws Exception {
        try {
            nodes.assertSound();
        } finally {
            nodes.close();
        }
    }

    private UUID submit(Engine engine) {
        return nodes.submit(engine, """
                name: asks
                goal: g
                plan:
                  tasks:
                    - id: a
                      steps: [{tool: test.ask, input: {}, retry: {max_attempts: 3, base_delay_seconds: 0.05}}]
                """);
    }

    private UUID asked(UUID run) {
        awaitEvent(run, "step_deferred");
        return UUID.fromString(nodes.text("select step_id from call_waits where state = 'asked' and run_id = '" + run
                + "'"));
    }

    private void awaitEvent(UUID run, String type) {
        Awaitility.await().untilAsserted(() -> assertThat(events(run, type)).isPositive());
    }

    private long events(UUID run, String type) {
        return nodes.count("select count(*) from orchestration_events where event_type = '" + type
                + "' and run_id = '" + run + "'");
    }

    private static Reply answer(Engine engine, UUID run, UUID step) {
        return engine.submit(new Command.Answer(run, step, 1, ANSWERS, Nodes.WHO)).join();
    }

    private static @Nullable String code(Reply reply) {
        return reply instanceof Reply.Rejected refused ? refused.code() : null;
    }

    /** Lets executions stop after they have read their call from the database. */
    private void hold() {
        open.drainPermits();
        entered.drainPermits();
    }

    private void awaitEntered() throws InterruptedException {
        assertThat(entered.tryAcquire(20, TimeUnit.SECONDS)).as("an execution has begun").isTrue();
    }

    private void completes(UUID run) {
        nodes.awaitState(run, "completed");
        assertThat(sent).hasSize(2).first().isEqualTo("none");
        assertThat(sent.getLast()).contains("accept");
        assertThat(events(run, "step_answered")).isEqualTo(1);
    }

    @Test
    void answerWakesTheStepInItsOwnCommit() throws Exception {
        Engine engine = nodes.node();
        UUID run = submit(engine);
        UUID step = asked(run);
        hold();
        assertThat(answer(engine, run, step)).isEqualTo(Reply.CHANGED);
        assertThat(nodes.text("select state from call_waits where step_id = '" + step + "'")).isEqualTo("answered");
        assertThat(nodes.count("select count(*) from work_queue where run_id = '" + run + "'")).isEqualTo(1);
        awaitEntered();
        open.release(1_000);
        completes(run);
    }

    /** An execution has read the question, and goes back only after the answer. */
    @Test
    void answerDuringAnExecutionIsSentAtOnceAfterThisExecution() throws Exception {
        Engine engine = nodes.node();
        UUID run = submit(engine);
        UUID step = asked(run);
        hold();
        UUID task = UUID.fromString(nodes.text("select task_id from orchestration_steps where id = '" + step + "'"));
        assertThat(engine.submit(new Command.RetryTask(run, task, Nodes.WHO)).join()).isEqualTo(Reply.CHANGED);
        awaitEntered();
        assertThat(answer(engine, run, step)).isEqualTo(Reply.CHANGED);
        assertThat(events(run, "step_deferred")).isEqualTo(1);
        open.release(1_000);
        completes(run);
        assertThat(events(run, "step_deferred")).as("the execution was not deferred again").isEqualTo(1);
    }

    @Test
    void ofAnswersToTwoNodesAtOnceOneIsTaken() throws Exception {
        Engine one = nodes.node();
        Engine other = nodes.node();
        UUID run = submit(one);
        UUID step = asked(run);
        hold();
        var first = one.submit(new Command.Answer(run, step, 1, ANSWERS, Nodes.WHO));
        var second = other.submit(new Command.Answer(run, step, 1, ANSWERS, Nodes.WHO));
        assertThat(List.of(first.join(), second.join()).stream().map(CallQuestionTest::code).toList())
                .containsExactlyInAnyOrder(null, "INBOX_ITEM_NOT_FOUND");
        open.release(1_000);
        completes(run);
    }

    @Test
    void answerOfAnEndedRunIsRefused() throws Exception {
        Engine engine = nodes.node();
        UUID run = submit(engine);
        UUID step = asked(run);
        engine.submit(new Command.Cancel(run, null, Nodes.WHO)).join();
        assertThat(code(answer(engine, run, step))).isEqualTo("INBOX_ITEM_NOT_FOUND");
        assertThat(events(run, "step_answered")).isZero();
    }

    /** The node that took the answer is gone before the resumption. */
    @Test
    void answerToAPausedRunIsSentByAnotherNodeAfterItsResumption() throws Exception {
        Engine one = nodes.node();
        UUID run = submit(one);
        UUID step = asked(run);
        one.submit(new Command.Pause(run, null, Nodes.WHO)).join();
        assertThat(answer(one, run, step)).isEqualTo(Reply.CHANGED);
        one.close();
        Engine other = nodes.node();
        assertThat(other.submit(new Command.Resume(run, Nodes.WHO)).join()).isEqualTo(Reply.CHANGED);
        completes(run);
    }

    @Test
    void callThatTheOtherServerHasRefusedIsSentAgainWithItsAnswers() throws Exception {
        Engine engine = nodes.node();
        UUID run = submit(engine);
        UUID step = asked(run);
        refuses = true;
        answer(engine, run, step);
        nodes.awaitState(run, "completed");
        assertThat(sent).hasSize(3);
        assertThat(sent.get(1)).isEqualTo(sent.get(2)).contains("accept");
    }

    @Test
    void executionWithoutTheLeaseStoresNothing() throws Exception {
        Engine engine = nodes.node();
        UUID run = submit(engine);
        UUID step = asked(run);
        CallWait sentNow = new CallWait(State.SENT, "other", "ask", null, null, null, null, 1);
        assertThat(code(engine.submit(new Command.TrackCall(run, step, 1, sentNow, Nodes.WHO)).join()))
                .isEqualTo("STALE_LEASE");
        assertThat(nodes.text("select state from call_waits where step_id = '" + step + "'")).isEqualTo("asked");
        answer(engine, run, step);
        completes(run);
    }
}
