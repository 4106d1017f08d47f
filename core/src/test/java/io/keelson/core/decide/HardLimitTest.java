package io.keelson.core.decide;

import static io.keelson.core.decide.Plans.plan;
import static io.keelson.core.decide.Plans.task;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.money.Amounts;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.run.Command;
import io.keelson.core.run.Explanation;
import io.keelson.core.run.Reply;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** A run's hard limit: where it stops, which events it has, and who may resume it. */
class HardLimitTest extends OneWorkspace {

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
        void queuedStepIsWithdrawnWhenTheLimitIsUsedUp() {
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
            world.task("a").steps().stream().filter(StepRow::isHeld).toList()
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
        void hardLimitCoversAllAttempts() {
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
        void limitBelowChargesAndReservationsIsRefused() {
            World world = run("10", budget(limited("0.5")), steps(2));
            step(world, "0.5");
            assertThat(world.refused(new Command.RaiseBudget(world.id(), usd("0.4"), null, Map.of(), World.WHO)).code())
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
            assertThat(world.send(new Command.RaiseBudget(world.id(), usd("3"), null, Map.of(), World.WHO)))
                    .isEqualTo(Reply.UNCHANGED);
            assertThat(world.events("run_budget_changed")).hasSize(1);
        }
    }

    @Nested
    class Explained {

        private Explanation reason(World world) {
            ExplainTest explained = new ExplainTest();
            explained.prices = world.prices;
            return Explain.run(world.view, explained.around).getFirst();
        }

        private String why(World world) {
            return reason(world).text();
        }

        @Test
        void aLimitThatIsReached() {
            World world = run("10", budget(limited("0.5")), steps(2));
            step(world, "0.5");
            assertThat(why(world))
                    .isEqualTo(
                            "it has cost 0.5 credits of the 0.5 that its limit allows; raise its limit to 0.500001 or "
                                    + "more, or cancel it");
            assertThat(world.last("run_budget_exceeded").members()).containsEntry("reason",
                    "the hard limit of 0.5 leaves nothing, and then no step begins, not even one without a cost");
            continuesFrom(world, "0.500001");
        }

        @Test
        void aLimitThatIsReachedBesideStepsInFlight() {
            World world = run("10", RunPolicy.DEFAULT.withApprovePlan(true).with(limited("1.2")),
                    plan(task("a"), task("b"), task("c")));
            world.prices = FLAT;
            world.done(new Command.Approve(world.id(), null, World.WHO));
            StepRow first = world.claim("a");
            world.claim("b");
            complete(world, first, "1.2");
            assertThat(world.state()).isEqualTo(RunState.BUDGET_EXCEEDED);
            assertThat(reason(world).needed()).as("1.2 is charged, 0.4 in flight, and c may cost 0.4")
                    .isEqualByComparingTo("2");
            raise(world, "2");
            assertThat(world.queue).as("b, which is in flight, and c").hasSize(2);
        }

        @Test
        void aTaskThatBecameReadyWhenTheRunStopped() {
            World world = run("10", budget(limited("0.2")), plan(task("a"), task("b").on("a")));
            world.prices = FLAT;
            step(world, "0.3");
            assertThat(reason(world).needed()).as("0.2 is charged, and b may cost 0.4").isEqualByComparingTo("0.6");
            continuesFrom(world, "0.6");
        }

        @Test
        void aRunWithNothingLeftToPay() {
            World world = run("10", budget(limited("0.2")), steps(1));
            step(world, "0.3");
            assertThat(why(world))
                    .isEqualTo("it has cost 0.2 credits of the 0.2 that its limit allows; nothing is left "
                            + "to pay: `keelson budget " + world.id()
                            + " --hard-limit 0.200001` ends it without a further "
                            + "charge");
            raise(world, "0.200001");
            assertThat(world.state()).isEqualTo(RunState.COMPLETED);
            assertThat(world.view.run().chargedBefore()).isEqualTo(usd("0.2"));
        }

        @Test
        void aRaisedLimitWithoutCredits() {
            World world = run("0.5", budget(limited("0.5")), steps(2));
            step(world, "0.5");
            raise(world, "2");
            assertThat(why(world)).startsWith("it has cost 0.5 credits and the workspace has no more of them");
            assertThat(reason(world).needed()).isNull();
        }

        /** The run stays stopped with the least amount below, and says which limit helps. */
        private void continuesFrom(World world, String least) {
            assertThat(reason(world).needed()).isEqualByComparingTo(least);
            Command below = new Command.RaiseBudget(world.id(), usd(least).subtract(Amounts.LEAST), null, Map.of(),
                    World.WHO);
            if (world.send(below) instanceof Reply.Rejected refused) {
                assertThat(refused.message()).endsWith("--hard-limit " + least + "` or more");
            }
            assertThat(world.state()).isEqualTo(RunState.BUDGET_EXCEEDED);
            raise(world, least);
            assertThat(world.state()).isEqualTo(RunState.RUNNING);
        }

        @Test
        void aStepThatCostsMoreThanTheLimitLeaves() {
            World world = run("10", budget(limited("0.5")), steps(2));
            world.prices = FLAT;
            step(world, null);
            assertThat(why(world))
                    .isEqualTo("it has cost 0.4 credits of the 0.5 that its limit allows, and the next step may cost "
                            + "0.4, 0.3 more than is left; raise its limit to 0.8 or more, or cancel it");
            assertThat(reason(world).needed()).as("0.4 is charged, and the next step may cost as much")
                    .isEqualByComparingTo("0.8");
            assertThat(world.last("run_budget_exceeded").members()).containsEntry("reason",
                    "the hard limit of 0.5 does not leave the 0.4 that the next step may cost");
            assertThat(world.refused(new Command.RaiseBudget(world.id(), usd("0.3"), null, Map.of(), World.WHO))
                    .message()).isEqualTo("a hard limit of 0.3 is too low: 0.5 credits is the minimum: "
                            + "that amount is already charged (0.4), reserved or in flight");
        }

        @Test
        void workspaceWithoutCreditsBelowTheLimit() {
            World world = run("1", budget(limited("5")), steps(2));
            step(world, "2");
            assertThat(why(world))
                    .startsWith(
                            "it has cost 1 credit and the workspace has no more of them, or none that its limit of the month leaves");
            assertThat(reason(world).needed()).isNull();
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
                    limit == null ? null : usd(limit), Map.of(), null, World.WHO);
        }

        private Command answer(World world, Command.DecideGate.Way way) {
            return new Command.DecideGate(world.id(), Command.DecideGate.Gate.BUDGET, true, null, Map.of(), way, null,
                    null, World.WHO);
        }

        @Test
        void finishingLetsWhatRunsCompleteAndBeginsNothing() {
            World world = run("10", budget(limited("0.5")),
                    plan(task("a").steps(1), task("b").steps(1), task("c").steps(1)));
            StepRow first = world.claim("a");
            StepRow second = world.claim("b");
            complete(world, first, "0.5");
            assertThat(world.state()).isEqualTo(RunState.BUDGET_EXCEEDED);
            world.done(answer(world, new Command.DecideGate.Way(null, true)));
            assertThat(world.state()).as("b still runs").isEqualTo(RunState.BUDGET_EXCEEDED);
            assertThat(Explain.run(world.view, new ExplainTest().around).getFirst().code()).isEqualTo("FINISHING");
            assertThat(world.refused(new Command.Resume(world.id(), World.WHO)).code()).isEqualTo("RUN_FINISHING");
            assertThat(world.refused(approve(world, "5")).code()).isEqualTo("RUN_FINISHING");
            assertThat(world.send(answer(world, new Command.DecideGate.Way(null, true)))).isEqualTo(Reply.UNCHANGED);

            complete(world, second, "0");
            assertThat(world.state()).isEqualTo(RunState.FAILED);
            assertThat(world.view.run().errorCode()).isEqualTo("BUDGET_EXCEEDED");
            assertThat(world.task("a").state()).isEqualTo(TaskState.COMPLETED);
            assertThat(world.task("c").state()).isEqualTo(TaskState.CANCELLED);
            assertThat(world.last("run_failed").members()).containsEntry("reason", "budget_exceeded");
        }

        @Test
        void finishingEndsARunOfWhichNothingRunsAtOnce() {
            World world = stopped();
            Command finish = answer(world, new Command.DecideGate.Way(null, true));
            world.done(finish);
            assertThat(world.state()).isEqualTo(RunState.FAILED);
            assertThat(world.events("run_finishing")).hasSize(1);
            assertThat(world.last("run_budget_approved").members()).containsEntry("way", "finish_current");
            assertThat(world.send(finish)).isEqualTo(Reply.UNCHANGED);
            assertThat(world.refused(approve(world, null)).message())
                    .isEqualTo("the question about its budget is answered otherwise: the run is failed");
        }

        @Test
        void anApprovalOfARunAtItsLimitNamesTheCommandThatHelps() {
            World world = stopped();
            assertThat(world.refused(new Command.Approve(world.id(), null, World.WHO)))
                    .extracting(Reply.Rejected::code, Reply.Rejected::message)
                    .containsExactly("NOTHING_TO_APPROVE", "the run is budget_exceeded and has asked for no approval: "
                            + "raise the limit with `keelson budget " + world.id()
                            + " --hard-limit 0.500001` or more; `keelson "
                            + "inbox` lists the question about its budget");
        }

        @Test
        void anAnswerToAnEarlierQuestionDecidesNothing() {
            World world = stopped();
            Instant asked = world.view.run().stateSince();
            Command late = new Command.DecideGate(world.id(), Command.DecideGate.Gate.BUDGET, false, null, Map.of(),
                    Command.DecideGate.Way.AS_BEFORE, asked.minusSeconds(1), null, World.WHO);
            assertThat(world.refused(late).code()).isEqualTo("GATE_CHANGED");
            assertThat(world.state()).isEqualTo(RunState.BUDGET_EXCEEDED);
            world.done(new Command.DecideGate(world.id(), Command.DecideGate.Gate.BUDGET, false, null, Map.of(),
                    Command.DecideGate.Way.AS_BEFORE, asked, null, World.WHO));
            assertThat(world.state()).isEqualTo(RunState.FAILED);
        }

        @Test
        void aLimitForARunThatNoLongerWaitsIsRefusedAndTheSameDecisionAgainIsNot() {
            World world = stopped();
            world.done(approve(world, "0.8"));
            assertThat(world.send(approve(world, "0.8"))).isEqualTo(Reply.UNCHANGED);
            assertThat(world.send(approve(world, null))).isEqualTo(Reply.UNCHANGED);
            assertThat(world.last("run_budget_approved").members()).containsEntry("way", "raise");
            for (Command other : List.of(approve(world, "0.9"), answer(world, new Command.DecideGate.Way(null, true)),
                    answer(world, new Command.DecideGate.Way("small", false)))) {
                assertThat(world.refused(other).code()).isEqualTo("INVALID_STATE_TRANSITION");
            }
            assertThat(world.view.run().hardLimit()).isEqualByComparingTo("0.8");
        }
    }
}
