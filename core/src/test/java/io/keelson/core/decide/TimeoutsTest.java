package io.keelson.core.decide;

import static io.keelson.core.decide.Plans.plan;
import static io.keelson.core.decide.Plans.task;
import static io.keelson.core.decide.Rules.rules;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.lifecycle.AgentState;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.HumanRules;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.plan.StepKind;
import io.keelson.core.plan.Timeouts;
import io.keelson.core.plan.TriggerRule;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.policy.FailureMode;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Command.Evaluation;
import io.keelson.core.run.Result;
import io.keelson.core.run.TimerKind;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** How long things may take: nothing happens a moment before, the right thing when time is up. */
class TimeoutsTest {
    private static final Duration MOMENT = Duration.ofMillis(1);
    private World world;
    private Instant begun;
    private boolean stranded;

    @AfterEach
    void everyEventWasLegal() {
        if (!stranded) {
            Invariants.legal(world);
        }
    }

    /** Nothing but the run itself runs out of time. */
    private void startPatient(Plans.T... tasks) {
        Timeouts t = Timeouts.DEFAULT;
        Duration ever = Duration.ofDays(100);
        world = World.start(rules().policy().with(new Timeouts(t.pending(), t.running(), t.paused(), t.resuming(),
                t.retrying(), ever, ever, t.stall(), t.assign(), t.verify(), t.heartbeat(), t.providerWait())),
                plan(tasks));
        begun = world.now;
    }

    private void start(Plans.T... tasks) {
        world = World.start(rules().policy(), plan(tasks));
        begun = world.now;
    }

    /** Looks a moment before the time and when it has come; in between nothing may have happened. */
    private void watch(Duration limit) {
        long seq = world.view.run().seq;
        world.watchUntil(begun.plus(limit).minus(MOMENT));
        assertThat(world.view.run().seq).as("a moment before").isEqualTo(seq);
        world.watchUntil(begun.plus(limit));
    }

    /** States that a run passes through within one decision: another node's death may leave it in one. */
    private void stranded(RunState state) {
        start(task("a"));
        stranded = true;
        world.claimAll();
        world.done(new Command.Pause(world.id(), null, World.WHO));
        world.view.run.state = state;
        world.view.run.stateSince = begun;
        world.send(new Command.TimerDue(world.id(), TimerKind.WATCH, world.id(), Actor.RECONCILER));
    }

    @Test
    void runPendingFor24Hours() {
        stranded(RunState.PENDING);
        watch(Duration.ofHours(24));
        assertFailed("RUN_NOT_STARTED");
    }

    @Test
    void runRunningFor24Hours() {
        startPatient(task("a"));
        world.claim("a");
        watch(Duration.ofHours(24));
        assertFailed("RUN_TIMEOUT");
        assertThat(world.task("a").state()).isEqualTo(TaskState.CANCELLED);
    }

    @Test
    void runPausedForSevenDaysIsCancelled() {
        start(task("a"));
        world.done(new Command.Pause(world.id(), null, World.WHO));
        watch(Duration.ofDays(7));
        assertThat(world.state()).isEqualTo(RunState.CANCELLED);
        assertThat(world.view.run().errorMessage()).isEqualTo("paused for too long");
    }

    @Test
    void runResumingForFiveMinutes() {
        stranded(RunState.RESUMING);
        watch(Duration.ofMinutes(5));
        assertFailed("RUN_NOT_RESUMED");
    }

    @Test
    void runRetryingFor24Hours() {
        world = World.start(rules().run(FailureMode.RETRY).policy(), plan(task("a").retry(Plans.ONCE)));
        begun = world.now;
        StepRow step = world.claim("a");
        world.fail(step, ErrorClass.INFRASTRUCTURE);
        assertThat(world.state()).isEqualTo(RunState.RETRYING);
        watch(Duration.ofHours(24));
        assertFailed("RUN_NOT_RETRIED");
    }

    private void assertFailed(String code) {
        assertThat(world.state()).isEqualTo(RunState.FAILED);
        assertThat(world.view.run().errorCode()).isEqualTo(code);
        assertThat(world.last("run_failed").members()).containsEntry("reason", "run_timeout");
    }

    @Test
    void runTimeLeavesOutPauses() {
        startPatient(task("a"));
        world.claim("a");
        world.watchUntil(begun.plus(Duration.ofHours(20)));
        world.done(new Command.Pause(world.id(), null, World.WHO));
        world.watchUntil(begun.plus(Duration.ofHours(120)));
        world.done(new Command.Resume(world.id(), World.WHO));
        world.watchUntil(begun.plus(Duration.ofHours(124)).minus(MOMENT));
        assertThat(world.state()).isEqualTo(RunState.RUNNING);
        world.watchUntil(begun.plus(Duration.ofHours(124)));
        assertFailed("RUN_TIMEOUT");
    }

    @Test
    void runTimeLeavesOutWhatOnlyHumansCouldMove() {
        startPatient(task("a").step("ok", StepKind.APPROVAL).steps(1));
        world.answer(world.evaluations.getFirst(), new Evaluation.Opened("{}", null, null));
        world.watchUntil(begun.plus(Duration.ofDays(30)));
        assertThat(world.state()).isEqualTo(RunState.RUNNING);
        world.done(new Command.Approve(world.id(), null, World.WHO));
        world.watchUntil(world.now.plus(Duration.ofHours(24)).minus(MOMENT));
        assertThat(world.state()).isEqualTo(RunState.RUNNING);
        world.watchUntil(world.now.plus(MOMENT));
        assertFailed("RUN_TIMEOUT");
    }

    @Test
    void runTimeRestartsWithEachAttempt() {
        startPatient(task("a"));
        world.claim("a");
        world.watchUntil(begun.plus(Duration.ofHours(20)));
        world.done(new Command.FailRun(world.id(), null, World.WHO));
        world.done(new Command.Retry(world.id(), false, World.WHO));
        world.claim("a");
        world.watchUntil(begun.plus(Duration.ofHours(43)));
        assertThat(world.state()).isEqualTo(RunState.RUNNING);
        world.watchUntil(begun.plus(Duration.ofHours(44)));
        assertFailed("RUN_TIMEOUT");
    }

    @Test
    void taskRunningForAnHourIsTriedAgain() {
        start(task("a"));
        StepRow step = world.claim("a");
        watch(Duration.ofHours(1));
        assertThat(world.task("a").state()).isEqualTo(TaskState.AWAITING_RETRY);
        assertThat(world.task("a").errorCode()).isEqualTo("TASK_TIMEOUT");
        assertThat(step.state()).isEqualTo(StepState.CANCELLED);
        assertThat(world.last("task_retrying").members()).containsEntry("reason", "retry_scheduled");
    }

    @Test
    void eachAttemptOfATaskHasItsOwnHour() {
        start(task("a"));
        for (int attempt = 1; attempt <= 3; attempt++) {
            assertThat(world.task("a").attempt()).isEqualTo(attempt);
            world.claim("a");
            world.watchUntil(world.now.plus(Duration.ofHours(1)));
            if (attempt < 3) {
                world.nextBackoff();
            }
        }
        assertThat(world.state()).isEqualTo(RunState.FAILED);
        assertThat(world.view.run().errorCode()).isEqualTo("TASK_TIMEOUT");
    }

    @Test
    void aTasksOwnTimeoutGoesBeforeTheRuns() {
        Duration limit = Duration.ofMillis(40_500);
        start(task("a").timeout(limit));
        world.claim("a");
        watch(limit);
        assertThat(world.task("a").state()).isEqualTo(TaskState.AWAITING_RETRY);
        assertThat(world.task("a").errorMessage()).isEqualTo("the task took longer than 40.5 s");
    }

    @Test
    void aTaskBetweenTwoTurnsRunsOutOfTimeWhenTheNextBegins() {
        start(task("a").timeout(Duration.ofSeconds(40)).step("t", StepKind.TURN));
        StepRow step = world.claim("a");
        world.watchUntil(begun.plusSeconds(40).minus(MOMENT));
        world.done(new Command.Continue(world.id(), step.id(), 1, Result.of("1"), World.WHO));
        world.watchUntil(begun.plusSeconds(40));
        assertThat(world.task("a").state()).isEqualTo(TaskState.CONTINUING);
        world.nextBackoff();
        world.watchUntil(begun.plusSeconds(41));
        assertThat(world.task("a").errorCode()).isEqualTo("TASK_TIMEOUT");
    }

    @Test
    void aTaskThatWaitsForAWorkerRunsOutOfNoTime() {
        start(task("a"));
        world.watchUntil(begun.plus(Duration.ofHours(5)));
        assertThat(world.task("a").state()).isEqualTo(TaskState.QUEUED);
    }

    /** Three days pass, beyond the limits of run, agent and task; a task queued behind a wait changes nothing. */
    @Test
    void aRunThatOnlyWaitsRunsOutOfNoTime() {
        world = World.start(new RunPolicy(false, 3, 10, 1, 1, 3, false, 10, 10, 10), plan(
                task("nap").agent("x").step("nap", StepKind.WAIT), task("next").agent("x")));
        begun = world.now;
        world.answer(world.evaluations.getFirst(), new Evaluation.Opened("{}", Duration.ofDays(3), null));
        world.watchUntil(begun.plus(Duration.ofDays(3)));
        assertThat(world.state()).isEqualTo(RunState.RUNNING);
        world.deliver(TimerKind.STEP_WAIT, world.step("nap", "nap").id());
        world.work();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void aTasksTimeLeavesOutItsWaits() {
        start(task("a").step("nap", StepKind.WAIT).steps(1));
        world.answer(world.evaluations.getFirst(), new Evaluation.Opened("{}", Duration.ofHours(5), null));
        world.watchUntil(begun.plus(Duration.ofHours(5)));
        world.deliver(TimerKind.STEP_WAIT, world.step("a", "nap").id());
        world.claim("a");
        world.watchUntil(begun.plus(Duration.ofHours(6)).minus(MOMENT));
        assertThat(world.task("a").state()).isEqualTo(TaskState.RUNNING);
        world.watchUntil(begun.plus(Duration.ofHours(6)));
        assertThat(world.task("a").state()).isEqualTo(TaskState.AWAITING_RETRY);
    }

    /** One task after the other keeps an agent at work; none of them is too slow. */
    @ParameterizedTest
    @EnumSource(FailureMode.class)
    void agentAtWorkForSixHours(FailureMode mode) {
        Plans.T[] tasks = new Plans.T[14];
        for (int i = 0; i < tasks.length; i++) {
            tasks[i] = i == 0 ? task("t0").agent("x") : task("t" + i).agent("x").on("t" + (i - 1));
        }
        world = World.start(rules().run(FailureMode.CONTINUE).agent(mode).policy(), plan(tasks));
        begun = world.now;
        StepRow step = world.claim("t0");
        for (int i = 1; i <= 12; i++) {
            world.watchUntil(begun.plus(Duration.ofMinutes(30L * i)).minus(MOMENT));
            assertThat(world.agent("x").state()).isEqualTo(AgentState.RUNNING);
            world.complete(step);
            step = world.claim("t" + i);
        }
        world.watchUntil(begun.plus(Duration.ofHours(6)));
        assertThat(world.agent("x").state()).isEqualTo(mode == FailureMode.RETRY ? AgentState.PENDING
                : AgentState.FAILED);
        assertThat(world.events("task_failed")).singleElement()
                .satisfies(event -> assertThat(event.members()).containsEntry("error_code", "AGENT_TIMEOUT"));
        if (mode == FailureMode.RETRY) {
            world.playOut();
            assertThat(world.state()).isEqualTo(RunState.COMPLETED);
        } else {
            assertThat(world.taskStates()).containsEntry("t12", TaskState.FAILED).containsEntry("t13",
                    TaskState.SKIPPED).containsEntry("t11", TaskState.COMPLETED);
        }
    }

    @ParameterizedTest
    @EnumSource(FailureMode.class)
    void anAgentAtWorkOnAFanOutRunsOutOfTimeToo(FailureMode mode) {
        world = World.start(rules().policy(), plan(task("a").agent("x").mode(mode).forEach("${ [1,2] }")
                .timeout(Duration.ofHours(9))));
        begun = world.now;
        world.answer(world.evaluations.getFirst(), new Evaluation.Proceed(List.of("1", "2")));
        world.claim("a[0]");
        world.watchUntil(begun.plus(Duration.ofHours(6)).minus(MOMENT));
        assertThat(world.state()).isEqualTo(RunState.RUNNING);
        world.watchUntil(begun.plus(Duration.ofHours(6)));
        assertThat(world.state()).isEqualTo(RunState.FAILED);
        assertThat(world.view.run().errorCode()).isEqualTo("AGENT_TIMEOUT");
        assertThat(world.taskStates()).containsEntry("a", TaskState.FAILED).containsEntry("a[0]",
                TaskState.CANCELLED).containsEntry("a[1]", TaskState.CANCELLED);
    }

    @Test
    void failureTasksRunOnAfterAnAgentsTimeout() {
        start(task("a").agent("x").timeout(Duration.ofHours(9)),
                task("clean").agent("x").on("a").rule(TriggerRule.ALL_DONE));
        world.claim("a");
        world.watchUntil(begun.plus(Duration.ofHours(6)));
        StepRow clean = world.claim("clean");
        world.watchUntil(begun.plus(Duration.ofHours(6)).plus(Duration.ofMinutes(30)));
        world.complete(clean);
        assertThat(world.task("clean").state()).isEqualTo(TaskState.COMPLETED);
        assertThat(world.state()).isEqualTo(RunState.FAILED);
    }

    @Test
    void anAgentsTimeDoesNotCountWhileItsTasksOnlyWaitForAWorker() {
        start(task("a").agent("x").steps(2).timeout(Duration.ofDays(2)));
        world.watchUntil(begun.plus(Duration.ofHours(7)));
        StepRow first = world.claim("a");
        world.watchUntil(begun.plus(Duration.ofHours(9)));
        world.complete(first);
        world.watchUntil(begun.plus(Duration.ofHours(16)));
        assertThat(world.agent("x").state()).isEqualTo(AgentState.RUNNING);
        world.claim("a");
        world.watchUntil(world.now.plus(Duration.ofHours(6)));
        assertThat(world.view.run().errorCode()).isEqualTo("AGENT_TIMEOUT");
    }

    @Test
    void anAgentsTimeLeavesOutHumans() {
        start(task("a").agent("x").step("ok", StepKind.APPROVAL).steps(1));
        world.answer(world.evaluations.getFirst(), new Evaluation.Opened("{}", null, null));
        world.watchUntil(begun.plus(Duration.ofHours(50)));
        world.done(new Command.Approve(world.id(), null, World.WHO));
        world.watchUntil(world.now.plus(Duration.ofMinutes(30)));
        assertThat(world.agent("x").state()).isEqualTo(AgentState.RUNNING);
        world.work();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({"2", "30"})
    void timeWithoutAnEngineIsNotCounted(int hours) {
        start(task("a").agent("x"));
        world.claim("a");
        world.watchUntil(begun.plus(Duration.ofMinutes(30)));
        world.outage(Duration.ofHours(hours));
        world.watchUntil(world.now.plus(Duration.ofMinutes(30)).minus(MOMENT));
        assertThat(world.task("a").state()).isEqualTo(TaskState.RUNNING);
        world.watchUntil(world.now.plus(MOMENT));
        assertThat(world.task("a").errorCode()).isEqualTo("TASK_TIMEOUT");
    }

    @Test
    void aRunThatWaitsForItsNextAttemptIsLookedAtInTimeAfterAnOutage() {
        world = World.start(rules().run(FailureMode.RETRY).policy(), plan(task("a").retry(Plans.ONCE)));
        world.fail(world.claim("a"), ErrorClass.INFRASTRUCTURE);
        world.outage(Duration.ofHours(30));
        Instant back = world.now;
        world.watchUntil(back.plus(Duration.ofHours(24)).minus(MOMENT));
        assertThat(world.state()).isEqualTo(RunState.RETRYING);
        world.watchUntil(back.plus(Duration.ofHours(24)));
        assertFailed("RUN_NOT_RETRIED");
    }

    @Test
    void aResultThatWaitsForAcceptanceRunsOutOfNoTime() {
        world = World.start(rules().policy().with(new HumanRules(true, Duration.ofHours(24),
                HumanRules.OnTimeout.REMIND)), plan(task("a")));
        world.work();
        world.watchUntil(world.now.plus(Duration.ofDays(9)));
        assertThat(world.state()).isEqualTo(RunState.RUNNING);
    }
}
