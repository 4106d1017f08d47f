package io.keelson.core.decide;

import static io.keelson.core.decide.Plans.plan;
import static io.keelson.core.decide.Plans.task;
import static io.keelson.core.decide.Rules.rules;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.lifecycle.AgentState;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.StepKind;
import io.keelson.core.plan.TriggerRule;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.policy.FailureMode;
import io.keelson.core.policy.RetryPolicy;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Command.Evaluation;
import io.keelson.core.run.Event;
import io.keelson.core.run.TimerKind;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How failures go upwards, step → task → agent → run, under the three modes. */
class FailureModesTest {
    private World world;

    @AfterEach
    void everyEventWasLegal() {
        Invariants.legal(world);
    }

    /** Task a of agent x fails whenever it is tried; b is its sibling, c is agent y's. Both are at work meanwhile. */
    @ParameterizedTest(name = "run {0}, agent {1}: run {2}, x {3}, y {4}, b {5}, c {6}, {7} tries")
    @CsvSource({
            "fail_fast, fail_fast, failed,    failed,    cancelled, cancelled, cancelled, 3",
            "fail_fast, continue,  completed, completed, completed, completed, completed, 3",
            "fail_fast, retry,     failed,    failed,    cancelled, cancelled, cancelled, 9",
            "continue,  fail_fast, completed, failed,    completed, cancelled, completed, 3",
            "continue,  continue,  completed, completed, completed, completed, completed, 3",
            "continue,  retry,     completed, failed,    completed, cancelled, completed, 9",
            "retry,     fail_fast, failed,    failed,    cancelled, cancelled, cancelled, 9",
            "retry,     continue,  completed, completed, completed, completed, completed, 3",
            "retry,     retry,     failed,    failed,    cancelled, cancelled, cancelled, 27"})
    void modesOfRunAndAgent(String run, String agent, String state, String x, String y, String b, String c, int tries) {
        world = World.start(rules().run(FailureMode.of(run)).agent(FailureMode.of(agent)).policy(),
                plan(task("a").agent("x"), task("b").agent("x"), task("c").agent("y")));
        world.exhaust("a");
        world.work();
        assertThat(world.state().wire()).isEqualTo(state);
        assertThat(world.agent("x").state().wire()).isEqualTo(x);
        assertThat(world.agent("y").state().wire()).isEqualTo(y);
        assertThat(world.task("a").state()).isEqualTo(TaskState.FAILED);
        assertThat(world.task("b").state().wire()).isEqualTo(b);
        assertThat(world.task("c").state().wire()).isEqualTo(c);
        assertThat(world.events("step_retrying").size() + world.events("step_failed").size()).isEqualTo(tries);
        assertThat(world.task("a").failureIgnored()).isEqualTo(agent.equals("continue"));
        assertThat(world.agent("x").failureIgnored()).isEqualTo(run.equals("continue") && x.equals("failed"));
    }

    @ParameterizedTest(name = "task {0}: task {1}, step 2 {2}, {3} tries of step 1")
    @CsvSource({"fail_fast, failed, cancelled, 3", "continue, completed, completed, 3", "retry, failed, cancelled, 9"})
    void modesOfATask(String mode, String state, String second, int tries) {
        world = World.start(rules().policy(), plan(task("a").mode(FailureMode.of(mode)).steps(2)));
        while (!world.state().terminal()) {
            for (StepRow step : world.claimAll()) {
                if (step.name().equals("s1")) {
                    world.fail(step, ErrorClass.INFRASTRUCTURE);
                } else {
                    world.complete(step);
                }
            }
            if (!world.state().terminal()) {
                world.nextBackoff();
            }
        }
        assertThat(world.task("a").state().wire()).isEqualTo(state);
        assertThat(world.step("a", "s2").state().wire()).isEqualTo(second);
        assertThat(world.step("a", "s1").failureIgnored()).isEqualTo(mode.equals("continue"));
        assertThat(world.events("step_retrying").size() + world.events("step_failed").size()).isEqualTo(tries);
    }

    @Test
    void everyLevelRetriesToItsBound() {
        world = World.start(rules().run(FailureMode.RETRY).agent(FailureMode.RETRY).policy(),
                plan(task("a").mode(FailureMode.RETRY)));
        world.playOut("a");
        assertThat(world.state()).isEqualTo(RunState.FAILED);
        assertThat(world.events("step_retrying").size() + world.events("step_failed").size()).as("3⁴").isEqualTo(81);
    }

    @Test
    void ignoredFailureIsMarkedInItsEvent() {
        world = World.start(rules().run(FailureMode.CONTINUE).agent(FailureMode.CONTINUE).policy(), plan(
                task("a").mode(FailureMode.CONTINUE), task("b").agent("y")));
        world.playOut(ErrorClass.PERMANENT, "a");
        assertThat(world.last("step_failed").members()).containsEntry("failure_ignored", true);
        assertThat(world.task("a").state()).as("the failures of all its steps were ignored")
                .isEqualTo(TaskState.SKIPPED);
        assertThat(world.view.agents().getFirst().state()).isEqualTo(AgentState.SKIPPED);
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void parentIsSkippedWithAllItsChildren() {
        world = World.start(rules().run(FailureMode.CONTINUE).agent(FailureMode.CONTINUE).policy(),
                plan(task("a").agent("x"), task("b").agent("y").on("a")));
        world.playOut(ErrorClass.PERMANENT, "a");
        assertThat(world.task("a").failureIgnored()).isTrue();
        assertThat(world.task("b").state()).isEqualTo(TaskState.SKIPPED);
        assertThat(world.view.agents()).allMatch(agent -> agent.state() == AgentState.SKIPPED);
        assertThat(world.state()).isEqualTo(RunState.SKIPPED);
    }

    @Test
    void runWithIgnoredAgentsOnlyIsSkipped() {
        world = World.start(rules().run(FailureMode.CONTINUE).policy(), plan(task("a").agent("x")));
        world.playOut(ErrorClass.PERMANENT, "a");
        assertThat(world.agent("x").state()).isEqualTo(AgentState.FAILED);
        assertThat(world.state()).isEqualTo(RunState.SKIPPED);
    }

    @Test
    void ignoredTaskHasFailedForNoneFailedAndIsSkippedForOtherRules() {
        world = World.start(rules().agent(FailureMode.CONTINUE).policy(), plan(task("a"), task("needs").on("a"),
                task("anyway").on("a").rule(TriggerRule.ALL_DONE),
                task("unless").on("a").rule(TriggerRule.NONE_FAILED)));
        world.playOut(ErrorClass.PERMANENT, "a");
        assertThat(world.taskStates()).containsEntry("needs", TaskState.SKIPPED)
                .containsEntry("anyway", TaskState.COMPLETED).containsEntry("unless", TaskState.SKIPPED);
    }

    @Test
    void taskWithIgnoredStepsOnlyHasFailedForNoneFailed() {
        world = World.start(rules().policy(), plan(task("a").mode(FailureMode.CONTINUE).steps(2),
                task("needs").on("a"), task("anyway").on("a").rule(TriggerRule.ALL_DONE),
                task("unless").on("a").rule(TriggerRule.NONE_FAILED)));
        world.fail(world.claim("a"), ErrorClass.PERMANENT);
        world.fail(world.claim("a"), ErrorClass.PERMANENT);
        world.work();
        assertThat(world.task("a").failureIgnored()).isTrue();
        assertThat(world.task("a").errorCode()).isEqualTo(world.step("a", "s1").errorCode()).isNotNull();
        assertThat(world.taskStates()).containsEntry("a", TaskState.SKIPPED).containsEntry("needs", TaskState.SKIPPED)
                .containsEntry("anyway", TaskState.COMPLETED).containsEntry("unless", TaskState.SKIPPED);
        assertThat(world.view.run().failures()).as("each step counts").isEqualTo(2);
    }

    @Test
    void unnamedAgentContinuesWhereTheRunDoes() {
        world = World.start(rules().run(FailureMode.CONTINUE).agent(null).policy(),
                plan(task("a"), task("b"), task("c").agent("x"), task("d").agent("x")));
        world.playOut(ErrorClass.PERMANENT, "a", "c");
        assertThat(world.task("a").failureIgnored()).isTrue();
        assertThat(world.taskStates()).containsEntry("a", TaskState.FAILED).containsEntry("b", TaskState.COMPLETED)
                .containsEntry("c", TaskState.FAILED).containsEntry("d", TaskState.CANCELLED);
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
        assertThat(world.view.run().failures()).isEqualTo(2);
    }

    @Test
    void taskShowsThatItsStepsRetriesAreExhausted() {
        world = World.start(rules().policy(), plan(task("a")));
        world.exhaust("a");
        world.work();
        assertThat(world.last("task_failed").members()).containsEntry("reason", "attempt_budget_exhausted")
                .containsEntry("error_class", "infrastructure");
        assertThat(world.last("task_assigned").members()).as("no particular agent").doesNotContainKey("agent_type");
    }

    @Test
    void unnamedAgentDoesNotRestartBeforeTheRunDoes() {
        world = World.start(rules().run(FailureMode.RETRY).agent(null).policy(), plan(task("a")));
        world.playOut("a");
        assertThat(world.events("step_retrying").size() + world.events("step_failed").size())
                .as("3 tries of 3 attempts")
                .isEqualTo(9);
    }

    @Test
    void endCountsIgnoredFailures() {
        world = World.start(rules().agent(FailureMode.CONTINUE).policy(),
                plan(task("a"), task("b").mode(FailureMode.CONTINUE), task("c").on("b")));
        world.playOut(ErrorClass.PERMANENT, "a", "b");
        assertThat(world.state()).isEqualTo(RunState.SKIPPED);
        assertThat(world.last("run_skipped").members()).as("task a, and the step of task b").containsEntry("failures",
                2);
    }

    @Test
    void endWithoutFailuresCountsNone() {
        world = World.start(rules().policy(), plan(task("a")));
        world.work();
        assertThat(world.last("run_completed").members()).containsEntry("failures", 0);
    }

    @Test
    void failureTasksRunBeforeTheFailurePropagates() {
        world = World.start(rules().run(FailureMode.CONTINUE).policy(), plan(task("a").agent("x"),
                task("sibling").agent("x"), task("clean").agent("x").on("a").rule(TriggerRule.ALL_DONE),
                task("always").agent("x").rule(TriggerRule.ALWAYS), task("never").agent("x").on("clean"),
                task("other").agent("y")));
        world.fail(world.claim("a"), ErrorClass.PERMANENT);
        assertThat(world.agent("x").state()).isEqualTo(AgentState.RUNNING);
        assertThat(world.taskStates()).containsEntry("sibling", TaskState.CANCELLED)
                .containsEntry("never", TaskState.SKIPPED).containsEntry("clean", TaskState.QUEUED)
                .containsEntry("always", TaskState.QUEUED).containsEntry("other", TaskState.QUEUED);
        world.work();
        assertThat(world.agent("x").state()).isEqualTo(AgentState.FAILED);
        assertThat(world.agent("x").failureIgnored()).isTrue();
        assertThat(world.agent("y").state()).isEqualTo(AgentState.COMPLETED);
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void aTaskThatExistsForAFailureMayFailItself() {
        world = World.start(rules().policy(), plan(task("a"), task("clean").on("a").rule(TriggerRule.ALL_DONE),
                task("always").rule(TriggerRule.ALWAYS)));
        world.fail(world.claim("a"), ErrorClass.PERMANENT);
        world.fail(world.claim("clean"), ErrorClass.PERMANENT);
        assertThat(world.task("always").state()).isEqualTo(TaskState.QUEUED);
        world.work();
        assertThat(world.state()).isEqualTo(RunState.FAILED);
        assertThat(world.view.run().errorMessage()).as("the first failure is the reason").contains("task 'a'");
    }

    @Test
    void oldRecordsOfALevelAreKept() {
        world = World.start(rules().agent(FailureMode.RETRY).policy(),
                plan(task("a").agent("x").mode(FailureMode.RETRY), task("b").agent("x"), task("c").agent("y").on("b")));
        TaskRow first = world.task("b");
        StepRow tried = world.step("a", "s1");
        world.complete(world.claim("b"));
        world.complete(world.claim("c"));
        world.playOut("a");
        assertThat(first.superseded()).isTrue();
        assertThat(first.state()).as("what had completed stays completed in the records").isEqualTo(
                TaskState.COMPLETED);
        assertThat(tried.state()).isEqualTo(StepState.FAILED);
        assertThat(world.agent("x").attempt()).isEqualTo(3);
        assertThat(world.task("b")).isNotSameAs(first);
        assertThat(world.task("c").state()).as("another agent's finished work stays").isEqualTo(TaskState.COMPLETED);
        assertThat(world.events("task_completed").stream().filter(e -> e.taskId().equals(first.id()))).hasSize(1);
    }

    @Test
    void othersWaitForTheNewTasksOfAnAgentThatStartsOver() {
        world = World.start(rules().agent(FailureMode.RETRY).policy(), plan(task("a").agent("x"),
                task("b").agent("x"), task("c").agent("y").on("a", "b")));
        world.complete(world.claim("b"));
        world.exhaustStep("a");
        assertThat(world.agent("x").state()).isEqualTo(AgentState.PENDING);
        assertThat(world.task("c").state()).isEqualTo(TaskState.PENDING);
        world.playOut();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
        assertThat(world.task("c").upstreams()).noneMatch(TaskRow::superseded);
    }

    @Test
    void retriedTaskRepeatsAllItsSteps() {
        world = World.start(rules().policy(), plan(task("a").mode(FailureMode.RETRY).steps(2)));
        StepRow first = world.claim("a");
        world.complete(first);
        world.exhaustStep("a");
        assertThat(world.task("a").state()).isEqualTo(TaskState.AWAITING_RETRY);
        world.nextBackoff();
        assertThat(world.step("a", "s1")).isNotSameAs(first);
        assertThat(world.step("a", "s1").taskAttempt()).isEqualTo(2);
        assertThat(first.state()).isEqualTo(StepState.COMPLETED);
        world.work();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
        assertThat(world.task("a").attempt()).isEqualTo(2);
    }

    @Test
    void agentRestartedInAPauseWaitsForTheResume() {
        world = World.start(rules().agent(FailureMode.RETRY).policy(), plan(task("a").retry(Plans.ONCE)));
        StepRow step = world.claim("a");
        world.done(new Command.Pause(world.id(), null, World.WHO));
        world.fail(step, ErrorClass.INFRASTRUCTURE);
        AgentRow agent = world.view.agents.getFirst();
        assertThat(agent.attempt).isEqualTo(2);
        assertThat(agent.state).isEqualTo(AgentState.PAUSED);
        assertThat(agent.nextRunAt).isAfter(world.now);
        assertThat(world.queue).isEmpty();
        world.done(new Command.Resume(world.id(), World.WHO));
        world.nextBackoff();
        world.work();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void aToolsFinalFailureUnderFailFastIsNoReasonToTryTheTaskAgain() {
        world = World.start(rules().policy(), plan(task("a")));
        world.playOut("a");
        assertThat(world.events("task_retrying")).isEmpty();
        assertThat(world.task("a").attempt()).isEqualTo(1);
    }

    @Test
    void aTurnsOutageIsMetWithThreeTriesInAll() {
        world = World.start(rules().policy(), plan(task("a").step("t", StepKind.TURN)));
        world.playOut("a");
        assertThat(world.events("step_started")).hasSize(3);
        assertThat(world.events("task_retrying")).isEmpty();
    }

    @Test
    void failureSkipsDependentTasksAndCancelsOthers() {
        world = World.start(rules().policy(), plan(task("a"), task("b").on("a"), task("c").on("b"), task("d"),
                task("e").on("d")));
        world.exhaust("a");
        assertThat(world.taskStates()).containsEntry("a", TaskState.FAILED).containsEntry("b", TaskState.SKIPPED)
                .containsEntry("c", TaskState.SKIPPED).containsEntry("d", TaskState.CANCELLED)
                .containsEntry("e", TaskState.CANCELLED);
        assertThat(world.events("task_skipped")).allSatisfy(event -> assertThat(event.members())
                .containsEntry("failed_dependency_id", world.task("a").id().toString()));
    }

    @Test
    void aTurnsFinalFailureIsForTheTasksOwnPolicyWhereItHasOne() {
        world = World.start(rules().policy(), plan(task("a").step("t", StepKind.TURN).taskRetry(RetryPolicy.TASK)));
        world.playOut("a");
        assertThat(world.events("task_crashed")).hasSize(3);
        assertThat(world.events("task_retrying")).hasSize(2);
    }

    @Test
    void aHumansRejectionIsTriedAgainOnNoLevel() {
        world = World.start(rules().run(FailureMode.RETRY).agent(FailureMode.RETRY).policy(),
                plan(task("a").mode(FailureMode.RETRY).step("ok", StepKind.APPROVAL)));
        world.answer(world.evaluations.getFirst(), new Evaluation.Opened("{}", null, null));
        world.done(new Command.Reject(world.id(), "no", World.WHO));
        assertThat(world.state()).isEqualTo(RunState.FAILED);
        assertThat(world.view.run().attempt()).isEqualTo(1);
        assertThat(world.events("agent_retrying")).isEmpty();
    }

    @Test
    void failedChildOfAContinuingGroupIsIgnored() {
        world = group(FailureMode.CONTINUE);
        world.fail(world.claim("a[0]"), ErrorClass.PERMANENT);
        world.complete(world.claim("a[1]"));
        world.answer(world.evaluations.getFirst(), new Evaluation.Output("[null,1]"));
        world.work();
        assertThat(world.task("a[0]").failureIgnored()).isTrue();
        assertThat(world.taskStates()).containsEntry("a", TaskState.COMPLETED).containsEntry("b", TaskState.COMPLETED);
    }

    @Test
    void groupWithIgnoredChildrenOnlyIsSkipped() {
        world = group(FailureMode.CONTINUE);
        world.fail(world.claim("a[0]"), ErrorClass.PERMANENT);
        world.fail(world.claim("a[1]"), ErrorClass.PERMANENT);
        world.answer(world.evaluations.getFirst(), new Evaluation.Output("[null,null]"));
        assertThat(world.taskStates()).containsEntry("a", TaskState.SKIPPED).containsEntry("b", TaskState.SKIPPED);
        assertThat(world.task("a").failureIgnored()).isTrue();
        assertThat(world.state()).isEqualTo(RunState.SKIPPED);
        assertThat(world.view.run().failures()).as("each item counts").isEqualTo(2);
    }

    @Test
    void aChildOfAGroupThatRetriesIsTriedAgainByItself() {
        world = group(FailureMode.RETRY);
        world.complete(world.claim("a[1]"));
        world.exhaustStep("a[0]");
        assertThat(world.task("a[0]").state()).isEqualTo(TaskState.AWAITING_RETRY);
        world.nextBackoff();
        world.complete(world.claim("a[0]"));
        world.answer(world.evaluations.getFirst(), new Evaluation.Output("[1,1]"));
        world.work();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
        assertThat(world.task("a[1]").attempt()).isEqualTo(1);
    }

    @ParameterizedTest(name = "then the second item is {0}")
    @ValueSource(strings = {"2", "3"})
    void aRetryOfARunKeepsTheCompletedItemsOfAFanOut(String second) {
        world = group(FailureMode.FAIL_FAST);
        world.complete(world.claim("a[1]"));
        TaskRow done = world.task("a[1]");
        world.fail(world.claim("a[0]"), ErrorClass.PERMANENT);
        assertThat(world.state()).isEqualTo(RunState.FAILED);
        world.done(new Command.Retry(world.id(), false, World.WHO));
        world.answer(world.evaluations.getLast(), new Evaluation.Proceed(List.of("1", second)));
        boolean same = second.equals("2");
        assertThat(world.task("a[1]").reusedFrom()).isEqualTo(same ? done.id() : null);
        assertThat(world.task("a[1]").state()).isEqualTo(same ? TaskState.COMPLETED : TaskState.QUEUED);
        assertThat(world.view.run().taskCount).isEqualTo(4);
        world.complete(world.claim("a[0]"));
        if (!same) {
            world.complete(world.claim("a[1]"));
        }
        world.answer(world.evaluations.getLast(), new Evaluation.Output("[1,1]"));
        world.work();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    private static World group(FailureMode mode) {
        World world = World.start(rules().policy(),
                plan(task("a").mode(mode).forEach("${ [1,2] }"), task("b").on("a")));
        world.answer(world.evaluations.getFirst(), new Evaluation.Proceed(List.of("1", "2")));
        return world;
    }

    @ParameterizedTest(name = "run {0}, agent {1}")
    @CsvSource({"fail_fast, retry", "continue, retry", "retry, fail_fast", "retry, retry"})
    void aFailureInAPausedRunIsJudgedAsInARunningOne(String run, String agent) {
        world = World.start(rules().run(FailureMode.of(run)).agent(FailureMode.of(agent)).policy(),
                plan(task("a").agent("x").retry(Plans.ONCE), task("b").agent("x")));
        StepRow step = world.claim("a");
        world.done(new Command.Pause(world.id(), null, World.WHO));
        world.fail(step, ErrorClass.INFRASTRUCTURE);
        assertThat(world.state()).isEqualTo(RunState.PAUSED);
        world.done(new Command.Resume(world.id(), World.WHO));
        world.playOut();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void anAbortIsOneDecision() {
        world = World.start(rules().policy(), plan(task("a").steps(2), task("b").step("ok", StepKind.APPROVAL),
                task("clean").rule(TriggerRule.ALWAYS).on("a"), task("d").on("a")));
        world.claim("a");
        world.now = world.now.plus(world.view.run().policy().timeouts().running());
        long before = world.view.run().seq;
        world.send(new Command.TimerDue(world.id(), TimerKind.WATCH, world.id(), Actor.RECONCILER));
        assertThat(world.state()).isEqualTo(RunState.FAILED);
        assertThat(world.view.tasks()).allMatch(task -> task.state() == TaskState.CANCELLED);
        assertThat(world.view.agents()).allMatch(each -> each.state() == AgentState.FAILED);
        assertThat(world.events.subList((int) before, world.events.size())).extracting(Event::at).containsOnly(
                world.now);
        assertThat(world.last("run_failed").members()).containsEntry("reason", "run_timeout");
    }

    @ParameterizedTest(name = "paused: {0}")
    @ValueSource(booleans = {false, true})
    void aRunThatAHumanFailsTakesTheAgentsAtWorkWithIt(boolean paused) {
        world = World.start(rules().policy(),
                plan(task("a").agent("x"), task("b").agent("y").on("a"), task("c").agent("z").on("b")));
        world.complete(world.claim("a"));
        world.claim("b");
        if (paused) {
            world.done(new Command.Pause(world.id(), null, World.WHO));
        }
        world.done(new Command.FailRun(world.id(), "enough", World.WHO));
        assertThat(world.agent("x").state()).isEqualTo(AgentState.COMPLETED);
        assertThat(world.agent("y").state()).as("at work").isEqualTo(AgentState.FAILED);
        assertThat(world.agent("z").state()).as("not begun").isEqualTo(AgentState.CANCELLED);
        assertThat(world.last("agent_failed").members()).doesNotContainKey("failure_ignored");
    }

    @Test
    void onlyTheAgentAtFaultFailsWithItsRun() {
        world = World.start(rules().escalation(Rules.ASK).policy(),
                plan(task("a").agent("x").retry(Plans.ONCE), task("b").agent("y")));
        StepRow step = world.claim("a");
        world.claim("b");
        world.fail(step, ErrorClass.INFRASTRUCTURE);
        world.resolve(world.ticket(), Command.Resolution.FAIL);
        assertThat(world.state()).isEqualTo(RunState.FAILED);
        assertThat(world.agent("x").state()).isEqualTo(AgentState.FAILED);
        assertThat(world.agent("y").state()).isEqualTo(AgentState.CANCELLED);
    }
}
