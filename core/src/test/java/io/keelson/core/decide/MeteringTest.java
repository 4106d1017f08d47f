package io.keelson.core.decide;

import static io.keelson.core.decide.Plans.plan;
import static io.keelson.core.decide.Plans.task;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.money.Prices;
import io.keelson.core.money.Prices.ModelPrice;
import io.keelson.core.money.Prices.Price;
import io.keelson.core.money.TokenPrices;
import io.keelson.core.money.Tokens;
import io.keelson.core.money.Transfer;
import io.keelson.core.money.WorstCase;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import io.keelson.core.run.Result;
import io.keelson.core.run.StepError;
import java.math.BigDecimal;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Use that holders report by heartbeats is cumulative for a lease: each part of it is charged once. */
class MeteringTest extends OneWorkspace {
    private static final Prices PRICES = new Prices(Map.of("priced", new Price(usd("0.3"), 1)),
            Map.of("large", new ModelPrice(new TokenPrices(usd("0.5"), null, usd("1"), usd("10")), 1)));

    private World world(String limit, WorstCase worst) {
        RunPolicy policy = RunPolicy.DEFAULT.withApprovePlan(true);
        World world = run("10", limit == null ? policy : policy.with(limited(limit)),
                plan(worst == null ? task("a").steps(1) : task("a").steps(1, worst)));
        world.prices = PRICES;
        world.done(new Command.Approve(world.id(), null, World.WHO));
        return world;
    }

    private static Reply beat(World world, StepRow step, int epoch, Result used) {
        return world.send(new Command.Meter(world.id(), step.id(), epoch, used, Actor.agent("w1")));
    }

    private static Result cost(String cost) {
        return Result.spent(Tokens.NONE, usd(cost), null);
    }

    private static BigDecimal charges(World world) {
        return world.bank.ledger().stream().filter(t -> t.kind() == Transfer.Kind.CHARGE).map(Transfer::amount)
                .reduce(BigDecimal.ZERO, BigDecimal::add);
    }

    /**
     * Words of one step: {@code b} a heartbeat with that cost in all, {@code c} its completion, {@code f} a failure that is
     * tried again, {@code x} the end of its lease, {@code r} its release, {@code o} a heartbeat of the lease before. Each
     * lease owes the most that was reported under it while it was valid.
     */
    @ParameterizedTest
    @CsvSource({"b.2 b.5 c.5, 0.5", "b.2 b.2 b.2 c.2, 0.2", "b.5 b.2 c.3, 0.5", "b.5 c0, 0.5", "b.5 c1, 1", "c1, 1",
            "b.5 x b.2 c.4, 0.9", "b.5 x o.9 c.1, 0.6", "b.5 r b.1 c.1, 0.6", "b.5 f.7 b.2 c.2, 0.9", "b.5 f0 c0, 0.5",
            "b.1 x b.1 x c.1, 0.3", "x o.5 c0, 0", "b.000001 b.000002 c.000003, 0.000003"})
    void eachLeaseOwesTheMostThatWasReportedUnderIt(String script, String expected) {
        World world = world(null, null);
        StepRow step = world.claim("a");
        Map<Integer, BigDecimal> model = new HashMap<>();
        for (String word : script.split(" ")) {
            BigDecimal amount = word.length() == 1 ? BigDecimal.ZERO : usd(word.substring(1));
            int epoch = step.leaseEpoch();
            switch (word.charAt(0)) {
                case 'b' -> assertThat(beat(world, step, epoch, cost(amount.toString())))
                        .isEqualTo(new Reply.Metered(false));
                case 'o' -> assertThat(((Reply.Rejected) beat(world, step, epoch - 1, cost(amount.toString()))).code())
                        .isEqualTo("STALE_LEASE");
                case 'c' -> world.done(new Command.Complete(world.id(), step.id(), epoch,
                        new Result("1", Tokens.NONE, amount, List.of()), Actor.agent("w1")));
                case 'f' -> {
                    world.done(new Command.Fail(world.id(), step.id(), epoch,
                            new StepError("X", ErrorClass.INFRASTRUCTURE, "x"), cost(amount.toString()),
                            Actor.agent("w1")));
                    assertThat(world.nextBackoff()).isTrue();
                }
                case 'x' -> world.expire(step);
                default -> world.done(
                        new Command.Release(world.id(), step.id(), epoch, null, Actor.agent("w1")));
            }
            if (word.charAt(0) != 'o') {
                model.merge(epoch, amount, BigDecimal::max);
            }
            BigDecimal owed = model.values().stream().reduce(BigDecimal.ZERO, BigDecimal::add);
            assertThat(charges(world)).as("after %s", word).isEqualByComparingTo(owed);
            assertThat(step.cost()).isEqualByComparingTo(owed);
            assertThat(world.task("a").cost()).isEqualByComparingTo(owed);
            assertThat(world.view.run().cost()).isEqualByComparingTo(owed);
            if (!step.isHeld() && !world.state().terminal()) {
                step = world.claim("a");
            }
        }
        assertThat(charges(world)).isEqualByComparingTo(expected);
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
        assertThat(beat(world, step, step.leaseEpoch(), cost("5"))).as("after its result")
                .isInstanceOf(Reply.Rejected.class);
    }

    /** Leases that end without a report have a result with what their heartbeats have said. */
    @ParameterizedTest
    @ValueSource(strings = {"expired", "released", "cancelled"})
    void aLeaseThatEndsWithoutAReportHasAResultOfItsUse(String end) {
        World world = world(null, null);
        StepRow step = world.claim("a");
        beat(world, step, 1, Result.spent(Tokens.undivided(7), usd("0.2"), null));
        beat(world, step, 1, Result.spent(Tokens.undivided(9), usd("0.3"), null));
        switch (end) {
            case "expired" -> world.expire(step);
            case "released" -> world.done(new Command.Release(world.id(), step.id(), 1, null, Actor.agent("w1")));
            default -> world.done(new Command.Cancel(world.id(), "because", World.WHO));
        }
        assertThat(world.results).singleElement().satisfies(result -> {
            assertThat(result.outcome()).isEqualTo("lost");
            assertThat(result.tokens()).isEqualTo(Tokens.undivided(9));
            assertThat(result.cost()).isEqualByComparingTo("0.3");
        });
        assertThat(beat(world, step, 1, cost("5"))).isInstanceOf(Reply.Rejected.class);
        assertThat(charges(world)).isEqualByComparingTo("0.3");
    }

    @Test
    void growingTokensAreChargedByTheModelsPrice() {
        World world = world(null, null);
        StepRow step = world.claim("a");
        beat(world, step, 1, Result.spent(new Tokens(1_000_000, 0, 0, 0, 0), null, "large"));
        assertThat(charges(world)).isEqualByComparingTo("0.5");
        beat(world, step, 1, Result.spent(new Tokens(1_000_000, 0, 0, 100_000, 0), null, "large"));
        assertThat(charges(world)).isEqualByComparingTo("1.5");
        world.done(new Command.Complete(world.id(), step.id(), 1, new Result("1",
                new Tokens(1_000_000, 0, 0, 200_000, 50_000), null, "large", List.of(), null), Actor.agent("w1")));
        assertThat(charges(world)).isEqualByComparingTo("2.5");
        assertThat(step.tokens()).isEqualTo(1_200_000);
        assertThat(world.view.run().tokens()).isEqualTo(new Tokens(1_000_000, 0, 0, 200_000, 50_000));
    }

    @Test
    void tokensWithoutAPriceAreCountedAndChargedAtTheEnd() {
        World world = world(null, null);
        StepRow step = world.claim("a");
        beat(world, step, 1, Result.spent(Tokens.undivided(7), null, "unknown"));
        assertThat(charges(world)).isEqualByComparingTo("0");
        assertThat(step.tokens()).isEqualTo(7);
        world.done(new Command.Complete(world.id(), step.id(), 1,
                new Result("1", Tokens.undivided(9), usd("0.4"), List.of()), Actor.agent("w1")));
        assertThat(charges(world)).isEqualByComparingTo("0.4");
        assertThat(step.tokens()).isEqualTo(9);
    }

    /** Nothing above a limit is charged, and the holder learns it as soon as nothing is left. */
    @ParameterizedTest
    @CsvSource({"0.4, false, 0.4, 0", "0.5, true, 0.5, 0", "0.7, true, 0.5, 0.2"})
    void theHolderIsToldThatTheLimitLeavesNothing(String used, boolean exhausted, String charged, String uncollected) {
        World world = world("0.5", null);
        StepRow step = world.claim("a");
        assertThat(beat(world, step, 1, cost(used))).isEqualTo(new Reply.Metered(exhausted));
        assertThat(beat(world, step, 1, cost(used))).as("again").isEqualTo(new Reply.Metered(exhausted));
        assertThat(charges(world)).isEqualByComparingTo(charged);
        assertThat(world.view.run().uncollected()).isEqualByComparingTo(uncollected);
        assertThat(step.isHeld()).as("it may report").isTrue();
        assertThat(world.state())
                .isEqualTo(usd(uncollected).signum() > 0 ? RunState.BUDGET_EXCEEDED : RunState.RUNNING);
    }

    @Test
    void taskBudgetLimitsMetering() {
        World task = run("10", RunPolicy.DEFAULT, plan(task("a").budget("0.2").steps(1)));
        assertThat(beat(task, task.claim("a"), 1, cost("0.2"))).isEqualTo(new Reply.Metered(true));
    }

    @Test
    void theCreditsOfTheWorkspaceBindItToo() {
        World poor = run("1", RunPolicy.DEFAULT, plan(task("a").steps(1)));
        StepRow step = poor.claim("a");
        assertThat(beat(poor, step, 1, cost("0.9"))).isEqualTo(new Reply.Metered(false));
        assertThat(beat(poor, step, 1, cost("1"))).isEqualTo(new Reply.Metered(true));
    }

    /** A hold pays first; what is left of it is what others do not get. */
    @Test
    void holdOfTheStepPaysMeteredUse() {
        World world = world("0.05", new WorstCase("large", 10_000, 4_000));
        StepRow step = world.claim("a");
        assertThat(step.hold).isEqualTo(new Hold(usd("0.05"), 4_000, false));
        assertThat(beat(world, step, 1, cost("0.02"))).isEqualTo(new Reply.Metered(false));
        assertThat(Objects.requireNonNull(step.hold).amount()).isEqualByComparingTo("0.03");
        assertThat(world.view.held).isEqualByComparingTo("0.03");
        world.done(new Command.Complete(world.id(), step.id(), 1, new Result("1", Tokens.NONE, usd("0.05"), List.of()),
                Actor.agent("w1")));
        assertThat(charges(world)).isEqualByComparingTo("0.05");
        assertThat(world.events("step_hold_exceeded")).isEmpty();
    }

    @Test
    void eachChargeHasItsEvent() {
        World world = world(null, null);
        StepRow step = world.claim("a");
        beat(world, step, 1, cost("0.2"));
        beat(world, step, 1, cost("0.2"));
        beat(world, step, 1, cost("0.5"));
        assertThat(world.events("step_charged")).extracting(event -> event.members().get("charged"))
                .containsExactly("0.200000", "0.300000");
    }
}
