package io.keelson.core.decide;

import static io.keelson.core.decide.Plans.plan;
import static io.keelson.core.decide.Plans.task;
import static io.keelson.core.decide.Rules.rules;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.Hooks;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.plan.StepKind;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.policy.FailureMode;
import io.keelson.core.policy.RetryPolicy;
import io.keelson.core.run.Command;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tool steps before and after a run. */
class HooksTest {
    private static final String BEFORE = ".before_run";
    private static final String AFTER = ".after_run";
    private World world;

    @AfterEach
    void everyEventWasLegal() {
        Invariants.legal(world);
    }

    static RunPolicy hooks(RunPolicy policy) {
        return policy.with(new Hooks(hook("prepare"), hook("tidy")));
    }

    private static StepSpec hook(String tool) {
        return new StepSpec(tool, StepKind.TOOL, tool, "{}", RetryPolicy.STEP, Duration.ofSeconds(30));
    }

    @Test
    void nothingBeginsBeforeTheFirstAndTheSecondWaitsForAll() {
        world = World.start(hooks(rules().policy()), plan(task("a"), task("b").on("a")));
        assertThat(world.queue.values()).extracting(ChangeSet.QueueItem::tool).containsExactly("prepare");
        world.complete(world.claim(BEFORE));
        world.complete(world.claim("a"));
        assertThat(world.queue.values()).extracting(ChangeSet.QueueItem::tool).containsExactly("noop");
        world.complete(world.claim("b"));
        assertThat(world.state()).isEqualTo(RunState.RUNNING);
        world.complete(world.claim(AFTER));
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void hooksAreNoTasksOfThePlan() {
        world = World.start(hooks(rules().policy()), plan(task("a"), task("b")));
        assertThat(world.last("run_plan_ready").members()).containsEntry("task_count", 2);
        world.complete(world.claim(BEFORE));
        world.complete(world.claim("a"));
        world.complete(world.claim("b"));
        world.playOut(AFTER);
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
        assertThat(world.view.run().counts()).isEqualTo(new RunRow.Counts(1, 2, 2, 0, 0, 4, 3));
    }

    @ParameterizedTest
    @EnumSource(FailureMode.class)
    void theFirstHooksFailureFailsTheRunInAnyMode(FailureMode mode) {
        world = World.start(hooks(rules().agent(mode).policy()), plan(task("a")));
        world.playOut(BEFORE);
        assertThat(world.state()).isEqualTo(RunState.FAILED);
        assertThat(world.task("a").state()).isEqualTo(TaskState.CANCELLED);
        assertThat(world.view.run().errorCode()).isEqualTo("BROKEN");
    }

    @Test
    void theFirstHookIsTriedAgainLikeAnyStep() {
        world = World.start(hooks(rules().policy()), plan(task("a")));
        world.fail(world.claim(BEFORE), ErrorClass.INFRASTRUCTURE);
        assertThat(world.step(BEFORE, "prepare").state()).isEqualTo(StepState.AWAITING_RETRY);
        world.playOut();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @ParameterizedTest
    @EnumSource(FailureMode.class)
    void theSecondHooksFailureChangesNothing(FailureMode mode) {
        world = World.start(hooks(rules().agent(mode).policy()), plan(task("a")));
        world.playOut(AFTER);
        assertThat(world.task(AFTER).failureIgnored()).isTrue();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void theSecondHookRunsAfterAFailureToo() {
        world = World.start(hooks(rules().policy()), plan(task("a"), task("b")));
        world.complete(world.claim(BEFORE));
        world.fail(world.claim("a"), ErrorClass.PERMANENT);
        assertThat(world.state()).isEqualTo(RunState.RUNNING);
        world.complete(world.claim(AFTER));
        assertThat(world.state()).isEqualTo(RunState.FAILED);
        assertThat(world.view.run().errorMessage()).contains("task 'a'");
    }

    @Test
    void theSecondHookRunsAfterTheFirstOnesFailure() {
        world = World.start(hooks(rules().policy()), plan(task("a")));
        world.fail(world.claim(BEFORE), ErrorClass.PERMANENT);
        world.complete(world.claim(AFTER));
        assertThat(world.state()).isEqualTo(RunState.FAILED);
    }

    @Test
    void aCancelledRunTidiesNothing() {
        world = World.start(hooks(rules().policy()), plan(task("a")));
        world.complete(world.claim(BEFORE));
        world.done(new Command.Cancel(world.id(), null, World.WHO));
        assertThat(world.task(AFTER).state()).isEqualTo(TaskState.CANCELLED);
    }

    @Test
    void everyAttemptHasItsHooks() {
        world = World.start(hooks(rules().run(FailureMode.RETRY).policy()), plan(task("a").retry(Plans.ONCE)));
        world.playOut("a");
        assertThat(world.view.run().attempt()).isEqualTo(3);
        assertThat(world.events("step_completed")).as("two hooks in each of three attempts").hasSize(6);
    }

    @Test
    void aRunWhoseWorkWasAllSkippedIsSkippedInSpiteOfItsHooks() {
        world = World.start(hooks(rules().agent(FailureMode.CONTINUE).policy()), plan(task("a")));
        world.playOut("a");
        assertThat(world.state()).isEqualTo(RunState.SKIPPED);
    }
}
