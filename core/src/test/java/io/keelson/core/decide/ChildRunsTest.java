package io.keelson.core.decide;

import static io.keelson.core.decide.Plans.plan;
import static io.keelson.core.decide.Plans.task;
import static io.keelson.core.decide.Rules.ASK;
import static io.keelson.core.decide.Rules.rules;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.plan.StepKind;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.policy.FailureMode;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Command.Evaluation;
import io.keelson.core.run.NewRun;
import io.keelson.core.run.TimerKind;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What rests together when a run that has started another is paused. */
class ChildRunsTest {
    private World world;

    @AfterEach
    void everyEventWasLegal() {
        Invariants.legal(world);
    }

    @Test
    void thePauseInWhichItRestsIsNotHeldAgainstAChild() {
        world = World.start(plan(task("a").mode(FailureMode.CONTINUE).step("child", StepKind.RUN)
                .step("next", StepKind.TOOL)));
        NewRun child = new NewRun(new UUID(9, 9), World.WORKSPACE, "c", null, "goal", plan(task("x")), "{}", "{}",
                RunPolicy.DEFAULT, "{}", "[]", null, 100, "run.start", null, null, "ann");
        world.answer(world.evaluations.getLast(),
                new Evaluation.Starts("{}", child, null, false, Duration.ofMinutes(1)));
        StepRow step = world.step("a", "child");
        assertThat(step.state()).isEqualTo(StepState.WAITING);
        world.now = world.now.plusSeconds(20);
        world.done(new Command.Pause(world.id(), null, World.WHO));
        world.now = world.now.plus(Duration.ofHours(1));
        world.send(new Command.TimerDue(world.id(), TimerKind.STEP_WAIT, step.id(), Actor.SYSTEM));
        assertThat(step.state()).isEqualTo(StepState.WAITING);
        world.done(new Command.Resume(world.id(), World.WHO));
        assertThat(world.due(TimerKind.STEP_WAIT, step.id())).isEqualTo(world.now.plusSeconds(40));
        world.deliver(TimerKind.STEP_WAIT, step.id());
        assertThat(step.errorCode()).isEqualTo("CHILD_RUN_TIMEOUT");
    }

    @ParameterizedTest(name = "the ticket is answered: {0}")
    @ValueSource(booleans = {true, false})
    void resumedChildStaysPausedWithItsParent(boolean answered) {
        world = World.start(rules().escalation(ASK).policy(), plan(task("a").retry(Plans.ONCE).steps(1), task("b")));
        world.view.run.parent = new ParentRow(new UUID(9, 1), new UUID(9, 2), 1, false, null, 0, false);
        world.fail(world.claim("a"), ErrorClass.INFRASTRUCTURE);
        parentIs(true, 1);
        assertThat(world.state()).isEqualTo(RunState.ESCALATED);
        world.holder = "node";
        if (answered) {
            world.resolve(world.ticket(), Command.Resolution.RESUME);
        } else {
            world.done(new Command.CancelTask(world.id(), world.task("a").id(), null, World.WHO));
        }
        assertThat(world.state()).isEqualTo(RunState.PAUSED);
        assertThat(world.view.steps.values()).noneMatch(StepRow::isHeld);
        parentIs(false, 2);
        assertThat(world.state()).isEqualTo(RunState.RUNNING);
    }

    private void parentIs(boolean paused, int version) {
        world.send(new Command.Evaluated(world.id(), TimerKind.EVALUATE_PARENT, new UUID(9, 3),
                new Evaluation.ParentIs(true, paused, version), Actor.SYSTEM));
    }
}
