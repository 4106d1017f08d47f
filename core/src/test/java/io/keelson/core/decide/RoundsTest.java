package io.keelson.core.decide;

import static io.keelson.core.decide.Plans.plan;
import static io.keelson.core.decide.Plans.task;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.Repeat;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.policy.FailureMode;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Command.Evaluation;
import io.keelson.core.run.Result;
import io.keelson.core.run.TimerKind;
import io.keelson.core.run.Verdict;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Tasks with {@code repeat}: rounds, their ends and what is left of them. */
class RoundsTest extends OneRun {
    private static final Evaluation AGAIN = new Evaluation.Repeats(1);
    private static final Evaluation DONE = new Evaluation.Output("1");

    @Test
    void roundsFollowOneAnotherUntilTheConditionHolds() {
        world = World.start(plan(task("a").repeat(rounds(5, Duration.ZERO, 20)), task("b").on("a")));
        begin();
        round("a[1]", AGAIN);
        round("a[2]", AGAIN);
        round("a[3]", DONE);
        assertThat(world.task("a").state()).isEqualTo(TaskState.COMPLETED);
        assertThat(world.events("task_round_completed")).extracting(event -> event.members().get("round"),
                event -> event.members().get("until")).containsExactly(
                        org.assertj.core.groups.Tuple.tuple(1, false), org.assertj.core.groups.Tuple.tuple(2, false),
                        org.assertj.core.groups.Tuple.tuple(3, true));
        world.work();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void lastRoundWithoutTheConditionFailsTheTask() {
        world = World.start(plan(task("a").repeat(rounds(2, Duration.ZERO, 20)), task("b").on("a")));
        begin();
        round("a[1]", AGAIN);
        round("a[2]", AGAIN);
        assertThat(world.task("a").errorCode()).isEqualTo("REPEAT_EXHAUSTED");
        assertThat(world.taskStates()).containsEntry("a", TaskState.FAILED).containsEntry("a[2]", TaskState.COMPLETED)
                .containsEntry("b", TaskState.SKIPPED);
        assertThat(world.state()).isEqualTo(RunState.FAILED);
    }

    @Test
    void loopAfterARoundOfAnotherRunContinuesItsNumbers() {
        world = World.start(plan(task("a").repeat(new Repeat("${ . }", 8, Duration.ZERO, null, 20,
                new Repeat.After(6, "{}")))));
        begin();
        round("a[7]", AGAIN);
        round("a[8]", AGAIN);
        assertThat(world.task("a").errorCode()).as("max counts the rounds before").isEqualTo("REPEAT_EXHAUSTED");
        assertThat(world.taskStates()).containsOnlyKeys("a", "a[7]", "a[8]");
    }

    @Test
    void usedBudgetBeginsNoFurtherRound() {
        world = World.start(plan(task("a").repeat(new Repeat("${ . }", 9, Duration.ZERO, new BigDecimal("0.2"), 20))));
        begin();
        costly("a[1]", "0.15");
        answer(AGAIN);
        costly("a[2]", "0.05");
        answer(AGAIN);
        assertThat(world.task("a").errorCode()).isEqualTo("REPEAT_BUDGET_EXHAUSTED");
        assertThat(world.task("a").cost()).isEqualByComparingTo("0.2");
        assertThat(world.state()).isEqualTo(RunState.FAILED);
    }

    @Test
    void nextRoundBeginsAfterItsDelayAndNotWhileTheRunIsPaused() {
        world = World.start(plan(task("a").repeat(rounds(5, Duration.ofSeconds(30), 20))));
        begin();
        round("a[1]", AGAIN);
        assertThat(world.armed()).containsExactly(TimerKind.TASK_CONTINUE);
        world.done(new Command.Pause(world.id(), null, World.WHO));
        world.deliver(TimerKind.TASK_CONTINUE, world.task("a").id());
        assertThat(world.taskStates()).doesNotContainKey("a[2]");
        world.done(new Command.Resume(world.id(), World.WHO));
        round("a[2]", DONE);
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void failedAttemptIsRetriedInItsRound() {
        world = World.start(plan(task("a").mode(FailureMode.RETRY).retry(Plans.ONCE)
                .repeat(rounds(5, Duration.ZERO, 20))));
        begin();
        world.fail(world.claim("a[1]"), ErrorClass.INFRASTRUCTURE);
        assertThat(world.task("a[1]").state()).isEqualTo(TaskState.AWAITING_RETRY);
        assertThat(world.nextBackoff()).isTrue();
        round("a[1]", DONE);
        assertThat(world.last("task_round_completed").members()).containsEntry("attempts", 2);
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void rejectedOutputIsRepeatedBeforeTheConditionIsEvaluated() {
        world = World.start(plan(task("a").steps(1).verify("check").repeat(rounds(5, Duration.ZERO, 20))));
        begin();
        world.complete(world.claim("a[1]"));
        world.verdict(world.claim("a[1]"), Verdict.Outcome.REJECTED);
        assertThat(world.evaluations).isEmpty();
        assertThat(world.nextBackoff()).isTrue();
        world.complete(world.claim("a[1]"));
        world.verdict(world.claim("a[1]"), Verdict.Outcome.PASSED);
        answer(DONE);
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void failedRoundFailsTheTaskUnlessItsModeContinues() {
        world = World.start(plan(task("a").repeat(rounds(5, Duration.ZERO, 20))));
        begin();
        world.fail(world.claim("a[1]"), ErrorClass.PERMANENT);
        assertThat(world.taskStates()).containsEntry("a", TaskState.FAILED);
        assertThat(world.state()).isEqualTo(RunState.FAILED);

        world = World.start(plan(task("a").mode(FailureMode.CONTINUE).repeat(rounds(5, Duration.ZERO, 20))));
        begin();
        world.fail(world.claim("a[1]"), ErrorClass.PERMANENT);
        answer(AGAIN);
        round("a[2]", DONE);
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void cancelledRoundCancelsItsTask() {
        world = World.start(plan(task("a").repeat(rounds(5, Duration.ZERO, 20)), task("b")));
        begin();
        world.done(new Command.CancelTask(world.id(), world.task("a[1]").id(), null, World.WHO));
        assertThat(world.taskStates()).containsEntry("a", TaskState.CANCELLED);
        world.work();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void cancelledTaskBeginsNoFurtherRound() {
        world = World.start(plan(task("a").repeat(rounds(5, Duration.ofSeconds(5), 20)), task("b")));
        begin();
        world.complete(world.claim("a[1]"));
        answer(AGAIN);
        world.done(new Command.CancelTask(world.id(), world.task("a").id(), null, World.WHO));
        assertThat(world.armed()).isEmpty();
        world.work();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void viewOfTheThousandthRoundHasAsManyRowsAsThatOfTheTenth() {
        world = World.start(RunPolicy.DEFAULT, plan(task("a").steps(2).repeat(rounds(2_000, Duration.ZERO, 3))));
        begin();
        for (int i = 1; i <= 10; i++) {
            round("a[" + i + "]", AGAIN);
        }
        int rows = world.view.weight();
        int tasks = world.view.run().counts().tasks();
        for (int i = 11; i <= 1_000; i++) {
            round("a[" + i + "]", AGAIN);
        }
        assertThat(world.view.weight()).isEqualTo(rows);
        assertThat(world.view.run().counts().tasks()).isEqualTo(tasks).isEqualTo(5);
        assertThat(world.taskStates()).containsOnlyKeys("a", "a[1001]", "a[1000]", "a[998]", "a[999]");
    }

    /** A group {@code g} with the tasks {@code g.a} and {@code g.b}, which depends on the first, and a task after it. */
    private void group(Repeat repeat, FailureMode mode) {
        world = World.start(plan(task("x"), task("g").on("x").mode(mode).repeat(repeat.of(List.of("a", "b"))),
                task("g.a").steps(1), task("g.b").steps(1).on("g.a"), task("y").on("g")));
        world.complete(world.claim("x"));
    }

    @Test
    void roundOfAGroupHasATaskForEachOfItsTasks() {
        group(rounds(5, Duration.ZERO, 20), FailureMode.FAIL_FAST);
        assertThat(world.taskStates()).containsOnlyKeys("x", "g", "g[1].a", "g[1].b", "y");
        begin();
        assertThat(world.taskStates()).containsEntry("g[1].b", TaskState.PENDING);
        both(1, AGAIN);
        assertThat(world.taskStates()).containsEntry("g[2].b", TaskState.PENDING).containsEntry("y", TaskState.PENDING);
        both(2, DONE);
        assertThat(world.task("g").state()).isEqualTo(TaskState.COMPLETED);
        assertThat(world.last("task_round_completed").members()).containsEntry("round", 2)
                .doesNotContainKey("round_task_id");
        world.work();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void viewOfALateRoundOfAGroupHasAsManyRowsAsThatOfAnEarlyOne() {
        group(rounds(2_000, Duration.ZERO, 3), FailureMode.FAIL_FAST);
        begin();
        IntStream.rangeClosed(1, 10).forEach(i -> both(i, AGAIN));
        int rows = world.view.weight();
        int tasks = world.view.run().counts().tasks();
        IntStream.rangeClosed(11, 500).forEach(i -> both(i, AGAIN));
        assertThat(world.view.weight()).isEqualTo(rows);
        assertThat(world.view.run().counts().tasks()).isEqualTo(tasks);
        assertThat(world.taskStates()).containsOnlyKeys("x", "g", "y", "g[501].a", "g[501].b", "g[500].a", "g[500].b",
                "g[499].a", "g[499].b", "g[498].a", "g[498].b");
    }

    @Test
    void failedTaskOfARoundFailsTheGroupUnlessItsModeContinues() {
        group(rounds(5, Duration.ZERO, 20), FailureMode.FAIL_FAST);
        begin();
        world.fail(world.claim("g[1].a"), ErrorClass.PERMANENT);
        assertThat(world.taskStates()).containsEntry("g", TaskState.FAILED).containsEntry("g[1].b",
                TaskState.CANCELLED);
        assertThat(world.state()).isEqualTo(RunState.FAILED);

        group(rounds(5, Duration.ZERO, 20), FailureMode.CONTINUE);
        begin();
        world.fail(world.claim("g[1].a"), ErrorClass.PERMANENT);
        assertThat(world.taskStates()).containsEntry("g[1].b", TaskState.SKIPPED);
        answer(AGAIN);
        both(2, DONE);
        world.work();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void groupThatDoesNotBeginIsSkippedAsAWhole() {
        group(rounds(5, Duration.ZERO, 20), FailureMode.FAIL_FAST);
        answer(new Evaluation.Skip());
        assertThat(world.taskStates()).containsEntry("g[1].a", TaskState.SKIPPED).containsEntry("g[1].b",
                TaskState.SKIPPED);
        world.work();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void cancelledTaskOfARoundCancelsTheGroup() {
        group(rounds(5, Duration.ZERO, 20), FailureMode.FAIL_FAST);
        begin();
        world.done(new Command.CancelTask(world.id(), world.task("g[1].a").id(), null, World.WHO));
        assertThat(world.taskStates()).containsEntry("g", TaskState.CANCELLED).containsEntry("g[1].b",
                TaskState.SKIPPED);
    }

    private void both(int round, Evaluation answer) {
        world.complete(world.claim("g[" + round + "].a"));
        world.complete(world.claim("g[" + round + "].b"));
        answer(answer);
    }

    private static Repeat rounds(int max, Duration delay, int keep) {
        return new Repeat("${ .output }", max, delay, null, keep);
    }

    /** The gate of the task opens. */
    private void begin() {
        answer(new Evaluation.Proceed(null));
    }

    private void round(String key, Evaluation answer) {
        List<StepRow> claimed = world.claimAll();
        while (!claimed.isEmpty()) {
            assertThat(claimed).extracting(step -> step.task().key()).containsOnly(key);
            claimed.forEach(world::complete);
            claimed = world.task(key).terminal() ? List.of() : world.claimAll();
        }
        answer(answer);
    }

    private void costly(String key, String cost) {
        StepRow step = world.claim(key);
        world.done(new Command.Complete(world.id(), step.id(), step.leaseEpoch(),
                Result.spent(io.keelson.core.money.Tokens.NONE, new BigDecimal(cost), null), Actor.agent("w1")));
    }

    private void answer(Evaluation answer) {
        world.answer(world.evaluations.getFirst(), answer);
    }
}
