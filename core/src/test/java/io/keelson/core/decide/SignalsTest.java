package io.keelson.core.decide;

import static io.keelson.core.decide.Plans.plan;
import static io.keelson.core.decide.Plans.task;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.plan.StepKind;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Command.Evaluation.Awaits;
import io.keelson.core.run.Reply;
import io.keelson.core.run.TimerKind;
import java.time.Duration;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class SignalsTest {
    private World world = World.start(plan(task("a").step("paid", StepKind.SIGNAL).steps(1)));

    private void opens(String name, Duration timeout, boolean continues) {
        world.answer(world.evaluations.getFirst(), new Awaits("{}", name, timeout, continues));
    }

    private Command signal(int id, String name, String payload) {
        return new Command.SendSignal(world.id(), new UUID(7, id), name, payload, null, World.WHO);
    }

    private StepRow step() {
        return world.step("a", "paid");
    }

    @Test
    void theStepThatWaitsYieldsThePayload() {
        opens("paid", null, false);
        assertThat(step().state()).isEqualTo(StepState.WAITING);
        assertThat(world.armed()).isEmpty();
        world.done(signal(1, "other", "0"));
        assertThat(step().state()).isEqualTo(StepState.WAITING);
        world.done(signal(2, "paid", "{\"amount\":12}"));
        assertThat(world.outputs).containsEntry(step().id(), "{\"amount\":12}");
        world.work();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
        assertThat(world.refused(signal(3, "paid", "1")).code()).isEqualTo("INVALID_STATE_TRANSITION");
    }

    @Test
    void earlySignalsAreKeptAndTakenInOrder() {
        world = World.start(plan(task("a").step("paid", StepKind.SIGNAL).step("again", StepKind.SIGNAL)));
        world.done(signal(1, "paid", "1"));
        world.done(signal(2, "paid", "2"));
        opens("paid", null, false);
        assertThat(world.outputs).containsEntry(step().id(), "1");
        opens("paid", null, false);
        assertThat(world.outputs).containsEntry(world.step("a", "again").id(), "2");
        assertThat(world.view.signals).isEmpty();
    }

    @Test
    void theSameSignalCountsOnceEvenWhenItWasTaken() {
        opens("paid", null, false);
        world.done(signal(1, "paid", "1"));
        assertThat(world.send(signal(1, "paid", "1"))).isEqualTo(Reply.UNCHANGED);
        assertThat(world.events("signal_received")).hasSize(1);
        assertThat(world.view.signals).isEmpty();
    }

    @Test
    void atTheTimeoutTheFirstDecides() {
        opens("paid", Duration.ofSeconds(5), false);
        world.done(signal(1, "paid", "1"));
        world.send(new Command.TimerDue(world.id(), TimerKind.STEP_WAIT, step().id(), Actor.SYSTEM));
        assertThat(step().state()).isEqualTo(StepState.COMPLETED);

        world = World.start(plan(task("a").step("paid", StepKind.SIGNAL)));
        opens("paid", Duration.ofSeconds(5), false);
        world.deliver(TimerKind.STEP_WAIT, step().id());
        assertThat(step().errorCode()).isEqualTo("SIGNAL_TIMEOUT");
        assertThat(world.state()).isEqualTo(RunState.FAILED);
        assertThat(world.refused(signal(2, "paid", "1")).current()).isEqualTo("failed");
    }

    private Command seen(Set<UUID> steps, String... tasks) {
        return new Command.SendSignal(world.id(), new UUID(7, 1), "paid", "1",
                new Command.SendSignal.Awaiting(steps, Set.of(tasks)), World.WHO);
    }

    @Test
    void isRefusedWhenAllThatTheSenderSawHasEnded() {
        world = World.start(plan(task("a").step("paid", StepKind.SIGNAL).step("other", StepKind.SIGNAL)));
        Command command = seen(Set.of(step().id()));
        opens("paid", Duration.ofSeconds(5), true);
        world.deliver(TimerKind.STEP_WAIT, step().id());
        assertThat(world.refused(command).code()).isEqualTo("SIGNAL_NOT_AWAITED");
        assertThat(world.view.signals).isEmpty();
        assertThat(world.events("signal_received")).isEmpty();

        Set<UUID> next = Set.of(world.step("a", "other").id());
        world.done(seen(next));
        assertThat(world.view.signals).hasSize(1);
        opens("another name", null, false);
        assertThat(world.refused(new Command.SendSignal(world.id(), new UUID(7, 2), "paid", "1",
                new Command.SendSignal.Awaiting(next, Set.of()), World.WHO)).code()).isEqualTo("SIGNAL_NOT_AWAITED");
    }

    @Test
    void isKeptForATaskThatMayGetSteps() {
        world = World.start(plan(task("a").step("s", StepKind.SIGNAL),
                task("b").on("a").forEach("${ [1] }").step("paid", StepKind.SIGNAL)));
        world.done(seen(Set.of(), "b"));
        world.done(new Command.CancelTask(world.id(), world.task("b").id(), null, World.WHO));
        assertThat(world.refused(new Command.SendSignal(world.id(), new UUID(7, 2), "paid", "1",
                new Command.SendSignal.Awaiting(Set.of(), Set.of("b")), World.WHO)).code())
                .isEqualTo("SIGNAL_NOT_AWAITED");
    }

    @Test
    void waitThatContinuesWithoutASignalYieldsNull() {
        opens("paid", Duration.ofSeconds(5), true);
        world.deliver(TimerKind.STEP_WAIT, step().id());
        assertThat(world.outputs).containsEntry(step().id(), "null");
        world.work();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void inAPauseItIsRecordedAndNothingIsBegun() {
        opens("paid", null, false);
        world.done(new Command.Pause(world.id(), null, World.WHO));
        world.done(signal(1, "paid", "1"));
        assertThat(step().state()).isEqualTo(StepState.COMPLETED);
        assertThat(world.queue).isEmpty();
        world.done(new Command.Resume(world.id(), World.WHO));
        world.work();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void aCancelledWaitTakesNothing() {
        opens("paid", Duration.ofSeconds(5), false);
        world.done(new Command.CancelTask(world.id(), step().task().id(), null, World.WHO));
        assertThat(world.armed()).isEmpty();
        assertThat(world.state()).isEqualTo(RunState.CANCELLED);
    }

    @Test
    void aRunKeepsSoManyAndNoMore() {
        for (int i = 0; i < Signals.MAX_UNREAD; i++) {
            world.done(signal(i, "other", "1"));
        }
        assertThat(world.refused(signal(-1, "other", "1")).code()).isEqualTo("TOO_MANY_SIGNALS");
        opens("paid", null, false);
        world.done(signal(-1, "paid", "1"));
    }
}
