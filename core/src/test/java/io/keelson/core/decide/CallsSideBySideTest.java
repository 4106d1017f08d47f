package io.keelson.core.decide;

import static io.keelson.core.decide.Plans.plan;
import static io.keelson.core.decide.Plans.task;
import static io.keelson.core.decide.Rules.rules;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.money.Tokens;
import io.keelson.core.plan.AgentTerms;
import io.keelson.core.plan.StepKind;
import io.keelson.core.plan.TaskPolicy;
import io.keelson.core.policy.CallApproval;
import io.keelson.core.policy.CallApprovals;
import io.keelson.core.policy.Effects;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.policy.RetryPolicy;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.NextStepRequest;
import io.keelson.core.run.Reply;
import io.keelson.core.run.Result;
import io.keelson.core.run.StepError;
import io.keelson.core.run.TimerKind;
import io.keelson.core.run.TurnAnswer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Calls of a turn that only read run at the same time, three of them at most; all others one after the other. */
class CallsSideBySideTest {
    private World world = world(CallApprovals.NONE);

    @AfterEach
    void everyEventWasLegal() {
        Invariants.legal(world);
    }

    private static World world(CallApprovals rules) {
        AgentTerms terms = new AgentTerms(AgentTerms.ROSTER, 7, "ann", "large", List.of("read", "write", "agent.ask"),
                0, List.of()).ruled(rules);
        return World.start(rules().policy(), plan(task("a").step("turn", StepKind.TURN)
                .policy(TaskPolicy.DEFAULT.with(terms)).taskRetry(RetryPolicy.TASK)));
    }

    private static TurnAnswer.Call call(String tool, int n, Effects effects) {
        return new TurnAnswer.Call(tool, "{\"n\": " + n + "}", "d" + n, RetryPolicy.STEP, Duration.ofSeconds(9), null,
                effects);
    }

    /** A turn asks for that many calls that read. */
    private void reads(int count) {
        List<TurnAnswer.Call> calls = new ArrayList<>();
        for (int i = 1; i <= count; i++) {
            calls.add(call("read", i, Effects.READ));
        }
        answer(calls, null);
    }

    private Reply answer(List<TurnAnswer.Call> calls, NextStepRequest request) {
        StepRow turn = world.claimAll().getFirst();
        return world.send(new Command.Complete(world.id(), turn.id(), turn.leaseEpoch(), new Result("1", Tokens.NONE,
                null, null, List.of(), null, new TurnAnswer.Calls(calls)), request, Actor.agent("w1")));
    }

    private List<String> steps() {
        return world.task("a").steps().stream().map(step -> step.name() + " " + step.state().wire()).toList();
    }

    private StepRow step(int index) {
        return world.task("a").steps().get(index);
    }

    private void fail(StepRow call) {
        world.fail(call, ErrorClass.PERMANENT);
    }

    @Test
    void threeCallsThatReadRunAtATimeAndTheNextTurnFollowsTheLast() {
        reads(5);
        assertThat(world.claimAll()).extracting(StepRow::name).containsExactlyInAnyOrder("read#2", "read#3", "read#4");
        world.complete(step(3));
        assertThat(world.claimAll()).extracting(StepRow::name).containsExactly("read#5");
        world.complete(step(4));
        world.claimAll();
        world.complete(step(5));
        fail(step(1));
        assertThat(world.claimAll()).as("one of them has not ended").isEmpty();
        world.complete(step(2));
        assertThat(steps()).containsExactly("turn completed", "read#2 failed", "read#3 completed", "read#4 completed",
                "read#5 completed", "read#6 completed", "turn#7 pending");
        assertThat(world.claimAll()).extracting(StepRow::name).containsExactly("turn#7");
    }

    @Test
    void oneCallOfAnotherKindMakesAllOfThemSequential() {
        for (Effects effects : new Effects[] {Effects.IDEMPOTENT, Effects.ONCE, Effects.DESTRUCTIVE, null}) {
            world = world(CallApprovals.of("write", CallApproval.NEVER));
            answer(List.of(call("read", 1, Effects.READ), call("read", 2, Effects.READ), call("write", 3, effects)),
                    null);
            for (int i = 1; i <= 3; i++) {
                assertThat(world.claimAll()).as("%s", effects).containsExactly(step(i));
                world.complete(step(i));
            }
        }
    }

    @Test
    void callThatNeedsApprovalWaitsForEarlierCalls() {
        world = world(CallApprovals.of("read", CallApproval.ALWAYS));
        reads(2);
        assertThat(steps()).containsExactly("turn completed", "read#2 waiting_approval", "read#3 pending",
                "turn#4 pending");
        world = world(CallApprovals.NONE);
        answer(List.of(call("read", 1, Effects.READ), call("agent.ask", 2, Effects.READ)), null);
        assertThat(step(2).state()).isEqualTo(StepState.PENDING);
    }

    @Test
    void theNodeThatTookTheTurnBeginsAsManyCallsAsItHasPlacesFor() {
        world.holder = "n1";
        StepRow turn = world.claim(world.queue.values().iterator().next(), "n1");
        world.send(new Command.Complete(world.id(), turn.id(), turn.leaseEpoch(), new Result("1", Tokens.NONE, null,
                null, List.of(), null, new TurnAnswer.Calls(List.of(call("read", 1, Effects.READ),
                        call("read", 2, Effects.READ), call("read", 3, Effects.READ)))),
                Actor.agent("n1")));
        assertThat(world.task("a").steps().stream().filter(StepRow::isHeld)).hasSize(2);
        assertThat(world.queue).hasSize(3);
        world.complete(step(2));
        world.claimAll();
        world.complete(step(1));
        world.complete(step(3));
        assertThat(step(4).isHeld()).as("the next turn").isTrue();
    }

    @Test
    void aWorkerClaimsThemLikeOtherWork() {
        NextStepRequest request = new NextStepRequest("w1", Set.of("read", "turn"), World.LEASE);
        assertThat(answer(List.of(call("read", 1, Effects.READ), call("read", 2, Effects.READ)), request))
                .isEqualTo(Reply.CHANGED);
        world.claimAll();
        world.complete(step(2));
        assertThat(world.send(new Command.Complete(world.id(), step(1).id(), 1, Result.of("1"), request,
                Actor.agent("w1")))).as("the turn has a lane of its own").isEqualTo(Reply.CHANGED);
        assertThat(world.claimAll()).containsExactly(step(3));
    }

    @Test
    void aLeaseIsLostByTheCallOfItsLaneAlone() {
        reads(3);
        world.claimAll();
        assertThat(
                world.send(new Command.LeaseExpired(world.id(), world.task("a").steps().getFirst().id(), 1, World.LEASE,
                        Actor.RECONCILER)))
                .as("the turn's lane").isEqualTo(Reply.UNCHANGED);
        world.expire(step(2));
        assertThat(world.claimAll()).containsExactly(step(2));
        assertThat(step(2).leaseEpoch()).isEqualTo(2);
        assertThat(step(1).leaseEpoch()).isEqualTo(1);
    }

    @Test
    void newAttemptOfTheTaskRepeatsOnlyUnfinishedCalls() {
        reads(4);
        world.claimAll();
        world.complete(step(2));
        world.now = world.now.plus(Duration.ofHours(1));
        world.send(new Command.TimerDue(world.id(), TimerKind.WATCH, world.id(), Actor.SYSTEM));
        world.deliver(TimerKind.TASK_RETRY, world.task("a").id());
        assertThat(steps()).containsExactly("turn completed", "read#2 pending", "read#3 completed", "read#4 pending",
                "read#5 pending", "turn#6 pending");
        assertThat(world.claimAll()).hasSize(3);
    }

    @Test
    void aPauseLetsThemEndAndBeginsNoFurtherOne() {
        reads(5);
        StepRow claimed = world.claim(world.queue.values().iterator().next(), "w1");
        world.done(new Command.Pause(world.id(), null, World.WHO));
        world.complete(claimed);
        assertThat(world.queue).isEmpty();
        world.done(new Command.Resume(world.id(), World.WHO));
        assertThat(world.claimAll()).hasSize(3);
    }

    @Test
    void equalCallsThatEndInAnyOrderAreEqualCallsInARow() {
        List<TurnAnswer.Call> equal = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            equal.add(call("read", 1, Effects.READ));
        }
        answer(equal, null);
        world.claimAll();
        fail(step(3));
        fail(step(1));
        world.claimAll();
        fail(step(5));
        fail(step(4));
        assertThat(world.task("a").errorCode()).isNull();
        fail(step(2));
        assertThat(world.task("a").errorCode()).isEqualTo("AGENT_STUCK");
    }

    @Test
    void endOfTheTaskStopsCallsInFlight() {
        reads(3);
        world.claimAll();
        world.done(new Command.Cancel(world.id(), "because", World.WHO));
        assertThat(world.state()).isEqualTo(RunState.CANCELLED);
        assertThat(world.queue).isEmpty();
        assertThat(world.refused(new Command.Fail(world.id(), step(1).id(), 1, new StepError("BROKEN",
                ErrorClass.PERMANENT, "late"), Result.of("null"), Actor.agent("w1"))).code()).isEqualTo("STALE_LEASE");
    }
}
