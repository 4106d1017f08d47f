package io.keelson.core.decide;

import static io.keelson.core.decide.Plans.plan;
import static io.keelson.core.decide.Plans.task;
import static io.keelson.core.decide.Rules.rules;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.plan.HumanRules;
import io.keelson.core.plan.HumanRules.OnTimeout;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.plan.StepKind;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Command.Evaluation;
import io.keelson.core.run.Reply;
import io.keelson.core.run.TimerKind;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Plan gate, approval steps, reviews and the acceptance of a result: answers, repetitions, and no answer at all. */
class HumanGatesTest {
    private static final Duration DAY = Duration.ofHours(24);
    private World world;

    @AfterEach
    void everyEventWasLegal() {
        Invariants.legal(world);
    }

    /** Where a run can wait for a person, and how it gets there. */
    enum Gate {
        PLAN, APPROVAL, REVIEW, RESULT;

        World reached(OnTimeout rule) {
            RunPolicy humans = rules().policy().with(new HumanRules(this == RESULT, DAY, rule));
            World world = switch (this) {
                case PLAN -> World.start(humans.withApprovePlan(true), plan(task("a")));
                case APPROVAL -> World.start(humans, plan(task("a").step("ok", StepKind.APPROVAL)));
                case REVIEW -> World.start(humans, plan(task("a").review()));
                case RESULT -> World.start(humans, plan(task("a")));
            };
            if (this == APPROVAL) {
                world.answer(world.evaluations.getFirst(), new Evaluation.Opened("{}", null, null));
            } else if (this != PLAN) {
                world.work();
            }
            return world;
        }

        UUID subject(World world) {
            return switch (this) {
                case PLAN, RESULT -> world.id();
                case APPROVAL -> world.step("a", "ok").id();
                case REVIEW -> world.task("a").id();
            };
        }
    }

    @ParameterizedTest(name = "{0}: {1}")
    @CsvSource({"PLAN, ready", "APPROVAL, completed", "REVIEW, completed", "RESULT, completed"})
    void approved(Gate gate, String state) {
        world = gate.reached(OnTimeout.REMIND);
        world.done(new Command.Approve(world.id(), "fine", World.WHO));
        assertThat(world.state().wire()).isEqualTo(state);
        assertThat(world.events.stream().filter(event -> event.members().containsValue("fine")))
                .as("audited once, with who and when").singleElement()
                .satisfies(event -> assertThat(event.actor()).isEqualTo(World.WHO));
        assertThat(world.timers.keySet()).noneMatch(key -> key.kind() == TimerKind.HUMAN);
        assertThat(world.send(new Command.Approve(world.id(), "fine", World.WHO))).isEqualTo(Reply.UNCHANGED);
        assertThat(world.refused(new Command.Reject(world.id(), "no", World.WHO)).code())
                .as("what is approved cannot be rejected any more").isEqualTo("INVALID_STATE_TRANSITION");
    }

    @ParameterizedTest(name = "{0}: {1}")
    @CsvSource({"PLAN, PLAN_REJECTED", "APPROVAL, APPROVAL_REJECTED", "REVIEW, OUTPUT_REJECTED",
            "RESULT, RESULT_REJECTED"})
    void rejected(Gate gate, String code) {
        world = gate.reached(OnTimeout.REMIND);
        world.done(new Command.Reject(world.id(), "no", World.WHO));
        assertThat(world.state()).isEqualTo(RunState.FAILED);
        assertThat(world.view.run().errorCode()).isEqualTo(code);
        assertThat(world.view.run().errorMessage()).contains("no");
        assertThat(world.send(new Command.Reject(world.id(), "no", World.WHO))).as("repeated")
                .isEqualTo(Reply.UNCHANGED);
        assertThat(world.refused(new Command.Approve(world.id(), null, World.WHO)).code())
                .isEqualTo("INVALID_STATE_TRANSITION");
    }

    @ParameterizedTest(name = "{0} {1}: {2}")
    @CsvSource({"PLAN, FAIL, failed", "PLAN, APPROVE, ready", "APPROVAL, FAIL, failed",
            "APPROVAL, APPROVE, completed", "REVIEW, FAIL, failed", "REVIEW, APPROVE, completed",
            "RESULT, FAIL, failed", "RESULT, APPROVE, completed"})
    void unansweredForADay(Gate gate, OnTimeout rule, String state) {
        world = gate.reached(rule);
        UUID subject = gate.subject(world);
        assertThat(Duration.between(world.now, world.due(TimerKind.HUMAN, subject))).isEqualTo(DAY);
        world.deliver(TimerKind.HUMAN, subject);
        assertThat(world.state().wire()).isEqualTo(state);
    }

    @ParameterizedTest
    @CsvSource({"PLAN", "APPROVAL", "REVIEW", "RESULT"})
    void peopleAreRemindedEveryDay(Gate gate) {
        world = gate.reached(OnTimeout.REMIND);
        RunState waiting = world.state();
        for (int day = 1; day <= 3; day++) {
            world.deliver(TimerKind.HUMAN, gate.subject(world));
            assertThat(world.events("human_reminded")).hasSize(day);
        }
        assertThat(world.state()).isEqualTo(waiting);
        world.done(new Command.Approve(world.id(), null, World.WHO));
    }

    @ParameterizedTest(name = "{0} {1}")
    @CsvSource({"PLAN, FAIL", "PLAN, APPROVE", "APPROVAL, FAIL", "REVIEW, FAIL", "RESULT, FAIL"})
    void timeWithoutAnEngineIsNotHeldAgainstPeople(Gate gate, OnTimeout rule) {
        world = gate.reached(rule);
        RunState waiting = world.state();
        world.outage(Duration.ofHours(30));
        world.deliver(TimerKind.HUMAN, gate.subject(world));
        assertThat(world.state()).isEqualTo(waiting);
        assertThat(Duration.between(world.now, world.due(TimerKind.HUMAN, gate.subject(world)))).isEqualTo(DAY);
        world.deliver(TimerKind.HUMAN, gate.subject(world));
        assertThat(world.state()).isNotEqualTo(waiting);
    }

    @Test
    void anAnsweredGatesTimerIsNothing() {
        world = Gate.APPROVAL.reached(OnTimeout.FAIL);
        StepRow step = world.step("a", "ok");
        world.done(new Command.Approve(world.id(), null, World.WHO));
        world.send(new Command.TimerDue(world.id(), TimerKind.HUMAN, step.id(), Actor.SYSTEM));
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void aHumansAnswerCountsWhileTheRunIsPaused() {
        world = Gate.APPROVAL.reached(OnTimeout.REMIND);
        world.done(new Command.Pause(world.id(), null, World.WHO));
        world.done(new Command.Approve(world.id(), null, World.WHO));
        assertThat(world.step("a", "ok").state()).isEqualTo(StepState.COMPLETED);
        assertThat(world.state()).isEqualTo(RunState.PAUSED);
        world.done(new Command.Resume(world.id(), World.WHO));
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void aResultToBeAcceptedKeepsTheRunRunning() {
        world = Gate.RESULT.reached(OnTimeout.REMIND);
        assertThat(world.state()).isEqualTo(RunState.RUNNING);
        assertThat(world.view.run().gate()).isEqualTo(RunRow.Gate.ACCEPTANCE);
        world.watchUntil(world.now.plus(Duration.ofDays(30)));
        assertThat(world.state()).as("the time of people is no running time").isEqualTo(RunState.RUNNING);
    }

    @ParameterizedTest(name = "{0}: {1}")
    @CsvSource({"FAIL, failed", "APPROVE, completed", "REMIND, running"})
    void acceptanceIsRequestedAgainAfterAPause(OnTimeout rule, String state) {
        world = Gate.RESULT.reached(rule);
        world.done(new Command.Pause(world.id(), null, World.WHO));
        assertThat(world.armed()).as("a paused run accepts no answer").isEmpty();
        world.now = world.now.plus(DAY.plusHours(1));
        world.send(new Command.TimerDue(world.id(), TimerKind.HUMAN, world.id(), Actor.SYSTEM));
        assertThat(world.state()).isEqualTo(RunState.PAUSED);
        world.done(new Command.Resume(world.id(), World.WHO));
        assertThat(world.state()).isEqualTo(RunState.RUNNING);
        assertThat(Duration.between(world.now, world.due(TimerKind.HUMAN, world.id()))).isEqualTo(DAY);

        world.outage(Duration.ofHours(30));
        world.deliver(TimerKind.HUMAN, world.id());
        assertThat(world.state()).as("no answer was possible since then").isEqualTo(RunState.RUNNING);
        world.deliver(TimerKind.HUMAN, world.id());
        assertThat(world.state().wire()).isEqualTo(state);
    }

    @Test
    void aResultIsNotDecidedWhileTheRunIsPaused() {
        world = Gate.RESULT.reached(OnTimeout.REMIND);
        world.done(new Command.Pause(world.id(), null, World.WHO));
        for (Command decision : List.of(new Command.Approve(world.id(), null, World.WHO),
                new Command.Reject(world.id(), null, World.WHO), new Command.DecideGate(world.id(),
                        Command.DecideGate.Gate.RESULT, true, null, Map.of(), null, World.WHO))) {
            assertThat(world.refused(decision).current()).isEqualTo("paused");
        }
        world.done(new Command.Resume(world.id(), World.WHO));
        world.done(new Command.Approve(world.id(), null, World.WHO));
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void failedRunRequestsNoAcceptance() {
        world = World.start(rules().policy().with(new HumanRules(true, DAY, OnTimeout.REMIND)), plan(task("a")));
        world.playOut("a");
        assertThat(world.state()).isEqualTo(RunState.FAILED);
    }

    @Test
    void aRejectedResultMayBeTriedAgain() {
        world = Gate.RESULT.reached(OnTimeout.REMIND);
        world.done(new Command.Reject(world.id(), null, World.WHO));
        world.done(new Command.Retry(world.id(), true, World.WHO));
        world.work();
        assertThat(world.view.run().gate()).isEqualTo(RunRow.Gate.ACCEPTANCE);
        world.done(new Command.Approve(world.id(), null, World.WHO));
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
        assertThat(world.view.run().attempt()).isEqualTo(2);
    }

    @Test
    void aPlanOnceApprovedIsNotAskedAboutAgain() {
        world = Gate.PLAN.reached(OnTimeout.REMIND);
        world.done(new Command.Approve(world.id(), null, World.WHO));
        world.playOut("a");
        world.done(new Command.Retry(world.id(), false, World.WHO));
        assertThat(world.state()).isEqualTo(RunState.PENDING);
    }

    /** An assignment names its question by the time of asking. */
    @ParameterizedTest
    @EnumSource(value = Gate.class, names = {"APPROVAL", "REVIEW", "RESULT"})
    void pauseAndReminderLeaveTheTimeOfAQuestion(Gate gate) {
        world = gate.reached(OnTimeout.REMIND);
        UUID subject = gate.subject(world);
        Instant asked = Objects.requireNonNull(Questions.of(world.view, subject)).askedAt();
        world.now = world.now.plusSeconds(5);
        world.done(new Command.Pause(world.id(), null, World.WHO));
        world.now = world.now.plusSeconds(5);
        world.done(new Command.Resume(world.id(), World.WHO));
        world.deliver(TimerKind.HUMAN, subject);
        assertThat(Objects.requireNonNull(Questions.of(world.view, subject)).askedAt()).isEqualTo(asked);
    }

    @Test
    void aRejectedPlanIsAskedAboutAgain() {
        world = Gate.PLAN.reached(OnTimeout.REMIND);
        world.done(new Command.Reject(world.id(), null, World.WHO));
        world.done(new Command.Retry(world.id(), false, World.WHO));
        assertThat(world.state()).isEqualTo(RunState.AWAITING_APPROVAL);
    }

    /** A retry asks again, and an answer to the question before it decides nothing. */
    @ParameterizedTest
    @EnumSource(value = Gate.class, names = {"PLAN", "RESULT"})
    void aLateAnswerDecidesNoLaterQuestion(Gate gate) {
        world = gate.reached(OnTimeout.REMIND);
        Command.DecideGate.Gate of = Command.DecideGate.Gate.valueOf(gate.name());
        Instant first = Objects.requireNonNull(Questions.asked(world.view, of));
        world.done(answered(of, first, false));
        world.now = world.now.plusSeconds(5);
        world.done(new Command.Retry(world.id(), true, World.WHO));
        world.work();
        RunState waiting = world.state();
        for (boolean approve : List.of(true, false)) {
            assertThat(world.refused(answered(of, first, approve)).code()).isEqualTo("GATE_CHANGED");
        }
        assertThat(world.state()).isEqualTo(waiting);
        Instant second = Objects.requireNonNull(Questions.asked(world.view, of));
        assertThat(second).isAfter(first);
        world.done(answered(of, second, true));
        assertThat(world.state()).isNotEqualTo(waiting);
    }

    @Test
    void onlyAPlanThatWaitedForApprovalMayBeApprovedAgain() {
        world = Gate.PLAN.reached(OnTimeout.REMIND);
        Command approve = answered(Command.DecideGate.Gate.PLAN, null, true);
        world.done(approve);
        assertThat(world.send(approve)).isEqualTo(Reply.UNCHANGED);
        world = World.start(rules().policy(), plan(task("a")));
        assertThat(world.refused(answered(Command.DecideGate.Gate.PLAN, null, true)).code())
                .isEqualTo("INVALID_STATE_TRANSITION");
    }

    private Command answered(Command.DecideGate.Gate gate, @Nullable Instant asked, boolean approve) {
        return new Command.DecideGate(world.id(), gate, approve, null, Map.of(), Command.DecideGate.Way.AS_BEFORE,
                asked, null, World.WHO);
    }
}
