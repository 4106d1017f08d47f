package io.keelson.core.decide;

import static io.keelson.core.decide.Plans.plan;
import static io.keelson.core.decide.Plans.task;
import static io.keelson.core.decide.Rules.rules;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.decide.TicketRow.Kind;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.HumanRules;
import io.keelson.core.plan.Plan;
import io.keelson.core.plan.StepKind;
import io.keelson.core.plan.TriggerRule;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.policy.FailureMode;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Command.Evaluation;
import io.keelson.core.run.Command.Resolution;
import io.keelson.core.run.Reply;
import io.keelson.core.run.StepError;
import io.keelson.core.run.TimerKind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** When the planner makes a new plan, what happens to the old one, and what without a plan. */
class ReplanningTest {
    private static final StepError CYCLE = new StepError("DEPENDENCY_CYCLE", ErrorClass.QUALITY, "a → b → a");
    private World world;

    @AfterEach
    void everyEventWasLegal() {
        Invariants.legal(world);
    }

    @ParameterizedTest(name = "{1} of {0} agents failed: {2}")
    @CsvSource({"1, 1, true", "2, 1, false", "2, 2, true", "3, 1, false", "3, 2, true", "4, 2, false", "4, 3, true"})
    void moreThanHalfOfTheAgentsFailed(int agents, int failing, boolean replanned) {
        world = World.start(rules().run(FailureMode.CONTINUE).planner().policy(),
                plan(IntStream.range(0, agents).mapToObj(i -> task("t" + i).agent("x" + i)).toList()));
        IntStream.range(0, failing).forEach(i -> world.fail(world.claim("t" + i), ErrorClass.PERMANENT));
        assertThat(world.view.run().gate() == RunRow.Gate.REPLANNING).isEqualTo(replanned);
        assertThat(world.events("run_replanning")).hasSize(replanned ? 1 : 0);
    }

    @ParameterizedTest(name = "{0} tasks failed: {1}")
    @CsvSource({"10, false", "11, true"})
    void moreThanTenTasksFailed(int failed, boolean replanned) {
        List<Plans.T> tasks = new ArrayList<>();
        tasks.add(task("group").agent("x").mode(FailureMode.CONTINUE).forEach("${ . }"));
        tasks.add(task("last").agent("x"));
        tasks.add(task("other").agent("y"));
        world = World.start(rules().planner().policy(), plan(tasks));
        world.answer(world.evaluations.getFirst(), new Evaluation.Proceed(
                IntStream.range(0, failed).mapToObj(Integer::toString).toList()));
        for (int i = 0; i < failed - 1; i++) {
            world.fail(world.claim("group[" + i + "]"), ErrorClass.PERMANENT);
        }
        world.fail(world.claim("last"), ErrorClass.PERMANENT);
        assertThat(world.view.run().gate() == RunRow.Gate.REPLANNING).isEqualTo(replanned);
    }

    /** Readers find the last answer by the sequence. */
    @Test
    void lastPlannerHasTheHighestSequence() {
        world = World.start(rules().planner().policy(), plan(task("a"), task("b"), task("c"), task("d")));
        world.done(new Command.Replan(world.id(), null, World.WHO));
        world.complete(world.claim(".plan-1"));
        world.answer(world.evaluations.getLast(), new Evaluation.Planned(plan(task("e")), "{}"));
        world.done(new Command.Replan(world.id(), null, World.WHO));
        assertThat(world.task(".plan-2").sequence()).isGreaterThan(world.task(".plan-1").sequence());
    }

    @Test
    void aFailureThatCallsForNoNewPlanFailsFast() {
        world = World.start(rules().planner().policy(), plan(task("a").agent("x"), task("b").agent("y")));
        world.fail(world.claim("a"), ErrorClass.PERMANENT);
        assertThat(world.state()).isEqualTo(RunState.FAILED);
    }

    @Test
    void newPlanReplacesFailedTasksAndKeepsCompletedOnes() {
        failed("done", "open", "a");
        StepRow inFlight = world.step("open", "s1");
        TaskRow done = world.task("done");
        world.complete(world.claim(".plan-1"));
        answer(plan(task("done"), task("new").on("done")));
        assertThat(world.taskStates()).containsOnlyKeys("done", "new", ".plan-1");
        assertThat(world.task("done")).isSameAs(done);
        assertThat(world.task("new").upstreams()).containsExactly(done);
        assertThat(inFlight.task().superseded()).isTrue();
        assertThat(inFlight.task().state()).isEqualTo(TaskState.CANCELLED);
        assertThat(world.view.run().planVersion()).isEqualTo(2);
        assertThat(world.last("run_replanned").members()).containsEntry("plan_version", 2);
        world.work();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
        assertThat(world.view.run().errorCode()).isNull();
    }

    @Test
    void nothingOfTheOldPlanBeginsMeanwhile() {
        world = World.start(rules().planner().policy(), plan(task("a").agent("x"), task("b").agent("x"),
                task("c").agent("x").on("b")));
        StepRow b = world.claim("b");
        world.fail(world.claim("a"), ErrorClass.PERMANENT);
        world.complete(b);
        assertThat(world.task("b").state()).as("what is in flight may finish").isEqualTo(TaskState.COMPLETED);
        assertThat(world.task("c").state()).isEqualTo(TaskState.PENDING);
    }

    @Test
    void anotherFailureMeanwhileIsForTheNewPlan() {
        world = World.start(rules().planner().policy(), plan(task("a").agent("x"), task("b").agent("y"),
                task("c").agent("z"), task("d").agent("z")));
        world.done(new Command.Replan(world.id(), "the wind has turned", World.WHO));
        world.fail(world.claim("a"), ErrorClass.PERMANENT);
        assertThat(world.state()).isEqualTo(RunState.RUNNING);
        world.complete(world.claim(".plan-1"));
        answer(plan(task("new")));
        world.work();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void aHumanMayAsk() {
        world = World.start(rules().planner().policy(), plan(task("a")));
        world.done(new Command.Replan(world.id(), "the wind has turned", World.WHO));
        assertThat(world.last("run_replanning").members()).containsEntry("reason", "the wind has turned");
        assertThat(world.last("run_replanning").actor()).isEqualTo(World.WHO);
        assertThat(world.send(new Command.Replan(world.id(), null, World.WHO))).isEqualTo(Reply.UNCHANGED);
    }

    private static Command.DecideProposal accept(UUID id, World world) {
        return new Command.DecideProposal(world.id(), id, true, null, "more work", World.WHO);
    }

    @Test
    void anAcceptedChangeOfThePlanIsPlannedOnce() {
        world = World.start(rules().planner().policy(), plan(task("a")));
        UUID first = new UUID(0, 1);
        UUID second = new UUID(0, 2);
        world.view.propose(first, null);
        world.view.propose(second, null);
        world.done(accept(first, world));
        assertThat(world.last("run_replanning").members()).containsEntry("reason", "more work");
        assertThat(world.events("proposal_accepted")).hasSize(1);
        assertThat(world.refused(accept(second, world)).code()).isEqualTo("REPLAN_UNDER_WAY");
        world.done(new Command.DecideProposal(world.id(), second, false, null, "more work", World.WHO));
        assertThat(world.events("run_replanning")).hasSize(1);
    }

    @Test
    void aChangeOfThePlanIsNotAcceptedWhereNoPlanFollows() {
        world = World.start(rules().policy(), plan(task("a")));
        UUID proposal = new UUID(0, 1);
        world.view.propose(proposal, null);
        assertThat(world.refused(accept(proposal, world)).code()).isEqualTo("NO_PLANNER");
        world.work();
        assertThat(world.refused(accept(proposal, world)).code()).isEqualTo("INVALID_STATE_TRANSITION");
        assertThat(world.events("proposal_accepted")).isEmpty();
    }

    @Test
    void humanMayRequestANewPlanInsteadOfAccepting() {
        world = World.start(rules().planner().policy().with(new HumanRules(true, Duration.ofHours(24),
                HumanRules.OnTimeout.FAIL)), plan(task("a")));
        world.work();
        assertThat(world.view.run().gate()).isEqualTo(RunRow.Gate.ACCEPTANCE);
        world.done(new Command.Replan(world.id(), "not what I meant", World.WHO));
        assertThat(world.timers.keySet()).noneMatch(key -> key.kind() == TimerKind.HUMAN);
        world.complete(world.claim(".plan-1"));
        answer(plan(task("a"), task("more").on("a")));
        world.work();
        assertThat(world.task("more").state()).isEqualTo(TaskState.COMPLETED);
        world.done(new Command.Approve(world.id(), null, World.WHO));
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void newPlanIsRefusedWithoutAPlanner() {
        world = World.start(rules().policy(), plan(task("a")));
        assertThat(world.refused(new Command.Replan(world.id(), null, World.WHO)).code()).isEqualTo("NO_PLANNER");
    }

    @Test
    void aRunIsReplannedTwice() {
        world = World.start(rules().planner().policy(), plan(task("a")));
        for (int i = 1; i <= 2; i++) {
            world.fail(world.claim(i == 1 ? "a" : "b1"), ErrorClass.PERMANENT);
            world.complete(world.claim(".plan-" + i));
            answer(plan(task("b" + i)));
        }
        assertThat(world.refused(new Command.Replan(world.id(), null, World.WHO)).code())
                .isEqualTo("REPLANS_EXHAUSTED");
        world.fail(world.claim("b2"), ErrorClass.PERMANENT);
        assertThat(world.state()).isEqualTo(RunState.FAILED);
        assertThat(world.view.run().planVersion()).isEqualTo(3);
    }

    @Test
    void aRefusedPlanCountsAsAFailedAttempt() {
        failed("a");
        world.complete(world.claim(".plan-1"));
        answer(new Evaluation.Broken(CYCLE));
        assertThat(world.last("run_replan_failed").members()).containsEntry("error_code", "DEPENDENCY_CYCLE")
                .containsEntry("error_message", "a → b → a");
        assertThat(world.last("run_replanning").members()).containsEntry("number", 2);
        world.complete(world.claim(".plan-2"));
        answer(new Evaluation.Broken(CYCLE));
        assertThat(world.state()).isEqualTo(RunState.FAILED);
        assertThat(world.view.run().errorCode()).as("the failure takes its course").isEqualTo("BROKEN");
        assertThat(world.view.run().planVersion()).isEqualTo(1);
    }

    @Test
    void aPlannerThatFailsCountsAsAFailedAttempt() {
        failed("a");
        world.playOut(ErrorClass.PERMANENT, ".plan-1", ".plan-2");
        assertThat(world.events("run_replan_failed")).hasSize(2);
        assertThat(world.state()).isEqualTo(RunState.FAILED);
    }

    @Test
    void failureTasksRunWithoutANewPlan() {
        world = World.start(rules().planner().replans(1).policy(), plan(task("a").agent("x"),
                task("clean").agent("x").on("a").rule(TriggerRule.ALL_DONE)));
        world.fail(world.claim("a"), ErrorClass.PERMANENT);
        world.complete(world.claim(".plan-1"));
        answer(new Evaluation.Broken(CYCLE));
        assertThat(world.task("clean").state()).isEqualTo(TaskState.QUEUED);
        world.work();
        assertThat(world.state()).isEqualTo(RunState.FAILED);
    }

    @Test
    void continuingRunGoesOnWithoutANewPlan() {
        world = World.start(rules().run(FailureMode.CONTINUE).planner().replans(1).policy(), plan(
                task("a").agent("x"), task("b").agent("y"), task("c").agent("z"), task("d").agent("z").on("c")));
        world.fail(world.claim("a"), ErrorClass.PERMANENT);
        world.fail(world.claim("b"), ErrorClass.PERMANENT);
        world.complete(world.claim("c"));
        world.complete(world.claim(".plan-1"));
        answer(new Evaluation.Broken(CYCLE));
        assertThat(world.task("d").state()).as("what was held continues").isEqualTo(TaskState.QUEUED);
        world.work();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
        assertThat(world.view.run().errorCode()).as("a run that completed has no error").isNull();
        assertThat(world.agent("x").failureIgnored()).isTrue();
        assertThat(world.agent("y").failureIgnored()).isTrue();
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({"RESUME, running, 2", "SKIP, running, 1", "FAIL, failed, 1", "CANCEL, cancelled, 1"})
    void aNewPlanMayWantApproval(Resolution answer, String state, int version) {
        world = World.start(rules().planner().approveReplans().policy(), plan(task("a")));
        world.fail(world.claim("a"), ErrorClass.PERMANENT);
        world.complete(world.claim(".plan-1"));
        answer(plan(task("new")));
        assertThat(world.state()).isEqualTo(RunState.ESCALATED);
        assertThat(world.ticket().kind()).isEqualTo(Kind.REPLAN_APPROVAL);
        assertThat(world.view.run().planVersion()).as("not in place yet").isEqualTo(1);
        world.resolve(world.ticket(), answer);
        if (answer == Resolution.RESUME) {
            answer(plan(task("new")));
        }
        assertThat(world.state().wire()).isEqualTo(state);
        assertThat(world.view.run().planVersion()).isEqualTo(version);
        if (answer == Resolution.SKIP) {
            assertThat(world.last("run_replan_failed").members()).containsEntry("error_code", "REPLAN_REJECTED");
            assertThat(world.task(".plan-2").state()).isEqualTo(TaskState.QUEUED);
        }
    }

    /** No planner can set a price: an operator does, and the same plan is judged again. */
    @Test
    void aPlanWithoutAPriceWaitsForAHuman() {
        world = World.start(rules().planner().policy(), plan(task("a")));
        world.fail(world.claim("a"), ErrorClass.PERMANENT);
        world.complete(world.claim(".plan-1"));
        Evaluation noPrice = new Evaluation.Broken(new StepError("NO_PRICE", ErrorClass.PERMANENT, "no price"));
        answer(noPrice);
        assertThat(world.state()).isEqualTo(RunState.ESCALATED);
        assertThat(world.ticket().errorCode()).isEqualTo("NO_PRICE");
        world.resolve(world.ticket(), Resolution.RESUME);
        answer(noPrice);
        assertThat(world.state()).as("still without").isEqualTo(RunState.ESCALATED);
        world.resolve(world.ticket(), Resolution.RESUME);
        answer(plan(task("new")));
        world.work();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
        assertThat(world.view.run().replans).as("the planner was asked once").isEqualTo(1);
    }

    @Test
    void aPauseDuringPlanningLosesNothing() {
        failed("a");
        StepRow planner = world.claim(".plan-1");
        world.done(new Command.Pause(world.id(), null, World.WHO));
        world.complete(planner);
        world.done(new Command.Resume(world.id(), World.WHO));
        answer(plan(task("new")));
        world.work();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void aFailureInAPausedRunCallsForANewPlanToo() {
        world = World.start(rules().planner().policy(), plan(task("a")));
        StepRow step = world.claim("a");
        world.done(new Command.Pause(world.id(), null, World.WHO));
        world.fail(step, ErrorClass.PERMANENT);
        assertThat(world.queue).as("the planner waits for the resume").isEmpty();
        world.done(new Command.Resume(world.id(), World.WHO));
        world.complete(world.claim(".plan-1"));
        answer(plan(task("new")));
        world.work();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void plannersAnswerIsIgnoredAfterCancel() {
        failed("a");
        world.complete(world.claim(".plan-1"));
        world.done(new Command.Cancel(world.id(), null, World.WHO));
        answer(plan(task("new")));
        assertThat(world.state()).isEqualTo(RunState.CANCELLED);
    }

    @Test
    void taskSkippedInTheNewPlanIsNotTheOldOne() {
        failed("a");
        world.complete(world.claim(".plan-1"));
        answer(plan(task("b").step("ok", StepKind.APPROVAL)));
        assertThat(world.view.run().taskCount).isEqualTo(1);
        assertThat(world.view.run().tasksFailed).isZero();
    }

    /** A run of one agent: the first tasks but for the last have completed or are at work, the last has failed. */
    private void failed(String... keys) {
        world = World.start(rules().planner().policy(),
                plan(IntStream.range(0, keys.length).mapToObj(i -> task(keys[i])).toList()));
        List<StepRow> steps = world.claimAll();
        if (keys.length > 1) {
            world.complete(steps.getFirst());
        }
        world.fail(steps.getLast(), ErrorClass.PERMANENT);
        assertThat(world.view.run().gate()).isEqualTo(RunRow.Gate.REPLANNING);
    }

    private void answer(Plan plan) {
        answer(new Evaluation.Planned(plan, "{}"));
    }

    private void answer(Evaluation evaluation) {
        world.send(new Command.Evaluated(world.id(), TimerKind.EVALUATE_PLAN, world.id(), evaluation, Actor.SYSTEM));
    }
}
