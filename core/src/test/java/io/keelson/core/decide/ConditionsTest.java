package io.keelson.core.decide;

import static io.keelson.core.decide.Plans.plan;
import static io.keelson.core.decide.Plans.task;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.money.Funds;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.plan.TriggerRule;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Command;
import io.keelson.core.run.Command.Evaluation;
import io.keelson.core.run.Ids;
import io.keelson.core.run.NewRun;
import io.keelson.core.run.StepError;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Tasks with {@code when} and {@code for_each}, and the tasks downstream of them. */
class ConditionsTest extends OneRun {

    @Test
    void falseConditionSkipsATaskAndItsDownstreamTasks() {
        world = World.start(plan(task("a").when("${ false }"), task("b").on("a"), task("c").on("b"),
                task("d").on("a").rule(TriggerRule.NONE_FAILED), task("e").on("c").rule(TriggerRule.ALL_DONE)));
        world.answer(world.evaluations.getFirst(), new Evaluation.Skip());
        assertThat(world.taskStates()).containsEntry("a", TaskState.SKIPPED).containsEntry("b", TaskState.SKIPPED)
                .containsEntry("c", TaskState.SKIPPED).containsEntry("d", TaskState.QUEUED)
                .containsEntry("e", TaskState.QUEUED);
        world.work();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void aRunWhoseEveryTaskIsSkippedIsSkipped() {
        world = World.start(plan(task("a").when("${ false }"), task("b").on("a")));
        world.answer(world.evaluations.getFirst(), new Evaluation.Skip());
        assertThat(world.state()).isEqualTo(RunState.SKIPPED);
    }

    @Test
    void aBrokenConditionFailsItsTask() {
        world = World.start(plan(task("a").when("${ . }")));
        world.answer(world.evaluations.getFirst(), new Evaluation.Broken(
                new StepError("EXPRESSION_FAILED", ErrorClass.PERMANENT, "no")));
        assertThat(world.state()).isEqualTo(RunState.FAILED);
        assertThat(world.view.run().errorCode()).isEqualTo("EXPRESSION_FAILED");
    }

    @Test
    void aLostEvaluationIsAskedForAgain() {
        world = World.start(plan(task("a").when("${ true }")));
        assertThat(world.evaluations).hasSize(1);
        world.nextTimer();
        assertThat(world.evaluations).hasSize(2);
        world.answer(world.evaluations.getFirst(), new Evaluation.Proceed(null));
        world.answer(world.evaluations.getFirst(), new Evaluation.Proceed(null));
        world.work();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void forEachFansOutAndJoins() {
        world = World.start(plan(task("a").forEach("${ [1,2,3] }").steps(2), task("b").on("a")));
        world.answer(world.evaluations.getFirst(), new Evaluation.Proceed(List.of("1", "2", "3")));
        assertThat(world.claimAll()).extracting(s -> s.task().key()).containsExactly("a[0]", "a[1]", "a[2]");
        world.view.tasks().stream().flatMap(t -> t.steps().stream()).filter(StepRow::isHeld).toList()
                .forEach(world::complete);
        world.work();
        world.answer(world.evaluations.getFirst(), new Evaluation.Output("[1,1,1]"));
        assertThat(world.task("a").state()).isEqualTo(TaskState.COMPLETED);
        world.work();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void oneFailedChildFailsTheGroup() {
        world = World.start(plan(task("a").forEach("${ [1,2] }"), task("b").on("a")));
        world.answer(world.evaluations.getFirst(), new Evaluation.Proceed(List.of("1", "2")));
        world.fail(world.claimAll().getFirst(), ErrorClass.PERMANENT);
        assertThat(world.taskStates()).containsEntry("a", TaskState.FAILED).containsEntry("a[0]", TaskState.FAILED)
                .containsEntry("a[1]", TaskState.CANCELLED).containsEntry("b", TaskState.SKIPPED);
        assertThat(world.state()).isEqualTo(RunState.FAILED);
    }

    @Test
    void aFanOutOverNothingCompletes() {
        world = World.start(plan(task("a").forEach("${ [] }"), task("b").on("a")));
        world.answer(world.evaluations.getFirst(), new Evaluation.Proceed(List.of()));
        world.answer(world.evaluations.getFirst(), new Evaluation.Output("[]"));
        world.work();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void aChainOfTenThousandSkipsDoesNotOverflow() {
        List<Plans.T> tasks = new ArrayList<>();
        tasks.add(task("t0").when("${ false }"));
        IntStream.range(1, 10_000).forEach(i -> tasks.add(task("t" + i).on("t" + (i - 1))));
        RunView view = big(tasks);
        assertThat(view.run().state()).isEqualTo(RunState.SKIPPED);
    }

    private static RunView big(List<Plans.T> tasks) {
        NewRun run = new NewRun(new java.util.UUID(0, 0), new java.util.UUID(9, 9), "r", null, "g", plan(tasks), "{}",
                "{}", RunPolicy.DEFAULT, "{}", "[]", null, 1, "manual", null, null, "x");
        long[] last = {0};
        Ids ids = () -> new java.util.UUID(1, ++last[0]);
        ChangeSet changes = new ChangeSet();
        RunView view = Decider.create(new Command.Create(run, true, World.WHO), changes,
                java.time.Instant.EPOCH, ids, LocalCapacity.none(), Funds.UNLIMITED).view();
        ChangeSet.Evaluate asked = changes.evaluations().getFirst();
        Decider.decide(view, new Command.Evaluated(run.id(), asked.kind(), asked.subject(), new Evaluation.Skip(),
                World.WHO), new ChangeSet(), java.time.Instant.EPOCH, ids, LocalCapacity.none(), Funds.UNLIMITED);
        return view;
    }
}
