package io.keelson.core.decide;

import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.money.Bank;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.TimerKind;
import java.math.BigDecimal;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Runs that start by themselves. */
class DeferredStartTest {

    private static final Duration HOUR = Duration.ofHours(1);

    private static World in(Duration delay) {
        Bank bank = new Bank();
        bank.grant(World.WORKSPACE, BigDecimal.TEN);
        return World.startingIn(bank, delay, Plans.plan(Plans.task("a")));
    }

    @Test
    void waitsForItsTimeAndSaysSo() {
        World world = in(HOUR);

        assertThat(world.view.run().state()).isEqualTo(RunState.CREATED);
        assertThat(world.armed()).containsExactly(TimerKind.START);
        assertThat(world.due(TimerKind.START, world.id())).isEqualTo(world.now.plus(HOUR));
        assertThat(Explain.run(world.view, new ExplainTest().around)).singleElement()
                .satisfies(reason -> {
                    assertThat(reason.code()).isEqualTo("STARTS_LATER");
                    assertThat(reason.until()).isEqualTo(world.now.plus(HOUR));
                });
    }

    @Test
    void startsWhenItsTimeHasComeAndNotBefore() {
        World world = in(HOUR);
        world.send(new Command.TimerDue(world.id(), TimerKind.START, world.id(), Actor.RECONCILER));
        assertThat(world.view.run().state()).isEqualTo(RunState.CREATED);

        world.nextTimer();

        assertThat(world.view.run().state()).isEqualTo(RunState.PENDING);
        assertThat(world.armed()).isEmpty();
    }

    @Test
    void aTimeThatIsPastStartsAtOnce() {
        assertThat(in(Duration.ZERO).view.run().state()).isEqualTo(RunState.PENDING);
        assertThat(in(HOUR.negated()).view.run().state()).isEqualTo(RunState.PENDING);
    }

    @Test
    void firstStartDisarmsTheStartTimer() {
        World world = in(HOUR);
        world.send(new Command.Start(world.id(), World.WHO));

        assertThat(world.view.run().state()).isEqualTo(RunState.PENDING);
        assertThat(world.armed()).isEmpty();
        world.now = world.now.plus(HOUR);
        world.send(new Command.TimerDue(world.id(), TimerKind.START, world.id(), Actor.RECONCILER));
        assertThat(world.events("run_started")).hasSizeLessThanOrEqualTo(1);
    }

    @Test
    void cancelledBeforeItNeverStarts() {
        World world = in(HOUR);
        world.send(new Command.Cancel(world.id(), "no need", World.WHO));

        assertThat(world.view.run().state()).isEqualTo(RunState.CANCELLED);
        assertThat(world.armed()).isEmpty();
    }

    @Test
    void isTriedAgainWhileItsWorkspaceCannotPay() {
        Bank bank = new Bank();
        World world = World.startingIn(bank, HOUR, Plans.plan(Plans.task("a")));
        world.nextTimer();
        assertThat(world.view.run().state()).isEqualTo(RunState.CREATED);
        assertThat(world.due(TimerKind.START, world.id())).isEqualTo(world.now.plus(DeferredStart.RETRY_DELAY));

        bank.grant(World.WORKSPACE, BigDecimal.TEN);
        world.nextTimer();

        assertThat(world.view.run().state()).isEqualTo(RunState.PENDING);
    }
}
