package io.keelson.core.decide;

import static io.keelson.core.decide.Plans.plan;
import static io.keelson.core.decide.Plans.task;
import static io.keelson.core.decide.Rules.rules;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.StepKind;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.policy.RetryPolicy;
import io.keelson.core.run.Command;
import io.keelson.core.run.Result;
import io.keelson.core.run.TimerKind;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Further turns of a task are no retries: both have their own counter. */
class ContinuationTest {
    private World world = World.start(rules().policy(),
            plan(task("a").step("t", StepKind.TURN).taskRetry(RetryPolicy.TASK), task("b")));

    @AfterEach
    void everyEventWasLegal() {
        Invariants.legal(world);
    }

    private StepRow turn() {
        StepRow step = world.claim("a");
        world.done(new Command.Continue(world.id(), step.id(), step.leaseEpoch(), Result.of("1"), World.WHO));
        return step;
    }

    @Test
    void theNextTurnBeginsAfterOneSecondInTheSameAttempt() {
        turn();
        TaskRow task = world.task("a");
        assertThat(task.state()).isEqualTo(TaskState.CONTINUING);
        assertThat(Duration.between(world.now, world.due(TimerKind.TASK_CONTINUE, task.id())))
                .isEqualTo(Duration.ofSeconds(1));
        world.nextBackoff();
        assertThat(task.continuations()).isEqualTo(1);
        assertThat(task.attempt()).isEqualTo(1);
        assertThat(task.failures()).isZero();
        assertThat(world.claim("a").turn()).isEqualTo(2);
    }

    @Test
    void aRetryAfterAnInfrastructureFailureRepeatsTheFailedTurnOnly() {
        for (int i = 0; i < 4; i++) {
            turn();
            world.nextBackoff();
        }
        world.exhaustStep("a");
        assertThat(world.task("a").state()).isEqualTo(TaskState.AWAITING_RETRY);
        assertThat(world.task("a").continuations()).isEqualTo(4);
        world.nextBackoff();
        assertThat(world.task("a").attempt()).isEqualTo(2);
        assertThat(world.task("a").continuations()).isEqualTo(4);
        assertThat(world.claim("a").turn()).isEqualTo(5);
    }

    @Test
    void aFailedTurnIsTriedAgainAsThatTurn() {
        turn();
        world.nextBackoff();
        world.fail(world.claim("a"), ErrorClass.INFRASTRUCTURE);
        world.nextBackoff();
        StepRow again = world.claim("a");
        assertThat(again.turn()).isEqualTo(2);
        assertThat(again.attempt()).isEqualTo(2);
        assertThat(world.task("a").continuations()).isEqualTo(1);
        assertThat(world.task("a").attempt()).isEqualTo(1);
    }

    @Test
    void tenFurtherTurnsAreTheLimit() {
        for (int i = 0; i < 10; i++) {
            turn();
            world.nextBackoff();
        }
        assertThat(world.task("a").continuations()).isEqualTo(10);
        turn();
        assertThat(world.task("a").state()).isEqualTo(TaskState.FAILED);
        assertThat(world.task("a").errorCode()).isEqualTo("CONTINUATION_LIMIT");
        assertThat(world.last("task_continuing").members()).containsEntry("continuation_count", 10);
        assertThat(world.task("a").attempt()).as("no reason to try again").isEqualTo(1);
        assertThat(world.state()).isEqualTo(RunState.FAILED);
    }

    @Test
    void aPauseBetweenTurnsKeepsTheNext() {
        turn();
        world.done(new Command.Pause(world.id(), null, World.WHO));
        world.nextBackoff();
        assertThat(world.task("a").state()).isEqualTo(TaskState.CONTINUING);
        world.done(new Command.Resume(world.id(), World.WHO));
        world.complete(world.claim("a"));
        assertThat(world.task("a").state()).isEqualTo(TaskState.COMPLETED);
    }
}
