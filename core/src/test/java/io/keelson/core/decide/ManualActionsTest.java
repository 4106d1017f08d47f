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
import io.keelson.core.run.Command;
import io.keelson.core.run.Command.Evaluation;
import io.keelson.core.run.Reply;
import io.keelson.core.run.TimerKind;
import io.keelson.core.run.Verdict;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What people do to one task, one agent, or a run that is held up. */
class ManualActionsTest {
    private World world;

    @AfterEach
    void everyEventWasLegal() {
        Invariants.legal(world);
    }

    private void start(Plans.T... tasks) {
        world = World.start(rules().policy(), plan(tasks));
    }

    private UUID id(String key) {
        return world.task(key).id();
    }

    private Command.CancelTask cancel(String key) {
        return new Command.CancelTask(world.id(), id(key), "not needed", World.WHO);
    }

    private Command.SkipTask skip(String key) {
        return new Command.SkipTask(world.id(), id(key), "not needed", World.WHO);
    }

    private Command.RetryTask retry(String key) {
        return new Command.RetryTask(world.id(), id(key), World.WHO);
    }

    @Test
    void cancelledTaskStopsItsWorkAndItsDownstreamTasks() {
        start(task("a"), task("needs").on("a"), task("anyway").on("a").rule(TriggerRule.ALL_DONE), task("b"));
        StepRow step = world.claim("a");
        world.done(cancel("a"));
        assertThat(step.state()).isEqualTo(StepState.CANCELLED);
        assertThat(world.taskStates()).containsEntry("a", TaskState.CANCELLED).containsEntry("needs", TaskState.SKIPPED)
                .containsEntry("anyway", TaskState.QUEUED);
        assertThat(world.last("task_cancelled").members()).containsEntry("cancelled_by", "ann");
        assertThat(world.send(cancel("a"))).isEqualTo(Reply.UNCHANGED);
        world.work();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
        assertThat(world.refused(cancel("b")).current()).isEqualTo("completed");
    }

    @Test
    void aCancelledGroupTakesItsChildrenAlong() {
        start(task("a").forEach("${ [1,2] }"), task("b"));
        world.answer(world.evaluations.getFirst(), new Evaluation.Proceed(List.of("1", "2")));
        world.done(cancel("a"));
        assertThat(world.taskStates()).containsEntry("a[0]", TaskState.CANCELLED).containsEntry("a[1]",
                TaskState.CANCELLED);
    }

    @Test
    void aSkippedTaskIsWorkedWithout() {
        start(task("a"), task("needs").on("a"), task("unless").on("a").rule(TriggerRule.NONE_FAILED));
        world.claim("a");
        world.done(skip("a"));
        assertThat(world.taskStates()).containsEntry("a", TaskState.SKIPPED).containsEntry("needs", TaskState.SKIPPED)
                .containsEntry("unless", TaskState.QUEUED);
        assertThat(world.send(skip("a"))).isEqualTo(Reply.UNCHANGED);
        world.work();
        assertThat(world.refused(skip("unless")).code()).isEqualTo("INVALID_STATE_TRANSITION");
    }

    @Test
    void waitingTaskCanBeSkipped() {
        start(task("a"), task("b").on("a"));
        world.done(skip("b"));
        world.done(skip("a"));
        assertThat(world.queue).isEmpty();
        assertThat(world.state()).isEqualTo(RunState.SKIPPED);
    }

    @Test
    void aTasksNextAttemptMayBeginAtOnce() {
        start(task("a").verify("v"));
        world.complete(world.claim("a"));
        world.verdict(world.claim("a"), Verdict.Outcome.REJECTED);
        world.done(retry("a"));
        assertThat(world.task("a").state()).isEqualTo(TaskState.QUEUED);
        assertThat(world.task("a").attempt()).isEqualTo(2);
    }

    @Test
    void aStepsNextAttemptMayBeginAtOnce() {
        start(task("a"));
        world.fail(world.claim("a"), ErrorClass.INFRASTRUCTURE);
        world.done(retry("a"));
        assertThat(world.claim("a").attempt()).isEqualTo(2);
        assertThat(world.timers.keySet()).noneMatch(key -> key.kind() == TimerKind.STEP_RETRY);
        assertThat(world.last("step_retry_requested").members()).containsEntry("requested_by", "ann");
    }

    @Test
    void aRetryAskedForInAPausedRunBeginsWithItsResume() {
        start(task("a"));
        world.fail(world.claim("a"), ErrorClass.INFRASTRUCTURE);
        world.done(new Command.Pause(world.id(), null, World.WHO));
        world.done(retry("a"));
        assertThat(world.queue).isEmpty();
        world.done(new Command.Resume(world.id(), World.WHO));
        assertThat(world.claim("a").attempt()).isEqualTo(2);
    }

    @Test
    void onlyWorkThatWaitsForAnAttemptCanBeRetried() {
        start(task("a"), task("b"));
        assertThat(world.refused(retry("a")).current()).isEqualTo("queued");
        world.complete(world.claim("a"));
        assertThat(world.refused(retry("a")).current()).isEqualTo("completed");
    }

    @Test
    void workBlockedByATicketIsNotRetried() {
        world = World.start(rules().escalation(Rules.ASK).policy(), plan(task("a").retry(Plans.ONCE).steps(1)));
        world.fail(world.claim("a"), ErrorClass.INFRASTRUCTURE);
        Reply.Rejected refused = world.refused(retry("a"));
        assertThat(refused.code()).isEqualTo("TICKET_OPEN");
        assertThat(refused.allowed()).containsExactly("resolve");
    }

    @Test
    void taskThatWaitsForATicketIsNotRetriedByHand() {
        world = World.start(rules().escalation(Rules.ASK).policy(), plan(task("a").taskRetry(Plans.ONCE).verify("v")));
        world.complete(world.claim("a"));
        world.verdict(world.claim("a"), Verdict.Outcome.REJECTED);
        assertThat(world.refused(retry("a")).code()).isEqualTo("TICKET_OPEN");
    }

    @Test
    void aCancelledAgentStopsAllItsTasks() {
        start(task("a").agent("x"), task("b").agent("x").step("ok", StepKind.APPROVAL), task("c").agent("y"),
                task("d").agent("y").on("a").rule(TriggerRule.ALL_DONE));
        world.claim("a");
        int number = world.agent("x").number();
        Command.CancelAgent command = new Command.CancelAgent(world.id(), number, null, World.WHO);
        world.done(command);
        assertThat(world.agent("x").state()).isEqualTo(AgentState.CANCELLED);
        assertThat(world.taskStates()).containsEntry("a", TaskState.CANCELLED).containsEntry("b", TaskState.CANCELLED);
        assertThat(world.send(command)).isEqualTo(Reply.UNCHANGED);
        world.work();
        assertThat(world.task("d").state()).isEqualTo(TaskState.COMPLETED);
        assertThat(world.agent("y").state()).isEqualTo(AgentState.COMPLETED);
    }

    @Test
    void runWhoseOnlyAgentIsCancelledIsCancelledWithTheReason() {
        start(task("a").agent("x"), task("b").agent("x").on("a"));
        world.claim("a");
        world.done(new Command.CancelAgent(world.id(), world.agent("x").number(), "not needed", World.WHO));
        assertThat(world.agent("x").state()).isEqualTo(AgentState.CANCELLED);
        assertThat(world.state()).isEqualTo(RunState.CANCELLED);
        assertThat(world.view.run().errorCode()).isEqualTo("RUN_CANCELLED");
        assertThat(world.view.run().errorMessage()).isEqualTo("not needed");
        assertThat(world.view.run().reserved()).isZero();
        assertThat(world.last("run_cancelled").members()).containsEntry("reason", "not needed")
                .containsEntry("cancelled_by", World.WHO.name());
    }

    /** Its cancelled task does not hide that it completed the other, and cancelling it again changes nothing. */
    @Test
    void anAgentWithACompletedTaskCompletesThoughAnotherWasCancelled() {
        start(task("a").agent("x"), task("b").agent("x"), task("c").agent("y"));
        world.complete(world.claim("a"));
        world.done(cancel("b"));
        assertThat(world.agent("x").state()).isEqualTo(AgentState.COMPLETED);
        assertThat(world.send(new Command.CancelAgent(world.id(), world.agent("x").number(), null, World.WHO)))
                .isEqualTo(Reply.UNCHANGED);
        world.work();
        assertThat(world.refused(new Command.CancelAgent(world.id(), world.agent("y").number(), null, World.WHO))
                .current()).isEqualTo("completed");
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void runIsNotCancelledWithOneOfTwoAgents() {
        start(task("a").agent("x"), task("b").agent("y"));
        world.done(new Command.CancelAgent(world.id(), world.agent("x").number(), null, World.WHO));
        world.work();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void aHumanMayFailARun() {
        start(task("a"));
        world.claim("a");
        world.done(new Command.FailRun(world.id(), "enough", World.WHO));
        assertThat(world.view.run().errorCode()).isEqualTo("FAILED_BY_HUMAN");
        assertThat(world.view.run().errorMessage()).isEqualTo("enough");
        assertThat(world.send(new Command.FailRun(world.id(), null, World.WHO))).isEqualTo(Reply.UNCHANGED);
    }

    @Test
    void unknownTaskIsNotFound() {
        start(task("a"));
        UUID unknown = new UUID(5, 5);
        assertThat(world.refused(new Command.CancelTask(world.id(), unknown, null, World.WHO)).code())
                .isEqualTo("TASK_NOT_FOUND");
        assertThat(world.refused(new Command.SkipTask(world.id(), unknown, null, World.WHO)).code())
                .isEqualTo("TASK_NOT_FOUND");
        assertThat(world.refused(new Command.RetryTask(world.id(), unknown, World.WHO)).code())
                .isEqualTo("TASK_NOT_FOUND");
        assertThat(world.refused(new Command.CancelAgent(world.id(), 9, null, World.WHO)).code())
                .isEqualTo("AGENT_NOT_FOUND");
    }
}
