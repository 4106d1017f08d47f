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
import io.keelson.core.run.TimerKind;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The budget of a task: where it stops the run, what it covers, and who raises it. */
class TaskBudgetsTest extends OneWorkspace {

    private static Command raised(World world, String task, String budget) {
        return new Command.RaiseBudget(world.id(), null, null, Map.of(task, new BigDecimal(budget)), World.WHO);
    }

    private static String why(World world) {
        ExplainTest explained = new ExplainTest();
        explained.prices = world.prices;
        return Explain.run(world.view, explained.around).getFirst().text();
    }

    @Test
    void usedUpBudgetStopsTheRunAndNamesTheTask() {
        World world = run("10", RunPolicy.DEFAULT, plan(task("research").steps(2).budget("3"), task("other")));
        complete(world, world.claim("research"), "5");

        assertThat(world.state()).isEqualTo(RunState.BUDGET_EXCEEDED);
        assertThat(world.view.run().uncollected()).isEqualTo(Amounts.ZERO);
        assertThat(world.events("run_budget_exceeded").getFirst().members())
                .containsEntry("reason", "task research used 5 of 3 credits")
                .containsEntry("tasks", List.of(Map.of("task", "research", "used", "5.000000", "budget", "3.000000")));
        List<Explanation> reasons = Explain.run(world.view, new ExplainTest().around);
        assertThat(reasons).singleElement().satisfies(reason -> {
            assertThat(reason.code()).isEqualTo("BUDGET_EXCEEDED");
            assertThat(reason.text())
                    .isEqualTo("task research used 5 of 3 credits; raise its budget to 5.000001 or more, or cancel the "
                            + "run");
            assertThat(reason.needed()).as("no price tells what the next step costs").isEqualByComparingTo("5.000001");
            assertThat(reason.on()).containsExactly("research");
        });
        world.done(raised(world, "research", "5"));
        assertThat(world.state()).isEqualTo(RunState.BUDGET_EXCEEDED);
        world.done(raised(world, "research", "5.000001"));
        assertThat(world.state()).isEqualTo(RunState.RUNNING);
    }

    @Test
    void otherTasksMayFinishTheirStepsAndBeginNoOthers() {
        World world = run("10", RunPolicy.DEFAULT, plan(task("a").steps(2).budget("0.5"), task("b").steps(2)));
        StepRow other = world.claim("b");
        complete(world, world.claim("a"), "0.5");
        assertThat(world.state()).isEqualTo(RunState.BUDGET_EXCEEDED);
        complete(world, other, "0.1");
        assertThat(world.queue).isEmpty();
        assertThat(world.task("b").state()).isEqualTo(TaskState.RUNNING);
    }

    @Test
    void taskThatCompletesAboveItsBudgetStopsNothing() {
        World world = run("10", RunPolicy.DEFAULT, plan(task("a").budget("0.5")));
        step(world, "2");
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
        assertThat(world.view.run().chargedBefore()).isEqualTo(usd("2"));
    }

    @Test
    void stepWhoseKnownPriceWouldCrossItIsNotBegun() {
        World world = run("10", RunPolicy.DEFAULT.withApprovePlan(true), plan(task("a").steps(3).budget("1")));
        world.prices = FLAT;
        world.done(new Command.Approve(world.id(), null, World.WHO));
        step(world, null);
        step(world, null);
        assertThat(world.state()).isEqualTo(RunState.BUDGET_EXCEEDED);
        assertThat(why(world))
                .startsWith(
                        "task a used 0.8 of 1 credit, and its next step may cost 0.4, 0.2 more than is left; raise");
        world.done(new Command.Resume(world.id(), World.WHO));
        assertThat(world.state()).as("nothing has changed").isEqualTo(RunState.BUDGET_EXCEEDED);
        world.done(raised(world, "a", "1.2"));
        step(world, null);
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void parallelStepsWaitForTheTasksOwnStepsInFlight() {
        World world = run("10", RunPolicy.DEFAULT.withApprovePlan(true),
                plan(task("a").parallel().steps(3).budget("1"), task("b")));
        world.prices = FLAT;
        world.done(new Command.Approve(world.id(), null, World.WHO));
        assertThat(world.task("a").steps()).filteredOn(step -> step.queued).as("two fit").hasSize(2);
        List<StepRow> out = world.claimAll().stream().filter(step -> step.task() == world.task("a")).toList();
        complete(world, out.getFirst(), "0.1");
        assertThat(world.state()).as("0.5 beside 0.4 in flight").isEqualTo(RunState.RUNNING);
        assertThat(world.task("a").steps()).filteredOn(step -> step.queued).hasSize(2);
    }

    @Test
    void failedStepIsNotRetriedUntilThePersonHasRaisedTheBudget() {
        World world = run("10", RunPolicy.DEFAULT, plan(task("a").retry(TWICE).steps(1).budget("0.5")));
        fail(world, "0.6");
        assertThat(world.state()).isEqualTo(RunState.BUDGET_EXCEEDED);
        assertThat(world.task("a").steps().getFirst().state()).isEqualTo(StepState.AWAITING_RETRY);
        assertThat(world.nextBackoff()).isTrue();
        assertThat(world.queue).isEmpty();

        assertThat(world.refused(new Command.Resume(world.id(), World.WHO)))
                .extracting(Reply.Rejected::code, Reply.Rejected::message)
                .containsExactly("BUDGET_EXCEEDED",
                        "task a used 0.6 of 0.5 credits: raise the budget with `keelson budget "
                                + world.id() + " --task a=0.600001` or more");
        world.done(raised(world, "a", "1"));
        assertThat(world.state()).isEqualTo(RunState.RUNNING);
        step(world, "0.1");
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
        assertThat(world.view.budgets.get("a").charged()).isEqualTo(usd("0.7"));
    }

    @Test
    void budgetCoversAllItemsOfAForEach() {
        World world = run("10", RunPolicy.DEFAULT, plan(task("a").forEach("${ .inputs.x }").budget("0.5")));
        world.answer(new ChangeSet.Evaluate(world.id(), TimerKind.EVALUATE_GATE, world.task("a").id()),
                new Command.Evaluation.Proceed(List.of("1", "2", "3"), Map.of(), List.of()));
        complete(world, world.claim("a[0]"), "0.5");
        assertThat(world.state()).isEqualTo(RunState.BUDGET_EXCEEDED);
        assertThat(why(world)).startsWith("task a used 0.5 of 0.5 credits");
    }

    @Test
    void budgetCoversAllAttemptsOfTheRun() {
        World world = run("10", RunPolicy.DEFAULT, plan(task("a").retry(Plans.ONCE).steps(1).budget("0.5")));
        fail(world, "0.6");
        assertThat(world.state()).as("no retry is left: the task fails").isEqualTo(RunState.FAILED);
        world.done(new Command.Retry(world.id(), true, World.WHO));
        assertThat(world.state()).isEqualTo(RunState.BUDGET_EXCEEDED);
        world.done(raised(world, "a", "0.7"));
        step(world, "0.1");
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void budgetThatIsNoneOrTooLowIsRefusedAndTheSameAgainChangesNothing() {
        World world = run("10", RunPolicy.DEFAULT, plan(task("a").steps(2).budget("3"), task("b")));
        assertThat(world.refused(raised(world, "b", "3")).code()).isEqualTo("TASK_WITHOUT_BUDGET");
        complete(world, world.claim("a"), "2");
        assertThat(world.refused(raised(world, "a", "1.9")).code()).isEqualTo("BUDGET_TOO_LOW");
        assertThat(world.send(raised(world, "a", "4"))).isEqualTo(Reply.CHANGED);
        assertThat(world.send(raised(world, "a", "4"))).isEqualTo(Reply.UNCHANGED);
        assertThat(world.events("run_budget_changed")).singleElement()
                .satisfies(event -> assertThat(event.members()).containsEntry("tasks", Map.of("a", "4")));
    }

    @Test
    void cancelledTaskNoLongerStopsTheRun() {
        World world = run("10", RunPolicy.DEFAULT, plan(task("a").steps(2).budget("0.5"), task("b")));
        complete(world, world.claim("a"), "0.5");
        world.done(new Command.CancelTask(world.id(), world.task("a").id(), null, World.WHO));
        world.done(new Command.Resume(world.id(), World.WHO));
        assertThat(world.state()).isEqualTo(RunState.RUNNING);
        complete(world, world.claim("b"), "0.1");
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void stoppedRunIsCancelledOrFailedAsAtItsOwnLimit() {
        for (boolean cancel : new boolean[] {true, false}) {
            World world = run("10", RunPolicy.DEFAULT, plan(task("a").steps(2).budget("0.5")));
            step(world, "0.5");
            world.done(cancel ? new Command.Cancel(world.id(), "too dear", World.WHO)
                    : new Command.DecideGate(world.id(), Command.DecideGate.Gate.BUDGET, false, null, Map.of(), null,
                            World.WHO));
            assertThat(world.state()).isEqualTo(cancel ? RunState.CANCELLED : RunState.FAILED);
            assertThat(world.view.run().chargedBefore()).isEqualTo(usd("0.5"));
        }
    }

    @Test
    void acceptedBudgetItemRaisesTheTask() {
        World world = run("10", RunPolicy.DEFAULT, plan(task("a").steps(2).budget("0.5")));
        step(world, "0.5");
        Command accept = new Command.DecideGate(world.id(), Command.DecideGate.Gate.BUDGET, true, null,
                Map.of("a", usd("1")), null, World.WHO);
        world.done(accept);
        assertThat(world.state()).isEqualTo(RunState.RUNNING);
        assertThat(world.send(accept)).isEqualTo(Reply.UNCHANGED);
    }
}
