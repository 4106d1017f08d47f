package io.keelson.core.decide;

import static io.keelson.core.decide.Plans.plan;
import static io.keelson.core.decide.Plans.task;
import static io.keelson.core.decide.Rules.rules;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.RunPolicy;
import io.keelson.core.plan.StepKind;
import io.keelson.core.plan.TriggerRule;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.policy.FailureMode;
import io.keelson.core.run.Command;
import io.keelson.core.run.Command.DecideTask.Choice;
import io.keelson.core.run.Command.Evaluation;
import io.keelson.core.run.Verdict.Outcome;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Effect keys of repeated rows: the same after an infrastructure failure, new after a rejected output.
 */
class EffectGenerationsTest {
    private World world;

    @AfterEach
    void everyEventWasLegal() {
        Invariants.legal(world);
    }

    @Test
    void workRejectedInTheLastAttemptHasANewKey() {
        start(RunPolicy.DEFAULT, task("a").taskRetry(Plans.ONCE).verify("v"), task("b"));
        assertThat(key("a", "s1")).isEqualTo(world.id() + "/1/a/s1");
        world.claimAll().forEach(world::complete);
        world.verdict(world.claim("a"), Outcome.REJECTED);
        retry(false);
        assertThat(key("a", "s1")).isEqualTo(world.id() + "/1.2/a/s1");
        assertThat(world.task("b").reusedFrom()).as("not rejected").isNotNull();
    }

    @Test
    void workEndedByAnotherFailureKeepsItsKey() {
        start(RunPolicy.DEFAULT, task("a").verify("v").retry(Plans.ONCE).step("s1", StepKind.TOOL)
                .step("s2", StepKind.TOOL));
        world.complete(world.claim("a"));
        world.complete(world.claim("a"));
        world.verdict(world.claim("a"), Outcome.REJECTED);
        world.nextBackoff();
        String second = key("a", "s1");
        assertThat(second).isEqualTo(world.id() + "/1.2/a/s1");
        world.complete(world.claim("a"));
        world.fail(world.claim("a"), ErrorClass.INFRASTRUCTURE);
        retry(false);
        assertThat(key("a", "s1")).isEqualTo(second);
        world.fail(world.claim("a"), ErrorClass.PERMANENT);
        retry(false);
        assertThat(key("a", "s1")).isEqualTo(second);
    }

    /** The task is skipped with its first error; the run fails for another task. */
    @ParameterizedTest
    @CsvSource({"QUALITY, QUALITY, /1.2/", "INFRASTRUCTURE, QUALITY, /1.2/", "QUALITY, PERMANENT, /1.2/",
            "INFRASTRUCTURE, PERMANENT, /1/"})
    void ignoredFailuresRenewTheKeyIfOneWasARejection(ErrorClass first, ErrorClass second, String generation) {
        start(RunPolicy.DEFAULT, task("a").mode(FailureMode.CONTINUE).retry(Plans.ONCE).steps(2),
                task("b").on("a").rule(TriggerRule.ALWAYS).taskRetry(Plans.ONCE).retry(Plans.ONCE));
        world.fail(world.claim("a"), first);
        world.fail(world.claim("a"), second);
        assertThat(world.task("a").state()).isEqualTo(TaskState.SKIPPED);
        world.fail(world.claim("b"), ErrorClass.PERMANENT);
        retry(false);
        assertThat(key("a", "s1")).isEqualTo(world.id() + generation + "a/s1");
    }

    /** The same task is executed further, and its other steps keep their keys. */
    @Test
    void anIgnoredRejectionKeepsTheKeysOfATaskThatCompletes() {
        start(RunPolicy.DEFAULT, task("a").mode(FailureMode.CONTINUE).retry(Plans.ONCE).steps(2));
        world.fail(world.claim("a"), ErrorClass.QUALITY);
        assertThat(key("a", "s2")).isEqualTo(world.id() + "/1/a/s2");
        world.complete(world.claim("a"));
        assertThat(world.task("a").effectGeneration()).isEqualTo(1);
    }

    @Test
    void rejectedHookHasANewKey() {
        start(HooksTest.hooks(rules().policy()), task("a"));
        world.fail(world.claim(".before_run"), ErrorClass.QUALITY);
        while (!world.task(".before_run").terminal()) {
            world.nextBackoff();
            world.fail(world.claim(".before_run"), ErrorClass.QUALITY);
        }
        world.complete(world.claim(".after_run"));
        retry(false);
        StepRow hook = world.task(".before_run").steps().getFirst();
        assertThat(hook.effectKey(world.view.run())).startsWith(world.id() + "/1.2/.before_run/");
    }

    @Test
    void aRetryFromTheStartHasKeysOfItsOwn() {
        start(RunPolicy.DEFAULT, task("a").taskRetry(Plans.ONCE).verify("v"));
        world.complete(world.claim("a"));
        world.verdict(world.claim("a"), Outcome.REJECTED);
        retry(true);
        assertThat(key("a", "s1")).isEqualTo(world.id() + "/2/a/s1");
    }

    @ParameterizedTest
    @CsvSource({"REJECT", "RETRY"})
    void workRejectedByAHumanHasANewKey(Choice choice) {
        start(RunPolicy.DEFAULT, task("a").review());
        world.complete(world.claim("a"));
        world.done(new Command.DecideTask(world.id(), world.task("a").id(), choice, 1, "because", World.WHO));
        if (choice == Choice.REJECT) {
            retry(false);
        }
        assertThat(key("a", "s1")).isEqualTo(world.id() + "/1.2/a/s1");
    }

    /** The task's last attempt ends before the rejection is handled. */
    @Test
    void workRejectedAsAHumanFailedTheRunHasANewKey() {
        start(rules().escalation(Rules.ASK).policy(), task("a").taskRetry(Plans.ONCE).verify("v"));
        world.complete(world.claim("a"));
        world.verdict(world.claim("a"), Outcome.REJECTED);
        world.resolve(world.ticket(), Command.Resolution.FAIL);
        retry(false);
        assertThat(key("a", "s1")).isEqualTo(world.id() + "/1.2/a/s1");
    }

    @ParameterizedTest
    @CsvSource({"QUALITY, /1.2/", "INFRASTRUCTURE, /1/"})
    void stepFailedWithItsTicketHasANewKeyIfItWasRejected(ErrorClass error, String generation) {
        start(rules().escalation(Rules.ASK).policy(), task("a").retry(Plans.ONCE));
        world.fail(world.claim("a"), error);
        world.resolve(world.ticket(), Command.Resolution.FAIL);
        retry(false);
        assertThat(key("a", "s1")).isEqualTo(world.id() + generation + "a/s1");
    }

    @ParameterizedTest
    @CsvSource({"QUALITY, /1.2/", "INFRASTRUCTURE, /1/"})
    void stepThatAbortsItsRunHasANewKeyIfItWasRejected(ErrorClass error, String generation) {
        start(rules().policy(), task("a"));
        StepRow step = world.claim("a");
        world.now = world.now.plus(Duration.ofHours(25));
        world.fail(step, error);
        assertThat(world.state()).isEqualTo(RunState.FAILED);
        retry(false);
        assertThat(key("a", "s1")).isEqualTo(world.id() + generation + "a/s1");
    }

    @Test
    void restartedAgentChangesTheKeysOfRejectedWorkOnly() {
        start(rules().agent(FailureMode.RETRY).policy(), task("a").agent("x").taskRetry(Plans.ONCE).verify("v"),
                task("b").agent("x"));
        world.claimAll().forEach(world::complete);
        world.verdict(world.claim("a"), Outcome.REJECTED);
        assertThat(key("a", "s1")).isEqualTo(world.id() + "/1.2/a/s1");
        assertThat(key("b", "s1")).isEqualTo(world.id() + "/1/b/s1");
        world.nextBackoff();
        world.work();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void newPlansTaskInPlaceOfARejectedOneHasANewKey() {
        start(rules().planner().policy(), task("a").taskRetry(Plans.ONCE).verify("v"), task("b").taskRetry(Plans.ONCE));
        world.complete(world.claim("a"));
        world.verdict(world.claim("a"), Outcome.REJECTED);
        world.complete(world.claim(".plan-1"));
        world.answer(world.evaluations.getLast(), new Evaluation.Planned(plan(task("a"), task("b"), task("c")), "{}"));
        assertThat(List.of(key("a", "s1"), key("b", "s1"), key("c", "s1"))).containsExactly(world.id() + "/1.2/a/s1",
                world.id() + "/1/b/s1", world.id() + "/1/c/s1");
    }

    @Test
    void fannedOutTasksContinueTheGenerationsOfEarlierRows() {
        start(RunPolicy.DEFAULT, task("each").forEach("${ . }").taskRetry(Plans.ONCE).verify("v"));
        world.answer(world.evaluations.getFirst(), new Evaluation.Proceed(List.of("1", "2")));
        world.claimAll().forEach(world::complete);
        world.verdict(world.claim("each[1]"), Outcome.REJECTED);
        assertThat(world.task("each[1]").effectGeneration()).as("as the evaluator finds it").isEqualTo(2);
        retry(false);
        world.answer(world.evaluations.getLast(), new Evaluation.Proceed(List.of("1", "2"), Map.of(1, 2)));
        assertThat(key("each[0]", "s1")).isEqualTo(world.id() + "/1/each[0]/s1");
        assertThat(key("each[1]", "s1")).isEqualTo(world.id() + "/1.2/each[1]/s1");
    }

    private void start(RunPolicy policy, Plans.T... tasks) {
        world = World.start(policy, plan(tasks));
    }

    private void retry(boolean fromStart) {
        assertThat(world.state()).isEqualTo(RunState.FAILED);
        world.done(new Command.Retry(world.id(), fromStart, World.WHO));
    }

    private String key(String task, String step) {
        return world.step(task, step).effectKey(world.view.run());
    }
}
