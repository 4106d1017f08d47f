package io.keelson.core.decide;

import static io.keelson.core.decide.Plans.plan;
import static io.keelson.core.decide.Plans.task;
import static io.keelson.core.decide.Rules.rules;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.policy.EscalationPolicy;
import io.keelson.core.run.Command;
import io.keelson.core.run.Deferral;
import io.keelson.core.run.Result;
import io.keelson.core.run.StepError;
import io.keelson.core.run.TimerKind;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Steps whose holders find a system busy. */
class DeferralTest {
    private static final Duration WAIT = Duration.ofHours(1);
    private static final StepError ERROR =
            new StepError("MODEL_UNAVAILABLE", ErrorClass.INFRASTRUCTURE, "too many requests");

    private World world = World.start(plan(task("a")));

    @AfterEach
    void everyEventWasLegal() {
        Invariants.legal(world);
    }

    private void defer(StepRow step, Duration delay) {
        world.done(release(step, delay));
    }

    private Command release(StepRow step, Duration delay) {
        return new Command.Release(world.id(), step.id(), step.leaseEpoch(), new Deferral(delay, "model:small", ERROR),
                World.WHO);
    }

    /** Lets the deferral end and claims the step. */
    private StepRow next(StepRow step) {
        world.deliver(TimerKind.STEP_RETRY, step.id());
        return world.claim("a");
    }

    @Test
    void deferredStepIsClaimedAgainAfterItsTime() {
        StepRow step = world.claim("a");
        defer(step, Duration.ofSeconds(7));
        assertThat(world.queue).isEmpty();
        assertThat(step.state()).isEqualTo(StepState.RUNNING);
        assertThat(world.due(TimerKind.STEP_RETRY, step.id())).isEqualTo(world.now.plusSeconds(7));
        assertThat(world.last("step_deferred").members()).containsEntry("lease_epoch", 1)
                .containsEntry("busy", "model:small").containsEntry("error_code", "MODEL_UNAVAILABLE")
                .containsKey("until");
        next(step);
        assertThat(step.attempt()).isEqualTo(1);
        assertThat(step.failures()).isZero();
        assertThat(step.deliveries()).isEqualTo(1);
        assertThat(step.leaseEpoch()).isEqualTo(2);
        assertThat(world.view.calls().calls(world.now)).isZero();
        world.complete(step);
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void deferralWithAPatienceOfItsOwnOutlastsTheRunsPatience() {
        StepRow step = world.claim("a");
        world.done(new Command.Release(world.id(), step.id(), step.leaseEpoch(),
                new Deferral(Duration.ofDays(2), "inbox:elic_1", ERROR, Duration.ofDays(365)), World.WHO));
        assertThat(world.due(TimerKind.STEP_RETRY, step.id())).isEqualTo(world.now.plus(Duration.ofDays(2)));
        world.now = world.now.plus(Duration.ofDays(2));
        next(step);
        assertThat(step.state()).isEqualTo(StepState.RUNNING);
        world.complete(step);
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    /** Two attempts fail; the last one is deferred, as executors do it, until the provider answers again. */
    @Test
    void anOutageOfFiveMinutesFailsNothingAndRepeatsNoEarlierStep() {
        world = World.start(RunPolicy.DEFAULT, plan(task("a").steps(7)));
        for (int i = 0; i < 6; i++) {
            world.complete(world.claim("a"));
        }
        StepRow seventh = world.claim("a");
        for (int i = 0; i < 2; i++) {
            world.done(new Command.Fail(world.id(), seventh.id(), seventh.leaseEpoch(), ERROR, Result.of("null"),
                    World.WHO));
            world.watchUntil(world.due(TimerKind.STEP_RETRY, seventh.id()));
            next(seventh);
        }
        Duration outage = Duration.ZERO;
        for (Duration delay = Duration.ofSeconds(1); outage.compareTo(Duration.ofMinutes(5)) < 0; delay =
                delay.multipliedBy(2).compareTo(Duration.ofMinutes(1)) < 0 ? delay.multipliedBy(2)
                        : Duration.ofMinutes(1)) {
            defer(seventh, delay);
            world.watchUntil(world.now.plus(delay));
            next(seventh);
            outage = outage.plus(delay);
        }
        assertThat(seventh.attempt()).isEqualTo(3);
        world.complete(seventh);
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
        assertThat(world.events("step_completed")).hasSize(7);
        assertThat(world.events("task_retrying")).isEmpty();
    }

    @Test
    void deferralOpensNoTicketAndIsNoPoison() {
        world = World.start(rules().escalation(Rules.ASK).policy(), plan(task("a")));
        StepRow step = world.claim("a");
        for (int i = 0; i < 50; i++) {
            defer(step, Duration.ofSeconds(1));
            next(step);
        }
        assertThat(world.state()).isEqualTo(RunState.RUNNING);
        assertThat(step.leaseEpoch()).isEqualTo(51);
    }

    /** Eight calls are under way when their systems break; six errors within the window are alarming. */
    @ParameterizedTest
    @CsvSource({"1, running", "5, running", "6, escalated"})
    void failuresOfOneSystemCountOnce(int systems, String state) {
        List<String> keys = IntStream.range(0, 8).mapToObj(i -> "t" + i).toList();
        world = World.start(rules().escalation(EscalationPolicy.DEFAULT).policy(),
                plan(keys.stream().map(Plans::task).toList()));
        List<StepRow> steps = keys.stream().map(world::claim).toList();
        for (int i = 0; i < steps.size(); i++) {
            world.done(new Command.Fail(world.id(), steps.get(i).id(), 1, ERROR.of("model:" + i % systems),
                    Result.of("null"), World.WHO));
        }
        assertThat(world.state().wire()).isEqualTo(state);
        assertThat(world.view.calls().errors(world.now)).isEqualTo(systems);
    }

    @Test
    void onlyTheFirstOfTheStepsThatWaitedInVainAsksAPerson() {
        world = World.start(rules().escalation(Rules.ASK).policy(), plan(task("a"), task("b")));
        StepRow first = world.claim("a");
        StepRow second = world.claim("b");
        defer(first, WAIT);
        defer(second, WAIT);
        List.of(first, second).forEach(step -> world.deliver(TimerKind.STEP_RETRY, step.id()));
        List.of(world.claim("a"), world.claim("b")).forEach(step -> defer(step, WAIT));
        assertThat(world.ticket().system()).isEqualTo("model:small");
        assertThat(world.view.tickets()).hasSize(1);
        assertThat(second.state()).as("waits with its run").isEqualTo(StepState.RUNNING);
        assertThat(world.view.calls().errors(world.now)).isEqualTo(1);
    }

    @Test
    void earlyTimerAndLateReportChangeNothing() {
        StepRow step = world.claim("a");
        defer(step, Duration.ofSeconds(7));
        world.send(new Command.TimerDue(world.id(), TimerKind.STEP_RETRY, step.id(), World.WHO));
        assertThat(world.queue).isEmpty();
        assertThat(world.armed()).containsExactly(TimerKind.STEP_RETRY);
        assertThat(world.refused(release(step, Duration.ofSeconds(7))).code()).isEqualTo("STALE_LEASE");
        world.send(new Command.LeaseExpired(world.id(), step.id(), 1, World.LEASE, World.WHO));
        assertThat(step.state()).isEqualTo(StepState.RUNNING);
    }

    @ParameterizedTest
    @CsvSource({"864000, 3600", "3000, 3600", "3601, 3600"})
    void busySystemFailsTheStepAfterTheRunsPatience(long seconds, long ended) {
        StepRow step = world.claim("a");
        var begun = world.now;
        while (step.state() == StepState.RUNNING) {
            defer(step, Duration.ofSeconds(seconds));
            if (step.state() == StepState.RUNNING) {
                next(step);
            }
        }
        assertThat(world.now).isCloseTo(begun.plusSeconds(ended), within(1, ChronoUnit.MILLIS));
        assertThat(world.last("step_failed").members()).containsEntry("error_code", "MODEL_UNAVAILABLE")
                .containsEntry("reason", "retry_time_exhausted");
        assertThat(step.attempt()).isEqualTo(1);
    }

    @Test
    void ticketIsOpenedWhereThePolicyAsksAPersonAndItsAnswerBeginsAnotherWait() {
        world = World.start(rules().escalation(Rules.ASK).policy(), plan(task("a")));
        StepRow step = world.claim("a");
        defer(step, Duration.ofDays(10));
        defer(next(step), Duration.ofDays(10));
        assertThat(world.state()).isEqualTo(RunState.ESCALATED);
        world.resolve(world.ticket(), Command.Resolution.RESUME);
        assertThat(world.claim("a").attempt()).isEqualTo(2);
        defer(step, Duration.ofDays(10));
        assertThat(step.nextRunAt()).isEqualTo(world.now.plus(WAIT));
    }

    @Test
    void theWaitCountsFromTheFirstDeferralOfAnAttempt() {
        StepRow step = world.claim("a");
        defer(step, Duration.ofMinutes(50));
        world.fail(next(step), ErrorClass.INFRASTRUCTURE);
        next(step);
        assertThat(step.attempt()).isEqualTo(2);
        defer(step, Duration.ofMinutes(50));
        assertThat(step.nextRunAt()).isEqualTo(world.now.plus(Duration.ofMinutes(50)));
    }

    @Test
    void cancelledWhileDeferred() {
        StepRow step = world.claim("a");
        defer(step, Duration.ofMinutes(5));
        world.done(new Command.Cancel(world.id(), null, World.WHO));
        assertThat(world.state()).isEqualTo(RunState.CANCELLED);
        assertThat(step.state()).isEqualTo(StepState.CANCELLED);
        assertThat(world.timers).isEmpty();
    }

    @Test
    void pausedWhileDeferred() {
        StepRow step = world.claim("a");
        defer(step, Duration.ofMinutes(5));
        world.done(new Command.Pause(world.id(), null, World.WHO));
        world.deliver(TimerKind.STEP_RETRY, step.id());
        assertThat(world.queue).isEmpty();
        world.done(new Command.Resume(world.id(), World.WHO));
        world.complete(world.claim("a"));
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void pauseDoesNotEndTheDeferralNorUseUpItsPatience() {
        StepRow step = world.claim("a");
        defer(step, Duration.ofMinutes(30));
        world.done(new Command.Pause(world.id(), null, World.WHO));
        world.done(new Command.Resume(world.id(), World.WHO));
        assertThat(world.queue).isEmpty();
        world.done(new Command.Pause(world.id(), null, World.WHO));
        world.now = world.now.plus(Duration.ofHours(5));
        world.done(new Command.Resume(world.id(), World.WHO));
        defer(world.claim("a"), Duration.ofMinutes(30));
        assertThat(step.nextRunAt()).isEqualTo(world.now.plus(Duration.ofMinutes(30)));
    }

    @Test
    void releasedByAPausedRunsWorker() {
        StepRow step = world.claim("a");
        world.done(new Command.Pause(world.id(), null, World.WHO));
        defer(step, Duration.ofMinutes(5));
        world.done(new Command.Resume(world.id(), World.WHO));
        assertThat(world.queue).isEmpty();
        next(step);
        assertThat(step.leaseEpoch()).isEqualTo(2);
    }

    @Test
    void humanMayHaveItTriedAtOnce() {
        StepRow step = world.claim("a");
        defer(step, Duration.ofMinutes(5));
        world.done(new Command.RetryTask(world.id(), step.task().id(), World.WHO));
        assertThat(world.claim("a").attempt()).isEqualTo(1);
        assertThat(world.armed()).doesNotContain(TimerKind.STEP_RETRY);
    }

    @Test
    void deferredTaskIsNotStalled() {
        StepRow step = world.claim("a");
        defer(step, Duration.ofMinutes(50));
        world.watchUntil(world.now.plus(Duration.ofMinutes(49)));
        assertThat(step.task().state()).isEqualTo(TaskState.RUNNING);
        assertThat(world.events("stall_detected")).isEmpty();
    }

    @Test
    void deferralDoesNotUseUpTheTimeOfItsTask() {
        world = World.start(RunPolicy.DEFAULT, plan(task("a").steps(2)));
        StepRow step = world.claim("a");
        defer(step, Duration.ofMinutes(59));
        world.watchUntil(world.now.plus(Duration.ofMinutes(59)));
        next(step);
        world.watchUntil(world.now.plus(Duration.ofMinutes(4)));
        assertThat(step.task().state()).isEqualTo(TaskState.RUNNING);
        world.complete(step);
        world.claim("a");
        world.watchUntil(world.now.plus(Duration.ofMinutes(59)));
        assertThat(step.task().state()).isEqualTo(TaskState.RUNNING);
        world.watchUntil(world.now.plus(Duration.ofMinutes(2)));
        assertThat(world.events("task_crashed")).hasSize(1);
    }

    @Test
    void siblingsAndLaterStepsKeepTheirOrder() {
        world = World.start(RunPolicy.DEFAULT, plan(task("a").steps(2), task("b")));
        StepRow first = world.step("a", "s1");
        world.claimAll();
        defer(first, Duration.ofSeconds(9));
        world.complete(world.step("b", "s1"));
        assertThat(world.queue).isEmpty();
        world.deliver(TimerKind.STEP_RETRY, first.id());
        world.work();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
        assertThat(world.step("a", "s2").attempt()).isEqualTo(1);
    }
}
