package io.keelson.core.decide;

import static io.keelson.core.decide.Plans.plan;
import static io.keelson.core.decide.Plans.task;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.money.Amounts;
import io.keelson.core.money.Budget;
import io.keelson.core.money.Prices;
import io.keelson.core.money.Prices.ModelPrice;
import io.keelson.core.money.Purpose;
import io.keelson.core.money.TokenPrices;
import io.keelson.core.money.Tokens;
import io.keelson.core.money.Transfer;
import io.keelson.core.money.Transfer.Kind;
import io.keelson.core.plan.AgentTerms;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.plan.TaskPolicy;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.policy.FailureMode;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import io.keelson.core.run.Result;
import io.keelson.core.run.Verdict;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Credits, rule by rule: reservations, charges and refunds. */
class CreditsTest extends OneWorkspace {

    @Test
    void snapshotOfASecondAttemptAddsUpToTheCostOfBoth() {
        World world = run("10", RunPolicy.DEFAULT, plan(task("a").retry(Plans.ONCE).steps(1)));
        fail(world, "0.6");
        String first = world.task("a").id().toString();
        assertThat(world.last("cost_snapshot").members()).containsEntry("by_task", Map.of(first, "0.6"));
        world.done(new Command.Retry(world.id(), true, World.WHO));
        step(world, "0.5");
        assertThat(world.last("cost_snapshot").members()).containsEntry("total_cost", "1.1")
                .containsEntry("by_task", Map.of(world.task("a").id().toString(), "0.5", "others", "0.6"));
    }

    @Nested
    class Reserving {

        @ParameterizedTest
        @CsvSource({"0, 1", "0.3, 1", "1, 1", "4.25, 4.25"})
        void attemptReservesItsEstimateAtLeastOne(String estimate, String reserved) {
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
            world.prices = new Prices(Map.of(), Map.of("m", new ModelPrice(TokenPrices.flat(usd("1.5")), 1)));
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
            assertThat(third.state()).isEqualTo(RunState.PENDING);
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
            assertThat(world.last("step_completed").members()).containsEntry("cost", "0.200000")
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
        @CsvSource(nullValues = "-", value = {"-, 0, 0.4", "m, 0, 0.4", "m, 2, 0.000005", "other, 3, 0.4"})
        void withoutAReportedCostTokensByTheModelsPriceElseTheToolsFlatPrice(String model, long tokens, String cost) {
            World world = run("10", RunPolicy.DEFAULT, steps(1));
            world.prices = new Prices(FLAT.tools(), Map.of("m", new ModelPrice(TokenPrices.flat(usd("2.5")), 9)));
            StepRow step = world.claimAll().getFirst();
            world.done(new Command.Complete(world.id(), step.id(), step.leaseEpoch(),
                    new Result("1", Tokens.undivided(tokens), null, model, List.of(), null), World.WHO));

            assertThat(booked(Kind.CHARGE)).containsExactly(usd(cost).toPlainString());
            assertThat(bank.ledger().get(1).use()).isEqualTo(new Transfer.Use(usd(cost), "noop", model, null,
                    Tokens.undivided(tokens), cost.equals("0.4") ? 7 : 9, Purpose.WORK, false));
        }

        @ParameterizedTest
        @CsvSource(nullValues = "-", value = {
                // asked, answered, tokens, reported; model of the charge, its amount, the event's model_answered
                "asked, asked,  2000, -,   asked, 0.004, -",
                "asked, -,      2000, -,   asked, 0.004, -",
                "asked, newer,  2000, -,   asked, 0.004, newer",
                "asked, other,  2000, -,   other, 0.01,  -",
                "asked, newer,  2000, 0.3, newer, 0.3,   -",
                "asked, newer,  0,    -,   newer, 0.4,   -",
                "new,   newer,  2000, -,   newer, 0.4,   -",
                "-,     newer,  2000, -,   newer, 0.4,   -"})
        void modelWithoutAPriceIsChargedByTheOneAskedFor(String asked, String answered, long tokens,
                BigDecimal reported, String charged, String amount, String reportedModel) {
            AgentTerms terms = new AgentTerms(null, null, null, asked, List.of(), 0, List.of());
            World world = run("10", RunPolicy.DEFAULT, plan(task("a").policy(TaskPolicy.DEFAULT.with(terms)).steps(1)));
            world.prices = new Prices(FLAT.tools(), Map.of("asked", new ModelPrice(TokenPrices.flat(usd("2")), 8),
                    "other", new ModelPrice(TokenPrices.flat(usd("5")), 9)));
            StepRow step = world.claimAll().getFirst();
            world.done(new Command.Complete(world.id(), step.id(), step.leaseEpoch(),
                    new Result("1", Tokens.undivided(tokens), reported, answered, List.of(), null), World.WHO));

            assertThat(booked(Kind.CHARGE)).containsExactly(usd(amount).toPlainString());
            assertThat(bank.ledger().get(1).use().model()).isEqualTo(charged);
            assertThat(world.last("step_completed").members().get("model_answered")).isEqualTo(reportedModel);
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
        void reusedWorkIsNotChargedAgain() {
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
            assertThat(world.last("run_credits_extended").members()).containsEntry("amount", "1.000000");
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
            assertThat(world.last("step_completed").members()).containsEntry("cost", "1.250000")
                    .containsEntry("charged", "1.200000").containsEntry("uncollected", "0.050000");
            assertThat(world.view.run().uncollected()).isEqualTo(usd("0.05"));
            assertThat(world.queue).isEmpty();
            assertThat(world.refused(new Command.Resume(world.id(), World.WHO)).code())
                    .isEqualTo("INSUFFICIENT_CREDITS");
        }

        @Test
        void pausedRunStaysPausedAndStopsOnResume() {
            World world = run("10", budget(limited("1")), steps(2));
            StepRow step = world.claimAll().getFirst();
            world.done(new Command.Pause(world.id(), null, World.WHO));
            complete(world, step, "1.5");
            assertThat(world.state()).isEqualTo(RunState.PAUSED);
            world.done(new Command.Resume(world.id(), World.WHO));
            assertThat(world.state()).isEqualTo(RunState.BUDGET_EXCEEDED);
        }

        @Test
        void uncollectedCostInAPauseStopsTheRunOnResume() {
            World straight = run("1", RunPolicy.DEFAULT, steps(2));
            step(straight, "5");
            World world = pausedAndOverdrawn();
            world.done(new Command.Resume(world.id(), World.WHO));

            assertThat(world.state()).isEqualTo(RunState.BUDGET_EXCEEDED);
            assertThat(world.queue).isEmpty();
            assertThat(world.last("run_budget_exceeded").members())
                    .isEqualTo(straight.last("run_budget_exceeded").members());
            assertThat(world.refused(new Command.Resume(world.id(), World.WHO)).code())
                    .isEqualTo("INSUFFICIENT_CREDITS");
            bank.grant(World.WORKSPACE, usd("1"));
            world.done(new Command.Resume(world.id(), World.WHO));
            step(world, "0.5");
            assertThat(world.state()).isEqualTo(RunState.COMPLETED);
        }

        /** Its first step has cost 5 credits, its workspace has had one. */
        private World pausedAndOverdrawn() {
            World world = run("1", RunPolicy.DEFAULT, steps(2));
            StepRow step = world.claimAll().getFirst();
            world.done(new Command.Pause(world.id(), null, World.WHO));
            complete(world, step, "5");
            assertThat(world.state()).isEqualTo(RunState.PAUSED);
            assertThat(world.view.run().uncollected()).isEqualTo(usd("4"));
            return world;
        }

        @Test
        void grantDuringAPauseResumesTheRunOnce() {
            World world = pausedAndOverdrawn();
            bank.grant(World.WORKSPACE, usd("1"));
            world.done(new Command.Resume(world.id(), World.WHO));
            assertThat(world.state()).isEqualTo(RunState.RUNNING);
            assertThat(world.view.run().reserved()).isEqualTo(usd("2"));
        }

        @Test
        void laterPauseOfAResumedRunStopsNothing() {
            World world = run("1", RunPolicy.DEFAULT, steps(2));
            step(world, "5");
            bank.grant(World.WORKSPACE, usd("1"));
            world.done(new Command.Resume(world.id(), World.WHO));
            world.done(new Command.Pause(world.id(), null, World.WHO));
            world.done(new Command.Resume(world.id(), World.WHO));
            assertThat(world.state()).isEqualTo(RunState.RUNNING);
            assertThat(world.view.run().reserved()).isEqualTo(usd("2"));
        }

        @Test
        void uncollectedCostUnderATicketStopsTheRunOnceAnswered() {
            World world = run("1", Rules.rules().escalation(Rules.ASK).policy(),
                    plan(task("a").retry(Plans.ONCE).steps(1), task("b").steps(2)));
            StepRow step = world.claim("b");
            world.fail(world.claim("a"), ErrorClass.INFRASTRUCTURE);
            complete(world, step, "5");
            assertThat(world.state()).isEqualTo(RunState.ESCALATED);
            world.resolve(world.ticket(), Command.Resolution.RESUME);
            assertThat(world.state()).isEqualTo(RunState.BUDGET_EXCEEDED);
            assertThat(world.queue).isEmpty();
            bank.grant(World.WORKSPACE, usd("1"));
            world.done(new Command.Resume(world.id(), World.WHO));
            world.work();
            assertThat(world.state()).isEqualTo(RunState.COMPLETED);
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
    class OfTheMonth {

        /** Of 20 credits, what an attempt reserves, or the code of its refusal. */
        @ParameterizedTest
        @CsvSource({"18.5, 0, 1", "19.6, 0, 0", "19.6, 0.4, 0.4", "19.6, 0.5, MONTHLY_LIMIT_REACHED",
                "20, 0, MONTHLY_LIMIT_REACHED", "22, 0, MONTHLY_LIMIT_REACHED", "5, 16, MONTHLY_LIMIT_REACHED"})
        void anAttemptReservesItsEstimateWhereTheLimitLeavesLessThanOne(String withheld, String estimate,
                String outcome) {
            World world = run("20", budget(estimated(estimate)), steps(1));
            world.done(new Command.FailRun(world.id(), null, World.WHO));
            bank.withhold(World.WORKSPACE, usd(withheld));
            Command retry = new Command.Retry(world.id(), false, World.WHO);
            if (outcome.equals("MONTHLY_LIMIT_REACHED")) {
                assertThat(world.refused(retry).code()).isEqualTo(outcome);
            } else {
                world.done(retry);
                assertThat(world.view.run().reserved()).isEqualTo(usd(outcome));
            }
        }

        @Test
        void missingCreditsAreNamedBeforeTheLimit() {
            World world = run("20", budget(estimated("15")), steps(1));
            world.done(new Command.FailRun(world.id(), null, World.WHO));
            another(budget(estimated("10")), steps(1));
            bank.withhold(World.WORKSPACE, usd("2"));
            assertThat(world.refused(new Command.Retry(world.id(), false, World.WHO)).code())
                    .isEqualTo("INSUFFICIENT_CREDITS");
        }

        /** Without a reservation of its own, a run reserves what each step costs. */
        @Test
        void aRunExtendsItsReservationStepByStep() {
            bank.withhold(World.WORKSPACE, usd("19.5"));
            World world = run("20", RunPolicy.DEFAULT, steps(3));
            assertThat(world.view.run().reserved()).isEqualTo(usd("0"));
            step(world, "0.2");
            assertThat(world.view.run().reserved()).isEqualTo(usd("0.2"));
            step(world, "0.4");
            assertThat(world.state()).isEqualTo(RunState.BUDGET_EXCEEDED);
            assertThat(world.view.run().charged()).isEqualTo(usd("0.5"));
            assertThat(world.refused(new Command.Resume(world.id(), World.WHO)).code())
                    .isEqualTo("MONTHLY_LIMIT_REACHED");
            bank.withhold(World.WORKSPACE, usd("19"));
            world.done(new Command.Resume(world.id(), World.WHO));
            assertThat(world.view.run().reserved()).isEqualTo(usd("1"));
        }
    }

    @Nested
    class Reaching {

        private List<Object> percents(World world) {
            return world.events("run_budget_threshold").stream().map(event -> event.members().get("percent"))
                    .toList();
        }

        @Test
        void halfFourFifthsAndAllOfTheLimitAreNamedOnce() {
            World world = run("10", budget(limited("1")), steps(5));
            step(world, "0.499999");
            assertThat(percents(world)).isEmpty();
            step(world, "0.000001");
            assertThat(percents(world)).containsExactly(50);
            step(world, "0.1");
            step(world, "0.4");
            assertThat(percents(world)).containsExactly(50, 80, 100);
            assertThat(world.last("run_budget_threshold").members()).containsEntry("charged", "1.000000")
                    .containsEntry("hard_limit", "1.000000");
        }

        @Test
        void aHigherLimitHasThresholdsOfItsOwn() {
            World world = run("10", budget(limited("1")), steps(5));
            step(world, "0.6");
            raise(world, "2");
            step(world, "0.3");
            assertThat(percents(world)).containsExactly(50);
            step(world, "0.1");
            assertThat(percents(world)).containsExactly(50, 50);
        }

        /** With a planner, and where the configuration asks for it; once, and while something is left to be planned. */
        @ParameterizedTest
        @CsvSource({"true, true, 2, 1", "true, false, 2, 0", "false, true, 2, 0", "true, true, 1, 0"})
        void fourFifthsOfTheLimitLeadToANewPlan(boolean asks, boolean planner, int steps, int plans) {
            Rules rules = planner ? Rules.rules().planner() : Rules.rules();
            RunPolicy policy = rules.policy();
            World world = run("10", policy.with(policy.failures().replanning(asks)).with(limited("1")), steps(steps));
            step(world, "0.8");
            assertThat(world.events("run_replanning")).hasSize(plans);
            if (plans == 1) {
                assertThat(world.last("run_replanning").members().get("reason").toString()).contains("80 %");
                assertThat(world.task(".plan-1").terminal()).isFalse();
            }
        }

        /** Of the steps' cost, in percent of verification: 30 is not much yet. */
        @ParameterizedTest
        @CsvSource({"0.7, 0.3, 0", "0.69, 0.31, 1", "0, 0.1, 1", "0.5, 0, 0"})
        void muchVerificationIsNamedAtTheEnd(String work, String verification, int events) {
            World world = run("10", RunPolicy.DEFAULT, plan(task("a").steps(1).verify("check")));
            step(world, work);
            StepRow check = world.claimAll().getFirst();
            world.done(new Command.Complete(world.id(), check.id(), check.leaseEpoch(),
                    new Result("1", Tokens.undivided(10), new BigDecimal(verification), null, List.of(),
                            new Verdict(Verdict.Outcome.PASSED, null, null)),
                    Actor.agent("w1")));
            assertThat(world.state()).isEqualTo(RunState.COMPLETED);
            assertThat(world.events("run_verification_share")).hasSize(events);
        }

        @Test
        void withoutALimitThereIsNone() {
            World world = run("10", RunPolicy.DEFAULT, steps(1));
            step(world, "5");
            assertThat(percents(world)).isEmpty();
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
            assertThat(world.events.getLast().members()).containsEntry("credits_charged", "0.200000")
                    .containsEntry("credits_refunded", "0.800000");
        }

        @Test
        void unstartedRunOwesNothing() {
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
            assertThat(world.last("step_failed").members()).containsEntry("reason", "insufficient_credits");
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
