package io.keelson.core.run;

import static io.keelson.core.run.Plans.plan;
import static io.keelson.core.run.Plans.task;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.money.Amounts;
import io.keelson.core.money.Bank;
import io.keelson.core.money.Budget;
import io.keelson.core.money.Prices;
import io.keelson.core.money.Prices.Price;
import io.keelson.core.money.Transfer;
import io.keelson.core.money.Transfer.Kind;
import io.keelson.core.plan.Plan;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.policy.FailureMode;
import io.keelson.core.policy.RetryPolicy;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Credits as the specification has them (money §1), rule by rule. */
class CreditsTest {
    private static final RetryPolicy TWICE = new RetryPolicy(2, 2, Duration.ofSeconds(1), Duration.ofSeconds(1), 1, 0);
    private static final Prices FLAT = new Prices(Map.of("noop", new Price(usd("0.4"), 7)), Map.of());

    private final Bank bank = new Bank();
    private int runs;

    private static BigDecimal usd(String amount) {
        return Amounts.of(new BigDecimal(amount));
    }

    private static RunPolicy budget(Budget budget) {
        return RunPolicy.DEFAULT.with(budget);
    }

    private static Budget estimated(String credits) {
        return new Budget(usd(credits), Map.of(), null, null, null, Amounts.ZERO);
    }

    private static Budget limited(String credits) {
        return Budget.upTo(usd(credits));
    }

    private static Plan steps(int count) {
        return plan(task("a").steps(count));
    }

    /** A run of a workspace that has so much. */
    private World run(String has, RunPolicy policy, Plan plan) {
        bank.grant(World.WORKSPACE, usd(has));
        return another(policy, plan);
    }

    private World another(RunPolicy policy, Plan plan) {
        return World.start(bank, ++runs, policy, plan);
    }

    private BigDecimal available() {
        return bank.available(World.WORKSPACE);
    }

    private static Reply complete(World world, StepRow step, String cost) {
        return world.send(new Command.Complete(world.id(), step.id(), step.leaseEpoch(),
                new Result("1", 10, cost == null ? null : new BigDecimal(cost), List.of()), Actor.agent("w1")));
    }

    private static void step(World world, String cost) {
        assertThat(complete(world, world.claimAll().getFirst(), cost)).isEqualTo(Reply.CHANGED);
    }

    private static void fail(World world, String cost) {
        StepRow step = world.claimAll().getFirst();
        world.done(new Command.Fail(world.id(), step.id(), step.leaseEpoch(),
                new StepError("BROKEN", ErrorClass.INFRASTRUCTURE, "broken"),
                Result.spent(10, new BigDecimal(cost), null), Actor.agent("w1")));
    }

    private static void raise(World world, String hard) {
        world.done(new Command.RaiseBudget(world.id(), new BigDecimal(hard), null, World.WHO));
    }

    private List<String> booked(Kind kind) {
        return bank.ledger().stream().filter(t -> t.kind() == kind).map(t -> t.amount().toPlainString()).toList();
    }

    @Nested
    class Reserving {

        @ParameterizedTest
        @CsvSource({"0, 1", "0.3, 1", "1, 1", "4.25, 4.25"})
        void anAttemptSetsAsideItsEstimateAndOneAtLeast(String estimate, String reserved) {
            World world = run("10", budget(estimated(estimate)), steps(1));
            assertThat(world.view.run().reserved()).isEqualTo(usd(reserved));
            assertThat(available()).isEqualTo(usd("10").subtract(usd(reserved)));
            assertThat(bank.ledger()).extracting(Transfer::key).containsExactly(world.id() + "/1/reserve");
        }

        @Test
        void withoutAnEstimateTokensByTheModelsPrice() {
            World world =
                    run("10", budget(new Budget(Amounts.ZERO, Map.of("m", 2_000_000L), null, null, null, Amounts.ZERO)),
                            steps(1));
            assertThat(world.view.run().reserved()).as("a model without a price").isEqualTo(Amounts.ONE);
            world.prices = new Prices(Map.of(), Map.of("m", new Price(usd("1.5"), 1)));
            world.done(new Command.FailRun(world.id(), null, World.WHO));
            world.done(new Command.Retry(world.id(), false, World.WHO));
            assertThat(world.view.run().reserved()).isEqualTo(usd("3"));
        }

        @Test
        void noMoreThanTheHardLimitLeaves() {
            World world =
                    run("10", budget(new Budget(usd("5"), Map.of(), usd("0.5"), null, null, Amounts.ZERO)), steps(1));
            assertThat(world.view.run().reserved()).isEqualTo(usd("0.5"));
        }

        @Test
        void aWorkspaceThatHasLessStartsNothing() {
            assertThat(run("0.999999", RunPolicy.DEFAULT, steps(1)).view).isNull();
            assertThat(bank.ledger()).isEmpty();
            assertThat(available()).isEqualTo(usd("0.999999"));
        }

        @Test
        void anAttemptThatCannotBePaidIsRefusedAndChangesNothing() {
            World world = run("1.5", RunPolicy.DEFAULT, steps(1));
            step(world, "0.1");
            World other = another(RunPolicy.DEFAULT, steps(1));
            other.done(new Command.FailRun(other.id(), null, World.WHO));
            World third = another(RunPolicy.DEFAULT, steps(1));

            assertThat(other.refused(new Command.Retry(other.id(), false, World.WHO)).code())
                    .isEqualTo("INSUFFICIENT_CREDITS");
            assertThat(other.state()).isEqualTo(RunState.FAILED);
            assertThat(third.state()).isEqualTo(RunState.RUNNING);
        }

        @Test
        void anAutomaticAttemptThatCannotBePaidFailsTheRun() {
            World world = run("1", Rules.rules().run(FailureMode.RETRY).policy(),
                    plan(task("a").retry(Plans.ONCE).steps(1)));
            fail(world, "0.5");
            assertThat(world.state()).isEqualTo(RunState.RETRYING);
            world.nextBackoff();
            assertThat(world.state()).isEqualTo(RunState.FAILED);
            assertThat(world.view.run().errorCode()).isEqualTo("INSUFFICIENT_CREDITS");
            assertThat(available()).isEqualTo(usd("0.5"));
        }
    }

    @Nested
    class Charging {

        @Test
        void everyAttemptOfAStepThatReportsACostIsChargedOnceTheFailedToo() {
            World world = run("10", RunPolicy.DEFAULT, plan(task("a").retry(TWICE).steps(1)));
            fail(world, "0.1");
            world.nextBackoff();
            StepRow step = world.claimAll().getFirst();
            complete(world, step, "0.2");
            assertThat(complete(world, step, "0.2")).isInstanceOf(Reply.Duplicate.class);

            assertThat(bank.ledger()).filteredOn(t -> t.kind() == Kind.CHARGE).extracting(Transfer::key)
                    .containsExactly(step.id() + "/1", step.id() + "/2");
            assertThat(booked(Kind.CHARGE)).containsExactly("0.100000", "0.200000");
            assertThat(world.last("step_completed").detail()).containsEntry("cost", "0.200000")
                    .containsEntry("charged", "0.200000");
        }

        @Test
        void aLostLeaseIsNoAttemptAndChargesNothing() {
            World world = run("10", RunPolicy.DEFAULT, steps(1));
            StepRow step = world.claimAll().getFirst();
            world.expire(step);
            assertThat(complete(world, step, "0.2")).isInstanceOf(Reply.Rejected.class);
            step(world, "0.3");
            assertThat(booked(Kind.CHARGE)).containsExactly("0.300000");
        }

        @ParameterizedTest
        @CsvSource(nullValues = "-", value = {"-, 0, 0.4", "m, 0, 0.4", "m, 1, 0.000003", "other, 3, 0.4"})
        void withoutAReportedCostTokensByTheModelsPriceElseTheToolsFlatPrice(String model, long tokens, String cost) {
            World world = run("10", RunPolicy.DEFAULT, steps(1));
            world.prices = new Prices(FLAT.tools(), Map.of("m", new Price(usd("2.5"), 9)));
            StepRow step = world.claimAll().getFirst();
            world.done(new Command.Complete(world.id(), step.id(), step.leaseEpoch(),
                    new Result("1", tokens, null, model, List.of(), null), World.WHO));

            assertThat(booked(Kind.CHARGE)).containsExactly(usd(cost).toPlainString());
            assertThat(bank.ledger().get(1).use()).isEqualTo(
                    new Transfer.Use("noop", model, null, tokens, cost.equals("0.4") ? 7 : 9));
        }

        @Test
        void aReportedNothingIsNothing() {
            World world = run("10", RunPolicy.DEFAULT, steps(1));
            world.prices = FLAT;
            step(world, "0");
            assertThat(booked(Kind.CHARGE)).isEmpty();
            assertThat(booked(Kind.REFUND)).containsExactly("1.000000");
        }

        @Test
        void whatIsCarriedOverIsNotChargedAgain() {
            World world = run("10", RunPolicy.DEFAULT, plan(task("a"), task("b").on("a").retry(Plans.ONCE)));
            step(world, "0.5");
            fail(world, "0.25");
            world.done(new Command.Retry(world.id(), false, World.WHO));
            step(world, "0.125");
            assertThat(world.state()).isEqualTo(RunState.COMPLETED);
            assertThat(booked(Kind.CHARGE)).containsExactly("0.500000", "0.250000", "0.125000");
            assertThat(world.view.run().chargedBefore()).isEqualTo(usd("0.875"));
        }
    }

    @Nested
    class Extending {

        @Test
        void aChargeBeyondTheReservationSetsAWholeOneMoreAside() {
            World world = run("10", RunPolicy.DEFAULT, steps(2));
            step(world, "1.25");
            assertThat(booked(Kind.RESERVE)).containsExactly("1.000000", "1.000000");
            assertThat(world.last("run_credits_extended").detail()).containsEntry("amount", "1.000000");
            step(world, "3");
            assertThat(booked(Kind.RESERVE)).containsExactly("1.000000", "1.000000", "2.250000");
            assertThat(world.state()).isEqualTo(RunState.COMPLETED);
            assertThat(available()).isEqualTo(usd("5.75"));
        }

        @Test
        void orJustWhatIsMissingWhereTheWorkspaceHasNoMore() {
            World world = run("1.3", RunPolicy.DEFAULT, steps(2));
            step(world, "1.25");
            assertThat(booked(Kind.RESERVE)).containsExactly("1.000000", "0.250000");
            assertThat(world.state()).isEqualTo(RunState.RUNNING);
        }

        @Test
        void elseWhatThereIsIsChargedAndTheRunStops() {
            World world = run("1.2", RunPolicy.DEFAULT, steps(2));
            step(world, "1.25");
            assertThat(world.state()).isEqualTo(RunState.BUDGET_EXCEEDED);
            assertThat(booked(Kind.RESERVE)).containsExactly("1.000000", "0.200000");
            assertThat(booked(Kind.CHARGE)).containsExactly("1.200000");
            assertThat(world.last("step_completed").detail()).containsEntry("cost", "1.250000")
                    .containsEntry("charged", "1.200000").containsEntry("uncollected", "0.050000");
            assertThat(world.view.run().uncollected()).isEqualTo(usd("0.05"));
            assertThat(world.queue).isEmpty();
            assertThat(world.refused(new Command.Resume(world.id(), World.WHO)).code())
                    .isEqualTo("INSUFFICIENT_CREDITS");
        }

        @Test
        void aRunThatIsPausedStaysSoAndIsStoppedWhenItWouldGoOn() {
            World world = run("10", budget(limited("1")), steps(2));
            StepRow step = world.claimAll().getFirst();
            world.done(new Command.Pause(world.id(), null, World.WHO));
            complete(world, step, "1.5");
            assertThat(world.state()).isEqualTo(RunState.PAUSED);
            world.done(new Command.Resume(world.id(), World.WHO));
            assertThat(world.state()).isEqualTo(RunState.BUDGET_EXCEEDED);
        }
    }

    @Nested
    class HardLimit {

        @Test
        void atTheLimitTheRunStopsWhereWorkIsLeft() {
            World world = run("10", budget(limited("0.5")), steps(2));
            step(world, "0.5");
            assertThat(world.state()).isEqualTo(RunState.BUDGET_EXCEEDED);
            assertThat(world.view.run().uncollected()).isEqualTo(Amounts.ZERO);
        }

        @Test
        void andCompletesWhereNoneIs() {
            World world = run("10", budget(limited("0.5")), steps(1));
            step(world, "0.5");
            assertThat(world.state()).isEqualTo(RunState.COMPLETED);
        }

        @Test
        void parallelStepsThatAreOutMayFinishButNothingMoreBegins() {
            World world = run("10", budget(limited("1")), plan(task("a").parallel().steps(6)));
            List<StepRow> out = world.claimAll();
            assertThat(out).hasSize(3);
            out.forEach(step -> complete(world, step, "0.6"));
            assertThat(world.state()).isEqualTo(RunState.BUDGET_EXCEEDED);
            assertThat(world.task("a").steps()).filteredOn(s -> s.state() == StepState.COMPLETED)
                    .as("the first one's cost fitted, so another was begun").hasSize(3);
            assertThat(world.view.run().charged()).isEqualTo(usd("1"));
            assertThat(world.view.run().uncollected()).isEqualTo(usd("0.8"));
        }

        @Test
        void whatIsQueuedIsCalledBackWhenNothingIsLeftForIt() {
            World world = run("10", budget(limited("0.5")), plan(task("a"), task("b")));
            complete(world, world.claim("a"), "0.5");
            assertThat(world.state()).isEqualTo(RunState.BUDGET_EXCEEDED);
            assertThat(world.queue).isEmpty();
        }

        @Test
        void aStepWhoseKnownPriceWouldCrossItIsNotBegun() {
            World world = run("10", RunPolicy.DEFAULT.withApprovePlan(true).with(limited("1")),
                    plan(task("a").parallel().steps(6)));
            world.prices = FLAT;
            world.holder = "node";
            world.done(new Command.Approve(world.id(), null, World.WHO));

            assertThat(world.running()).as("two of them fit").isEqualTo(2);
            assertThat(world.state()).isEqualTo(RunState.RUNNING);
            world.task("a").steps().stream().filter(StepRow::held).toList()
                    .forEach(step -> complete(world, step, "0.4"));
            assertThat(world.state()).isEqualTo(RunState.BUDGET_EXCEEDED);
            raise(world, "2");
            assertThat(world.queue).as("three more of them fit").hasSize(3);
            assertThat(world.state()).isEqualTo(RunState.RUNNING);
        }

        @Test
        void tasksThatItHoldsBackBeginWhenWhatIsOutLeavesEnough() {
            World world = run("10", RunPolicy.DEFAULT.withApprovePlan(true).with(limited("1")),
                    plan(task("a"), task("b"), task("c"), task("d"), task("e")));
            world.prices = FLAT;
            world.done(new Command.Approve(world.id(), null, World.WHO));
            assertThat(world.queue).hasSize(2);
            world.claimAll().forEach(step -> complete(world, step, "0.1"));
            assertThat(world.queue).as("0.8 is left").hasSize(2);
            world.claimAll().forEach(step -> complete(world, step, "0.3"));
            assertThat(world.queue).as("0.2 is left").isEmpty();
            assertThat(world.state()).isEqualTo(RunState.BUDGET_EXCEEDED);
            assertThat(world.view.run().charged()).isEqualTo(usd("0.8"));
        }

        @Test
        void itCoversAllAttemptsTogether() {
            World world = run("10", budget(limited("1")), plan(task("a").retry(Plans.ONCE).steps(1)));
            fail(world, "0.6");
            world.done(new Command.Retry(world.id(), true, World.WHO));
            assertThat(world.view.run().reserved()).isEqualTo(usd("0.4"));
            fail(world, "0.4");
            assertThat(world.refused(new Command.Retry(world.id(), true, World.WHO)).code())
                    .isEqualTo("BUDGET_EXCEEDED");
            raise(world, "1.5");
            world.done(new Command.Retry(world.id(), true, World.WHO));
            assertThat(world.view.run().reserved()).isEqualTo(usd("0.5"));
        }

        @Test
        void ofNothingLetsWhatCostsNothingRun() {
            World world = run("10", budget(limited("0")), steps(2));
            step(world, null);
            step(world, null);
            assertThat(world.state()).isEqualTo(RunState.COMPLETED);
            assertThat(bank.ledger()).isEmpty();
        }
    }

    @Nested
    class Raising {

        @Test
        void aHigherLimitSetsMoreAsideAndResumes() {
            World world = run("10", budget(limited("0.5")), steps(2));
            step(world, "0.5");
            raise(world, "0.8");
            assertThat(world.state()).isEqualTo(RunState.RUNNING);
            assertThat(world.view.run().reserved()).isEqualTo(usd("0.8"));
            step(world, "0.3");
            assertThat(world.state()).isEqualTo(RunState.COMPLETED);
        }

        @Test
        void aLimitBelowWhatIsChargedOrSetAsideIsRefused() {
            World world = run("10", budget(limited("0.5")), steps(2));
            step(world, "0.5");
            assertThat(world.refused(new Command.RaiseBudget(world.id(), usd("0.4"), null, World.WHO)).code())
                    .isEqualTo("BUDGET_TOO_LOW");
            assertThat(world.refused(new Command.Resume(world.id(), World.WHO)).code()).isEqualTo("BUDGET_EXCEEDED");
            assertThat(world.state()).isEqualTo(RunState.BUDGET_EXCEEDED);
        }

        @Test
        void withoutCreditsTheLimitIsKeptAndTheRunStaysUntilSomeAreGranted() {
            World world = run("0.5", RunPolicy.DEFAULT.with(limited("0.5")), steps(2));
            step(world, "0.5");
            raise(world, "2");
            assertThat(world.state()).isEqualTo(RunState.BUDGET_EXCEEDED);
            assertThat(world.refused(new Command.Resume(world.id(), World.WHO)).code())
                    .isEqualTo("INSUFFICIENT_CREDITS");
            bank.grant(World.WORKSPACE, usd("1"));
            world.done(new Command.Resume(world.id(), World.WHO));
            step(world, "0.1");
            assertThat(world.state()).isEqualTo(RunState.COMPLETED);
        }

        @Test
        void theSameLimitAgainChangesNothing() {
            World world = run("10", RunPolicy.DEFAULT, steps(2));
            raise(world, "3");
            assertThat(world.send(new Command.RaiseBudget(world.id(), usd("3"), null, World.WHO)))
                    .isEqualTo(Reply.UNCHANGED);
            assertThat(world.events("run_budget_changed")).hasSize(1);
        }
    }

    @Nested
    class Explained {

        private String why(World world) {
            return Explain.run(world.view, new ExplainTest().around).getFirst().text();
        }

        @Test
        void aLimitThatIsReached() {
            World world = run("10", budget(limited("0.5")), steps(2));
            step(world, "0.5");
            assertThat(why(world))
                    .isEqualTo("it has cost 0.5 credits of the 0.5 that it may; raise its budget, or cancel it");
        }

        @Test
        void aStepThatCostsMoreThanTheLimitLeaves() {
            World world = run("10", budget(limited("0.5")), steps(2));
            world.prices = FLAT;
            step(world, null);
            assertThat(why(world)).startsWith("it has cost 0.4 credits of the 0.5 that it may, and the next step costs "
                    + "more than is left; raise its budget");
        }

        @Test
        void aWorkspaceThatHasNoMoreWhateverTheLimit() {
            World world = run("1", budget(limited("5")), steps(2));
            step(world, "2");
            assertThat(why(world))
                    .startsWith("it has cost 1 credit and the workspace has no more of them; grant some");
        }
    }

    @Nested
    class Gate {

        private World stopped() {
            World world = run("10", budget(limited("0.5")), steps(2));
            step(world, "0.5");
            return world;
        }

        private Command approve(World world, String limit) {
            return new Command.DecideGate(world.id(), Command.DecideGate.Gate.BUDGET, true,
                    limit == null ? null : usd(limit), null, World.WHO);
        }

        @Test
        void aLimitForARunThatNoLongerWaitsIsRefusedAndTheSameDecisionAgainIsNot() {
            World world = stopped();
            world.done(approve(world, "0.8"));
            assertThat(world.send(approve(world, "0.8"))).isEqualTo(Reply.UNCHANGED);
            assertThat(world.send(approve(world, null))).isEqualTo(Reply.UNCHANGED);
            assertThat(world.refused(approve(world, "0.9")).code()).isEqualTo("INVALID_STATE_TRANSITION");
            assertThat(world.view.run().hardLimit()).isEqualByComparingTo("0.8");
        }
    }

    @Nested
    class Warning {

        @ParameterizedTest
        @CsvSource(nullValues = "-",
                value = {"0.5, -, -, 3", "-, 2, 20, 2", "0.5, 2, 20, 2", "0.1, 2, 90, 1", "-, -, 20, 0"})
        void oneWarningWhenTheLowerOfBothIsReached(String soft, String hard, String percent, int after) {
            World world = run("10", budget(new Budget(Amounts.ZERO, Map.of(), hard == null ? null : usd(hard),
                    soft == null ? null : usd(soft), percent == null ? null : usd(percent), Amounts.ZERO)), steps(5));
            for (int i = 1; i <= 4; i++) {
                step(world, "0.2");
                assertThat(world.events("run_budget_warning")).hasSize(after > 0 && i >= after ? 1 : 0);
            }
        }
    }

    @Nested
    class Settling {

        @ParameterizedTest
        @CsvSource({"complete, 0.8", "cancel, 0.8", "fail, 0.8"})
        void howeverAnAttemptEndsTheRestGoesBackOnce(String how, String refunded) {
            World world = run("10", RunPolicy.DEFAULT, steps(2));
            step(world, "0.2");
            switch (how) {
                case "complete" -> step(world, null);
                case "cancel" -> world.done(new Command.Cancel(world.id(), null, World.WHO));
                default -> world.done(new Command.FailRun(world.id(), null, World.WHO));
            }
            assertThat(world.send(new Command.Cancel(world.id(), null, World.WHO))).isNotEqualTo(Reply.CHANGED);

            assertThat(bank.ledger().getLast().key()).isEqualTo(world.id() + "/1/settle");
            assertThat(booked(Kind.REFUND)).containsExactly(usd(refunded).toPlainString());
            assertThat(available()).isEqualTo(usd("9.8"));
            assertThat(world.events.getLast().detail()).containsEntry("credits_charged", "0.200000")
                    .containsEntry("credits_refunded", "0.800000");
        }

        @Test
        void whatWasNotStartedOwesNothing() {
            World world = World.accept(RunPolicy.DEFAULT, steps(1));
            world.done(new Command.Cancel(world.id(), null, World.WHO));
            assertThat(world.bank.ledger()).isEmpty();
        }
    }

    @Nested
    class Retrying {

        @Test
        void aTryThatTheWorkspaceCannotPayAbortsTheRun() {
            World world = run("1", RunPolicy.DEFAULT, plan(task("a").retry(TWICE).steps(1)));
            fail(world, "0.7");
            assertThat(world.state()).isEqualTo(RunState.FAILED);
            assertThat(world.view.run().errorCode()).isEqualTo("INSUFFICIENT_CREDITS");
            assertThat(world.last("step_failed").detail()).containsEntry("reason", "insufficient_credits");
        }

        @Test
        void minCreditsAreWhatMustBeThereAtLeast() {
            Budget ten = new Budget(Amounts.ZERO, Map.of(), null, null, null, usd("10"));
            World poor = run("5", budget(ten), plan(task("a").retry(TWICE).steps(1)));
            fail(poor, "0");
            assertThat(poor.view.run().errorCode()).isEqualTo("INSUFFICIENT_CREDITS");
            bank.grant(World.WORKSPACE, usd("6"));
            World rich = another(budget(ten), plan(task("a").retry(TWICE).steps(1)));
            fail(rich, "0");
            assertThat(rich.state()).isEqualTo(RunState.RUNNING);
        }
    }
}
