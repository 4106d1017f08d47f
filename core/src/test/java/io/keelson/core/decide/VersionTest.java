package io.keelson.core.decide;

import static io.keelson.core.decide.Plans.plan;
import static io.keelson.core.decide.Plans.task;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.decide.ChangeSet.Evaluate;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Command.Evaluation;
import io.keelson.core.run.TimerKind;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What other nodes know of a run is outdated by every change of it, and no node's wrong time makes a run wait for ever. */
class VersionTest {

    @Test
    void endedBackoffOutdatesViewsThatStillWait() {
        World world = World.start(plan(task("a")));
        world.fail(world.claimAll().getFirst(), ErrorClass.INFRASTRUCTURE);
        int version = world.view.run.version;
        world.nextTimer();
        assertThat(world.queue).hasSize(1);
        assertThat(world.view.run.version).isGreaterThan(version);
    }

    @Test
    void droppedAnswerOutdatesWaitingViews() {
        World world = World.start(plan(task("a").when("${ . }")));
        Evaluate asked = world.evaluations.getFirst();
        world.done(new Command.Pause(world.id(), null, World.WHO));
        int version = world.view.run.version;
        world.answer(asked, new Evaluation.Proceed(null));
        assertThat(world.armed()).isEmpty();
        assertThat(world.view.run.version).isGreaterThan(version);
    }

    @Test
    void aBackoffThatAnotherNodeFoundOverIsArmedAgainByANodeThatIsBehind() {
        World world = World.start(plan(task("a")));
        world.fail(world.claimAll().getFirst(), ErrorClass.INFRASTRUCTURE);
        world.done(new Command.Pause(world.id(), null, World.WHO));
        world.nextTimer();
        assertThat(world.armed()).isEmpty();
        world.now = world.now.minus(Duration.ofMillis(3));
        world.done(new Command.Resume(world.id(), World.WHO));
        assertThat(world.armed()).hasSize(1);
        world.nextTimer();
        assertThat(world.claimAll()).hasSize(1);
    }

    @Test
    void aLateTimerOfTheGateDoesNotAskAgainOnceTheGateIsOpen() {
        World world = World.start(RunPolicy.DEFAULT, plan(task("a").forEach("${ . }")));
        Evaluate gate = world.evaluations.getFirst();
        world.answer(gate, new Evaluation.Proceed(List.of()));
        world.send(new Command.TimerDue(world.id(), TimerKind.EVALUATE_GATE, gate.subject(), Actor.SYSTEM));
        assertThat(world.armed()).containsExactly(TimerKind.EVALUATE_TASK_OUTPUT);
    }
}
