package io.keelson.core.decide;

import static io.keelson.core.decide.Plans.plan;
import static io.keelson.core.decide.Plans.task;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.plan.StepKind;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Command;
import io.keelson.core.run.Command.Evaluation;
import io.keelson.core.run.Reply;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What people decide: approvals of steps and plans, pauses, a cancel. */
class HumanDecisionsTest extends OneRun {

    @Test
    void anApprovalIsMovedByAHumanOnly() {
        world = World.start(plan(task("a").step("ok", StepKind.APPROVAL).steps(1)));
        assertThat(world.queue).isEmpty();
        world.answer(world.evaluations.getFirst(), new Evaluation.Opened("{}", null, null));
        StepRow gate = world.step("a", "ok");
        assertThat(gate.state()).isEqualTo(StepState.WAITING_APPROVAL);
        world.done(new Command.Approve(world.id(), "fine", World.WHO));
        assertThat(world.send(new Command.DecideStep(world.id(), gate.id(), true, null, World.WHO)))
                .isEqualTo(Reply.UNCHANGED);
        assertThat(world.refused(new Command.DecideStep(world.id(), gate.id(), false, null, World.WHO)).code())
                .isEqualTo("APPROVAL_ALREADY_DECIDED");
        world.work();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void anApprovalOfAnEarlierAttemptCompletesTheStep() {
        world = World.start(plan(task("a").step("ok", StepKind.APPROVAL).steps(1)));
        world.answer(world.evaluations.getFirst(),
                new Evaluation.Approved("{}", "{\"approved\":true,\"by\":\"ann\"}", "ann", 1));
        StepRow gate = world.step("a", "ok");
        assertThat(gate.state()).isEqualTo(StepState.COMPLETED);
        assertThat(world.outputs).containsEntry(gate.id(), "{\"approved\":true,\"by\":\"ann\"}");
        assertThat(world.armed()).isEmpty();
        assertThat(world.events("step_approved")).hasSize(1);
        world.work();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void aRejectedApprovalFailsTheRun() {
        world = World.start(plan(task("a").step("ok", StepKind.APPROVAL)));
        world.answer(world.evaluations.getFirst(), new Evaluation.Opened("{}", null, null));
        world.done(new Command.Reject(world.id(), "no", World.WHO));
        assertThat(world.state()).isEqualTo(RunState.FAILED);
        assertThat(world.view.run().errorCode()).isEqualTo("APPROVAL_REJECTED");
    }

    @Test
    void severalWaitingApprovalsAreAmbiguous() {
        world = World.start(plan(task("a").step("x", StepKind.APPROVAL), task("b").step("y", StepKind.APPROVAL)));
        List.copyOf(world.evaluations).forEach(e -> world.answer(e, new Evaluation.Opened("{}", null, null)));
        Reply.Rejected refused = world.refused(new Command.Approve(world.id(), null, World.WHO));
        assertThat(refused.code()).isEqualTo("APPROVAL_AMBIGUOUS");
        assertThat(refused.allowed()).hasSize(2);
    }

    @Test
    void planThatNeedsApprovalWaits() {
        world = World.start(RunPolicy.DEFAULT.withApprovePlan(true), plan(task("a")));
        assertThat(world.state()).isEqualTo(RunState.AWAITING_APPROVAL);
        assertThat(world.view.tasks()).hasSize(1);
        assertThat(world.queue).isEmpty();
        world.done(new Command.Approve(world.id(), null, World.WHO));
        assertThat(world.send(new Command.Approve(world.id(), null, World.WHO))).isEqualTo(Reply.UNCHANGED);
        world.work();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void aRejectedPlanFailsTheRun() {
        world = World.start(RunPolicy.DEFAULT.withApprovePlan(true), plan(task("a")));
        world.done(new Command.Reject(world.id(), "too dear", World.WHO));
        assertThat(world.state()).isEqualTo(RunState.FAILED);
        assertThat(world.view.run().errorCode()).isEqualTo("PLAN_REJECTED");
    }

    @Test
    void aPauseKeepsResultsAndStartsNothing() {
        world = World.start(plan(task("a").steps(2), task("b"), task("c").on("b")));
        List<StepRow> claimed = world.claimAll();
        world.done(new Command.Pause(world.id(), null, World.WHO));
        claimed.forEach(world::complete);
        assertThat(world.queue).isEmpty();
        assertThat(world.taskStates()).containsEntry("a", TaskState.RUNNING).containsEntry("b", TaskState.COMPLETED)
                .containsEntry("c", TaskState.PENDING);
        assertThat(world.send(new Command.Pause(world.id(), null, World.WHO))).isEqualTo(Reply.UNCHANGED);
        world.done(new Command.Resume(world.id(), World.WHO));
        assertThat(world.claimAll()).extracting(s -> s.task().key() + "/" + s.name()).containsExactly("a/s2", "c/s1");
        world.view.tasks().stream().flatMap(t -> t.steps().stream()).filter(StepRow::isHeld).toList()
                .forEach(world::complete);
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void theLastResultOfAPausedRunEndsItOnlyAtTheResume() {
        world = World.start(plan(task("a")));
        StepRow step = world.claimAll().getFirst();
        world.done(new Command.Pause(world.id(), null, World.WHO));
        world.complete(step);
        assertThat(world.state()).isEqualTo(RunState.PAUSED);
        world.done(new Command.Resume(world.id(), World.WHO));
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void aFailureInAPausedRunFailsItAtTheResume() {
        world = World.start(plan(task("a"), task("b")));
        StepRow step = world.claimAll().getFirst();
        world.done(new Command.Pause(world.id(), null, World.WHO));
        world.fail(step, ErrorClass.PERMANENT);
        assertThat(world.state()).isEqualTo(RunState.PAUSED);
        world.done(new Command.Resume(world.id(), World.WHO));
        assertThat(world.state()).isEqualTo(RunState.FAILED);
    }

    @Test
    void cancelLeavesNothingOpen() {
        world = World.start(plan(task("a").steps(2), task("b").on("a"), task("c").step("ok", StepKind.APPROVAL)));
        world.claimAll();
        world.done(new Command.Cancel(world.id(), "enough", World.WHO));
        assertThat(world.state()).isEqualTo(RunState.CANCELLED);
        assertThat(world.send(new Command.Cancel(world.id(), null, World.WHO))).isEqualTo(Reply.UNCHANGED);
        assertThat(world.refused(new Command.Approve(world.id(), null, World.WHO)).code())
                .isEqualTo("INVALID_STATE_TRANSITION");
    }
}
