package io.keelson.core.decide;

import static io.keelson.core.decide.Plans.plan;
import static io.keelson.core.decide.Plans.task;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.keelson.core.decide.ChangeSet.Attempt;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.money.Funds;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.plan.TriggerRule;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.policy.FailureMode;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Command.Evaluation;
import io.keelson.core.run.Reply;
import io.keelson.core.run.Result;
import io.keelson.core.run.StepError;
import io.keelson.core.run.TimerKind;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Who gets a place, a slot and a lease, at the edges. */
class SlotSchedulingTest {
    private static final RunPolicy ONE_AGENT = new RunPolicy(false, 3, 1, 1, 1, 3, false, 10, 10, 100);

    /** Its tasks were cancelled while they waited; it must not take the only place from an agent that has work. */
    @Test
    void agentWithoutWorkTakesNoSlot() {
        World world = World.start(ONE_AGENT, plan(task("first").agent("a"), task("second").agent("b"),
                task("cleanup").agent("c").rule(TriggerRule.ALWAYS)));
        world.fail(world.claimAll().getFirst(), ErrorClass.PERMANENT);

        assertThat(world.claimAll()).extracting(step -> step.task().key()).containsExactly("cleanup");
        world.complete(world.step("cleanup", "s1"));
        assertThat(world.state()).isEqualTo(RunState.FAILED);
    }

    /** Its last task at work ends in a pause, and what it would have continued with is cancelled before the resume. */
    @Test
    void agentCancelledInAPauseReleasesItsSlot() {
        World world = World.start(ONE_AGENT, plan(task("first").agent("a"), task("next").agent("a"),
                task("other").agent("b")));
        StepRow first = world.claimAll().getFirst();
        world.done(new Command.Pause(world.id(), null, World.WHO));
        world.complete(first);
        world.done(new Command.CancelTask(world.id(), world.task("next").id(), null, World.WHO));
        world.done(new Command.Resume(world.id(), World.WHO));

        assertThat(world.claimAll()).extracting(step -> step.task().key()).containsExactly("other");
    }

    /** A task that was cancelled in its line is no work that an agent in its backoff could keep a place for. */
    @Test
    void restartedAgentFreesItsSlotAfterAWaitingOneWasCancelled() {
        World world = World.start(ONE_AGENT.with(Rules.rules().agent(FailureMode.RETRY).policy().failures()), plan(
                task("first").agent("a"), task("next").agent("a"), task("other").agent("b")));
        world.done(new Command.CancelTask(world.id(), world.task("next").id(), null, World.WHO));
        world.exhaustStep("first");

        assertThat(world.claimAll()).extracting(step -> step.task().key()).containsExactly("other");
    }

    @Test
    void tasksOfOneMomentKeepTheirOrderOverAPause() {
        World world = World.start(plan(task("t1"), task("t2"), task("t3")));
        world.done(new Command.Pause(world.id(), null, World.WHO));
        assertThat(world.queue).isEmpty();
        world.done(new Command.Resume(world.id(), World.WHO));

        assertThat(world.claimAll()).extracting(step -> step.task().key()).containsExactly("t1", "t2", "t3");
    }

    @Test
    void anExpiryIsNothingToTheNextStepOfItsLane() {
        World world = World.start(plan(task("a").steps(2)));
        StepRow first = world.claimAll().getFirst();
        Command found = new Command.LeaseExpired(world.id(), first.id(), 1, World.LEASE, Actor.RECONCILER);
        world.complete(first);
        StepRow second = world.claimAll().getFirst();
        assertThat(second.leaseEpoch()).isEqualTo(1);

        assertThat(world.send(found)).isEqualTo(Reply.UNCHANGED);
        assertThat(second.isHeld()).isTrue();
    }

    @Test
    void anExpiryIsNothingToTheLeaseThatFollowed() {
        World world = World.start(plan(task("a")));
        StepRow step = world.claimAll().getFirst();
        Command found = new Command.LeaseExpired(world.id(), step.id(), 1, World.LEASE, Actor.RECONCILER);
        world.done(found);
        world.claimAll();

        assertThat(world.send(found)).isEqualTo(Reply.UNCHANGED);
        assertThat(step.isHeld()).isTrue();
        assertThat(step.leaseEpoch()).isEqualTo(2);
    }

    @Test
    void aCancelledTasksEvaluationIsNoLongerAwaited() {
        World world = World.start(plan(task("a"), task("b").when("${ true }"),
                task("cleanup").rule(TriggerRule.ALWAYS)));
        assertThat(world.timers).isNotEmpty();
        world.fail(world.claimAll().getFirst(), ErrorClass.PERMANENT);

        assertThat(world.state()).isEqualTo(RunState.RUNNING);
        assertThat(world.timers.keySet()).extracting(ChangeSet.TimerKey::kind).containsExactly(TimerKind.WATCH);
        assertThat(world.send(new Command.Evaluated(world.id(), TimerKind.EVALUATE_GATE, world.task("b").id(),
                new Evaluation.Proceed(null), Actor.SYSTEM))).isEqualTo(Reply.UNCHANGED);
    }

    /** What a node claims for itself it may go on with, and a deadline would be that of the first step only. */
    @Test
    void onlyWhatAnotherHoldsHasADeadline() {
        World world = World.start(plan(task("a"), task("b")));
        world.holder = "node";
        List<ChangeSet.QueueItem> waiting = List.copyOf(world.queue.values());
        world.claim(waiting.get(0), "node");
        world.claim(waiting.get(1), "worker");

        assertThat(world.queue.get(waiting.get(0).key()).timeout()).isNull();
        assertThat(world.queue.get(waiting.get(1).key()).timeout()).isEqualTo(Duration.ofSeconds(30));
    }

    /** A failure and the retry after it may come in one batch: the first attempt's end and rows stay with it. */
    @Test
    void twoAttemptsFitIntoOneBatch() {
        World world = World.start(plan(task("a")));
        StepRow step = world.claimAll().getFirst();
        ChangeSet batch = new ChangeSet();
        decide(world, batch, new Command.Fail(world.id(), step.id(), 1,
                new StepError("NO", ErrorClass.PERMANENT, "no"), Result.of("null"), Actor.agent("w1")));
        decide(world, batch, new Command.Retry(world.id(), false, World.WHO));

        assertThat(batch.attempts()).extracting(Attempt::number, Attempt::state).containsExactly(
                tuple(1, "failed"), tuple(2, "pending"));
        Set<TaskRow> fresh = batch.newTasks();
        assertThat(fresh).allSatisfy(task -> assertThat(batch.ownerOf(task).attempt()).isEqualTo(2));
    }

    private static void decide(World world, ChangeSet batch, Command command) {
        Reply reply = Decider.decide(world.view, command, batch, world.now, UUID::randomUUID, LocalCapacity.none(),
                Funds.UNLIMITED);
        assertThat(reply).isEqualTo(Reply.CHANGED);
    }
}
