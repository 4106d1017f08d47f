package io.keelson.core.decide;

import static io.keelson.core.decide.Plans.plan;
import static io.keelson.core.decide.Plans.task;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Actor;
import io.keelson.core.run.CallWait;
import io.keelson.core.run.CallWait.State;
import io.keelson.core.run.Command;
import io.keelson.core.run.Deferral;
import io.keelson.core.run.Reply;
import io.keelson.core.run.StepError;
import io.keelson.core.run.TimerKind;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Calls of other servers that wait for a person or a task. */
class CallWaitsTest {
    private static final Duration YEAR = Duration.ofDays(365);
    private static final Actor ANN = Actor.human("ann");

    private World world = World.start(plan(task("a")));

    @AfterEach
    void everyEventIsLegal() {
        Invariants.legal(world);
    }

    private static CallWait call(State state, int rounds) {
        return new CallWait(state, "other", "ask", "opaque", null, "{\"who\": {}}", null, rounds);
    }

    private Command asks(StepRow step, int round) {
        return new Command.Release(world.id(), step.id(), step.leaseEpoch(),
                new Deferral(YEAR, "inbox:elic_1", new StepError("MCP_NOT_ANSWERED", ErrorClass.INFRASTRUCTURE, "asks"),
                        YEAR),
                call(State.ASKED, round), List.of(), World.WHO);
    }

    private Command answer(StepRow step, int round) {
        return new Command.Answer(world.id(), step.id(), round, "{\"who\": 1}", ANN);
    }

    private Command track(StepRow step, int epoch, State state) {
        return new Command.TrackCall(world.id(), step.id(), epoch, state == null ? null : call(state, 0), World.WHO);
    }

    /** A step that waits for the answer to its first question. */
    private StepRow asked() {
        StepRow step = world.claim("a");
        world.done(asks(step, 1));
        return step;
    }

    private void refusedAsGone(Command answer) {
        assertThat(world.refused(answer).code()).isEqualTo("INBOX_ITEM_NOT_FOUND");
    }

    @Test
    void questionIsStoredWithTheDeferralAndTheAnswerMakesTheStepDue() {
        StepRow step = asked();
        assertThat(step.call()).isEqualTo(new CallRow(State.ASKED, 1, 1));
        assertThat(world.queue).isEmpty();
        assertThat(world.due(TimerKind.STEP_RETRY, step.id())).isEqualTo(world.now.plus(YEAR));
        world.done(answer(step, 1));
        assertThat(step.call().state()).isEqualTo(State.ANSWERED);
        assertThat(world.armed()).isEmpty();
        assertThat(world.last("step_answered").members()).containsEntry("answered_by", "ann").containsEntry("round", 1);
        assertThat(world.last("step_answered").actor()).isEqualTo(ANN);
        assertThat(world.claim("a")).isSameAs(step);
        assertThat(step.attempt()).isEqualTo(1);
        world.complete(step);
        assertThat(step.call()).as("of an ended step").isNull();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void ofTwoAnswersTheSecondIsRefused() {
        StepRow step = asked();
        world.done(answer(step, 1));
        refusedAsGone(answer(step, 1));
    }

    @Test
    void answerToAnEarlierQuestionOfTheCallIsRefused() {
        StepRow step = asked();
        world.done(answer(step, 1));
        world.claim("a");
        world.done(asks(step, 2));
        refusedAsGone(answer(step, 1));
        assertThat(step.call().state()).isEqualTo(State.ASKED);
        world.done(answer(step, 2));
    }

    /** A person has had the task tried again: its execution finds the question, and the answer comes before it goes back. */
    @Test
    void answerDuringAnExecutionMakesTheStepClaimableWhenItGoesBack() {
        StepRow step = asked();
        world.done(new Command.RetryTask(world.id(), step.task().id(), World.WHO));
        world.claim("a");
        world.done(answer(step, 1));
        assertThat(step.isHeld()).isTrue();
        world.done(asks(step, 1));
        assertThat(world.armed()).isEmpty();
        assertThat(world.eventTypes()).endsWith("step_answered", "step_released");
        world.claim("a");
        assertThat(step.call().state()).isEqualTo(State.ANSWERED);
    }

    @Test
    void repeatedQuestionKeepsItsRow() {
        StepRow step = asked();
        world.done(new Command.RetryTask(world.id(), step.task().id(), World.WHO));
        world.claim("a");
        world.done(asks(step, 1));
        assertThat(step.call()).isEqualTo(new CallRow(State.ASKED, 1, 1));
    }

    @Test
    void questionWithoutAnAnswerFailsItsStepAfterAYear() {
        StepRow step = asked();
        world.deliver(TimerKind.STEP_RETRY, step.id());
        world.claim("a");
        world.done(asks(step, 1));
        assertThat(step.errorCode()).isEqualTo("MCP_NOT_ANSWERED");
        assertThat(step.state().terminal()).isTrue();
        refusedAsGone(answer(step, 1));
    }

    @Test
    void timeOfAPauseDoesNotCountForTheQuestion() {
        StepRow step = asked();
        world.done(new Command.Pause(world.id(), null, World.WHO));
        world.now = world.now.plus(YEAR);
        world.done(new Command.Resume(world.id(), World.WHO));
        world.claim("a");
        world.done(asks(step, 1));
        assertThat(step.state()).isEqualTo(StepState.RUNNING);
        world.done(answer(step, 1));
    }

    @Test
    void answerDuringAPauseIsSentAfterTheResumption() {
        StepRow step = asked();
        world.done(new Command.Pause(world.id(), null, World.WHO));
        world.done(answer(step, 1));
        assertThat(world.queue).isEmpty();
        world.done(new Command.Resume(world.id(), World.WHO));
        assertThat(world.claim("a")).isSameAs(step);
    }

    @Test
    void answerAfterTheEndOfTheRunIsRefused() {
        StepRow step = asked();
        world.done(new Command.Cancel(world.id(), null, World.WHO));
        assertThat(step.call()).isNull();
        refusedAsGone(answer(step, 1));
        assertThat(world.timers).isEmpty();
    }

    @Test
    void unknownStepAndStepWithoutAQuestionTakeNoAnswer() {
        StepRow step = world.claim("a");
        refusedAsGone(answer(step, 1));
        refusedAsGone(new Command.Answer(world.id(), world.id(), 1, "{}", ANN));
    }

    /** From a state to another: whether the holder of the lease may store that. */
    @ParameterizedTest
    @CsvSource({"'', SENT, true", "'', ANSWERED, false", "'', TASK, false", "'', ASKED, false", "ANSWERED, SENT, true",
            "ANSWERED, TASK, true", "ANSWERED, ASKED, false", "ANSWERED, '', false", "SENT, '', true",
            "SENT, ANSWERED, true", "SENT, TASK, false", "SENT, ASKED, false", "ASKED, SENT, false",
            "ASKED, ANSWERED, false", "ASKED, '', false", "TASK, SENT, false", "TASK, '', false"})
    void onlyThePathsOfACallAreStored(String from, String to, boolean allowed) {
        StepRow step = world.claim("a");
        step.call = from.isEmpty() ? null : new CallRow(State.valueOf(from), 0, 0);
        CallRow before = step.call();
        Command track = track(step, 1, to.isEmpty() ? null : State.valueOf(to));
        if (allowed) {
            world.done(track);
            assertThat(step.call()).isEqualTo(to.isEmpty() ? null : new CallRow(State.valueOf(to), 0, 1));
            assertThat(world.send(track)).as("repeated").isEqualTo(Reply.UNCHANGED);
        } else {
            assertThat(world.refused(track).code()).isEqualTo("OUTCOME_UNKNOWN");
            assertThat(step.call()).isEqualTo(before);
        }
    }

    @Test
    void callThatWasSentUnderALostLeaseIsNotSentAgain() {
        StepRow step = world.claim("a");
        world.done(track(step, 1, State.SENT));
        world.expire(step);
        assertThat(world.refused(track(step, 1, State.SENT)).code()).isEqualTo("STALE_LEASE");
        world.claim("a");
        assertThat(world.refused(track(step, 1, null)).code()).isEqualTo("STALE_LEASE");
        assertThat(world.refused(track(step, 2, State.SENT)).code()).isEqualTo("OUTCOME_UNKNOWN");
    }

    @Test
    void callOfAnotherAttemptOfTheStepIsKnown() {
        world = World.start(RunPolicy.DEFAULT, plan(task("a")));
        StepRow step = world.claim("a");
        world.done(track(step, 1, State.SENT));
        world.fail(step, ErrorClass.INFRASTRUCTURE);
        world.nextBackoff();
        world.claim("a");
        assertThat(step.attempt()).isEqualTo(2);
        assertThat(world.refused(track(step, 2, State.SENT)).code()).isEqualTo("OUTCOME_UNKNOWN");
    }
}
