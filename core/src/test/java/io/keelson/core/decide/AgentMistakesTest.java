package io.keelson.core.decide;

import static io.keelson.core.decide.Plans.plan;
import static io.keelson.core.decide.Plans.task;
import static io.keelson.core.decide.Rules.rules;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.money.Tokens;
import io.keelson.core.plan.AgentTerms;
import io.keelson.core.plan.StepKind;
import io.keelson.core.plan.TaskPolicy;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.policy.RetryPolicy;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Result;
import io.keelson.core.run.TurnAnswer;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An agent sees its mistakes, and the last one ends its task; they are no errors of the run. */
class AgentMistakesTest {
    private final World world = World.start(rules().escalation(Rules.ASK).policy(),
            plan(task("a").step("turn", StepKind.TURN)
                    .policy(TaskPolicy.DEFAULT.with(
                            new AgentTerms(AgentTerms.ROSTER, 7, "ann", "large", List.of("read"), 200, List.of())))));

    @AfterEach
    void everyEventWasLegal() {
        Invariants.legal(world);
    }

    @Test
    void equalMistakesAreToldAndEndTheTask() {
        for (int i = 1; i <= 5; i++) {
            call("read", "x");
            assertThat(world.state()).isEqualTo(RunState.RUNNING);
            world.fail(world.claim("a"), ErrorClass.PERMANENT);
            assertThat(lastCall().errorMessage().contains(i + " times in a row")).as("warned of %s", i)
                    .isEqualTo(i > 2);
        }
        assertThat(world.task("a").errorCode()).isEqualTo("AGENT_STUCK");
        assertThat(world.state()).isEqualTo(RunState.FAILED);
        assertThat(world.view.tickets()).isEmpty();
    }

    @Test
    void equalCallsWithEqualResultsEndTheTask() {
        for (int i = 1; i <= 8; i++) {
            call("read", "x");
            assertThat(world.state()).as("before the end of call %s", i).isEqualTo(RunState.RUNNING);
            world.complete(world.claim("a"));
        }
        assertThat(world.task("a").errorCode()).isEqualTo("AGENT_STUCK");
        assertThat(world.task("a").errorMessage()).contains("'read'", "8 times in a row", "the same result");
        assertThat(world.state()).isEqualTo(RunState.FAILED);
        assertThat(world.view.tickets()).isEmpty();
        assertThat(world.queue).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 4})
    void cycleOfCallsWithEqualResultsEndsTheTask(int period) {
        for (int i = 0; i < 8 * period; i++) {
            call("read", "x" + i % period);
            assertThat(world.state()).as("before the end of call %s", i).isEqualTo(RunState.RUNNING);
            world.complete(world.claim("a"));
        }
        assertThat(world.task("a").errorCode()).isEqualTo("AGENT_STUCK");
        assertThat(world.task("a").errorMessage()).contains("the same " + period + " calls in turn 8 times in a row");
        assertThat(world.view.tickets()).isEmpty();
    }

    @Test
    void cycleOfAMistakeAndAResultIsToldInTheMistake() {
        for (int i = 1; i <= 8; i++) {
            call("read", "x");
            assertThat(world.state()).isEqualTo(RunState.RUNNING);
            world.complete(world.claim("a"));
            call("read", "y");
            world.fail(world.claim("a"), ErrorClass.PERMANENT);
            assertThat(lastCall().errorMessage().contains("these 2 calls in turn have had the same ends " + i
                    + " times in a row")).as("warned of %s", i).isEqualTo(i > 4);
        }
        assertThat(world.task("a").errorCode()).isEqualTo("AGENT_STUCK");
    }

    @Test
    void longerCyclesAndOtherResultsAreNoCycle() {
        for (int i = 0; i < 60; i++) {
            call("read", "x" + i % 5);
            world.complete(world.claim("a"));
        }
        for (int i = 0; i < 60; i++) {
            call("read", "y" + i % 2);
            world.done(new Command.Complete(world.id(), world.claim("a").id(), 1, Result.of("" + i / 14),
                    Actor.agent("w1")));
        }
        assertThat(world.state()).isEqualTo(RunState.RUNNING);
    }

    @Test
    void equalCallsWithOtherResultsGoOn() {
        for (int i = 1; i <= 30; i++) {
            call("read", "x");
            world.done(new Command.Complete(world.id(), world.claim("a").id(), 1, Result.of("" + i / 7),
                    Actor.agent("w1")));
        }
        assertThat(world.state()).isEqualTo(RunState.RUNNING);
    }

    @Test
    void recordedCallsAreCountedAsWell() {
        for (int i = 1; i <= 8; i++) {
            answer(world.claim("a"), new TurnAnswer.Calls(
                    List.of(asked("read", "x").from(new TurnAnswer.Recorded.Output("1")))));
        }
        assertThat(world.task("a").errorCode()).isEqualTo("AGENT_STUCK");
        assertThat(world.state()).isEqualTo(RunState.FAILED);
    }

    @Test
    void refusedCallsAreMistakesAsWell() {
        call("write", "x", "x");
        call("write", "x", "x", "x", "x");
        assertThat(world.task("a").errorCode()).isEqualTo("AGENT_STUCK");
        assertThat(world.task("a").steps()).as("no call after the last mistake").hasSize(2 + 2 + 3);
    }

    @Test
    void pendingCallsEndWithTheTask() {
        call("write", "x", "x", "x", "x");
        StepRow turn = world.claim("a");
        answer(turn, new TurnAnswer.Calls(List.of(asked("read", "y"), asked("write", "x"), asked("write", "x"),
                asked("write", "x"), asked("write", "x"), asked("write", "x"))));
        assertThat(world.task("a").errorCode()).isEqualTo("AGENT_STUCK");
        assertThat(world.task("a").steps()).allMatch(step -> step.state().terminal());
        assertThat(world.queue).isEmpty();
    }

    @Test
    void anotherCallOrSuccessBeginsAgain() {
        for (int i = 0; i < 4; i++) {
            call("read", "x");
            world.fail(world.claim("a"), ErrorClass.PERMANENT);
        }
        call("read", "y");
        world.fail(world.claim("a"), ErrorClass.PERMANENT);
        for (int i = 0; i < 4; i++) {
            call("read", "x");
            world.fail(world.claim("a"), ErrorClass.PERMANENT);
        }
        call("read", "x");
        world.complete(world.claim("a"));
        call("read", "x");
        world.fail(world.claim("a"), ErrorClass.PERMANENT);
        assertThat(lastCall().errorMessage()).doesNotContain("in a row");
        assertThat(world.state()).isEqualTo(RunState.RUNNING);
    }

    /** With more than five errors in the window a failing step opens a ticket. */
    @Test
    void mistakesDoNotCountAsErrorsOfTheRun() {
        for (int i = 0; i < 10; i++) {
            call("read", "x" + i);
            world.fail(world.claim("a"), ErrorClass.PERMANENT);
        }
        assertThat(world.view.calls().errors(world.now)).isZero();
        world.fail(world.claim("a"), ErrorClass.INFRASTRUCTURE);
        assertThat(world.view.calls().errors(world.now)).isEqualTo(1);
        assertThat(world.state()).isEqualTo(RunState.RUNNING);
    }

    @Test
    void failuresOfToolsStillCount() {
        call("read", "x");
        world.fail(world.claim("a"), ErrorClass.INFRASTRUCTURE);
        assertThat(world.view.calls().errors(world.now)).isEqualTo(1);
    }

    private StepRow lastCall() {
        return world.task("a").steps().stream().filter(step -> step.state() == StepState.FAILED)
                .reduce((_, last) -> last).orElseThrow();
    }

    private void call(String tool, String... digests) {
        answer(world.claim("a"),
                new TurnAnswer.Calls(List.of(digests).stream().map(each -> asked(tool, each)).toList()));
    }

    private static TurnAnswer.Call asked(String tool, String digest) {
        return new TurnAnswer.Call(tool, "{}", digest, RetryPolicy.STEP, Duration.ofSeconds(9));
    }

    private void answer(StepRow turn, TurnAnswer answer) {
        world.done(new Command.Complete(world.id(), turn.id(), turn.leaseEpoch(),
                new Result("1", Tokens.NONE, null, null, List.of(), null, answer), Actor.agent("w1")));
    }
}
