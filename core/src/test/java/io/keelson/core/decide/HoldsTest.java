package io.keelson.core.decide;

import static io.keelson.core.decide.Plans.plan;
import static io.keelson.core.decide.Plans.task;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.decide.ChangeSet.Lane;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.money.Amounts;
import io.keelson.core.money.Prices;
import io.keelson.core.money.Prices.ModelPrice;
import io.keelson.core.money.TokenPrices;
import io.keelson.core.money.Tokens;
import io.keelson.core.money.WorstCase;
import io.keelson.core.plan.AgentTerms;
import io.keelson.core.plan.Plan;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.plan.RunsOn;
import io.keelson.core.plan.TaskPolicy;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import io.keelson.core.run.Result;
import io.keelson.core.run.StepError;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The cost of a step's worst case is held while its lease lasts. {@link Invariants} checks the sums after every commit. */
class HoldsTest extends OneWorkspace {
    /** A full hold is 0.05: 0.01 of input, 0.04 of output. */
    private static final WorstCase FULL = new WorstCase("large", 10_000, 4_000);
    private static final Prices PRICES = new Prices(Map.of(),
            Map.of("large", new ModelPrice(new TokenPrices(usd("0.5"), null, usd("1"), usd("10")), 1)));

    private World world(String has, String limit, Plan plan) {
        RunPolicy policy = RunPolicy.DEFAULT.withApprovePlan(true);
        World world = run(has, limit == null ? policy : policy.with(limited(limit)), plan);
        world.prices = PRICES;
        world.done(new Command.Approve(world.id(), null, World.WHO));
        return world;
    }

    private static Plan tasks(int count) {
        return plan(IntStream.range(0, count).mapToObj(i -> task("t" + i).steps(1, FULL)).toList());
    }

    /** Claims what is queued, as far as it is paid. */
    private static List<StepRow> claim(World world) {
        List<StepRow> claimed = new ArrayList<>();
        for (Lane lane : List.copyOf(world.queue.keySet())) {
            if (world.queue.containsKey(lane) && world.queue.get(lane).holder() == null && world.send(
                    new Command.Claim(world.id(), lane.taskId(), lane.lane(), "w1", World.LEASE,
                            Actor.agent("w1"))) instanceof Reply.Claimed given) {
                claimed.add(world.view.steps.get(given.assignment().stepId()));
                Hold hold = claimed.getLast().hold;
                assertThat(given.assignment().maxOutputTokens()).isEqualTo(hold == null ? null : hold.maxOutput());
            }
        }
        return claimed;
    }

    private static Reply report(World world, StepRow step, long input, long output) {
        return world.send(new Command.Complete(world.id(), step.id(), step.leaseEpoch(),
                new Result("1", new Tokens(input, 0, 0, output, 0), null, "large", List.of(), null),
                Actor.agent("w1")));
    }

    @Test
    void stepThatDoesNotFitBesideOtherHoldsWaitsForTheirEnd() {
        World world = world("10", "0.12", tasks(5));
        List<StepRow> first = claim(world);
        assertThat(first).as("0.02 is left").hasSize(2)
                .allSatisfy(step -> assertThat(step.hold).isEqualTo(new Hold(usd("0.05"), 4_000, false)));
        assertThat(world.queue).as("the others are withdrawn").hasSize(2);

        report(world, first.getFirst(), 2_000, 100);
        assertThat(claim(world)).as("0.002 is charged").hasSize(1);
        assertThat(world.view.run().charged()).isEqualTo(usd("0.002"));
    }

    @Test
    void stepThatDoesNotFitAloneHasLessOutput() {
        World world = world("10", "0.03", tasks(1));
        StepRow step = claim(world).getFirst();
        assertThat(step.hold).isEqualTo(new Hold(usd("0.03"), 2_000, false));
        report(world, step, 10_000, 2_000);
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
        assertThat(world.view.run().uncollected()).isEqualTo(Amounts.ZERO);
    }

    @ParameterizedTest
    @CsvSource({"0.01256, 256", "0.012559, 0"})
    void belowTheFloorTheRunStops(String limit, long output) {
        World world = world("10", limit, tasks(1));
        List<StepRow> claimed = claim(world);
        assertThat(claimed.stream().mapToLong(step -> step.hold.maxOutput()).sum()).isEqualTo(output);
        assertThat(world.state()).isEqualTo(output == 0 ? RunState.BUDGET_EXCEEDED : RunState.RUNNING);
        if (output == 0) {
            raise(world, "1");
            assertThat(claim(world)).hasSize(1);
        }
    }

    private static Reply hold(World world, StepRow step, WorstCase most, boolean begun) {
        return world.send(new Command.Hold(world.id(), step.id(), step.leaseEpoch(), most, begun, Actor.agent("w1")));
    }

    private static Plan unbounded(int count) {
        return plan(IntStream.range(0, count).mapToObj(i -> task("t" + i).steps(1)).toList());
    }

    /** Tasks of agents with the model {@code large}. */
    private static Plan agents(RunsOn runsOn) {
        AgentTerms terms =
                new AgentTerms(AgentTerms.ROSTER, 7, "ann", "large", List.of(), 0, List.of(), runsOn);
        return plan(IntStream.range(0, 2)
                .mapToObj(i -> task("t" + i).steps(1).policy(TaskPolicy.DEFAULT.with(terms))).toList());
    }

    private static final WorstCase COMPUTED = new WorstCase("large", 10_000, 4_000, true);

    /** A run of two agents that its limit has stopped before the second one's turn. */
    private World stopped(RunsOn runsOn, String limit) {
        World world = world("10", limit, agents(runsOn));
        world.prices = new Prices(Map.of(), Map.of("large", PRICES.models().get("large"), "same",
                PRICES.models().get("large"), "small", new ModelPrice(TokenPrices.flat(usd("0.5")), 1)));
        List<StepRow> claimed = claim(world);
        assertThat(hold(world, claimed.get(0), COMPUTED, false)).isInstanceOf(Reply.Claimed.class);
        assertThat(hold(world, claimed.get(1), COMPUTED, false)).isEqualTo(Reply.CHANGED);
        report(world, claimed.get(0), 10_000, 4_000);
        assertThat(world.state()).isEqualTo(RunState.BUDGET_EXCEEDED);
        return world;
    }

    private static Command downgrade(World world, String model) {
        return new Command.DecideGate(world.id(), Command.DecideGate.Gate.BUDGET, true, null, Map.of(),
                new Command.DecideGate.Way(model, false), null, "cheaper", World.WHO);
    }

    @Test
    void aModelThatSavesNothingIsRefused() {
        World world = stopped(RunsOn.SERVER, "0.055");
        assertThat(world.refused(downgrade(world, "same")).code()).isEqualTo("MODEL_NOT_CHEAPER");
        world.done(downgrade(world, "small"));

        World workers = stopped(RunsOn.WORKERS, "0.055");
        assertThat(workers.refused(downgrade(workers, "small")).code()).isEqualTo("NO_TURNS_LEFT");
    }

    @Test
    void anotherModelNeedsARestOfTheLimit() {
        World world = stopped(RunsOn.SERVER, "0.045");
        assertThat(world.refused(downgrade(world, "small")).code()).isEqualTo("BUDGET_EXCEEDED");
        assertThat(world.view.run().turnModel()).isNull();
    }

    /** The worst case that the dearer model had is forgotten, so that the step begins and computes its own. */
    @Test
    void anotherModelGoesOnWhereTheFirstIsTooDear() {
        World world = stopped(RunsOn.SERVER, "0.055");
        StepRow second = world.task("t1").steps.getFirst();
        world.done(downgrade(world, "small"));
        assertThat(world.state()).isEqualTo(RunState.RUNNING);
        assertThat(world.view.run().turnModel()).isEqualTo("small");
        assertThat(world.last("run_downgraded").members()).containsEntry("model", "small");
        assertThat(claim(world)).containsExactly(second);
        assertThat(hold(world, second, new WorstCase("small", 10_000, 4_000, true), false))
                .isInstanceOf(Reply.Claimed.class);
        assertThat(second.hold).isEqualTo(new Hold(usd("0.007"), 4_000, true));
    }

    @Test
    void aComputedWorstCaseIsHeldOrTheStepGoesBack() {
        World world = world("10", "0.12", unbounded(3));
        List<StepRow> claimed = claim(world);
        assertThat(hold(world, claimed.get(0), COMPUTED, false)).isInstanceOf(Reply.Claimed.class);
        assertThat(hold(world, claimed.get(1), COMPUTED, false)).isInstanceOf(Reply.Claimed.class);
        assertThat(hold(world, claimed.get(1), COMPUTED, false)).as("again, in place of the first")
                .isInstanceOf(Reply.Claimed.class);
        StepRow third = claimed.get(2);
        assertThat(hold(world, third, COMPUTED, false)).isEqualTo(Reply.CHANGED);
        assertThat(third.isHeld()).isFalse();
        assertThat(world.view.held).isEqualByComparingTo("0.10");

        report(world, claimed.get(0), 2_000, 100);
        assertThat(claim(world)).as("0.002 is charged").containsExactly(third);
        assertThat(third.hold).isEqualTo(new Hold(usd("0.05"), 4_000, false));
        assertThat(((Reply.Rejected) hold(world, claimed.get(1), new WorstCase("large", 20_000, 8_000, true), true))
                .message()).as("a further request that is not paid")
                .isEqualTo(
                        "the next request may cost 0.1 credits, and the run's hard limit of 0.12 leaves 0.068: raise it "
                                + "with `keelson budget " + world.id() + " --hard-limit CREDITS`");
        assertThat(claimed.get(1).hold).isEqualTo(new Hold(usd("0.05"), 4_000, true));
    }

    @ParameterizedTest
    @CsvSource({"0.01256, 256", "0.012559, 0", "0.03, 2000"})
    void aComputedWorstCaseAloneGetsWhatIsLeft(String limit, long output) {
        World world = world("10", limit, unbounded(1));
        StepRow step = claim(world).getFirst();
        long paid = hold(world, step, COMPUTED, false) instanceof Reply.Claimed held
                ? held.assignment().maxOutputTokens()
                : 0;
        assertThat(paid).isEqualTo(output);
        assertThat(world.state()).isEqualTo(output == 0 ? RunState.BUDGET_EXCEEDED : RunState.RUNNING);
        if (output == 0) {
            raise(world, "1");
            assertThat(claim(world)).hasSize(1);
        }
    }

    @Test
    void aWorstCaseOfThePlanStays() {
        World world = world("10", "0.12", tasks(1));
        StepRow step = claim(world).getFirst();
        assertThat(hold(world, step, new WorstCase("large", 1, 1, true), false)).isInstanceOf(Reply.Claimed.class);
        assertThat(step.hold).isEqualTo(new Hold(usd("0.05"), 4_000, true));
    }

    @Test
    void theEndOfALeaseGivesItBack() {
        World world = world("10", "0.06", tasks(2));
        StepRow step = claim(world).getFirst();
        world.expire(step);
        assertThat(step.hold).isNull();
        assertThat(world.view.held).isEqualByComparingTo("0");
        StepRow again = claim(world).getFirst();
        world.done(new Command.Release(world.id(), again.id(), again.leaseEpoch(), null, Actor.agent("w1")));
        assertThat(world.view.held).isEqualByComparingTo("0");
        StepRow third = claim(world).getFirst();
        world.done(new Command.Fail(world.id(), third.id(), third.leaseEpoch(),
                new StepError("X", ErrorClass.PERMANENT, "x"), Result.of("null"), Actor.agent("w1")));
        assertThat(world.view.held).isEqualByComparingTo("0");
    }

    @Test
    void reservationIsExtendedForAHold() {
        World world = world("10", null, plan(IntStream.range(0, 5)
                .mapToObj(i -> task("t" + i).steps(1, new WorstCase("large", 400_000, 0))).toList()));
        assertThat(claim(world)).as("0.4 each, 1 was reserved").hasSize(5);
        assertThat(world.view.run().reserved()).isGreaterThanOrEqualTo(usd("2"));
    }

    @Test
    void withoutCreditsItWaitsAndThenStopsTheRun() {
        World world = world("1", null, plan(IntStream.range(0, 3)
                .mapToObj(i -> task("t" + i).steps(1, new WorstCase("large", 600_000, 0))).toList()));
        StepRow one = claim(world).getFirst();
        assertThat(world.queue).as("0.4 of the workspace's 1 is left").hasSize(1);
        report(world, one, 300_000, 0);
        assertThat(world.state()).as("0.85 is left").isEqualTo(RunState.RUNNING);
        report(world, claim(world).getFirst(), 600_000, 0);
        assertThat(world.state()).as("0.55 is left").isEqualTo(RunState.BUDGET_EXCEEDED);
        bank.grant(World.WORKSPACE, usd("1"));
        world.done(new Command.Resume(world.id(), World.WHO));
        report(world, claim(world).getFirst(), 600_000, 0);
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
        assertThat(world.view.run().uncollected()).isEqualTo(Amounts.ZERO);
    }

    @Test
    void aReportAboveItLeavesTheHoldsOfOthers() {
        World world = world("10", "0.12", tasks(2));
        List<StepRow> both = claim(world);
        report(world, both.getFirst(), 0, 10_000);
        assertThat(world.view.run().charged()).as("the limit beside the other hold").isEqualTo(usd("0.07"));
        assertThat(world.view.run().uncollected()).isEqualTo(usd("0.03"));
        report(world, both.getLast(), 10_000, 4_000);
        assertThat(world.view.run().charged()).isEqualTo(usd("0.115"));
        assertThat(world.view.run().uncollected()).isEqualTo(usd("0.03"));
    }

    @Test
    void taskBudgetLimitsAHold() {
        World world = world("10", null, plan(task("a").budget("0.03").steps(3, FULL)));
        StepRow step = claim(world).getFirst();
        assertThat(step.hold).isEqualTo(new Hold(usd("0.03"), 2_000, false));
        report(world, step, 10_000, 1_000);
        assertThat(claim(world).getFirst().hold.maxOutput()).isEqualTo(500);
        report(world, world.step("a", "s2"), 10_000, 500);
        assertThat(world.state()).as("0.01 is left").isEqualTo(RunState.BUDGET_EXCEEDED);
    }

    @Test
    void aStepInTheSameLaneHoldsItsOwn() {
        World world = world("10", "1", plan(task("a").steps(1, FULL).steps(1).steps(1, FULL)));
        world.holder = "node";
        StepRow first = claim(world).getFirst();
        world.done(new Command.Release(world.id(), first.id(), first.leaseEpoch(), null, Actor.agent("w1")));
        assertThat(world.queue.values()).singleElement().satisfies(item -> assertThat(item.hold()).isNotNull());
        report(world, first, 0, 0);
        assertThat(world.queue.values()).singleElement().satisfies(item -> assertThat(item.hold()).isNull());
        report(world, world.step("a", "s2"), 0, 0);
        assertThat(world.queue.values()).singleElement().satisfies(item -> assertThat(item.hold()).isNotNull());
    }

    @Test
    void withoutAPriceNothingIsHeld() {
        World world = run("10", RunPolicy.DEFAULT.with(limited("0.01")), tasks(1));
        assertThat(world.claimAll().getFirst().hold).isNull();
    }

    /** Workers that come and go, report up to their bound and sometimes above it, under limits that people raise. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20})
    void chargesAndHoldsNeverExceedTheLimit(long seed) {
        Random random = new Random(seed);
        boolean honest = seed % 4 != 0;
        Plan plan = plan(IntStream.range(0, 6).mapToObj(i -> {
            Plans.T task = task("t" + i).steps(1 + random.nextInt(3), new WorstCase("large", random.nextInt(20_000),
                    random.nextInt(8_000)));
            return (random.nextBoolean() ? task.parallel() : task).taskRetry(TWICE);
        }).toList());
        World world = world(random.nextBoolean() ? "10" : "1", random.nextInt(4) == 0 ? null : "0.1", plan);
        BigDecimal limit = usd("0.1");
        for (int i = 0; i < 300 && !world.state().terminal(); i++) {
            claim(world);
            List<StepRow> held = world.view.steps.values().stream().filter(StepRow::isHeld)
                    .sorted(StepRow.BY_ID).toList();
            if (held.isEmpty()) {
                limit = limit.add(usd("0.1"));
                if (world.state() == RunState.BUDGET_EXCEEDED) {
                    world.send(new Command.RaiseBudget(world.id(), limit, null, Map.of(), World.WHO));
                } else if (!world.nextBackoff()) {
                    break;
                }
                continue;
            }
            StepRow step = held.get(random.nextInt(held.size()));
            long output = (long) (step.hold.maxOutput() * (honest ? random.nextDouble() : 1.5));
            switch (random.nextInt(6)) {
                case 0 -> world.expire(step);
                case 1 -> world.done(
                        new Command.Release(world.id(), step.id(), step.leaseEpoch(), null, Actor.agent("w1")));
                case 2 -> world.done(new Command.Fail(world.id(), step.id(), step.leaseEpoch(),
                        new StepError("X", ErrorClass.INFRASTRUCTURE, "x"),
                        Result.spent(new Tokens(0, 0, 0, output, 0), null, "large"), Actor.agent("w1")));
                default -> report(world, step, step.spec().worstCase().maxInput(), output);
            }
        }
        assertThat(world.state().terminal() || world.state() == RunState.ESCALATED).as("%s", world.state()).isTrue();
        assertThat(world.view.run().uncollected().signum() == 0 || !honest).as("uncollected").isTrue();
    }
}
