package io.keelson.core.decide;

import static io.keelson.core.decide.Plans.plan;
import static io.keelson.core.decide.Plans.task;
import static io.keelson.core.decide.Rules.rules;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.money.Prices;
import io.keelson.core.money.Prices.ModelPrice;
import io.keelson.core.money.Prices.Price;
import io.keelson.core.money.TokenPrices;
import io.keelson.core.money.Tokens;
import io.keelson.core.money.WorstCase;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.policy.FailureMode;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Command.Evaluation;
import io.keelson.core.run.Result;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Work that costs something is not cancelled because another part of its run has failed. */
class PaidWorkTest extends OneWorkspace {
    private static final Prices PRICED = new Prices(Map.of("noop", new Price(usd("0.1"), 1)),
            Map.of("m", new ModelPrice(TokenPrices.flat(usd("1")), 1)));

    /**
     * Items a[0] and a[1] of a fan-out, or tasks a and b: the first fails while the second is at work, and the second is paid
     * as the first column says.
     */
    @ParameterizedTest(name = "{0}, fan-out {1}: {2}")
    @CsvSource({"nothing, true, CANCELLED", "nothing, false, CANCELLED", "unclaimed, false, CANCELLED",
            "price, true, COMPLETED", "price, false, COMPLETED", "heartbeat, true, COMPLETED",
            "heartbeat, false, COMPLETED", "earlier, true, COMPLETED", "earlier, false, COMPLETED",
            "hold, true, COMPLETED", "hold, false, COMPLETED"})
    void paidWorkFinishesWhereAnotherPartFails(String paid, boolean fanOut, TaskState end) {
        String first = fanOut ? "a[0]" : "a";
        String second = fanOut ? "a[1]" : "b";
        Plans.T work = paid.equals("hold") ? task("a").steps(2, new WorstCase("m", 1, 1)) : task("a").steps(2);
        Plans.T other = paid.equals("hold") ? task("b").steps(2, new WorstCase("m", 1, 1)) : task("b").steps(2);
        World world = run("10", rules().policy(), fanOut ? plan(work.forEach("${ [1,2] }"), task("c").on("a"))
                : plan(work, other, task("c").on("a")));
        if (fanOut) {
            world.answer(world.evaluations.getFirst(), new Evaluation.Proceed(List.of("1", "2")));
        }
        if (paid.equals("price") || paid.equals("hold") || paid.equals("unclaimed")) {
            world.prices = PRICED;
        }
        StepRow fails = world.claim(first);
        if (paid.equals("earlier")) {
            complete(world, world.claim(second), "0.1");
        }
        StepRow step = paid.equals("unclaimed") ? null : world.claim(second);
        if (paid.equals("heartbeat")) {
            world.send(new Command.Meter(world.id(), step.id(), step.leaseEpoch(),
                    Result.spent(Tokens.NONE, usd("0.1"), null), Actor.agent("w1")));
        }
        world.fail(fails, ErrorClass.PERMANENT);

        assertThat(world.state()).isEqualTo(end == TaskState.COMPLETED ? RunState.RUNNING : RunState.FAILED);
        assertThat(world.task("c").state()).isEqualTo(TaskState.SKIPPED);
        if (end == TaskState.COMPLETED) {
            complete(world, step, "0.1");
            world.work();
        }
        assertThat(world.task(second).state()).isEqualTo(end);
        assertThat(world.state()).isEqualTo(RunState.FAILED);
        assertThat(world.task("a").state()).isEqualTo(TaskState.FAILED);
    }

    /** Further items, which have not begun, are cancelled, and a failure of a second item changes nothing. */
    @Test
    void nothingElseBegins() {
        World world = run("10", rules().policy(), plan(task("a").forEach("${ [1,2,3,4] }"), task("other")));
        world.answer(world.evaluations.getFirst(), new Evaluation.Proceed(List.of("1", "2", "3", "4")));
        world.prices = PRICED;
        StepRow first = world.claim("a[0]");
        StepRow second = world.claim("a[1]");
        StepRow third = world.claim("a[2]");
        world.fail(first, ErrorClass.PERMANENT);
        assertThat(world.taskStates()).containsEntry("a[3]", TaskState.CANCELLED)
                .containsEntry("other", TaskState.CANCELLED).containsEntry("a", TaskState.FAILED);

        world.fail(second, ErrorClass.PERMANENT);
        assertThat(world.state()).isEqualTo(RunState.RUNNING);
        world.complete(third);
        assertThat(world.state()).isEqualTo(RunState.FAILED);
        assertThat(world.taskStates()).containsEntry("a[1]", TaskState.FAILED).containsEntry("a[2]",
                TaskState.COMPLETED);

        world.done(new Command.Retry(world.id(), false, World.WHO));
        world.answer(world.evaluations.getLast(), new Evaluation.Proceed(List.of("1", "2", "3", "4")));
        assertThat(world.task("a[2]").state()).as("a retry keeps what was paid").isEqualTo(TaskState.COMPLETED);
    }

    /** What starts over is done again, so nothing of it is waited for. */
    @ParameterizedTest
    @CsvSource({"RETRY, FAIL_FAST", "FAIL_FAST, RETRY"})
    void workThatStartsOverIsCancelled(FailureMode run, FailureMode agent) {
        World world = run("10", rules().run(run).agent(agent).policy(),
                plan(task("a").agent("x").retry(Plans.ONCE), task("b").agent("x")));
        world.prices = PRICED;
        StepRow fails = world.claim("a");
        StepRow step = world.claim("b");
        world.fail(fails, ErrorClass.INFRASTRUCTURE);
        assertThat(step.state().terminal()).isTrue();
        assertThat(step.isHeld()).isFalse();
    }
}
