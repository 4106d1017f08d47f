package io.keelson.core.decide;

import static io.keelson.core.decide.Plans.plan;
import static io.keelson.core.decide.Plans.task;
import static io.keelson.core.decide.Rules.rules;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.lifecycle.EventType;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.plan.StepKind;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.policy.FailureMode;
import io.keelson.core.policy.RetryPolicy;
import io.keelson.core.run.Command;
import io.keelson.core.run.Reply;
import io.keelson.core.run.Result;
import io.keelson.core.run.StepError;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The rows of the table of retry policies, each seen in the events of a run whose tool always fails. */
class RetryRowsTest {
    private static final RunPolicy POLICY = rules().policy();

    @Test
    void stepLevelThreeAttemptsFromAHundredMillisecondsWithTenPercentJitter() {
        World world = play(task("a").steps(1));
        assertThat(reasons(world)).containsExactly("step_retrying retry_scheduled", "step_retrying retry_scheduled",
                "step_failed attempt_budget_exhausted");
        List<Double> delays = delays(world, "step_retrying");
        assertThat(delays.get(0)).isBetween(0.09, 0.11);
        assertThat(delays.get(1)).isBetween(0.18, 0.22);
    }

    @Test
    void taskLevelThreeAttemptsFromTenSeconds() {
        World world = play(task("a").retry(Plans.ONCE).step("t", StepKind.TURN));
        assertThat(delays(world, "task_retrying")).containsExactly(10.0, 20.0);
        assertThat(world.last("task_failed").members()).containsEntry("reason", "attempt_budget_exhausted");
        assertThat(world.view.run().taskCount).isEqualTo(1);
        assertThat(world.task("a").attempt()).isEqualTo(3);
    }

    @Test
    void agentLevelThreeAttemptsFromAHundredMilliseconds() {
        World world = World.start(rules().agent(FailureMode.RETRY).policy(), plan(task("a").retry(Plans.ONCE)));
        world.playOut("a");
        List<Double> delays = delays(world, "agent_retrying");
        assertThat(delays).hasSize(2);
        assertThat(delays.get(0)).isBetween(0.09, 0.11);
        assertThat(delays.get(1)).isBetween(0.18, 0.22);
        assertThat(world.last("agent_retrying").members()).containsEntry("reason", "retry_scheduled")
                .containsEntry("attempts", 2).containsEntry("failures", 2).containsEntry("remaining_attempts", 1)
                .containsEntry("remaining_failures", 1);
    }

    @Test
    void runLevelThreeAttemptsFromAHundredMilliseconds() {
        World world = World.start(rules().run(FailureMode.RETRY).policy(), plan(task("a").retry(Plans.ONCE)));
        world.playOut("a");
        List<Double> delays = delays(world, "run_retrying");
        assertThat(delays).hasSize(2);
        assertThat(delays.get(0)).isBetween(0.09, 0.11);
        assertThat(delays.get(1)).isBetween(0.18, 0.22);
        assertThat(world.last("run_retrying").members()).containsEntry("reason", "retry_scheduled")
                .containsEntry("attempts", 2).containsEntry("failures", 2).containsEntry("remaining_attempts", 1)
                .containsEntry("remaining_failures", 1);
        assertThat(world.view.run().attempt()).isEqualTo(3);
        assertThat(world.state()).isEqualTo(RunState.FAILED);
    }

    @Test
    void aRetryOfARunThatIsBeingTriedAgainChangesNothing() {
        World world = World.start(POLICY, plan(task("a").retry(Plans.ONCE)));
        world.playOut("a");
        Command retry = new Command.Retry(world.id(), false, World.WHO);
        world.done(retry);
        long events = world.view.run().seq;
        assertThat(world.send(retry)).isEqualTo(Reply.UNCHANGED);
        assertThat(world.view.run().seq).isEqualTo(events);
        assertThat(world.view.run().attempt()).isEqualTo(2);
        world.claim("a");
        assertThat(world.send(retry)).isInstanceOf(Reply.Rejected.class);
    }

    @Test
    void presetGate4WithABaseOfTwoSeconds() {
        World world = play(task("a")
                .retry(new RetryPolicy(3, 3, Duration.ofSeconds(2), Duration.ofSeconds(30), 2, 0)).steps(1));
        assertThat(reasons(world)).containsExactly("step_retrying retry_scheduled", "step_retrying retry_scheduled",
                "step_failed attempt_budget_exhausted");
        assertThat(delays(world, "step_retrying")).containsExactly(2.0, 4.0);
    }

    @Test
    void presetGate4() {
        assertThat(delays(play(task("a").retry(preset("gate4")).steps(1)), "step_retrying")).containsExactly(1.0, 2.0);
    }

    @Test
    void fiveAttemptsButTwoFailures() {
        World world = play(task("a")
                .retry(new RetryPolicy(5, 2, Duration.ofSeconds(2), Duration.ofSeconds(30), 2, 0)).steps(1));
        assertThat(reasons(world)).containsExactly("step_retrying retry_scheduled",
                "step_failed failure_budget_exhausted");
        assertThat(world.last("step_failed").members()).containsEntry("attempts", 2).containsEntry("failures", 2)
                .containsEntry("remaining_attempts", 3).containsEntry("remaining_failures", 0);
    }

    @Test
    void presetLifecycleThreeRetriesUpToFourSeconds() {
        World world = play(task("a").retry(preset("lifecycle")).steps(1));
        assertThat(delays(world, "step_retrying")).containsExactly(1.0, 2.0, 4.0);
    }

    @Test
    void presetStepsTwoToThePowerOfAttemptsTimesTheBase() {
        assertThat(delays(play(task("a").retry(preset("steps")).steps(1)), "step_retrying")).containsExactly(0.2, 0.4);
    }

    @Test
    void totalRetryTimeEndsASeriesThatHasAttemptsLeft() {
        World world = play(task("a").retry(new RetryPolicy(100, 100, Duration.ofSeconds(10), Duration.ofSeconds(10), 2,
                0, Duration.ofSeconds(25))).steps(1));
        assertThat(reasons(world)).containsExactly("step_retrying retry_scheduled", "step_retrying retry_scheduled",
                "step_retrying retry_scheduled", "step_failed retry_time_exhausted");
    }

    @Test
    void timeWithoutAnEngineIsNoRetryTime() {
        World world = World.start(POLICY, plan(task("a").retry(new RetryPolicy(100, 100, Duration.ofSeconds(10),
                Duration.ofSeconds(10), 2, 0, Duration.ofSeconds(25))).steps(1)));
        StepRow step = world.claim("a");
        world.outage(Duration.ofHours(8));
        world.fail(step, ErrorClass.INFRASTRUCTURE);
        assertThat(world.last("step_retrying").members()).containsEntry("reason", "retry_scheduled");
    }

    @Test
    void anAttemptHandedBackCountsNoFailure() {
        World world = World.start(POLICY, plan(task("a")));
        for (int i = 0; i < 5; i++) {
            StepRow step = world.claim("a");
            world.done(new Command.Release(world.id(), step.id(), step.leaseEpoch(), World.WHO));
        }
        world.fail(world.claim("a"), ErrorClass.INFRASTRUCTURE);
        assertThat(world.last("step_retrying").members()).containsEntry("attempts", 1).containsEntry("failures", 1);
    }

    @Test
    void retryAfterIsHonoured() {
        World world = World.start(POLICY, plan(task("a")));
        StepRow step = world.claim("a");
        StepError error = new StepError("HTTP_429", ErrorClass.INFRASTRUCTURE, "slow down", Duration.ofSeconds(77));
        world.done(new Command.Fail(world.id(), step.id(), 1, error, Result.of("null"), World.WHO));
        assertThat(delays(world, "step_retrying")).containsExactly(77.0);
        assertThat(step.nextRunAt()).isEqualTo(world.now.plusSeconds(77));
    }

    @Test
    void aPermanentErrorIsTriedOnceOnEveryLevel() {
        World world = World.start(rules().run(FailureMode.RETRY).agent(FailureMode.RETRY).policy(),
                plan(task("a").mode(FailureMode.RETRY)));
        world.playOut(ErrorClass.PERMANENT, "a");
        assertThat(world.events("step_started")).hasSize(1);
        assertThat(world.state()).isEqualTo(RunState.FAILED);
        assertThat(world.view.run().attempt()).isEqualTo(1);
        assertThat(world.last("step_failed").members()).containsEntry("reason", "non_retryable_error");
        assertThat(world.last("task_failed").members()).containsEntry("reason", "non_retryable_error");
    }

    @Test
    void lastTaskEventHasTheDecision() {
        World world = play(task("a").retry(Plans.ONCE).step("t", StepKind.TURN));
        assertThat(world.last("task_failed").members()).containsAllEntriesOf(Map.of("attempts", 3, "failures", 3,
                "remaining_attempts", 0, "remaining_failures", 0, "error_code", "BROKEN"));
        assertThat(world.task("a").state()).isEqualTo(TaskState.FAILED);
    }

    private static World play(Plans.T task) {
        World world = World.start(POLICY, plan(task));
        world.playOut("a");
        assertThat(world.state()).isEqualTo(RunState.FAILED);
        Invariants.legal(world);
        return world;
    }

    private static RetryPolicy preset(String name) {
        return RetryPolicy.preset(name).orElseThrow();
    }

    private static List<String> reasons(World world) {
        return world.events.stream().filter(event -> event.type() == EventType.STEP_RETRYING
                || event.type() == EventType.STEP_FAILED).map(e -> e.type().wire() + " " + e.members().get("reason"))
                .toList();
    }

    private static List<Double> delays(World world, String type) {
        return world.events(type).stream().map(event -> (Double) event.members().get("retry_after_seconds")).toList();
    }
}
