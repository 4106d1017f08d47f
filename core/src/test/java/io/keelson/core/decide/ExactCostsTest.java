package io.keelson.core.decide;

import static io.keelson.core.decide.Plans.plan;
import static io.keelson.core.decide.Plans.task;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.money.Amounts;
import io.keelson.core.money.Prices;
import io.keelson.core.money.Prices.ModelPrice;
import io.keelson.core.money.Prices.Price;
import io.keelson.core.money.TokenPrices;
import io.keelson.core.money.Tokens;
import io.keelson.core.money.Transfer;
import io.keelson.core.money.Transfer.Kind;
import io.keelson.core.money.WorstCase;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import io.keelson.core.run.Result;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Costs are added exactly, and their sum is rounded once: what a run is charged never depends on how its cost is divided. */
class ExactCostsTest extends OneWorkspace {
    private static final String TEN_CALLS = "0.3 0.3 0.3 0.3 0.3 0.3 0.3 0.3 0.3 0.3";

    /** @param millionths of a credit */
    private static BigDecimal cost(String millionths) {
        return new BigDecimal(millionths).movePointLeft(6);
    }

    private BigDecimal charged() {
        return bank.ledger().stream().filter(t -> t.kind() == Kind.CHARGE).map(Transfer::amount)
                .reduce(BigDecimal.ZERO, BigDecimal::add);
    }

    /** All in millionths of a credit. */
    @ParameterizedTest
    @CsvSource({TEN_CALLS + ", 0 1 0 0 1 0 0 0 1 0, 3", "0.4, 0, 0.4", "0.5, 1, 0.5", "0.499999 0.000001, 0 1, 0.5",
            "0.6 0.3 0.1, 1 0 0, 1", "0.5 0.5 0.5, 1 0 1, 1.5", "1.5 1.5, 2 1, 3", "0.000001 0.000001, 0 0, 0.000002",
            "400000.4 0.4, 400000 1, 400000.8", "0 0.3 0 0.3, 0 1, 0.6", "0.0000004 0.0000004, , 0"})
    void eachUseIsChargedWhatTheRoundedSumGrowsBy(String costs, String charges, String sum) {
        List<BigDecimal> all = Arrays.stream(costs.split(" ")).map(ExactCostsTest::cost).toList();
        World world = run("10", RunPolicy.DEFAULT, steps(all.size()));
        BigDecimal model = BigDecimal.ZERO;
        for (BigDecimal each : all) {
            StepRow step = world.claim("a");
            BigDecimal kept = each.setScale(12, RoundingMode.HALF_UP);
            model = model.add(kept);
            assertThat(complete(world, step, each.toPlainString())).isEqualTo(Reply.CHANGED);

            assertThat(step.cost()).isEqualByComparingTo(kept);
            assertThat(world.view.run().cost()).isEqualByComparingTo(model);
            assertThat(world.task("a").cost()).isEqualByComparingTo(model);
            assertThat(charged()).isEqualByComparingTo(model.setScale(6, RoundingMode.HALF_UP));
        }
        assertThat(model).isEqualByComparingTo(cost(sum));
        assertThat(booked(Kind.CHARGE)).isEqualTo(charges == null ? List.of()
                : Arrays.stream(charges.split(" ")).map(each -> Amounts.of(cost(each)).toPlainString()).toList());
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
        assertThat(available()).isEqualByComparingTo(usd("10").subtract(charged()));
    }

    /** Credits: a limit holds for the exact cost, and no part of it is lost at the boundary. */
    @ParameterizedTest
    @CsvSource({"1, 0.4 0.4, 0.4 0.4, 1, 0, COMPLETED", "1, 0.4 0.6, 0.4 0.6, 1, 0, COMPLETED",
            "1, 0.4 0.7, 0.4 0.6, 1, 0.1, BUDGET_EXCEEDED", "2, 0.4 1.6 0.1, 0.4 1.6, 2, 0, BUDGET_EXCEEDED",
            "1, 1.000001, 1, 1, 0.000001, BUDGET_EXCEEDED", "0, 0.4 1, , 0, 0.4, BUDGET_EXCEEDED"})
    void limitBindsTheExactCost(String limit, String costs, String collected, String charged, String uncollected,
            RunState state) {
        List<String> all = List.of(costs.split(" "));
        World world = run("10", RunPolicy.DEFAULT.with(limited(cost(limit).toPlainString())), steps(all.size()));
        for (String each : all) {
            if (world.state() == RunState.RUNNING || world.state() == RunState.PENDING) {
                complete(world, world.claim("a"), cost(each).toPlainString());
            }
        }
        assertThat(bank.ledger().stream().filter(t -> t.kind() == Kind.CHARGE).map(t -> t.use().cost()))
                .usingElementComparator(BigDecimal::compareTo).containsExactlyElementsOf(collected == null ? List.of()
                        : Arrays.stream(collected.split(" ")).map(ExactCostsTest::cost).toList());
        assertThat(charged()).isEqualByComparingTo(cost(charged));
        assertThat(world.view.run().uncollected()).isEqualByComparingTo(cost(uncollected));
        assertThat(world.state()).isEqualTo(state);
    }

    @Test
    void nextAttemptContinuesTheSum() {
        World world = run("10", RunPolicy.DEFAULT, plan(task("a").retry(Plans.ONCE).steps(1)));
        fail(world, "0.0000004");
        assertThat(world.state()).isEqualTo(RunState.FAILED);
        assertThat(charged()).isEqualByComparingTo("0");
        assertThat(available()).isEqualByComparingTo("10");

        world.done(new Command.Retry(world.id(), true, World.WHO));
        step(world, "0.0000002");

        assertThat(world.view.run().cost()).isEqualByComparingTo("0.0000006");
        assertThat(booked(Kind.CHARGE)).containsExactly("0.000000", "0.000001");
        assertThat(available()).isEqualByComparingTo("9.999999");
    }

    /** The limit has paid the first attempt's part, and the rest of it pays no more than what is left. */
    @Test
    void nextAttemptHasWhatTheLimitLeaves() {
        World world = run("10", RunPolicy.DEFAULT.with(limited("0.000002")),
                plan(task("a").retry(Plans.ONCE).steps(1)));
        fail(world, "0.0000014");
        world.done(new Command.Retry(world.id(), true, World.WHO));
        step(world, "0.0000007");

        assertThat(world.view.run().uncollected()).isEqualByComparingTo("0.0000001");
        assertThat(charged()).isEqualByComparingTo("0.000002");
    }

    @Test
    void heartbeatsBelowWhatCanBeChargedAddUp() {
        World world = run("10", RunPolicy.DEFAULT, steps(1));
        StepRow step = world.claim("a");
        for (int beat = 1; beat <= 9; beat++) {
            assertThat(world.send(new Command.Meter(world.id(), step.id(), 1,
                    Result.spent(Tokens.NONE, cost("0.3").multiply(BigDecimal.valueOf(beat)), null),
                    Actor.agent("w1")))).isEqualTo(new Reply.Metered(false));
        }
        world.expire(step);
        step(world, "0.0000003");

        assertThat(step.cost()).isEqualByComparingTo("0.000003");
        assertThat(charged()).isEqualByComparingTo("0.000003");
        assertThat(bank.ledger().stream().filter(t -> t.kind() == Kind.CHARGE).map(t -> t.use().cost()))
                .hasSize(10).allMatch(each -> each.compareTo(cost("0.3")) == 0);
    }

    @Test
    void priceOfAToolBelowWhatCanBeChargedAddsUp() {
        World world = run("10", RunPolicy.DEFAULT.with(limited("0.000003")), steps(11));
        world.prices = new Prices(Map.of("noop", new Price(new BigDecimal("0.0000003"), 1)), Map.of());
        for (int i = 0; i < 10; i++) {
            complete(world, world.claim("a"), null);
        }
        assertThat(world.view.run().cost()).isEqualByComparingTo("0.000003");
        assertThat(charged()).isEqualByComparingTo("0.000003");
        assertThat(world.state()).as("the eleventh does not fit").isEqualTo(RunState.BUDGET_EXCEEDED);
    }

    /** Rounding falls on the steps of the other task each time; the budget counts what its own have cost. */
    @Test
    void budgetOfATaskCountsTheExactCost() {
        World world = run("10", RunPolicy.DEFAULT, plan(task("a").steps(9).budget("0.000002"), task("b").steps(9)));
        for (int i = 0; i < 5; i++) {
            complete(world, world.claim("a"), "0.0000004");
            if (i < 4) {
                complete(world, world.claim("b"), "0.0000006");
            }
        }
        assertThat(world.task("a").cost()).isEqualByComparingTo("0.000002");
        assertThat(bank.ledger().stream().filter(t -> t.kind() == Kind.CHARGE && t.use().cost()
                .compareTo(new BigDecimal("0.0000004")) == 0)).allMatch(t -> t.amount().signum() == 0);
        assertThat(world.state()).isEqualTo(RunState.BUDGET_EXCEEDED);
        assertThat(world.events("run_budget_exceeded").getFirst().members())
                .containsEntry("reason", "task a used 0.000002 of 0.000002 credits");
    }

    /** A hold is the exact worst case: a use within it is collected, also when the costs of other steps are rounded up. */
    @Test
    void useWithinAHoldIsCollected() {
        World world = run("10", RunPolicy.DEFAULT.withApprovePlan(true).with(limited("0.000002")),
                plan(task("a").steps(1), task("b").steps(1, new WorstCase("m", 1, 1)),
                        task("c").steps(1, new WorstCase("m", 1, 1))));
        world.prices = new Prices(Map.of(),
                Map.of("m", new ModelPrice(new TokenPrices(usd("0.3"), null, null, usd("0.4")), 1)));
        world.done(new Command.Approve(world.id(), null, World.WHO));
        StepRow held = world.claim("b");
        StepRow other = world.claim("c");
        complete(world, world.claim("a"), "0.0000006");
        assertThat(world.view.run().charged()).isEqualByComparingTo("0.000001");
        for (StepRow each : List.of(held, other)) {
            assertThat(each.hold().amount()).isEqualByComparingTo("0.0000007");
            world.done(new Command.Complete(world.id(), each.id(), each.leaseEpoch(),
                    new Result("1", new Tokens(1, 0, 0, 1, 0), null, "m", List.of(), null), Actor.agent("w1")));
        }
        assertThat(world.view.run().uncollected()).isEqualByComparingTo("0");
        assertThat(charged()).isEqualByComparingTo("0.000002");
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }
}
