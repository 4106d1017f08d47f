package io.keelson.core.decide;

import static io.keelson.core.decide.Plans.plan;
import static io.keelson.core.decide.Plans.task;
import static io.keelson.core.decide.Rules.rules;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.lifecycle.EventType;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.money.Tokens;
import io.keelson.core.plan.AgentTerms;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.plan.Rung;
import io.keelson.core.plan.RunsOn;
import io.keelson.core.plan.StepKind;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.plan.TaskPolicy;
import io.keelson.core.plan.ToolPolicy;
import io.keelson.core.plan.TurnLimits;
import io.keelson.core.policy.CallApproval;
import io.keelson.core.policy.CallApprovals;
import io.keelson.core.policy.CallGate;
import io.keelson.core.policy.Effects;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.policy.EscalationPolicy;
import io.keelson.core.policy.FailureMode;
import io.keelson.core.policy.RetryPolicy;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.NextStepRequest;
import io.keelson.core.run.Reply;
import io.keelson.core.run.Result;
import io.keelson.core.run.StepError;
import io.keelson.core.run.TimerKind;
import io.keelson.core.run.TurnAnswer;
import io.keelson.core.run.Verdict;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** An agent's turns, the calls that they ask for, and what is never called. */
class AgentTurnsTest {
    private World world = world(0);

    @AfterEach
    void everyEventWasLegal() {
        Invariants.legal(world);
    }

    private static World world(int maxTurns) {
        return world(maxTurns, RunsOn.WORKERS);
    }

    private static World world(int maxTurns, RunsOn runsOn) {
        AgentTerms terms = new AgentTerms(AgentTerms.ROSTER, 7, "ann", "large",
                List.of("read", "wait", "signal.wait", "run.start"), maxTurns,
                List.of("ann 1000"), runsOn);
        return World.start(rules().policy(), plan(task("a").step(turn(runsOn))
                .policy(TaskPolicy.DEFAULT.with(terms)).taskRetry(RetryPolicy.TASK)));
    }

    private static StepSpec turn(RunsOn runsOn) {
        return new StepSpec("turn", StepKind.TURN, runsOn.tool(), "{}", RetryPolicy.NONE, Duration.ofSeconds(9));
    }

    private Reply answer(TurnAnswer answer, String holder, NextStepRequest request) {
        StepRow turn = world.claim("a");
        Result result = new Result("\"whole\"", Tokens.undivided(5), null, null, List.of(), null, answer);
        return world.send(new Command.Complete(world.id(), turn.id(), turn.leaseEpoch(), result, request,
                Actor.agent(holder)));
    }

    private void call(String... tools) {
        assertThat(answer(calls(tools), "w1", null)).isEqualTo(Reply.CHANGED);
    }

    private static TurnAnswer calls(String... tools) {
        return new TurnAnswer.Calls(Arrays.stream(tools)
                .map(tool -> new TurnAnswer.Call(tool, "{}", "d", RetryPolicy.STEP, Duration.ofSeconds(9))).toList());
    }

    private List<String> steps() {
        return world.task("a").steps().stream().map(step -> step.name() + " " + step.state().wire()).toList();
    }

    @Test
    void callsAreStepsInOrderBeforeTheNextTurn() {
        call("read", "read");
        assertThat(steps()).containsExactly("turn completed", "read#2 pending", "read#3 pending", "turn#4 pending");
        world.complete(world.claim("a"));
        world.complete(world.claim("a"));
        assertThat(world.task("a").state()).isEqualTo(TaskState.RUNNING);
        assertThat(world.task("a").continuations()).as("calls are no continuation").isZero();
        answer(new TurnAnswer.Done("{\"n\": 1}"), "w1", null);
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
        assertThat(world.outputs.get(world.task("a").steps().getLast().id())).isEqualTo("{\"n\": 1}");
    }

    @Test
    void callsAndTokensBeyondTheTasksLimits() {
        AgentTerms terms = new AgentTerms(AgentTerms.ROSTER, 7, "ann", "large", List.of("read", "write"), 0, List.of())
                .limited(new TurnLimits(3, Map.of("write", 1), 10));
        world = World.start(rules().policy(), plan(task("a").step(turn(RunsOn.WORKERS))
                .policy(TaskPolicy.DEFAULT.with(terms))));
        call("write", "write", "read", "read", "read");
        assertThat(steps()).containsExactly("turn completed", "write#2 pending", "write#3 skipped", "read#4 pending",
                "read#5 pending", "read#6 skipped", "turn#7 pending");
        assertThat(world.task("a").steps().get(2).errorCode()).isEqualTo("CALL_LIMIT");
        assertThat(world.task("a").steps().get(5).errorMessage()).contains("3 calls");
        for (int i = 0; i < 3; i++) {
            world.complete(world.claim("a"));
        }
        answer(calls("read"), "w1", null);
        assertThat(world.task("a").errorCode()).isEqualTo("TOKEN_LIMIT");
    }

    private static TurnAnswer.Call recorded(TurnAnswer.Recorded record) {
        return new TurnAnswer.Call("read", "{}", "d", RetryPolicy.STEP, Duration.ofSeconds(9), null,
                Effects.DESTRUCTIVE)
                .from(record);
    }

    @Test
    void recordedCallsEndWithoutAnExecution() {
        StepError failed = new StepError("FILE_NOT_FOUND", ErrorClass.PERMANENT, "none");
        answer(new TurnAnswer.Calls(List.of(recorded(new TurnAnswer.Recorded.Output("[1]")),
                recorded(new TurnAnswer.Recorded.Failure(failed)))), "w1", null);
        assertThat(steps()).containsExactly("turn completed", "read#2 completed", "read#3 skipped", "turn#4 pending");
        List<StepRow> steps = world.task("a").steps();
        assertThat(world.outputs.get(steps.get(1).id())).isEqualTo("[1]");
        assertThat(steps.get(1).leaseEpoch()).isZero();
        assertThat(steps.get(2).errorCode()).isEqualTo("FILE_NOT_FOUND");
        assertThat(world.queue.values()).extracting(ChangeSet.QueueItem::tool).containsExactly("agent.turn");
        answer(new TurnAnswer.Done("1"), "w1", null);
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void aCallWithoutARecordEndsTheTask() {
        TurnAnswer.Call forbidden = new TurnAnswer.Call("write", "{}", "d", RetryPolicy.STEP, Duration.ofSeconds(9))
                .from(new TurnAnswer.Recorded.Nothing());
        answer(new TurnAnswer.Calls(List.of(forbidden)), "w1", null);
        assertThat(world.task("a").state()).isEqualTo(TaskState.RUNNING);
        answer(new TurnAnswer.Calls(List.of(recorded(new TurnAnswer.Recorded.Nothing()))), "w1", null);
        assertThat(world.task("a").errorCode()).isEqualTo("CALL_NOT_RECORDED");
        assertThat(world.state()).isEqualTo(RunState.FAILED);
        assertThat(world.queue).isEmpty();
    }

    @Test
    void continuationAfterCallsIsTheFirst() {
        call("read");
        world.complete(world.claim("a"));
        StepRow turn = world.claim("a");
        world.done(new Command.Continue(world.id(), turn.id(), turn.leaseEpoch(),
                new Result("1", Tokens.undivided(5), null, List.of()), Actor.agent("w1")));
        assertThat(world.last("task_continuing").members()).containsEntry("continuation_count", 1);
        assertThat(world.task("a").continuations()).isEqualTo(1);
    }

    @Test
    void forbiddenCallIsNeverQueued() {
        call("write", "wait", "read");
        assertThat(steps()).containsExactly("turn completed", "write#2 skipped", "wait#3 skipped", "read#4 pending",
                "turn#5 pending");
        StepRow refused = world.task("a").steps().get(1);
        assertThat(refused.errorCode()).isEqualTo("TOOL_NOT_ALLOWED");
        assertThat(refused.leaseEpoch()).isZero();
        assertThat(world.queue.values()).extracting(ChangeSet.QueueItem::tool).containsExactly("read");
    }

    @Test
    void refusedCallNamesTheRefusingLevel() {
        AgentTerms terms = new AgentTerms(AgentTerms.ROSTER, 7, "ann", "large", List.of("read", "write", "erase"), 0,
                List.of()).refusing(Map.of("write", ToolPolicy.Level.WORKSPACE, "erase", ToolPolicy.Level.MISSION));
        world = World.start(rules().policy(), plan(task("a").step(turn(RunsOn.WORKERS))
                .policy(TaskPolicy.DEFAULT.with(terms))));
        call("write", "erase", "other", "read");
        assertThat(world.events("step_skipped")).extracting(event -> event.members().get("refused_by"))
                .containsExactly("workspace", "mission", "agent");
        assertThat(world.task("a").steps().get(1).errorMessage())
                .isEqualTo(
                        "'write' is none of the tools that this task may use; a rule of the workspace refuses it; it may use read");
        assertThat(Explain.step(world.view, world.task("a").steps().get(2), new ExplainTest().around))
                .anySatisfy(reason -> {
                    assertThat(reason.code()).isEqualTo("TOOL_REFUSED_BY");
                    assertThat(reason.on()).containsExactly("mission");
                });
    }

    private StepRow asked() {
        answer(new TurnAnswer.Calls(List.of(new TurnAnswer.Call("read", "{}", "x", RetryPolicy.NONE,
                Duration.ofSeconds(9), null, Effects.DESTRUCTIVE))), "w1", null);
        StepRow call = world.task("a").steps().get(1);
        assertThat(call.state()).isEqualTo(StepState.WAITING_APPROVAL);
        assertThat(world.queue).isEmpty();
        return call;
    }

    private Reply decide(StepRow call, boolean approve, String given) {
        return world.send(new Command.DecideStep(world.id(), call.id(), approve, "because", given, World.WHO));
    }

    @Test
    void aDestructiveCallIsMadeOnceItIsApprovedAndWithAChangedInput() {
        StepRow call = asked();
        assertThat(decide(call, true, "{\"n\": 2}")).isEqualTo(Reply.CHANGED);
        assertThat(world.claim("a").spec().input()).isEqualTo("{\"n\": 2}");
        assertThat(decide(call, true, null)).isEqualTo(Reply.UNCHANGED);
        assertThat(world.refused(new Command.DecideStep(world.id(), call.id(), false, null, World.WHO)).code())
                .isEqualTo("APPROVAL_ALREADY_DECIDED");
    }

    @Test
    void aRejectedCallIsAnErrorForTheNextTurn() {
        StepRow call = asked();
        assertThat(decide(call, false, null)).isEqualTo(Reply.CHANGED);
        assertThat(call.errorCode()).isEqualTo("CALL_REJECTED");
        assertThat(call.leaseEpoch()).isZero();
        assertThat(world.claim("a").spec().kind()).isEqualTo(StepKind.TURN);
    }

    @Test
    void anUnansweredCallIsAskedAboutAgainInTheTasksNextAttemptAndAnApprovedOneIsNot() {
        answer(new TurnAnswer.Calls(List.of(call("x", null), call("y", Effects.DESTRUCTIVE),
                call("z", Effects.DESTRUCTIVE))), "w1", null);
        world.complete(world.claim("a"));
        StepRow approved = world.task("a").steps().get(2);
        assertThat(approved.state()).isEqualTo(StepState.WAITING_APPROVAL);
        decide(approved, true, null);
        world.claim("a");
        again(ErrorClass.INFRASTRUCTURE);
        world.complete(world.claim("a"));
        assertThat(steps()).containsExactly("turn completed", "read#2 completed", "read#3 completed",
                "read#4 waiting_approval", "turn#5 pending");
    }

    @Test
    void rulesOfTheAgentOfARungDecideWhetherItsCallsAreAskedAbout() {
        AgentTerms first = new AgentTerms(AgentTerms.ROSTER, 7, "ann", "large", List.of("read"), 0, List.of());
        AgentTerms second = new AgentTerms(AgentTerms.ROSTER, 8, "bob", "large", List.of("read"), 0, List.of())
                .ruled(CallApprovals.of("read", CallApproval.ALWAYS));
        StepSpec other = new StepSpec("turn-2", StepKind.TURN, RunsOn.WORKERS.tool(), "{}", RetryPolicy.STEP,
                Duration.ofSeconds(9));
        world = World.start(rules().policy(), plan(task("a").step(turn(RunsOn.WORKERS)).policy(TaskPolicy.DEFAULT
                .with(first).climbing(List.of(new Rung(Rung.To.AGENT, second, other))))));
        StepRow turn = world.claim("a");
        world.done(new Command.Fail(world.id(), turn.id(), turn.leaseEpoch(),
                new StepError("BROKEN", ErrorClass.PERMANENT, "it is broken"), Result.of("null"), Actor.agent("w1")));
        call("read");
        assertThat(steps().getLast()).isEqualTo("turn-2#3 pending");
        assertThat(world.task("a").steps().get(1).state()).isEqualTo(StepState.WAITING_APPROVAL);
    }

    private StepRow asked(CallApprovals approvals, boolean untrusted, TurnAnswer.Call... calls) {
        AgentTerms terms = new AgentTerms(AgentTerms.ROSTER, 7, "ann", "large", List.of("read", "fetch"), 0, List.of())
                .ruled(approvals).reaching(List.of("fetch"));
        world = World.start(rules().policy(), plan(task("a").step(turn(RunsOn.WORKERS))
                .policy(TaskPolicy.DEFAULT.with(terms).untrusted(untrusted))));
        answer(new TurnAnswer.Calls(List.of(calls)), "w1", null);
        return world.task("a").steps().get(1);
    }

    @Test
    void aConditionIsEvaluatedWhenTheCallsTurnComes() {
        CallApprovals rules = CallApprovals.of("read", CallApproval.when(".n > 1"));
        StepRow call = asked(rules, false, call("d", Effects.READ));
        assertThat(call.state()).isEqualTo(StepState.PENDING);
        assertThat(call.gate()).isEqualTo(new CallGate(CallGate.Reason.CONDITION, ".n > 1"));
        world.answer(world.evaluations.getFirst(), new Command.Evaluation.Holds(false, null));
        world.complete(world.claim("a"));
        assertThat(steps()).containsExactly("turn completed", "read#2 completed", "turn#3 pending");

        call = asked(rules, false, call("d", Effects.READ));
        world.answer(world.evaluations.getFirst(), new Command.Evaluation.Holds(true, null));
        assertThat(call.state()).isEqualTo(StepState.WAITING_APPROVAL);
        world.done(new Command.DecideStep(world.id(), call.id(), true, null, Actor.human("ann")));
        world.complete(world.claim("a"));
        assertThat(call.state()).isEqualTo(StepState.COMPLETED);
    }

    @Test
    void aConditionThatFailsAsksAPerson() {
        StepRow call = asked(CallApprovals.of("read", CallApproval.when(".n / 0")), false, call("d", Effects.READ));
        world.answer(world.evaluations.getFirst(), new Command.Evaluation.Holds(false, "division by zero"));
        assertThat(call.state()).isEqualTo(StepState.WAITING_APPROVAL);
        assertThat(call.gate()).isEqualTo(new CallGate(CallGate.Reason.CONDITION_FAILED, ".n / 0: division by zero"));
    }

    @Test
    void dataFromOutsideTaintsLaterCalls() {
        CallApprovals rules = CallApprovals.of(CallApprovals.ANY, CallApproval.TAINTED);
        asked(rules, false, call("d", Effects.ONCE), new TurnAnswer.Call("fetch", "{}", "f", RetryPolicy.STEP,
                Duration.ofSeconds(9), null, Effects.READ));
        assertThat(steps()).as("asked for before the result came").containsExactly("turn completed", "read#2 pending",
                "fetch#3 pending", "turn#4 pending");
        world.complete(world.claim("a"));
        world.complete(world.claim("a"));
        answer(new TurnAnswer.Calls(List.of(call("r", Effects.READ), call("o", Effects.ONCE))), "w1", null);
        world.complete(world.claim("a"));
        StepRow last = world.task("a").steps().get(5);
        assertThat(last.state()).isEqualTo(StepState.WAITING_APPROVAL);
        assertThat(last.gate()).isEqualTo(new CallGate(CallGate.Reason.TAINTED, "fetch"));
    }

    @Test
    void aTaskWithUntrustedInputIsTaintedFromItsFirstTurn() {
        CallApprovals rules = CallApprovals.of("read", CallApproval.TAINTED);
        assertThat(asked(rules, true, call("d", null)).state()).isEqualTo(StepState.WAITING_APPROVAL);
        assertThat(asked(rules, false, call("d", null)).state()).isEqualTo(StepState.PENDING);
    }

    private static TurnAnswer.Call call(String digest, Effects effects) {
        return new TurnAnswer.Call("read", "{}", digest, RetryPolicy.STEP, Duration.ofSeconds(9), null, effects);
    }

    /** No executor claims such a call. */
    @Test
    void engineStepsAreNeverQueued() {
        call("signal.wait", "run.start");
        assertThat(steps()).containsExactly("turn completed", "signal.wait#2 skipped", "run.start#3 skipped",
                "turn#4 pending");
    }

    @Test
    void aRefusalOfEverythingLeadsToTheNextTurn() {
        call("write");
        assertThat(world.claim("a").spec().kind()).isEqualTo(StepKind.TURN);
    }

    @Test
    void withoutTermsNothingMayBeCalled() {
        world = World.start(rules().policy(), plan(task("a").step("turn", StepKind.TURN)));
        call("read");
        assertThat(steps()).containsExactly("turn completed", "read#2 skipped", "turn#3 pending");
    }

    @Test
    void failedCallIsReportedToTheNextTurn() {
        call("read");
        world.fail(world.claim("a"), ErrorClass.PERMANENT);
        assertThat(steps()).containsExactly("turn completed", "read#2 failed", "turn#3 pending");
        assertThat(world.claim("a").turn()).isEqualTo(3);
    }

    @Test
    void aCallIsTriedAgainLikeAnyStep() {
        call("read");
        world.fail(world.claim("a"), ErrorClass.INFRASTRUCTURE);
        assertThat(world.task("a").steps().get(1).state()).isEqualTo(StepState.AWAITING_RETRY);
        world.nextBackoff();
        assertThat(world.claim("a").attempt()).isEqualTo(2);
    }

    @Test
    void theAgentsOwnLimitOfTurnsGoesBeforeTheRuns() {
        world = world(2);
        call("read");
        world.complete(world.claim("a"));
        call("read");
        assertThat(world.task("a").errorCode()).isEqualTo("CONTINUATION_LIMIT");
        assertThat(world.state()).isEqualTo(RunState.FAILED);
    }

    @Test
    void anAnswerThatCannotBeUsedIsFollowedByATurn() {
        answer(new TurnAnswer.Again(), "w1", null);
        assertThat(steps()).containsExactly("turn completed", "turn#2 pending");
        world = world(1);
        answer(new TurnAnswer.Again(), "w1", null);
        assertThat(world.task("a").errorCode()).isEqualTo("CONTINUATION_LIMIT");
    }

    @Test
    void aCallThatItsExecutorRefusesIsSkipped() {
        StepError refusal = new StepError("TOOL_INPUT_INVALID", ErrorClass.PERMANENT, "no JSON");
        answer(new TurnAnswer.Calls(List.of(
                new TurnAnswer.Call("read", "{}", "x", RetryPolicy.STEP, Duration.ofSeconds(9), refusal),
                new TurnAnswer.Call("write", "{}", "x", RetryPolicy.STEP, Duration.ofSeconds(9), refusal),
                new TurnAnswer.Call("read", "{}", "y", RetryPolicy.STEP, Duration.ofSeconds(9)))), "w1", null);
        assertThat(world.task("a").steps().stream().map(step -> step.state().wire() + " " + step.errorCode()))
                .containsExactly("completed null", "skipped TOOL_INPUT_INVALID", "skipped TOOL_NOT_ALLOWED",
                        "pending null", "pending null");
    }

    @ParameterizedTest
    @CsvSource({"WORKERS, QUALITY, fail_fast", "SERVER, QUALITY, fail_fast", "WORKERS, INFRASTRUCTURE, fail_fast",
            "SERVER, INFRASTRUCTURE, fail_fast", "SERVER, INFRASTRUCTURE, continue", "WORKERS, INFRASTRUCTURE, retry"})
    void aTurnIsTriedOnceInEachAttemptOfItsTask(RunsOn runsOn, ErrorClass errorClass, String mode) {
        world = World.start(rules().policy(), plan(task("a").step(turn(runsOn)).mode(FailureMode.of(mode))));
        failThreeTimes(errorClass);
        assertThat(world.events.stream().filter(event -> event.type() == EventType.TASK_RETRYING)
                .map(event -> event.members().get("retry_after_seconds"))).containsExactly(10.0, 20.0);
        assertThat(world.events).noneMatch(event -> event.type() == EventType.STEP_RETRYING);
        assertThat(world.task("a").attempt()).isEqualTo(3);
        assertThat(world.task("a").state())
                .isEqualTo(mode.equals("continue") ? TaskState.SKIPPED : TaskState.FAILED);
        assertThat(world.events.stream().filter(event -> event.type() == EventType.STEP_FAILED)
                .map(event -> event.members().get("failure_ignored")))
                .containsExactly(null, null, mode.equals("continue") ? true : null);
    }

    private void failThreeTimes(ErrorClass errorClass) {
        world.fail(world.claim("a"), errorClass);
        for (int i = 0; i < 2; i++) {
            world.deliver(TimerKind.TASK_RETRY, world.task("a").id());
            world.fail(world.claim("a"), errorClass);
        }
    }

    @Test
    void aPersonIsAskedAboutATurnWhenTheAttemptsOfItsTaskAreUsedUp() {
        world = World.start(
                rules().escalation(new EscalationPolicy(true, true, Duration.ofSeconds(300), 5, 0.5)).policy(),
                plan(task("a").step(turn(RunsOn.WORKERS))));
        failThreeTimes(ErrorClass.INFRASTRUCTURE);
        assertThat(world.view.tickets()).hasSize(1).allMatch(ticket -> ticket.stepId() == null);
    }

    @Test
    void invalidAnswerFailsTheTurnWithARetry() {
        Reply reply = answer(new TurnAnswer.Unreadable("what?"), "w1", null);
        assertThat(((Reply.Rejected) reply).code()).isEqualTo("TURN_UNREADABLE");
        world.deliver(TimerKind.TASK_RETRY, world.task("a").id());
        world.claim("a");
        assertThat(world.task("a").attempt()).isEqualTo(2);
    }

    @Test
    void aNewAttemptOfTheTaskGoesOnWithTheTurnThatFailed() {
        call("read");
        world.complete(world.claim("a"));
        world.exhaustStep("a");
        world.nextBackoff();
        assertThat(world.task("a").attempt()).isEqualTo(2);
        assertThat(steps()).containsExactly("turn completed", "read#2 completed", "turn#3 pending");
    }

    @Test
    void requestForNextWorkSkipsARefusedCall() {
        NextStepRequest request = new NextStepRequest("w1", Set.of("read"), World.LEASE);
        StepRow turn = world.claim("a");
        Result result = new Result("1", Tokens.NONE, null, null, List.of(), null, calls("write", "read"));
        Command done = new Command.Complete(world.id(), turn.id(), 1, result, request, Actor.agent("w1"));
        assertThat(world.send(done)).isInstanceOf(Reply.Claimed.class);
        assertThat(world.send(done)).isEqualTo(new Reply.Duplicate(world.task("a").steps().get(2).id()));
    }

    @Test
    void aPauseKeepsTheCallsThatAreToBeMade() {
        StepRow turn = world.claim("a");
        world.done(new Command.Pause(world.id(), null, World.WHO));
        world.send(new Command.Complete(world.id(), turn.id(), 1,
                new Result("1", Tokens.NONE, null, null, List.of(), null, calls("read")), Actor.agent("w1")));
        assertThat(world.queue).isEmpty();
        world.done(new Command.Resume(world.id(), World.WHO));
        assertThat(world.claim("a").spec().tool()).isEqualTo("read");
    }

    @Test
    void theAssignmentIsExplained() {
        world.claim("a");
        assertThat(
                world.events.stream().filter(event -> event.type() == EventType.TASK_ASSIGNED).findFirst().orElseThrow()
                        .members())
                .containsEntry("agent", "ann").containsEntry("agent_id", 7).containsEntry("model", "large")
                .containsEntry("candidates", List.of("ann 1000")).containsEntry("runs_on", "workers");
    }

    /** A call that an infrastructure failure has interrupted keeps its key, and further ones have others. */
    @Test
    void keysOfCallsFollowTheirContent() {
        answer(asking("x", "y", "x"), "w1", null);
        assertThat(keys()).containsExactly("/1/a/read:x/1", "/1/a/read:y/1", "/1/a/read:x/2");
        world.complete(world.claim("a"));
        world.claim("a");
        again(ErrorClass.INFRASTRUCTURE);
        assertThat(keys()).as("after an infrastructure failure").containsExactly("/1/a/read:x/1", "/1/a/read:y/1",
                "/1/a/read:x/2");
        world.complete(world.claim("a"));
        world.complete(world.claim("a"));
        answer(asking("z", "x"), "w2", null);
        assertThat(keys()).containsExactly("/1/a/read:x/1", "/1/a/read:y/1", "/1/a/read:x/2", "/1/a/read:z/1",
                "/1/a/read:x/3");
    }

    private static TurnAnswer asking(String... digests) {
        return new TurnAnswer.Calls(Arrays.stream(digests).map(digest -> new TurnAnswer.Call("read",
                "\"" + digest + "\"", digest, RetryPolicy.STEP, Duration.ofSeconds(9))).toList());
    }

    private List<String> keys() {
        return world.task("a").steps().stream().filter(step -> step.spec().kind() == StepKind.CALL)
                .map(step -> step.effectKey(world.view.run()).substring(world.id().toString().length())).toList();
    }

    /** The next attempt of a task that a lost worker, a timeout or a rejected output has ended. */
    private void again(ErrorClass errorClass) {
        TaskRow task = world.task("a");
        if (errorClass == ErrorClass.INFRASTRUCTURE) {
            world.now = world.now.plus(Duration.ofHours(1));
            world.send(new Command.TimerDue(world.id(), TimerKind.WATCH, world.id(), Actor.SYSTEM));
        } else {
            world.fail(world.claim("a"), errorClass);
        }
        assertThat(task.state()).isEqualTo(TaskState.AWAITING_RETRY);
        world.deliver(TimerKind.TASK_RETRY, task.id());
    }

    @Test
    void infrastructureFailureRepeatsOnlyTheTurnThatHasNotEnded() {
        call("read");
        world.complete(world.claim("a"));
        call("read", "read");
        world.complete(world.claim("a"));
        StepRow interrupted = world.claim("a");
        List<StepRow> before = List.copyOf(world.task("a").steps());
        again(ErrorClass.INFRASTRUCTURE);
        assertThat(steps()).containsExactly("turn completed", "read#2 completed", "turn#3 completed",
                "read#4 completed",
                "read#5 pending", "turn#6 pending");
        assertThat(world.task("a").steps().subList(0, 4)).isEqualTo(before.subList(0, 4));
        assertThat(world.task("a").steps()).allMatch(step -> step.taskAttempt() == 2);
        StepRow repeated = world.claim("a");
        assertThat(repeated.id()).isNotEqualTo(interrupted.id());
        assertThat(repeated.effectKey(world.view.run())).isEqualTo(interrupted.effectKey(world.view.run()));
        world.complete(repeated);
        answer(new TurnAnswer.Done("1"), "w1", null);
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
        assertThat(world.view.run().stepCount).isEqualTo(6);
    }

    @Test
    void infrastructureFailureRepeatsTheFirstTurn() {
        world.claim("a");
        again(ErrorClass.INFRASTRUCTURE);
        assertThat(steps()).containsExactly("turn pending");
    }

    @Test
    void qualityFailureBeginsAgainUnlessThePolicyKeepsTurns() {
        world = world(0, RunsOn.SERVER);
        call("read");
        world.complete(world.claim("a"));
        again(ErrorClass.QUALITY);
        assertThat(steps()).containsExactly("turn pending");
        assertThat(world.task("a").effectGeneration()).isEqualTo(2);
    }

    @Test
    void rejectedOutputIsFollowedByATurnWhereThePolicyKeepsTurns() {
        RunPolicy policy = rules().policy();
        world = World.start(policy.with(policy.failures().keeping(true)), plan(task("a").step(turn(RunsOn.WORKERS))
                .verify("v").taskRetry(RetryPolicy.TASK)));
        answer(new TurnAnswer.Done("1"), "w1", null);
        world.verdict(world.claim("a"), Verdict.Outcome.REJECTED);
        world.deliver(TimerKind.TASK_RETRY, world.task("a").id());
        assertThat(steps()).containsExactly("turn completed", "turn#2 pending");
        assertThat(world.claim("a").setback()).isNotNull();
    }

    /** The judge has had its time: the answer is paid for again, but no earlier turn. */
    @Test
    void timeoutAfterTheLastTurnRepeatsTheTurn() {
        world = World.start(rules().policy(), plan(task("a").step(turn(RunsOn.WORKERS)).verify("v")
                .taskRetry(RetryPolicy.TASK)));
        answer(new TurnAnswer.Again(), "w1", null);
        answer(new TurnAnswer.Done("1"), "w1", null);
        world.claim("a");
        again(ErrorClass.INFRASTRUCTURE);
        assertThat(steps()).containsExactly("turn completed", "turn#2 pending");
    }

    /** A call that may have had its effect. */
    private StepRow effect() {
        answer(new TurnAnswer.Calls(List.of(new TurnAnswer.Call("read", "{}", "x", RetryPolicy.NONE,
                Duration.ofSeconds(9)))), "w1", null);
        return world.claim("a");
    }

    @ParameterizedTest
    @CsvSource({"lease", "timeout"})
    void callWithAnUnknownOutcomeIsNotRepeated(String how) {
        StepRow call = effect();
        if (how.equals("lease")) {
            world.expire(call);
        } else {
            world.done(new Command.Fail(world.id(), call.id(), call.leaseEpoch(),
                    new StepError("STEP_TIMEOUT", ErrorClass.INFRASTRUCTURE, "too long"), Result.of("null"),
                    Actor.RECONCILER));
        }
        assertThat(steps()).containsExactly("turn completed", "read#2 failed", "turn#3 pending");
        assertThat(call.errorCode()).isEqualTo("OUTCOME_UNKNOWN");
        assertThat(call.leaseEpoch()).isEqualTo(1);
        answer(new TurnAnswer.Done("1"), "w1", null);
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void callWithAnUnknownOutcomeIsNotRepeatedByTheNextAttempt() {
        effect();
        again(ErrorClass.INFRASTRUCTURE);
        assertThat(steps()).containsExactly("turn completed", "read#2 skipped", "turn#3 pending");
        assertThat(world.task("a").steps().get(1).errorCode()).isEqualTo("OUTCOME_UNKNOWN");
        assertThat(world.claim("a").spec().kind()).isEqualTo(StepKind.TURN);
    }

    @Test
    void callThatWasHandedBackOrNotBegunIsExecuted() {
        StepRow call = effect();
        world.done(new Command.Release(world.id(), call.id(), call.leaseEpoch(), World.WHO));
        assertThat(world.claim("a").id()).isEqualTo(call.id());
        world = world(0);
        answer(new TurnAnswer.Calls(List.of(new TurnAnswer.Call("read", "{}", "x", RetryPolicy.STEP,
                Duration.ofSeconds(9)),
                new TurnAnswer.Call("read", "{}", "y", RetryPolicy.NONE, Duration.ofSeconds(9)))), "w1", null);
        world.claim("a");
        again(ErrorClass.INFRASTRUCTURE);
        assertThat(steps()).containsExactly("turn completed", "read#2 pending", "read#3 pending", "turn#4 pending");
    }
}
