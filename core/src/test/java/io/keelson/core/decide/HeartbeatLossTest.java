package io.keelson.core.decide;

import static io.keelson.core.decide.Plans.plan;
import static io.keelson.core.decide.Plans.task;
import static io.keelson.core.decide.Rules.rules;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.plan.StepKind;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Command.Evaluation;
import io.keelson.core.run.TimerKind;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** Workers that fall silent, one by one and all at once, and nights without any engine. */
class HeartbeatLossTest {
    private static final RunPolicy FAIL = rules().failOnLostHeartbeat().policy();
    private static final RunPolicy RECLAIM = rules().policy();

    /** The lease expires so long after the last heartbeat of the worker. */
    private static void silence(World world, StepRow step) {
        world.now = world.now.plus(World.LEASE);
        world.expire(step);
    }

    @Test
    void reclaimGivesTheWorkToAnyWorker() {
        World world = World.start(RECLAIM, plan(task("a")));
        silence(world, world.claim("a"));
        assertThat(world.timers.keySet()).noneMatch(key -> key.kind() == TimerKind.HEARTBEAT);
        world.watchUntil(world.now.plus(Duration.ofMinutes(4)));
        world.work();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void sixtySecondsWithoutAHeartbeatFailARunSoConfigured() {
        World world = World.start(FAIL, plan(task("a")));
        StepRow step = world.claim("a");
        Instant heard = world.now;
        silence(world, step);
        assertThat(world.due(TimerKind.HEARTBEAT, world.id())).isEqualTo(heard.plusSeconds(60));
        world.deliver(TimerKind.HEARTBEAT, world.id());
        assertThat(world.state()).isEqualTo(RunState.FAILED);
        assertThat(world.view.run().errorCode()).isEqualTo("WORKER_HEARTBEAT_TIMEOUT");
        assertThat(world.last("run_failed").members()).containsEntry("reason", "heartbeat_lost");
    }

    @Test
    void aWorkerThatTakesTheWorkUpIsASignOfLife() {
        World world = World.start(FAIL, plan(task("a")));
        silence(world, world.claim("a"));
        StepRow again = world.claim("a");
        world.deliver(TimerKind.HEARTBEAT, world.id());
        assertThat(world.state()).isEqualTo(RunState.RUNNING);
        world.complete(again);
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void oneWorkerThatLivesIsEnough() {
        World world = World.start(FAIL, plan(task("a"), task("b")));
        world.claim("b");
        silence(world, world.claim("a"));
        assertThat(world.timers.keySet()).noneMatch(key -> key.kind() == TimerKind.HEARTBEAT);
    }

    @Test
    void aRunWithoutLeasedWorkNeedsNoHeartbeat() {
        World world = World.start(FAIL, plan(task("a").step("nap", StepKind.WAIT), task("b")));
        world.answer(world.evaluations.getFirst(), new Evaluation.Opened("{}", Duration.ofHours(9), null));
        world.complete(world.claim("b"));
        world.watchUntil(world.now.plus(Duration.ofHours(8)));
        assertThat(world.state()).isEqualTo(RunState.RUNNING);
    }

    @Test
    void aServerStoppedForANightFailsNoRun() {
        for (RunPolicy policy : new RunPolicy[] {FAIL, RECLAIM}) {
            World world = World.start(policy, plan(task("a"), task("b").on("a")));
            StepRow step = world.claim("a");
            world.now = world.now.plusSeconds(10);
            world.outage(Duration.ofHours(9));
            world.expire(step);
            world.watchUntil(world.now.plusSeconds(1));
            if (policy == FAIL) {
                world.deliver(TimerKind.HEARTBEAT, world.id());
            }
            assertThat(world.state()).as("the workers have their time from the morning on").isEqualTo(RunState.RUNNING);
            world.work();
            assertThat(world.state()).isEqualTo(RunState.COMPLETED);
        }
    }

    @Test
    void outageDuringMissingHeartbeatsIsNotCounted() {
        World world = World.start(FAIL, plan(task("a")));
        silence(world, world.claim("a"));
        world.outage(Duration.ofHours(9));
        world.deliver(TimerKind.HEARTBEAT, world.id());
        assertThat(world.state()).isEqualTo(RunState.RUNNING);
        assertThat(Duration.between(world.now, world.due(TimerKind.HEARTBEAT, world.id())))
                .isEqualTo(Duration.ofSeconds(30));
        world.deliver(TimerKind.HEARTBEAT, world.id());
        assertThat(world.state()).isEqualTo(RunState.FAILED);
    }

    @Test
    void aPausedRunFailsOfNoSilence() {
        World world = World.start(FAIL, plan(task("a")));
        silence(world, world.claim("a"));
        world.done(new Command.Pause(world.id(), null, World.WHO));
        world.deliver(TimerKind.HEARTBEAT, world.id());
        assertThat(world.state()).isEqualTo(RunState.PAUSED);
        world.done(new Command.Resume(world.id(), World.WHO));
        silence(world, world.claim("a"));
        assertThat(world.timers.keySet()).as("the heartbeat timer is armed again")
                .anyMatch(key -> key.kind() == TimerKind.HEARTBEAT);
    }

    @Test
    void aLeaseLongerThanThePatienceEndsItAtOnce() {
        World world = World.start(FAIL, plan(task("a")));
        StepRow step = world.claim("a");
        world.now = world.now.plus(Duration.ofMinutes(5));
        world.done(new Command.LeaseExpired(world.id(), step.id(), 1, Duration.ofMinutes(5), Actor.RECONCILER));
        assertThat(world.due(TimerKind.HEARTBEAT, world.id())).isEqualTo(world.now);
    }
}
