package io.keelson.core.decide;

import static io.keelson.core.decide.Plans.plan;
import static io.keelson.core.decide.Plans.task;
import static io.keelson.core.decide.Rules.rules;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.StepKind;
import io.keelson.core.policy.EscalationPolicy;
import io.keelson.core.policy.RetryPolicy;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Command.Evaluation;
import io.keelson.core.run.Reply;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What got stuck without anybody's word is found from the state alone; no command leads to such a state. */
class StallsTest {

    @Test
    void taskRunningWithoutAnythingUnderWayForFiveMinutesIsTriedAgain() {
        World world = World.start(rules().policy(), plan(task("a").steps(2), task("b")));
        world.complete(world.claim("a"));
        StepRow lost = world.step("a", "s2");
        lost.queued = false;
        world.queue.keySet().removeIf(lane -> lane.taskId().equals(lost.task().id()));
        Duration stall = Duration.ofMinutes(5);
        world.watchUntil(world.now.plus(stall).minusMillis(1));
        assertThat(world.events("stall_detected")).isEmpty();
        world.watchUntil(world.now.plusMillis(1));
        assertThat(world.last("stall_detected").members()).containsEntry("entity_type", "task")
                .containsEntry("entity_id", lost.task().id().toString()).containsEntry("stalled_state", "running")
                .containsEntry("action_taken", "retried");
        assertThat(world.task("a").state()).isEqualTo(TaskState.AWAITING_RETRY);
        assertThat(world.task("a").errorCode()).isEqualTo("TASK_STALLED");
        world.nextBackoff();
        world.work();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    /** PRD-101: "awaiting_retry (if retries remain) or failed"; a run may ask a person first. */
    @ParameterizedTest(name = "{0} attempts, asks when exhausted: {1}: {2}, task {3}")
    @CsvSource({"2, false, retried, awaiting_retry", "1, false, failed, failed", "1, true, escalated, awaiting_retry"})
    void stalledWorkIsRetriedUpToTheLimit(int attempts, boolean asks, String action, String state) {
        RetryPolicy retry = new RetryPolicy(attempts, attempts, Duration.ofSeconds(1), Duration.ofSeconds(1), 2, 0);
        World world = World.start(rules().escalation(new EscalationPolicy(asks, asks, Duration.ofSeconds(300), 5, 0.5))
                .policy(), plan(task("a").steps(2).taskRetry(retry), task("b")));
        world.complete(world.claim("a"));
        StepRow lost = world.step("a", "s2");
        lost.queued = false;
        world.queue.keySet().removeIf(lane -> lane.taskId().equals(lost.task().id()));
        world.watchUntil(world.now.plus(Duration.ofMinutes(6)));
        assertThat(world.last("stall_detected").members()).containsEntry("action_taken", action);
        assertThat(lost.task().state().wire()).isEqualTo(state);
        assertThat(lost.task().errorCode()).isEqualTo("TASK_STALLED");
        assertThat(lost.task().parked()).isEqualTo(asks);
    }

    @Test
    void taskAssignedWithoutStartForTwoMinutesIsQueuedAgain() {
        World world = World.start(rules().policy(), plan(task("a"), task("b")));
        StepRow other = world.claim("b");
        TaskRow task = world.task("a");
        task.state = TaskState.ASSIGNED;
        world.watchUntil(world.now.plus(Duration.ofMinutes(2)).minusMillis(1));
        assertThat(task.state()).isEqualTo(TaskState.ASSIGNED);
        world.watchUntil(world.now.plusMillis(1));
        assertThat(task.state()).isEqualTo(TaskState.QUEUED);
        assertThat(world.last("stall_detected").members()).containsEntry("stalled_state", "assigned")
                .hasEntrySatisfying("stalled_since", at -> assertThat(at.toString()).matches("[^.]*[.]\\d{3}Z"));
        world.complete(other);
        world.work();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void aTaskWhoseStepWaitsIsExempt() {
        World world = World.start(rules().policy(), plan(task("a").step("nap", StepKind.WAIT),
                task("b").step("ok", StepKind.APPROVAL)));
        world.answer(world.evaluations.getFirst(), new Evaluation.Opened("{}", Duration.ofHours(9), null));
        world.answer(world.evaluations.getFirst(), new Evaluation.Opened("{}", null, null));
        world.watchUntil(world.now.plus(Duration.ofHours(5)));
        assertThat(world.events("stall_detected")).isEmpty();
        assertThat(world.step("a", "nap").state()).isEqualTo(StepState.WAITING);
        assertThat(world.step("b", "ok").state()).isEqualTo(StepState.WAITING_APPROVAL);
    }

    @Test
    void aTaskThatWaitsForAWorkerIsNoStall() {
        World world = World.start(rules().policy(), plan(task("a").steps(2)));
        world.complete(world.claim("a"));
        world.watchUntil(world.now.plus(Duration.ofMinutes(50)));
        assertThat(world.events("stall_detected")).isEmpty();
    }

    @Test
    void aTaskWhoseOnlyWorkerIsLostWaitsAgainForOne() {
        World world = World.start(rules().policy(), plan(task("a").steps(2)));
        world.complete(world.claim("a"));
        StepRow step = world.claim("a");
        expire(world, step, true);
        assertThat(world.task("a").state()).isEqualTo(TaskState.QUEUED);
        assertThat(world.last("stall_detected").members()).containsEntry("stalled_state", "running")
                .containsEntry("action_taken", "requeued");
        assertThat(world.last("task_requeued").members()).isNotNull();
        world.watchUntil(world.now.plus(Duration.ofHours(5)));
        StepRow again = world.claim("a");
        assertThat(again.id()).isEqualTo(step.id());
        assertThat(again.attempt()).isEqualTo(1);
        assertThat(world.task("a").state()).isEqualTo(TaskState.RUNNING);
        world.complete(again);
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    private static void expire(World world, StepRow step, boolean unserved) {
        world.done(new Command.LeaseExpired(world.id(), step.id(), step.leaseEpoch(), World.LEASE, unserved, List.of(),
                Actor.RECONCILER));
    }

    @Test
    void aTaskWithALostLeaseKeepsItsStateWhileAnotherStepIsAtWork() {
        World world = World.start(rules().policy(), plan(task("a").parallel().steps(2)));
        StepRow first = world.claim("a");
        StepRow second = world.claim("a");
        expire(world, first, true);
        assertThat(world.task("a").state()).isEqualTo(TaskState.RUNNING);
        expire(world, second, true);
        assertThat(world.task("a").state()).isEqualTo(TaskState.QUEUED);
        world.complete(world.claim("a"));
        world.complete(world.claim("a"));
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    /** Several workers may be lost at once: each lease is found lost while the others count as alive. */
    @Test
    void aStepThatNoWorkerClaimsAgainIsAStall() {
        World world = World.start(rules().policy(), plan(task("a").steps(2)));
        StepRow step = world.claim("a");
        world.now = world.now.plus(Duration.ofMinutes(9));
        expire(world, step, false);
        assertThat(world.task("a").state()).isEqualTo(TaskState.RUNNING);
        Duration stall = Duration.ofMinutes(5);
        world.watchUntil(world.now.plus(stall).minusMillis(1));
        assertThat(world.events("stall_detected")).isEmpty();
        world.watchUntil(world.now.plusMillis(1));
        assertThat(world.last("stall_detected").members()).containsEntry("action_taken", "retried");
        assertThat(world.task("a").state()).isEqualTo(TaskState.AWAITING_RETRY);
        assertThat(world.task("a").errorCode()).isEqualTo("TASK_STALLED");
        world.nextBackoff();
        world.work();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void aStepThatItsWorkerHasHandedBackIsNoStall() {
        World world = World.start(rules().policy(), plan(task("a").steps(2)));
        StepRow step = world.claim("a");
        world.done(new Command.Release(world.id(), step.id(), step.leaseEpoch(), World.WHO));
        world.watchUntil(world.now.plus(Duration.ofMinutes(50)));
        assertThat(world.events("stall_detected")).isEmpty();
    }

    @Test
    void runWithEndedTasksOnlyIsJudgedAgain() {
        World world = World.start(rules().policy(), plan(task("a")));
        world.done(new Command.Pause(world.id(), null, World.WHO));
        world.done(new Command.CancelTask(world.id(), world.task("a").id(), null, World.WHO));
        world.view.run.state = RunState.RUNNING;
        world.done(new Command.Settle(world.id(), Actor.RECONCILER));
        assertThat(world.state().terminal()).isTrue();
        assertThat(world.send(new Command.Settle(world.id(), Actor.RECONCILER))).isEqualTo(Reply.UNCHANGED);
    }
}
