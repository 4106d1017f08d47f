package io.keelson.core.decide;

import static io.keelson.core.decide.Plans.plan;
import static io.keelson.core.decide.Plans.task;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.lifecycle.StepState;
import io.keelson.core.plan.Plan;
import io.keelson.core.plan.StepKind;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.policy.RetryPolicy;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.NextStepRequest;
import io.keelson.core.run.Reply;
import io.keelson.core.run.Result;
import io.keelson.core.run.RunTrace;
import io.keelson.core.run.StepAssignment;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A worker hands in a result and continues with the next step of the task. */
class NextStepRequestTest {
    private static final Duration LEASE = Duration.ofSeconds(7);
    private static final Plan TWO_STEPS = plan(task("a").steps(2));

    private final NextStepRequest wanted = new NextStepRequest("w1", Set.of("noop"), LEASE);

    private static Reply complete(World world, StepRow step, NextStepRequest request) {
        return world.send(new Command.Complete(world.id(), step.id(), 1, Result.of("1"), request, Actor.agent("w1")));
    }

    @Test
    void theNextStepIsTheWorkersFromTheSameCommitOn() {
        World world = World.start(TWO_STEPS);
        StepRow first = world.claimAll().getFirst();
        int version = world.view.run().version();

        Reply reply = complete(world, first, wanted);

        StepRow second = world.step("a", "s2");
        assertThat(reply)
                .isEqualTo(new Reply.Claimed(new StepAssignment(world.id(), second.task().id(), second.id(), "noop",
                        "{}", 1, 1, world.now.plus(LEASE), world.now.plusSeconds(30), world.id() + "/1/a/s2", null,
                        new RunTrace(world.id(), 1, null), null)));
        assertThat(world.view.run().version()).isEqualTo(version + 1);
        assertThat(second.holder()).isEqualTo("w1");
        assertThat(world.queue.values()).singleElement().satisfies(item -> {
            assertThat(item.holder()).isEqualTo("w1");
            assertThat(item.lease()).isEqualTo(LEASE);
            assertThat(item.timeout()).isEqualTo(Duration.ofSeconds(30));
        });
        assertThat(complete(world, second, wanted)).as("nothing follows the last step").isEqualTo(Reply.CHANGED);
    }

    @Test
    void aRepeatedReportNamesWhatItsWorkerHoldsAndClaimsNothing() {
        World world = World.start(plan(task("a").steps(3)));
        StepRow first = world.claimAll().getFirst();
        complete(world, first, wanted);
        StepRow second = world.step("a", "s2");
        int events = world.events.size();

        assertThat(complete(world, first, wanted)).isEqualTo(new Reply.Duplicate(second.id()));
        assertThat(complete(world, first, null)).isEqualTo(new Reply.Duplicate(null));
        assertThat(complete(world, first, new NextStepRequest("w2", Set.of("noop"), LEASE)))
                .isEqualTo(new Reply.Duplicate(null));
        assertThat(world.events).hasSize(events);

        complete(world, second, wanted);
        assertThat(complete(world, first, wanted)).as("its next step is done").isEqualTo(new Reply.Duplicate(null));
    }

    @Test
    void repeatedReportGetsNoUnclaimedOrForeignStep() {
        World world = World.start(TWO_STEPS);
        StepRow first = world.claimAll().getFirst();
        complete(world, first, wanted);
        StepRow second = world.step("a", "s2");
        world.done(new Command.LeaseExpired(world.id(), second.id(), 1, LEASE, Actor.RECONCILER));

        assertThat(complete(world, first, wanted)).isEqualTo(new Reply.Duplicate(null));
        world.claim(world.queue.values().iterator().next(), "w2");
        assertThat(complete(world, first, wanted)).isEqualTo(new Reply.Duplicate(null));
        assertThat(second.leaseEpoch()).isEqualTo(2);
    }

    @Test
    void unservedToolGoesThroughTheQueue() {
        World world = World.start(TWO_STEPS);
        StepRow first = world.claimAll().getFirst();

        assertThat(complete(world, first, new NextStepRequest("w1", Set.of("other"), LEASE))).isEqualTo(Reply.CHANGED);
        assertThat(world.step("a", "s2").state()).isEqualTo(StepState.PENDING);
        assertThat(world.queue.values()).singleElement().satisfies(item -> assertThat(item.holder()).isNull());
    }

    @Test
    void onlyTheLeasesHolderContinues() {
        World world = World.start(TWO_STEPS);
        StepRow first = world.claimAll().getFirst();

        assertThat(complete(world, first, new NextStepRequest("w2", Set.of("noop"), LEASE))).isEqualTo(Reply.CHANGED);
        assertThat(world.step("a", "s2").isHeld()).isFalse();
    }

    @Test
    void noNextStepWhileTheRunIsPausedOrAwaitsAHuman() {
        World paused = World.start(TWO_STEPS);
        StepRow first = paused.claimAll().getFirst();
        paused.done(new Command.Pause(paused.id(), null, World.WHO));
        assertThat(complete(paused, first, wanted)).isEqualTo(Reply.CHANGED);
        assertThat(paused.step("a", "s2").isHeld()).isFalse();

        World asking = World.start(plan(task("a").steps(1).step("ask", StepKind.APPROVAL)));
        assertThat(complete(asking, asking.claimAll().getFirst(), wanted)).isEqualTo(Reply.CHANGED);
    }

    @Test
    void stepsSideBySideHaveNoNext() {
        World world = World.start(plan(task("a").parallel().steps(9)));
        StepRow first = world.claimAll().getFirst();

        assertThat(complete(world, first, wanted)).isEqualTo(Reply.CHANGED);
        assertThat(complete(world, first, wanted)).isEqualTo(new Reply.Duplicate(null));
    }

    /** The row of the queue after each step of one worker: the third one begins late enough to extend the lease. */
    @Test
    void theRowOfTheQueueStaysForStepsThatFollowSoon() {
        World world = World.start(plan(task("a").steps(5)));
        NextStepRequest again = new NextStepRequest("w1", Set.of("noop"), World.LEASE);
        StepRow first = world.claimAll().getFirst();
        Instant begun = world.now;
        ChangeSet.QueueItem row = world.queue.values().iterator().next();

        world.now = begun.plusMillis(900);
        StepAssignment second = given(complete(world, first, again));
        assertThat(world.queue.values()).singleElement().isSameAs(row);
        assertThat(second.leaseExpiresAt()).as("the recorded end").isEqualTo(begun.plus(World.LEASE));
        assertThat(second.deadline()).as("its own").isEqualTo(world.now.plusSeconds(30));

        world.now = begun.plusMillis(2_100);
        StepAssignment third = given(complete(world, world.step("a", "s2"), again));
        assertThat(world.queue.values()).singleElement().isNotSameAs(row).isEqualTo(row);
        assertThat(third.leaseExpiresAt()).isEqualTo(world.now.plus(World.LEASE));

        row = world.queue.values().iterator().next();
        StepAssignment fourth =
                given(complete(world, world.step("a", "s3"), new NextStepRequest("w1", Set.of("noop"), LEASE)));
        assertThat(world.queue.values()).as("another lease").singleElement().isNotEqualTo(row);
        assertThat(fourth.leaseExpiresAt()).isEqualTo(world.now.plus(LEASE));
    }

    @Test
    void theRowOfTheQueueChangesWithToolAndTimeout() {
        for (StepSpec next : List.of(next("other", 30), next("noop", 29), next("noop", 31))) {
            World world = World.start(plan(task("a").steps(1).step(next)));
            StepRow first = world.claimAll().getFirst();
            ChangeSet.QueueItem row = world.queue.values().iterator().next();

            given(complete(world, first, new NextStepRequest("w1", Set.of("noop", "other"), World.LEASE)));

            assertThat(world.queue.values()).singleElement().isNotEqualTo(row);
        }
    }

    private static StepSpec next(String tool, int timeout) {
        return new StepSpec("s2", StepKind.TOOL, tool, "{}", RetryPolicy.NONE, Duration.ofSeconds(timeout));
    }

    private static StepAssignment given(Reply reply) {
        return ((Reply.Claimed) reply).assignment();
    }
}
