package io.keelson.core.decide;

import static io.keelson.core.decide.Plans.plan;
import static io.keelson.core.decide.Plans.task;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.lifecycle.AgentState;
import io.keelson.core.lifecycle.EventType;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.money.Tokens;
import io.keelson.core.plan.Concurrency;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.plan.StepKind;
import io.keelson.core.plan.TriggerRule;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Command.Evaluation;
import io.keelson.core.run.NewArtifact;
import io.keelson.core.run.Reply;
import io.keelson.core.run.Result;
import io.keelson.core.run.StepError;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** How a run goes: the order of its tasks, how many at a time, failures, leases and turns, another attempt. */
class DeciderTest extends OneRun {

    @Test
    void aPlanOfNoTasksCompletesAtOnce() {
        world = World.start(plan());
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
        assertThat(world.eventTypes()).containsExactly("run_created", "run_queued", "run_planning_started",
                "run_plan_ready", "run_approved", "run_started", "run_completed");
    }

    @Test
    void aRunIsRunningFromItsFirstClaimedStep() {
        world = World.start(plan(task("a"), task("b").on("a")));
        assertThat(world.state()).isEqualTo(RunState.PENDING);
        assertThat(world.view.run().startedAt()).isNull();
        assertThat(world.view.agents()).extracting(AgentRow::state).containsExactly(AgentState.PENDING);
        world.now = world.now.plusSeconds(60);
        world.complete(world.claim("a"));
        assertThat(world.state()).isEqualTo(RunState.RUNNING);
        assertThat(world.view.run().startedAt()).isEqualTo(world.now);
        assertThat(world.eventTypes()).containsSubsequence("run_plan_ready", "run_started", "agent_started",
                "task_assigned", "task_started", "step_started", "step_completed");
        world.work();
        assertThat(world.events("run_started")).hasSize(1);
    }

    @Test
    void aRunIsRunningFromTheFirstWaitThatItOpens() {
        world = World.start(plan(task("a").step("nap", StepKind.WAIT)));
        assertThat(world.state()).isEqualTo(RunState.RUNNING);
        assertThat(world.task("a").state()).isEqualTo(TaskState.RUNNING);
    }

    @Test
    void aQueuedRunMayBePaused() {
        world = World.start(plan(task("a")));
        world.done(new Command.Pause(world.id(), null, World.WHO));
        assertThat(world.queue).isEmpty();
        world.done(new Command.Resume(world.id(), World.WHO));
        world.work();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void aRunThatTakesItsTurnIsReadyUntilItsFirstStepIsClaimed() {
        world = World.start(RunPolicy.DEFAULT.with(new Concurrency("k", 1, null)), plan(task("a")));
        assertThat(world.refused(new Command.Pause(world.id(), null, World.WHO)).code())
                .isEqualTo("INVALID_STATE_TRANSITION");
        world.done(new Command.Admit(world.id(), Actor.SYSTEM));
        assertThat(world.state()).isEqualTo(RunState.READY);
        assertThat(world.view.run().startedAt()).isNull();
        world.claim("a");
        assertThat(world.state()).isEqualTo(RunState.RUNNING);
    }

    @Test
    void nothingIsSpawnedBeforeTheStart() {
        world = World.accept(RunPolicy.DEFAULT, plan(task("a")));
        assertThat(world.state()).isEqualTo(RunState.CREATED);
        assertThat(world.view.tasks()).isEmpty();
        assertThat(world.queue).isEmpty();
    }

    @Test
    void stepsOfATaskRunInOrder() {
        world = World.start(plan(task("a").steps(3)));
        for (String name : List.of("s1", "s2", "s3")) {
            List<StepRow> claimed = world.claimAll();
            assertThat(claimed).extracting(StepRow::name).containsExactly(name);
            claimed.forEach(world::complete);
        }
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void parallelStepsRunThreeAtATime() {
        world = World.start(plan(task("a").parallel().steps(5)));
        List<StepRow> first = world.claimAll();
        assertThat(first).hasSize(3);
        world.complete(first.get(1));
        assertThat(world.claimAll()).extracting(StepRow::name).containsExactly("s4");
        world.work();
        world.complete(first.get(0));
        world.complete(first.get(2));
        world.complete(world.step("a", "s4"));
        world.work();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void aResultWithTwoArtifactsOfOneNameIsAFailureAndKeepsNeither() {
        world = World.start(plan(task("a")));
        StepRow step = world.claimAll().getFirst();
        NewArtifact artifact = new NewArtifact("x.txt", "text/plain", 1, "0".repeat(64), "key");
        Result result = new Result("1", Tokens.NONE, BigDecimal.ZERO, List.of(artifact, artifact));
        Reply.Rejected refused = world.refused(new Command.Complete(world.id(), step.id(), step.leaseEpoch(), result,
                Actor.agent("w1")));
        assertThat(refused.code()).isEqualTo("ARTIFACT_NAME_TAKEN");
        assertThat(step.state).isEqualTo(StepState.FAILED);
        assertThat(world.view.artifacts).isEmpty();
    }

    @Test
    void anArtifactReplacesThatOfAnEarlierExecution() {
        world = World.start(plan(task("a")));
        Result result = new Result("1", Tokens.NONE, BigDecimal.ZERO,
                List.of(new NewArtifact("x.txt", "text/plain", 1, "0".repeat(64), "key")));
        StepRow first = world.claimAll().getFirst();
        fail(first, result);
        StepRow second = world.claimAll().getFirst();
        assertThat(second.id()).isEqualTo(first.id());
        fail(second, result);
        for (int lost = 0; lost < 10; lost++) {
            world.expire(world.claimAll().getFirst());
        }
        assertThat(world.task("a").state()).isEqualTo(TaskState.AWAITING_RETRY);
        world.nextTimer();
        StepRow third = world.claimAll().getFirst();
        assertThat(third.id()).as("the task's next attempt has steps of its own").isNotEqualTo(first.id());
        world.done(new Command.Complete(world.id(), third.id(), third.leaseEpoch(), result, World.WHO));
        assertThat(world.view.artifacts).containsExactly(Map.entry("x.txt", third.id()));
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    private void fail(StepRow step, Result spent) {
        world.done(new Command.Fail(world.id(), step.id(), step.leaseEpoch(),
                new StepError("X", ErrorClass.INFRASTRUCTURE, "x"), spent, World.WHO));
        world.nextTimer();
    }

    @Test
    void noArtifactReplacesThatOfAnotherTask() {
        world = World.start(plan(task("a"), task("b")));
        Result result = new Result("1", Tokens.NONE, BigDecimal.ZERO,
                List.of(new NewArtifact("x.txt", "text/plain", 1, "0".repeat(64), "key")));
        List<StepRow> steps = world.claimAll();
        world.done(new Command.Complete(world.id(), steps.get(0).id(), 1, result, World.WHO));
        assertThat(world.refused(new Command.Complete(world.id(), steps.get(1).id(), 1, result, World.WHO)).code())
                .isEqualTo("ARTIFACT_NAME_TAKEN");
        assertThat(world.view.artifacts).containsExactly(Map.entry("x.txt", steps.get(0).id()));
    }

    @Test
    void aDiamondJoinsOnce() {
        world = World.start(plan(task("a"), task("b").on("a"), task("c").on("a"), task("d").on("b", "c")));
        world.claimAll().forEach(world::complete);
        List<StepRow> middle = world.claimAll();
        assertThat(middle).hasSize(2);
        world.complete(middle.get(0));
        assertThat(world.task("d").state()).isEqualTo(TaskState.PENDING);
        world.complete(middle.get(1));
        assertThat(world.task("d").state()).isEqualTo(TaskState.QUEUED);
        world.work();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void tasksOfTheDefaultAgentRunAHundredAtATime() {
        world = World.start(plan(IntStream.range(0, 250).mapToObj(i -> task("t" + i)).toList()));
        assertThat(world.claimAll()).hasSize(100);
        world.view.tasks().stream().flatMap(t -> t.steps().stream()).filter(StepRow::isHeld).toList()
                .forEach(world::complete);
        world.work();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void tasksOfARosterAgentRunFiveAtATimeAndAgentsTenAtATime() {
        List<Plans.T> tasks = new ArrayList<>();
        for (int agent = 0; agent < 12; agent++) {
            for (int i = 0; i < 7; i++) {
                tasks.add(task("t" + agent + "-" + i).agent("agent" + agent));
            }
        }
        world = World.start(plan(tasks));
        assertThat(world.claimAll()).hasSize(50);
        assertThat(world.view.agents().stream().filter(a -> a.state() == AgentState.RUNNING)).hasSize(10);
        world.view.tasks().stream().flatMap(t -> t.steps().stream()).filter(StepRow::isHeld).toList()
                .forEach(world::complete);
        world.work();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
        assertThat(world.view.agents()).allMatch(a -> a.state() == AgentState.COMPLETED);
    }

    @Test
    void waitingAgentsTakeNoSlot() {
        List<Plans.T> tasks = new ArrayList<>();
        for (int agent = 11; agent >= 0; agent--) {
            Plans.T first = task("a" + agent).agent("agent" + agent);
            tasks.add(agent == 0 ? first : first.on("a" + (agent - 1)));
        }
        world = World.start(plan(tasks));
        world.work();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void aFailedStepIsTriedAgainAfterABackoffThatDoubles() {
        world = World.start(plan(task("a")));
        List<Duration> delays = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            world.fail(world.claimAll().getFirst(), ErrorClass.INFRASTRUCTURE);
            assertThat(world.step("a", "s1").state()).isEqualTo(StepState.AWAITING_RETRY);
            delays.add(Duration.between(world.now, world.step("a", "s1").nextRunAt()));
            world.nextTimer();
        }
        assertThat(delays.get(0)).isBetween(Duration.ofMillis(90), Duration.ofMillis(110));
        assertThat(delays.get(1)).isBetween(Duration.ofMillis(180), Duration.ofMillis(220));
        StepRow last = world.claimAll().getFirst();
        assertThat(last.attempt()).isEqualTo(3);
        world.fail(last, ErrorClass.INFRASTRUCTURE);
        assertThat(world.state()).isEqualTo(RunState.FAILED);
        assertThat(world.events).anyMatch(e -> e.type() == EventType.STEP_FAILED
                && "attempt_budget_exhausted".equals(e.members().get("reason")));
    }

    @Test
    void aPermanentErrorFailsFastAndCancelsTheSiblings() {
        world = World.start(plan(task("a"), task("b").steps(2), task("c").on("a", "b")));
        List<StepRow> claimed = world.claimAll();
        world.fail(claimed.getFirst(), ErrorClass.PERMANENT);
        assertThat(world.state()).isEqualTo(RunState.FAILED);
        assertThat(world.taskStates()).containsEntry("a", TaskState.FAILED).containsEntry("b", TaskState.CANCELLED)
                .containsEntry("c", TaskState.SKIPPED);
        assertThat(world.view.run().errorCode()).isEqualTo("BROKEN");
        assertThat(world.refused(new Command.Complete(world.id(), claimed.get(1).id(), 1, Result.of("1"), World.WHO))
                .code()).isEqualTo("STALE_LEASE");
    }

    @Test
    void tasksThatExistForAFailureRunBeforeTheRunFails() {
        world = World.start(plan(task("a"), task("b"), task("after").on("a", "b").rule(TriggerRule.ALL_DONE),
                task("never").on("a"), task("other").rule(TriggerRule.ALWAYS)));
        world.fail(world.claimAll().getFirst(), ErrorClass.PERMANENT);
        assertThat(world.state()).isEqualTo(RunState.RUNNING);
        assertThat(world.taskStates()).containsEntry("b", TaskState.CANCELLED).containsEntry("never",
                TaskState.SKIPPED);
        world.complete(world.step("other", "s1"));
        world.work();
        assertThat(world.taskStates()).containsEntry("after", TaskState.COMPLETED).containsEntry("other",
                TaskState.COMPLETED);
        assertThat(world.state()).isEqualTo(RunState.FAILED);
    }

    @Test
    void aWaitHoldsNoWorker() {
        world = World.start(plan(task("a").step("nap", StepKind.WAIT).steps(1)));
        world.answer(world.evaluations.getFirst(), new Evaluation.Opened("{}", Duration.ofHours(5), null));
        assertThat(world.queue).isEmpty();
        assertThat(world.step("a", "nap").state()).isEqualTo(StepState.WAITING);
        world.nextTimer();
        world.work();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
        assertThat(Duration.between(world.view.run().startedAt(), world.view.run().completedAt()))
                .isEqualTo(Duration.ofHours(5));
    }

    @Test
    void anExpiredLeaseIsClaimedAgainUnderANewEpochAndTheSameAttempt() {
        world = World.start(plan(task("a")));
        StepRow step = world.claimAll().getFirst();
        world.done(new Command.LeaseExpired(world.id(), step.id(), step.leaseEpoch(), World.LEASE, Actor.RECONCILER));
        assertThat(world.refused(new Command.Complete(world.id(), step.id(), 1, Result.of("1"), World.WHO)).code())
                .as("late, although it is not claimed yet").isEqualTo("STALE_LEASE");
        StepRow again = world.claimAll().getFirst();
        assertThat(again.leaseEpoch()).isEqualTo(2);
        assertThat(again.attempt()).isEqualTo(1);
        assertThat(world.refused(new Command.Complete(world.id(), step.id(), 1, Result.of("1"), World.WHO)).code())
                .isEqualTo("STALE_LEASE");
        world.complete(again);
        assertThat(world.send(new Command.Complete(world.id(), step.id(), 2, Result.of("2"), World.WHO)))
                .isInstanceOf(Reply.Duplicate.class);
        assertThat(world.outputs.get(step.id())).isEqualTo("1");
    }

    @Test
    void poisonEndsAfterTenDeliveries() {
        world = World.start(plan(task("a")));
        for (int i = 0; i < 10; i++) {
            StepRow step = world.claimAll().getFirst();
            world.done(new Command.LeaseExpired(world.id(), step.id(), step.leaseEpoch(), World.LEASE,
                    Actor.RECONCILER));
        }
        assertThat(world.step("a", "s1").state()).isEqualTo(StepState.FAILED);
        assertThat(world.task("a").state()).as("lost workers are the task's own policy's").isEqualTo(
                TaskState.AWAITING_RETRY);
        assertThat(world.task("a").errorCode()).isEqualTo("WORKER_HEARTBEAT_TIMEOUT");
    }

    @Test
    void aLeaseHandedBackCostsNothing() {
        world = World.start(plan(task("a")));
        for (int i = 0; i < 20; i++) {
            StepRow step = world.claimAll().getFirst();
            world.done(new Command.Release(world.id(), step.id(), step.leaseEpoch(), World.WHO));
        }
        StepRow step = world.claimAll().getFirst();
        assertThat(step.attempt()).isEqualTo(1);
        assertThat(step.leaseEpoch()).isEqualTo(21);
        world.complete(step);
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void anotherTurnIsNoRetry() {
        world = World.start(plan(task("a")));
        StepRow step = world.claimAll().getFirst();
        world.done(new Command.Continue(world.id(), step.id(), 1, Result.of("1"), World.WHO));
        assertThat(world.task("a").state()).isEqualTo(TaskState.CONTINUING);
        assertThat(world.queue).isEmpty();
        world.nextTimer();
        StepRow next = world.claimAll().getFirst();
        assertThat(next.name()).isEqualTo("s1#2");
        assertThat(next.attempt()).isEqualTo(1);
        assertThat(world.task("a").attempt()).isEqualTo(1);
        world.complete(next);
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void turnsHaveALimit() {
        world = World.start(plan(task("a")));
        for (int i = 0; i < 11; i++) {
            StepRow step = world.claimAll().getFirst();
            world.done(new Command.Continue(world.id(), step.id(), 1, Result.of("1"), World.WHO));
            if (i < 10) {
                world.nextTimer();
            }
        }
        assertThat(world.state()).isEqualTo(RunState.FAILED);
        assertThat(world.view.run().errorCode()).isEqualTo("CONTINUATION_LIMIT");
    }

    @Test
    void aRetryCarriesWhatCompleted() {
        world = World.start(plan(task("a"), task("b").on("a"), task("clean").on("b").rule(TriggerRule.ALL_DONE)));
        world.claimAll().forEach(world::complete);
        world.fail(world.claimAll().getFirst(), ErrorClass.PERMANENT);
        world.work();
        assertThat(world.state()).isEqualTo(RunState.FAILED);
        TaskRow first = world.task("a");
        world.done(new Command.Retry(world.id(), false, World.WHO));
        assertThat(world.view.run().attempt()).isEqualTo(2);
        assertThat(world.task("a").state()).isEqualTo(TaskState.COMPLETED);
        assertThat(world.task("a").reusedFrom()).isEqualTo(first.id());
        assertThat(world.task("clean").state()).isEqualTo(TaskState.PENDING);
        world.work();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void retryFromTheStartRepeatsAllUntilAttemptsAreExhausted() {
        world = World.start(plan(task("a"), task("b").on("a")));
        for (int attempt = 1; attempt <= 3; attempt++) {
            world.claimAll().forEach(world::complete);
            world.fail(world.claimAll().getFirst(), ErrorClass.PERMANENT);
            if (attempt < 3) {
                world.done(new Command.Retry(world.id(), true, World.WHO));
                assertThat(world.task("a").state()).isEqualTo(TaskState.QUEUED);
                assertThat(world.view.run().effectGeneration()).isEqualTo(attempt + 1);
            }
        }
        assertThat(world.refused(new Command.Retry(world.id(), true, World.WHO)).code())
                .isEqualTo("ATTEMPTS_EXHAUSTED");
        assertThat(world.refused(new Command.Pause(world.id(), null, World.WHO)).allowed()).containsExactly("undo");
    }
}
