package io.keelson.core.decide;

import static io.keelson.core.decide.Plans.plan;
import static io.keelson.core.decide.Plans.task;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.money.Funds;
import io.keelson.core.plan.FailureRules;
import io.keelson.core.plan.Hooks;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.plan.StepKind;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.plan.TaskPolicy;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.policy.EscalationPolicy;
import io.keelson.core.policy.FailureMode;
import io.keelson.core.policy.RetryPolicy;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command;
import io.keelson.core.run.Command.Evaluation;
import io.keelson.core.run.Result;
import io.keelson.core.run.StepError;
import io.keelson.core.run.TimerKind;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** What simulations found where failures, hooks, new plans and pauses meet. */
class FailuresMeetPlansTest {

    @Test
    void aRunWhoseFirstHookFailsMeanwhileTakesNoNewPlan() {
        FailureRules rules = new FailureRules(FailureMode.FAIL_FAST, FailureMode.FAIL_FAST, RetryPolicy.TASK,
                RetryPolicy.LEVEL, EscalationPolicy.OFF, step("planner", StepKind.TOOL), 2, false, false);
        World world = World.start(RunPolicy.DEFAULT.with(rules).with(new Hooks(step("before", StepKind.TOOL), null)),
                plan(task("a")));
        StepRow hook = world.claimAll().getFirst();
        world.done(new Command.Replan(world.id(), null, World.WHO));
        world.complete(world.claimAll().getFirst());
        world.fail(hook, ErrorClass.PERMANENT);
        world.answer(world.evaluations.getFirst(), new Evaluation.Planned(plan(task("new")), "{}"));
        assertThat(world.taskStates()).doesNotContainKey("new");
        assertThat(world.state()).isEqualTo(RunState.FAILED);
    }

    /** The second agent's failure belongs to the attempt that the first one's has ended. */
    @Test
    void aRunThatStartsOverAfterAFailedReplanIsNotFailing() {
        World world = World.start(Rules.rules().run(FailureMode.RETRY).planner().replans(1).policy(),
                plan(once("a", "x"), once("b", "y")));
        List<StepRow> steps = List.of(world.claim("a"), world.claim("b"));
        world.done(new Command.Replan(world.id(), null, World.WHO));
        steps.forEach(step -> world.fail(step, ErrorClass.INFRASTRUCTURE));
        world.complete(world.claim(".plan-1"));
        world.answer(world.evaluations.getLast(),
                new Evaluation.Broken(new StepError("NO_PLAN", ErrorClass.PERMANENT, "no plan")));
        assertThat(world.state()).isEqualTo(RunState.RETRYING);
        assertThat(world.view.run().failing()).isFalse();
        world.nextTimer();
        world.work();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    private static Plans.T once(String id, String agent) {
        return task(id).agent(agent).taskRetry(Plans.ONCE).retry(Plans.ONCE).step("s1", StepKind.TOOL);
    }

    @Test
    void newPlanRequestWithdrawsTheOutputEvaluation() {
        FailureRules rules = new FailureRules(FailureMode.FAIL_FAST, FailureMode.FAIL_FAST, RetryPolicy.TASK,
                RetryPolicy.LEVEL, EscalationPolicy.OFF, step("planner", StepKind.TOOL), 2, false, false);
        World world = World.startWithOutput(RunPolicy.DEFAULT.with(rules), plan(task("a")));
        world.work();
        ChangeSet.Evaluate output = world.evaluations.getFirst();
        world.done(new Command.Replan(world.id(), null, World.WHO));
        world.answer(output, new Evaluation.Output("1"));
        assertThat(world.state()).isEqualTo(RunState.RUNNING);
    }

    @Test
    void anAgentThatStartsOverWhileTheRunIsHeldUpIsWritten() {
        FailureRules rules = new FailureRules(FailureMode.FAIL_FAST, FailureMode.RETRY, RetryPolicy.TASK,
                RetryPolicy.LEVEL, EscalationPolicy.OFF, null, 2, false, false);
        World world = World.start(RunPolicy.DEFAULT.with(rules), plan(task("a")));
        StepRow step = world.claimAll().getFirst();
        world.fail(step, ErrorClass.INFRASTRUCTURE);
        world.nextTimer();
        step = world.claimAll().getFirst();
        world.fail(step, ErrorClass.INFRASTRUCTURE);
        world.nextTimer();
        step = world.claimAll().getFirst();
        world.done(new Command.Pause(world.id(), null, World.WHO));
        ChangeSet changes = new ChangeSet();
        Decider.decide(world.view, new Command.Fail(world.id(), step.id(), step.leaseEpoch(),
                new StepError("X", ErrorClass.INFRASTRUCTURE, "x"), Result.of("null"), World.WHO), changes, world.now,
                UUID::randomUUID, LocalCapacity.none(), Funds.UNLIMITED);
        assertThat(world.view.agents().getFirst().attempt()).isEqualTo(2);
        assertThat(changes.agents()).containsExactly(world.view.agents().getFirst());
    }

    @Test
    void aVerifiersBackoffThatAnotherNodeFoundOverIsArmedAgainByANodeThatIsBehind() {
        World world = World.start(RunPolicy.DEFAULT.with(rules()), plan(task("a").policy(new TaskPolicy(
                FailureMode.FAIL_FAST, null, List.of(step("judge", StepKind.VERIFY)), false, null))));
        world.complete(world.claimAll().getFirst());
        world.fail(world.claimAll().getFirst(), ErrorClass.INFRASTRUCTURE);
        StepRow judge = world.step("a", "judge");
        assertThat(judge.state()).isEqualTo(StepState.AWAITING_RETRY);
        world.done(new Command.Pause(world.id(), null, World.WHO));
        world.now = judge.nextRunAt();
        world.send(new Command.TimerDue(world.id(), TimerKind.STEP_RETRY, judge.id(), Actor.SYSTEM));
        world.now = world.now.minus(Duration.ofMillis(3));
        world.done(new Command.Resume(world.id(), World.WHO));
        assertThat(world.timers).containsKey(new ChangeSet.TimerKey(TimerKind.STEP_RETRY, judge.id()));
    }

    private static FailureRules rules() {
        return new FailureRules(FailureMode.FAIL_FAST, FailureMode.FAIL_FAST, RetryPolicy.TASK, RetryPolicy.LEVEL,
                EscalationPolicy.OFF, null, 2, false, false);
    }

    private static StepSpec step(String name, StepKind kind) {
        return new StepSpec(name, kind, "noop", "{}", RetryPolicy.STEP, Duration.ofSeconds(30));
    }
}
