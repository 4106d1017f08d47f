package io.keelson.core.decide;

import static io.keelson.core.decide.Plans.plan;
import static io.keelson.core.decide.Plans.task;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.plan.Plan;
import io.keelson.core.plan.Reuse;
import io.keelson.core.plan.TaskPolicy;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Command;
import io.keelson.core.run.Command.Evaluation;
import io.keelson.core.run.SourceStep;
import io.keelson.core.run.StepError;
import io.keelson.core.run.TimerKind;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A step that may take over the result of another step with the same key. */
class ResultReuseTest extends OneRun {
    private static final UUID RUN = new UUID(7, 1);
    private static final UUID STEP = new UUID(7, 2);
    private static final SourceStep SOURCE = new SourceStep(RUN, new UUID(7, 3), STEP);
    private static final Evaluation COMPUTED_BY = new Evaluation.ComputedBy(SOURCE);

    @BeforeEach
    void oneStepWithAKey() {
        world = World.start(reusing());
    }

    private static Plan reusing() {
        return plan(task("a").policy(
                TaskPolicy.DEFAULT.reusing(new Reuse(Map.of("s1", new Reuse.Rule(null, 60))))));
    }

    @Test
    void resultOfAnotherStepIsTakenOverWithoutAClaimOrCost() {
        assertThat(world.queue).isEmpty();
        answer(new Evaluation.Reused("{\"n\":1}", SOURCE));
        assertThat(world.step("a", "s1")).extracting(StepRow::state, StepRow::attempt, StepRow::leaseEpoch)
                .containsExactly(StepState.COMPLETED, 0, 0);
        assertThat(world.step("a", "s1").reusedFrom()).isEqualTo(SOURCE);
        assertThat(world.step("a", "s1").cost()).isEqualByComparingTo(BigDecimal.ZERO);
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
        assertThat(world.last("step_result_reused").payload().toString()).contains(RUN.toString(), STEP.toString());
        assertThat(world.events("step_completed")).hasSize(1);
        assertThat(world.events("step_started")).isEmpty();
    }

    @Test
    void stepWithoutAResultIsClaimedAndNotAskedAboutAgain() {
        answer(new Evaluation.Computes());
        assertThat(world.evaluations).isEmpty();
        world.complete(world.claim("a"));
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void waitForAnotherStepIsRecordedOnceAndAskedAboutAgain() {
        answer(COMPUTED_BY);
        assertThat(world.queue).isEmpty();
        assertThat(world.step("a", "s1").state()).isEqualTo(StepState.PENDING);
        Instant next = world.due(TimerKind.EVALUATE_STEP, world.step("a", "s1").id());
        assertThat(next).isAfter(world.now).isBefore(world.now.plusSeconds(1));
        world.nextTimer();
        answer(COMPUTED_BY);
        assertThat(world.events("step_result_awaited")).hasSize(1);
        world.nextTimer();
        answer(new Evaluation.Reused("1", SOURCE));
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
        assertThat(world.step("a", "s1").deferredSince()).isNull();
    }

    @Test
    void stepComputesAfterTheTimeOfOneExecution() {
        int answers = 0;
        while (world.queue.isEmpty()) {
            answer(COMPUTED_BY);
            if (world.queue.isEmpty()) {
                world.nextTimer();
            }
            answers++;
        }
        assertThat(answers).isBetween(5, 60);
        assertThat(world.step("a", "s1").deferredSince()).isNull();
        world.complete(world.claim("a"));
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void keyThatCannotBeComputedFailsTheStepBeforeItIsClaimed() {
        answer(new Evaluation.Broken(new StepError("EXPRESSION_FAILED", ErrorClass.PERMANENT, "no")));
        assertThat(world.state()).isEqualTo(RunState.FAILED);
        assertThat(world.events("step_started")).isEmpty();
        assertThat(world.step("a", "s1").errorCode()).isEqualTo("EXPRESSION_FAILED");
    }

    @Test
    void cancelledStepWaitsNoMore() {
        answer(COMPUTED_BY);
        world.done(new Command.Cancel(world.id(), null, World.WHO));
        assertThat(world.state()).isEqualTo(RunState.CANCELLED);
        assertThat(world.armed()).isEmpty();
    }

    @Test
    void pausedRunLooksForTheResultAgain() {
        world.done(new Command.Pause(world.id(), null, World.WHO));
        answer(new Evaluation.Reused("1", SOURCE));
        assertThat(world.step("a", "s1").state()).isEqualTo(StepState.PENDING);
        world.done(new Command.Resume(world.id(), World.WHO));
        answer(new Evaluation.Reused("1", SOURCE));
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void lateAnswerChangesNothing() {
        var asked = world.evaluations.getFirst();
        answer(new Evaluation.Computes());
        world.answer(asked, new Evaluation.Reused("2", SOURCE));
        assertThat(world.step("a", "s1").state()).isEqualTo(StepState.PENDING);
        assertThat(world.queue).hasSize(1);
        world.complete(world.claim("a"));
    }

    private void answer(Evaluation answer) {
        world.answer(world.evaluations.getFirst(), answer);
    }
}
