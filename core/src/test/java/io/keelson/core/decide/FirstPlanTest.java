package io.keelson.core.decide;

import static io.keelson.core.decide.Plans.plan;
import static io.keelson.core.decide.Plans.task;
import static io.keelson.core.decide.Rules.rules;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.money.Budget;
import io.keelson.core.plan.Plan;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Command;
import io.keelson.core.run.Command.Evaluation;
import io.keelson.core.run.Command.Evaluation.Planned;
import io.keelson.core.run.StepError;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A run that has a goal and a planner, and no plan as yet. */
class FirstPlanTest {
    private static final StepError CYCLE = new StepError("PLAN_INVALID", ErrorClass.QUALITY, "a → b → a");
    private static final Plan NONE = new Plan(0, List.of());
    private World world;

    @AfterEach
    void everyEventWasLegal() {
        Invariants.legal(world);
    }

    @Test
    void thePlannerWorksWhileTheRunIsPlanning() {
        start(rules().planner().policy());
        assertThat(world.state()).isEqualTo(RunState.PLANNING);
        assertThat(world.view.run().planVersion()).isZero();
        assertThat(world.taskStates()).containsOnlyKeys(".planning-1");
        world.complete(world.claim(".planning-1"));
        assertThat(world.state()).as("its answer is looked at").isEqualTo(RunState.PLANNING);
        answer(false, null, "0");
        assertThat(world.state()).isEqualTo(RunState.READY);
        assertThat(world.view.run().startedAt()).as("the planner's work is not the plan's").isNull();
        assertThat(world.view.run().planVersion()).isEqualTo(1);
        world.work();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
        assertThat(world.task("b").state()).isEqualTo(TaskState.COMPLETED);
    }

    @ParameterizedTest(name = "always {0}, threshold {1}, estimate {2}: asks {3}")
    @CsvSource({"true,,0,true", "false,,99,false", "false,2,2,false", "false,2,2.000001,true", "false,0,0,false"})
    void aHumanIsAskedWhereTheEstimateWantsOne(boolean always, BigDecimal threshold, String estimate, boolean asks) {
        start(rules().planner().policy());
        world.complete(world.claim(".planning-1"));
        answer(always, threshold, estimate);
        assertThat(world.state()).isEqualTo(asks ? RunState.AWAITING_APPROVAL : RunState.READY);
        assertThat(world.last("run_plan_ready").members()).containsEntry("estimated_cost",
                new BigDecimal(estimate).toPlainString());
        if (asks) {
            assertThat(world.task("a").state()).isEqualTo(TaskState.PENDING);
            world.done(new Command.Approve(world.id(), null, World.WHO));
        }
        world.work();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void estimatedCostIsReserved() {
        start(rules().planner().policy());
        assertThat(world.view.run().reserved()).isEqualByComparingTo("1");
        world.complete(world.claim(".planning-1"));
        answer(true, null, "7.5");
        assertThat(world.view.run().reserved()).isEqualByComparingTo("7.5");
    }

    @Test
    void anAnswerThatIsNoPlanIsRepairedTwice() {
        start(rules().planner().policy());
        for (int i = 1; i <= 3; i++) {
            assertThat(world.state()).isEqualTo(RunState.PLANNING);
            world.complete(world.claim(".planning-" + i));
            world.answer(world.evaluations.getLast(), new Evaluation.Broken(CYCLE));
        }
        assertThat(world.task(".planning-1").errorCode()).as("in the next try's input").isEqualTo("PLAN_INVALID");
        assertThat(world.events("run_planning_refused")).hasSize(3);
        assertThat(world.state()).isEqualTo(RunState.FAILED);
        assertThat(world.view.run().errorCode()).isEqualTo("PLANNING_FAILED");
        assertThat(world.view.run().errorMessage()).contains("3 tries", "a → b → a", "PLAN_INVALID");
    }

    @Test
    void aPlannerThatFailsIsAskedAgain() {
        start(rules().planner().policy());
        world.fail(world.claim(".planning-1"), ErrorClass.PERMANENT);
        world.complete(world.claim(".planning-2"));
        answer(false, null, "0");
        world.work();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void runThatFailedInPlanningMayPlanAgain() {
        start(rules().planner().policy());
        for (int i = 1; i <= 3; i++) {
            world.fail(world.claim(".planning-" + i), ErrorClass.PERMANENT);
        }
        assertThat(world.state()).isEqualTo(RunState.FAILED);
        world.done(new Command.Retry(world.id(), false, World.WHO));
        assertThat(world.state()).isEqualTo(RunState.PLANNING);
        world.complete(world.claim(".planning-1"));
        answer(false, null, "0");
        world.work();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void aPlanThatWasMadeIsReplannedAsAny() {
        start(rules().planner().policy());
        world.complete(world.claim(".planning-1"));
        answer(false, null, "0");
        world.done(new Command.Replan(world.id(), "another way", World.WHO));
        world.complete(world.claim(".plan-1"));
        world.answer(world.evaluations.getLast(), new Planned(plan(task("c")), "{}"));
        assertThat(world.view.run().planVersion()).isEqualTo(2);
        world.work();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void planningRunCanBeCancelled() {
        start(rules().planner().policy());
        StepRow step = world.claim(".planning-1");
        world.done(new Command.Cancel(world.id(), null, World.WHO));
        assertThat(world.state()).isEqualTo(RunState.CANCELLED);
        assertThat(step.isHeld()).isFalse();
    }

    private void start(RunPolicy policy) {
        world = World.start(policy, NONE);
    }

    private void answer(boolean always, BigDecimal threshold, String estimate) {
        world.answer(world.evaluations.getLast(), new Planned(plan(task("a"), task("b").on("a")), "{}",
                new Planned.Terms(always, threshold, new Budget(new BigDecimal(estimate), Map.of(), null, null, null,
                        BigDecimal.ZERO))));
    }
}
