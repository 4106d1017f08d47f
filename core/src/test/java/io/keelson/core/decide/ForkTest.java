package io.keelson.core.decide;

import static io.keelson.core.decide.Plans.plan;
import static io.keelson.core.decide.Plans.task;
import static io.keelson.core.decide.Rules.rules;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Command;
import io.keelson.core.run.NewRun;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A run that takes over what another one did before the task from which it differs. */
class ForkTest {
    private static final UUID OUTPUT_OF_A = new UUID(7, 7);
    private static final NewRun.Fork FORK = new NewRun.Fork(new UUID(7, 0), "b", Map.of("a", OUTPUT_OF_A));

    private static World fork(RunPolicy policy, boolean start) {
        return World.fork(policy, plan(task("a"), task("b").on("a"), task("c").on("b")), FORK, start);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void forkReusesCompletedTasksAndRunsTheRest(boolean start) {
        World world = fork(rules().policy(), start);
        assertThat(world.task("a").state()).isEqualTo(TaskState.COMPLETED);
        assertThat(world.task("a").reusedFrom()).isEqualTo(OUTPUT_OF_A);
        assertThat(world.task("a").steps()).isEmpty();
        assertThat(world.events("task_carried")).hasSize(1);
        assertThat(world.view.run().tasksCompleted).isEqualTo(1);
        assertThat(world.claimAll()).extracting(step -> step.task().key()).containsExactly("b");
        world.complete(world.step("b", "s1"));
        world.work();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
        Invariants.legal(world);
    }

    @Test
    void aForkMayHaveItsPlanApproved() {
        World world = fork(rules().policy().withApprovePlan(true), true);
        assertThat(world.state()).isEqualTo(RunState.AWAITING_APPROVAL);
        world.done(new Command.Approve(world.id(), null, World.WHO));
        assertThat(world.claimAll()).extracting(step -> step.task().key()).containsExactly("b");
    }

    @Test
    void aForkTriedAgainStillHasWhatItTookOver() {
        World world = fork(rules().policy(), true);
        world.fail(world.claim("b"), ErrorClass.PERMANENT);
        world.done(new Command.Retry(world.id(), false, World.WHO));
        assertThat(world.task("a").reusedFrom()).isEqualTo(OUTPUT_OF_A);
        assertThat(world.claimAll()).extracting(step -> step.task().key()).containsExactly("b");
    }

    @Test
    void aForkTriedAgainFromTheStartDoesAllItself() {
        World world = fork(rules().policy(), true);
        world.fail(world.claim("b"), ErrorClass.PERMANENT);
        world.done(new Command.Retry(world.id(), true, World.WHO));
        assertThat(world.claimAll()).extracting(step -> step.task().key()).containsExactly("a");
    }

    @Test
    void forkThatReusesEverythingCompletesAtOnce() {
        World world = World.fork(rules().policy(), plan(task("a")), FORK, true);
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }
}
