package io.keelson.core.decide;

import static io.keelson.core.decide.Plans.plan;
import static io.keelson.core.decide.Plans.task;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.money.Amounts;
import io.keelson.core.money.Budget;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.plan.StepKind;
import io.keelson.core.run.Command;
import io.keelson.core.run.Command.Evaluation;
import io.keelson.core.run.NewRun;
import io.keelson.core.run.Reply;
import io.keelson.core.run.TimerKind;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What runs may cost that a run has started, as that one sees it and as they hear of it. */
class ChildBudgetsTest {
    private World world;

    @AfterEach
    void everyEventWasLegal() {
        Invariants.legal(world);
    }

    private static BigDecimal usd(String amount) {
        return amount == null ? null : new BigDecimal(amount);
    }

    private static RunPolicy limit(String credits) {
        return credits == null ? RunPolicy.DEFAULT : RunPolicy.DEFAULT.with(Budget.upTo(usd(credits)));
    }

    /** A run with two tasks that each start one. */
    private void parent(String limit) {
        world = World.start(limit(limit),
                plan(task("a").step("one", StepKind.RUN), task("b").step("two", StepKind.RUN)));
    }

    private ChildRow start(int nth, String own, String budget) {
        NewRun child = new NewRun(new UUID(9, nth), World.WORKSPACE, "c", null, "goal", plan(task("x")), "{}", "{}",
                limit(own), "{}", "[]", null, 100, "run.start", null, null, "ann");
        world.answer(world.evaluations.stream().filter(each -> each.kind() == TimerKind.EVALUATE_STEP)
                .filter(each -> each.runId().equals(world.id())).findFirst().orElseThrow(),
                new Evaluation.Starts("{}", child, usd(budget), false, Duration.ofHours(1)));
        return world.view.children.values().stream().filter(row -> row.runId().equals(child.id())).findFirst()
                .orElse(null);
    }

    private Command allot(ChildRow child, String amount) {
        return new Command.AddChildBudget(world.id(), child.runId(), usd(amount), World.WHO);
    }

    private ChildRow now(ChildRow child) {
        return world.view.children.get(child.stepId());
    }

    @ParameterizedTest
    @CsvSource(nullValues = "-", value = {"-, -, -, -", "5, -, -, 5", "5, 2, -, 2", "5, -, 3, 3", "5, 2, 3, 2",
            "5, 8, 9, 5", "-, 2, -, 2", "-, 2, 1, 1"})
    void smallestOfTheThreeLimitsApplies(String parent, String own, String budget, String allotment) {
        parent(parent);
        ChildRow child = start(0, own, budget);
        assertThat(child.allotment() == null ? null : Amounts.text(child.allotment())).isEqualTo(allotment);
    }

    @Test
    void childWithItsOwnLimitLeavesTheRestToOthers() {
        parent("5");
        start(0, "2", null);
        assertThat(start(1, null, null).allotment()).isEqualByComparingTo("3");
        assertThat(world.step("b", "two").state()).isEqualTo(StepState.WAITING);
    }

    /** No budget is left for the second: it is held back, and the task waits for the first alone. */
    @Test
    void aTaskWhoseSecondChildIsHeldBackOnlyWaits() {
        world = World.start(limit("2"), plan(task("a").parallel().step("one", StepKind.RUN).step("two", StepKind.RUN)));
        start(0, "2", null);
        assertThat(world.view.onlyWaits()).isFalse();
        assertThat(start(1, null, null)).isNull();
        assertThat(world.step("a", "two").state()).isEqualTo(StepState.PENDING);
        assertThat(world.view.onlyWaits()).isTrue();
    }

    @Test
    void childsBudgetGrowsUpToTheLimit() {
        parent("5");
        ChildRow one = start(0, "2", null);
        start(1, "1", null);
        assertThat(world.refused(allot(one, "4.000001")).message()).contains("can allow it 4 credits");
        assertThat(world.send(allot(one, "4"))).isEqualTo(Reply.CHANGED);
        assertThat(now(one).allotment()).isEqualByComparingTo("4");
        assertThat(world.events("child_run_allotted")).hasSize(1);
        for (String less : List.of("4", "3")) {
            assertThat(world.send(allot(one, less))).isEqualTo(Reply.UNCHANGED);
        }
        assertThat(world.refused(allot(one, "4.5")).code()).isEqualTo("PARENT_BUDGET_EXCEEDED");
        world.done(new Command.RaiseBudget(world.id(), usd("6"), null, Map.of(), World.WHO));
        assertThat(world.send(allot(one, "4.5"))).isEqualTo(Reply.CHANGED);
    }

    @Test
    void endedOrUnstartedChildGetsNoBudget() {
        parent("5");
        ChildRow one = start(0, "2", null);
        world.answer(new ChangeSet.Evaluate(world.id(), TimerKind.EVALUATE_CHILD, one.stepId()),
                new Evaluation.ChildIs(RunState.COMPLETED, true, "1", 0, usd("1.5"), null, null));
        assertThat(world.refused(allot(one, "3")).code()).isEqualTo("PARENT_BUDGET_EXCEEDED");
        assertThat(world.refused(new Command.AddChildBudget(world.id(), new UUID(9, 7), usd("3"), World.WHO)).code())
                .isEqualTo("PARENT_BUDGET_EXCEEDED");
    }

    @Test
    void aLimitIsRefusedWhereWhatWasStartedHasNone() {
        parent(null);
        ChildRow one = start(0, null, null);
        Command raise = new Command.RaiseBudget(world.id(), usd("6"), null, Map.of(), World.WHO);
        assertThat(world.refused(raise).code()).isEqualTo("CHILD_BUDGETS_REQUIRED");
        world.answer(new ChangeSet.Evaluate(world.id(), TimerKind.EVALUATE_CHILD, one.stepId()),
                new Evaluation.ChildIs(RunState.COMPLETED, true, "1", 0, usd("7"), null, null));
        assertThat(world.refused(raise).code()).isEqualTo("BUDGET_TOO_LOW");
        world.done(new Command.RaiseBudget(world.id(), usd("8"), null, Map.of(), World.WHO));
    }

    @Test
    void smallerBudgetOfTheParentChangesNothing() {
        world = World.start(limit("9"), plan(task("x").steps(1)));
        world.view.run.parent = new ParentRow(new UUID(9, 1), new UUID(9, 2), 1, false, usd("2"), 0, false);
        Command raise = new Command.RaiseBudget(world.id(), usd("3"), null, Map.of(), World.WHO);
        assertThat(world.refused(raise).code()).isEqualTo("PARENT_BUDGET_EXCEEDED");
        world.done(new Command.ChildBudgetAdded(world.id(), usd("4"), World.WHO));
        assertThat(world.send(new Command.ChildBudgetAdded(world.id(), usd("3"), World.WHO)))
                .isEqualTo(Reply.UNCHANGED);
        world.done(raise);
        assertThat(world.view.run().hardLimit()).isEqualByComparingTo("3");
        assertThat(world.view.run().parent().allotment()).isEqualByComparingTo("4");
    }

    /** It may be charged 1 itself, and what it has started has been allotted 9 and used half a credit. */
    @Test
    void restOfGrandchildrenIsReleasedAtTheirEnd() {
        parent("10");
        ChildRow one = start(0, null, null);
        assertThat(one.allotment()).isEqualByComparingTo("10");
        look(one, RunState.COMPLETED, false, "7", null);
        assertThat(world.step("a", "one").state()).isEqualTo(StepState.COMPLETED);
        assertThat(now(one).shareOfLimit()).as("it may not take what it has not started").isEqualByComparingTo("7");
        look(one, RunState.COMPLETED, false, "10", null);
        assertThat(now(one).shareOfLimit()).as("heard late").isEqualByComparingTo("7");
        assertThat(start(1, "3", null).allotment()).isEqualByComparingTo("3");
        look(one, RunState.COMPLETED, true, "0.5", null);
        assertThat(now(one).ended()).isTrue();
        assertThat(now(one).shareOfLimit()).isEqualByComparingTo("0.5");
    }

    @Test
    void runWaitingForGrandchildrensRestIsNotStopped() {
        parent("10");
        ChildRow one = start(0, null, null);
        look(one, RunState.COMPLETED, false, "10", null);
        start(1, null, null);
        assertThat(world.step("b", "two").state()).isEqualTo(StepState.PENDING);
        assertThat(world.state()).isEqualTo(RunState.RUNNING);
        look(one, RunState.COMPLETED, true, "0.5", null);
        assertThat(start(1, null, null).allotment()).isEqualByComparingTo("9.5");
    }

    @Test
    void endedChildsRestIsReleasedBeforeItsChildrenEnd() {
        parent("10");
        ChildRow one = start(0, null, null);
        start(1, null, null);
        assertThat(world.step("b", "two").state()).isEqualTo(StepState.PENDING);
        world.evaluations.clear();
        look(one, RunState.COMPLETED, false, "7", null);
        assertThat(start(1, null, null).allotment()).isEqualByComparingTo("3");
    }

    @Test
    void endedChildForwardsItsChildrensEndsToItsParent() {
        parent(null);
        ChildRow one = start(0, null, null);
        world.view.run.parent = new ParentRow(new UUID(9, 5), new UUID(9, 6), 1, false, null, 0, false);
        world.done(new Command.Cancel(world.id(), null, World.WHO));
        assertThat(look(one, RunState.RUNNING, false, "0", null)).isEmpty();
        assertThat(look(one, RunState.CANCELLED, true, "0.5", null))
                .containsExactly(new ChangeSet.Evaluate(new UUID(9, 5), TimerKind.EVALUATE_CHILD, new UUID(9, 6)));
        assertThat(look(one, RunState.CANCELLED, true, "0.5", null)).isEmpty();
    }

    /** The child ended, restarted and ended for good: an evaluation between says nothing about the second end. */
    @Test
    void aLookDisarmsWhatItWasArmedFor() {
        parent(null);
        ChildRow one = start(0, null, null);
        ChangeSet.TimerKey key = new ChangeSet.TimerKey(TimerKind.EVALUATE_CHILD, one.stepId());
        ChangeSet.Timer second = new ChangeSet.Timer(key, world.id(), world.now.plusSeconds(7));
        world.timers.put(key, second);
        look(one, RunState.RETRYING, true, "0", world.now.plusSeconds(5));
        assertThat(world.timers).containsEntry(key, second);
        look(one, RunState.FAILED, true, "0", second.dueAt());
        assertThat(world.timers).doesNotContainKey(key);
    }

    /** Returns what the run asks of others. */
    private List<ChangeSet.Evaluate> look(ChildRow child, RunState state, boolean settled, String charged,
            Instant armed) {
        world.elsewhere.clear();
        world.answer(new ChangeSet.Evaluate(world.id(), TimerKind.EVALUATE_CHILD, child.stepId()),
                new Evaluation.ChildIs(state, settled, "1", 0, usd(charged), null, armed));
        return world.elsewhere;
    }
}
