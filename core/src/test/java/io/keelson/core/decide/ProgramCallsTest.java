package io.keelson.core.decide;

import static io.keelson.core.decide.Plans.plan;
import static io.keelson.core.decide.Plans.task;
import static io.keelson.core.decide.Rules.ASK;
import static io.keelson.core.decide.Rules.rules;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.money.Prices;
import io.keelson.core.plan.AgentTerms;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.plan.StepKind;
import io.keelson.core.policy.Effects;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.policy.RetryPolicy;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.NextStepRequest;
import io.keelson.core.run.Reply;
import io.keelson.core.run.Result;
import io.keelson.core.run.StepError;
import io.keelson.core.run.TurnAnswer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Calls of tools by programs of steps: steps beside their caller, which outlive its lease and end with it. */
class ProgramCallsTest {
    private static final Actor WORKER = Actor.agent("w1");
    private World world = World.start(plan(task("a").step("program", StepKind.TOOL).step("after", StepKind.TOOL)));

    @AfterEach
    void everyEventWasLegal() {
        Invariants.legal(world);
    }

    private static TurnAnswer.Call made(String tool, int n, RetryPolicy retry, Effects effects) {
        return new TurnAnswer.Call(tool, "{\"n\": " + n + "}", "d" + n, retry, Duration.ofSeconds(9), null, effects);
    }

    private Reply send(StepRow caller, UUID id, TurnAnswer.Call made) {
        return world.send(new Command.CallTool(world.id(), caller.id(), caller.leaseEpoch(), id, made, WORKER));
    }

    private StepRow call(StepRow caller, TurnAnswer.Call made) {
        UUID id = UUID.randomUUID();
        assertThat(send(caller, id, made)).isEqualTo(Reply.CHANGED);
        return world.view.step(id);
    }

    private StepRow read(StepRow caller, int n) {
        return call(caller, made("read", n, RetryPolicy.STEP, Effects.READ));
    }

    private StepRow claim(StepRow step) {
        return world.claim(world.queue.get(new ChangeSet.Lane(step.task().id(), step.lane())), "w2");
    }

    private List<String> steps() {
        return world.task("a").steps().stream().map(step -> step.name() + " " + step.state().wire()).toList();
    }

    @Test
    void callsRunBesideTheirCallerInLanesOfTheirOwn() {
        StepRow program = world.claim("a");
        StepRow first = read(program, 1);
        StepRow second = read(program, 1);
        assertThat(List.of(first.lane(), second.lane())).containsExactly(1, 2);
        assertThat(first.effect()).isEqualTo("read:d1/1");
        assertThat(second.effect()).isEqualTo("read:d1/2");
        claim(second);
        claim(first);
        world.complete(second);
        world.fail(first, ErrorClass.PERMANENT);
        assertThat(steps()).containsExactly("program running", "read#2 failed", "read#3 completed", "after pending");
        assertThat(read(program, 3).lane()).as("the lane of an ended call is free").isEqualTo(1);
        world.complete(program);
        assertThat(steps()).containsExactly("program completed", "read#2 failed", "read#3 completed",
                "read#4 cancelled", "after pending");
        assertThat(world.queue.keySet()).as("its lane is left").hasSize(1);
        assertThat(world.claimAll()).extracting(StepRow::name).containsExactly("after");
    }

    @Test
    void aRepeatedCommandAddsNothing() {
        StepRow program = world.claim("a");
        UUID id = UUID.randomUUID();
        TurnAnswer.Call made = made("read", 1, RetryPolicy.STEP, Effects.READ);
        assertThat(send(program, id, made)).isEqualTo(Reply.CHANGED);
        assertThat(send(program, id, made)).isEqualTo(Reply.UNCHANGED);
        assertThat(world.task("a").steps()).hasSize(3);
    }

    @Test
    void onlyTheHolderOfALeaseCallsAndOnlyForAStepOfThePlan() {
        StepRow program = world.claim("a");
        StepRow call = claim(read(program, 1));
        TurnAnswer.Call made = made("read", 2, RetryPolicy.STEP, Effects.READ);
        assertThat(world.refused(new Command.CallTool(world.id(), program.id(), 2, UUID.randomUUID(), made, WORKER))
                .code()).isEqualTo("STALE_LEASE");
        assertThat(world.refused(new Command.CallTool(world.id(), call.id(), 1, UUID.randomUUID(), made, WORKER))
                .code()).isEqualTo("CALLS_NOT_POSSIBLE");
        world.complete(program);
        assertThat(world.refused(new Command.CallTool(world.id(), program.id(), 1, UUID.randomUUID(), made, WORKER))
                .code()).isEqualTo("STALE_LEASE");
    }

    @Test
    void aCallOutlivesTheLeaseOfItsCaller() {
        StepRow program = world.claim("a");
        StepRow call = claim(read(program, 1));
        world.expire(program);
        assertThat(call.isHeld()).isTrue();
        assertThat(world.claim("a")).isSameAs(program);
        world.complete(call);
        assertThat(steps()).containsExactly("program running", "read#2 completed", "after pending");
        world.fail(program, ErrorClass.INFRASTRUCTURE);
        assertThat(program.state()).isEqualTo(StepState.AWAITING_RETRY);
        assertThat(call.state()).isEqualTo(StepState.COMPLETED);
    }

    @Test
    void aLostCallIsMadeAgainUnlessItMayHaveHadItsEffect() {
        StepRow program = world.claim("a");
        StepRow read = claim(read(program, 1));
        StepRow once = claim(call(program, made("pay", 2, RetryPolicy.NONE, Effects.ONCE)));
        world.expire(read);
        world.expire(once);
        assertThat(claim(read).leaseEpoch()).isEqualTo(2);
        assertThat(once.state()).isEqualTo(StepState.FAILED);
        assertThat(once.errorCode()).isEqualTo("OUTCOME_UNKNOWN");
        assertThat(program.state()).isEqualTo(StepState.RUNNING);
    }

    @Test
    void theEndOfTheCallerCancelsOpenCalls() {
        StepRow program = world.claim("a");
        StepRow held = claim(read(program, 1));
        StepRow queued = read(program, 2);
        StepRow asked = call(program, made(AgentTerms.ASK, 3, RetryPolicy.STEP, Effects.READ));
        assertThat(asked.state()).isEqualTo(StepState.WAITING_APPROVAL);
        world.fail(program, ErrorClass.PERMANENT);
        assertThat(List.of(held, queued, asked)).allMatch(each -> each.state() == StepState.CANCELLED);
        assertThat(world.state()).isEqualTo(RunState.FAILED);
    }

    @Test
    void aPersonAnswersAQuestionAndApprovesADestructiveCall() {
        StepRow program = world.claim("a");
        StepRow asked = call(program, made(AgentTerms.ASK, 1, RetryPolicy.STEP, Effects.READ));
        StepRow drop = call(program, made("drop", 2, RetryPolicy.NONE, Effects.DESTRUCTIVE));
        assertThat(drop.state()).isEqualTo(StepState.WAITING_APPROVAL);
        world.done(new Command.DecideStep(world.id(), asked.id(), true, null, "{\"yes\": true}", World.WHO));
        assertThat(asked.state()).isEqualTo(StepState.COMPLETED);
        assertThat(world.outputs.get(asked.id())).isEqualTo("{\"yes\": true}");
        world.done(new Command.DecideStep(world.id(), drop.id(), true, null, World.WHO));
        world.complete(claim(drop));
        assertThat(world.state()).isEqualTo(RunState.RUNNING);
    }

    @Test
    void callsContinueAfterAPause() {
        StepRow program = world.claim("a");
        StepRow queued = read(program, 1);
        world.done(new Command.Pause(world.id(), null, World.WHO));
        StepRow later = read(program, 2);
        assertThat(world.queue).as("the caller alone").hasSize(1);
        world.done(new Command.Resume(world.id(), World.WHO));
        assertThat(world.claimAll()).containsExactlyInAnyOrder(queued, later);
    }

    @Test
    void aProgramMayRepeatACall() {
        StepRow program = world.claim("a");
        for (int i = 0; i < 20; i++) {
            world.complete(claim(read(program, 1)));
        }
        assertThat(program.state()).isEqualTo(StepState.RUNNING);
    }

    @Test
    void callsOfAStepAreBounded() {
        StepRow program = world.claim("a");
        for (int i = 0; i < ProgramCalls.MAX_OPEN; i++) {
            read(program, i);
        }
        TurnAnswer.Call made = made("read", 0, RetryPolicy.STEP, Effects.READ);
        assertThat(refusal(program, made)).isEqualTo("TOO_MANY_CALLS");
        List.copyOf(program.calls).forEach(call -> world.complete(claim(call)));
        for (int i = ProgramCalls.MAX_OPEN; i < ProgramCalls.MAX_CALLS; i++) {
            world.complete(claim(read(program, i)));
        }
        assertThat(refusal(program, made)).isEqualTo("CALL_LIMIT");
    }

    @Test
    void theArgumentsOfAllCallsOfAStepAreBounded() {
        StepRow program = world.claim("a");
        TurnAnswer.Call large = new TurnAnswer.Call("read",
                "{\"text\": \"" + "x".repeat(ProgramCalls.MAX_ARGUMENTS / 2) + "\"}", "d1", RetryPolicy.STEP,
                Duration.ofSeconds(9), null, Effects.READ);
        world.complete(claim(call(program, large)));
        assertThat(refusal(program, large)).isEqualTo("CALL_LIMIT");
        read(program, 2);
    }

    /** A person is asked about a call that has failed for good, and nothing waits for the answer after the end of its caller. */
    @Test
    void theEndOfTheCallerVoidsTheTicketOfACall() {
        world = World.start(rules().escalation(ASK).policy(),
                plan(task("a").step("program", StepKind.TOOL).step("after", StepKind.TOOL)));
        StepRow program = world.claim("a");
        StepRow call = claim(call(program, made("read", 1, RetryPolicy.NONE, Effects.READ)));
        world.fail(call, ErrorClass.INFRASTRUCTURE);
        assertThat(call.parked()).isTrue();
        assertThat(world.state()).isEqualTo(RunState.ESCALATED);
        world.complete(program);
        assertThat(world.view.tickets()).isEmpty();
        assertThat(world.state()).isEqualTo(RunState.RUNNING);
        assertThat(world.claimAll()).extracting(StepRow::name).containsExactly("after");
    }

    private void park(StepRow program) {
        world.done(new Command.Park(world.id(), program.id(), program.leaseEpoch(), WORKER));
    }

    private void answer(StepRow asked) {
        world.done(new Command.DecideStep(world.id(), asked.id(), true, null, "1", World.WHO));
    }

    private StepRow ask(StepRow program) {
        return call(program, made(AgentTerms.ASK, 1, RetryPolicy.STEP, Effects.READ));
    }

    /** Timeouts of run, agent, task and step are shorter than the wait. */
    @Test
    void aParkedStepHasNoLeaseAndWaitsForDaysWithoutAnAttempt() {
        StepRow program = world.claim("a");
        StepRow asked = ask(program);
        park(program);
        assertThat(program.state()).isEqualTo(StepState.WAITING);
        assertThat(world.queue).isEmpty();
        assertThat(world.view.run().activeSince()).as("time at work").isNull();
        world.watchUntil(world.now.plus(Duration.ofDays(3)));
        assertThat(program.state()).isEqualTo(StepState.WAITING);
        answer(asked);
        assertThat(world.claimAll()).containsExactly(program);
        assertThat(program.state()).isEqualTo(StepState.RUNNING);
        assertThat(program.attempt()).isEqualTo(1);
        assertThat(program.deliveries()).isEqualTo(1);
        assertThat(program.leaseEpoch()).isEqualTo(2);
        assertThat(world.view.run().activeSince()).isNotNull();
        world.watchUntil(world.now.plus(Duration.ofMinutes(1)));
        world.complete(program);
        assertThat(world.claimAll()).extracting(StepRow::name).containsExactly("after");
    }

    @Test
    void onlyAStepWithACallThatWaitsForAPersonIsParked() {
        StepRow program = world.claim("a");
        StepRow read = read(program, 2);
        Command park = new Command.Park(world.id(), program.id(), 1, WORKER);
        assertThat(world.refused(park).code()).isEqualTo("NO_CALL_WAITS");
        StepRow asked = ask(program);
        answer(asked);
        assertThat(world.refused(park).code()).isEqualTo("NO_CALL_WAITS");
        world.done(new Command.Pause(world.id(), null, World.WHO));
        read(program, 3);
        park(program);
        assertThat(world.refused(park).code()).isEqualTo("STALE_LEASE");
        world.done(new Command.Resume(world.id(), World.WHO));
        claim(read);
        world.complete(read);
        assertThat(world.queue.get(new ChangeSet.Lane(program.task().id(), 0))).as("it is queued again").isNotNull();
    }

    @Test
    void aParkedStepContinuesAfterAPause() {
        StepRow program = world.claim("a");
        StepRow asked = ask(program);
        park(program);
        world.done(new Command.Pause(world.id(), null, World.WHO));
        answer(asked);
        assertThat(world.queue).isEmpty();
        world.done(new Command.Resume(world.id(), World.WHO));
        assertThat(world.claimAll()).containsExactly(program);
    }

    @Test
    void aParkedStepIsCancelledWithItsCalls() {
        StepRow program = world.claim("a");
        StepRow asked = ask(program);
        park(program);
        world.done(new Command.Cancel(world.id(), "because", World.WHO));
        assertThat(List.of(program.state(), asked.state())).containsOnly(StepState.CANCELLED);
        assertThat(world.timers.keySet()).isEmpty();
    }

    @Test
    void aParkedStepBesideOthersIsClaimedInItsLane() {
        world = World.start(rules().policy(), plan(task("a").parallel().step("one", StepKind.TOOL)
                .step("two", StepKind.TOOL)));
        StepRow one = world.claimAll().getFirst();
        StepRow asked = ask(one);
        park(one);
        answer(asked);
        assertThat(world.claimAll()).containsExactly(one);
        assertThat(one.lane()).isEqualTo(1);
    }

    private String refusal(StepRow program, TurnAnswer.Call made) {
        return ((Reply.Rejected) send(program, UUID.randomUUID(), made)).code();
    }

    @Test
    void aCallThatALimitDoesNotPayIsRefused() {
        RunPolicy policy = RunPolicy.DEFAULT.with(OneWorkspace.limited("1")).withApprovePlan(true);
        world = World.accept(policy, plan(task("a").step("program", StepKind.TOOL)));
        world.prices = new Prices(Map.of("read", new Prices.Price(OneWorkspace.usd("0.6"), 1)), Map.of());
        world.done(new Command.Start(world.id(), World.WHO));
        world.done(new Command.Approve(world.id(), null, World.WHO));
        StepRow program = world.claim("a");
        read(program, 1);
        assertThat(refusal(program, made("read", 2, RetryPolicy.STEP, Effects.READ))).isEqualTo("BUDGET_EXCEEDED");
    }

    @Test
    void stepsBesideTheCallerKeepTheirLanes() {
        world = World.start(rules().policy(),
                plan(task("a").parallel().step("one", StepKind.TOOL).step("two", StepKind.TOOL)));
        List<StepRow> planned = world.claimAll();
        StepRow call = read(planned.getFirst(), 1);
        assertThat(call.lane()).isEqualTo(3);
        claim(call);
        world.complete(planned.getFirst());
        assertThat(call.state()).isEqualTo(StepState.CANCELLED);
        assertThat(planned.getLast().isHeld()).isTrue();
        world.complete(planned.getLast());
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    /** The reply to a completion may have been lost; its repetition names the step that was given with it. */
    @Test
    void aRepeatedCompletionGivesTheNextStepOfThePlan() {
        StepRow program = world.claim("a");
        read(program, 1);
        Command report = new Command.Complete(world.id(), program.id(), 1, Result.of("1"),
                new NextStepRequest("w1", Set.of("noop"), World.LEASE), WORKER);
        assertThat(world.send(report)).isInstanceOf(Reply.Claimed.class);
        assertThat(world.send(report))
                .isEqualTo(new Reply.Duplicate(world.task("a").steps().getLast().id()));
    }

    @Test
    void aFurtherTurnOfTheProgramFollowsItsCalls() {
        StepRow program = world.claim("a");
        world.complete(claim(read(program, 1)));
        world.send(new Command.Continue(world.id(), program.id(), 1, Result.of("1"), WORKER));
        assertThat(steps()).containsExactly("program completed", "read#2 completed", "program#3 pending",
                "after pending");
    }

    @Test
    void recordsOfAnotherRunAnswerCalls() {
        StepRow program = world.claim("a");
        StepRow answered = call(program,
                made("read", 1, RetryPolicy.STEP, Effects.READ).from(new TurnAnswer.Recorded.Output("[1]")));
        StepRow failed = call(program, made("read", 2, RetryPolicy.STEP, Effects.READ)
                .from(new TurnAnswer.Recorded.Failure(new StepError("NO", ErrorClass.PERMANENT, "no"))));
        assertThat(answered.state()).isEqualTo(StepState.COMPLETED);
        assertThat(failed.errorCode()).isEqualTo("NO");
        assertThat(answered.spec().kind()).isEqualTo(StepKind.CALL);
        assertThat(world.queue).hasSize(1);
    }
}
