package io.keelson.core.decide;

import static io.keelson.core.decide.Plans.plan;
import static io.keelson.core.decide.Plans.task;
import static io.keelson.core.decide.Rules.rules;
import static org.assertj.core.api.Assertions.assertThat;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Command;
import io.keelson.core.run.Command.DecideTask.Choice;
import io.keelson.core.run.Event;
import io.keelson.core.run.Reply;
import io.keelson.core.run.Result;
import io.keelson.core.run.Verdict;
import io.keelson.core.run.Verdict.Outcome;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The judgement of a task's output, by verifiers and by a person. */
class VerificationTest {
    private World world;

    @AfterEach
    void everyEventWasLegal() {
        Invariants.legal(world);
    }

    @ParameterizedTest(name = "{0}: task {1}")
    @CsvSource({"PASSED, completed", "REJECTED, awaiting_retry", "UNSURE, awaiting_human"})
    void verdicts(Outcome outcome, String state) {
        start(task("a").verify("v"));
        assertThat(world.task("a").state()).isEqualTo(TaskState.VERIFYING);
        world.verdict(world.claim("a"), outcome);
        assertThat(world.task("a").state().wire()).isEqualTo(state);
        assertThat(world.task("a").verifiedBy).isEqualTo("auto");
        assertThat(world.task("a").verifierScore).isEqualByComparingTo(BigDecimal.ONE);
    }

    @ParameterizedTest(name = "{0} with score {1}, threshold {2}: task {3}")
    @CsvSource(nullValues = "-", value = {"PASSED, 0.8, 0.8, completed, -", "PASSED, 0.79, 0.8, awaiting_human, "
            + "the score 0.79 is below 0.8", "PASSED, -, 0.8, awaiting_human, the verifier gives no score",
            "PASSED, -, -, completed, -", "PASSED, 0.1, -, completed, -", "PASSED, 0, 0, completed, -",
            "UNSURE, 0.9, 0.8, awaiting_human, the verifier is not sure", "REJECTED, 0.9, 0.8, awaiting_retry, -"})
    void aScoreBelowTheThresholdGoesToAHuman(Outcome outcome, BigDecimal score, BigDecimal least, String state,
            String reason) {
        start(task("a").verify("v").threshold("v", least));
        world.verdict(world.claim("a"), new Verdict(outcome, score, "feedback"));
        assertThat(world.task("a").state().wire()).isEqualTo(state);
        if (reason != null) {
            Event asked = world.last("task_human_review_requested");
            assertThat(asked.members()).containsEntry("reason", reason).containsEntry("feedback", "feedback");
            assertThat(asked.members().get("score")).isEqualTo(score == null ? null
                    : score.setScale(2).toPlainString());
        }
    }

    @Test
    void rejectedOutputIsRepeatedWithTheFeedback() {
        start(task("a").verify("v"));
        StepRow work = world.step("a", "s1");
        world.verdict(world.claim("a"), Outcome.REJECTED);
        Event event = world.last("task_verification_failed");
        assertThat(event.members()).containsEntry("error_class", "quality").containsEntry("error_message", "feedback")
                .containsEntry("reason", "retry_scheduled").containsEntry("retry_after_seconds", 10.0);
        assertThat(world.events("task_crashed")).isEmpty();
        world.nextBackoff();
        assertThat(world.task("a").attempt()).isEqualTo(2);
        assertThat(world.task("a").errorMessage()).as("for the next prompt").isEqualTo("feedback");
        assertThat(world.task("a").effectGeneration()).as("effects are made again").isEqualTo(2);
        assertThat(world.step("a", "s1")).isNotSameAs(work);
        assertThat(world.task("a").steps()).as("the old verifier is gone").hasSize(1);
        world.work();
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void anOutputRejectedThreeTimesFailsItsTask() {
        start(task("a").verify("v"));
        for (int i = 1; i <= 3; i++) {
            world.verdict(world.claim("a"), Outcome.REJECTED);
            if (i < 3) {
                world.nextBackoff();
                world.complete(world.claim("a"));
            }
        }
        assertThat(world.state()).isEqualTo(RunState.FAILED);
        assertThat(world.view.run().errorCode()).isEqualTo("VERIFICATION_REJECTED");
    }

    @Test
    void infrastructureFailuresBypassVerification() {
        world = World.start(rules().policy(), plan(task("a").verify("v")));
        world.fail(world.claim("a"), ErrorClass.INFRASTRUCTURE);
        assertThat(world.events("task_output_submitted")).isEmpty();
        assertThat(world.step("a", "s1").state()).isEqualTo(StepState.AWAITING_RETRY);
    }

    @Test
    void verifiersJudgeInOrderAndTheFirstRejectionDecides() {
        start(task("a").verify("v1", "v2", "v3"));
        StepRow first = world.claim("a");
        assertThat(first.name()).isEqualTo("v1");
        world.verdict(first, Outcome.PASSED);
        StepRow second = world.claim("a");
        assertThat(second.name()).isEqualTo("v2");
        StepRow third = world.step("a", "v3");
        world.verdict(second, Outcome.REJECTED);
        assertThat(third.state()).isEqualTo(StepState.CANCELLED);
        assertThat(world.task("a").state()).isEqualTo(TaskState.AWAITING_RETRY);
    }

    @Test
    void aVerifierThatFailsForGoodLeavesTheJudgementToAHuman() {
        start(task("a").verify("v"));
        world.exhaustStep("a");
        assertThat(world.task("a").state()).isEqualTo(TaskState.AWAITING_HUMAN);
        assertThat(world.last("task_human_review_requested").members().get("reason").toString()).contains("BROKEN");
    }

    @Test
    void verifierWithAnInvalidAnswerIsRetried() {
        start(task("a").verify("v"));
        StepRow verifier = world.claim("a");
        assertThat(world.refused(new Command.Complete(world.id(), verifier.id(), verifier.leaseEpoch(), Result.of("1"),
                World.WHO)).code()).isEqualTo("VERDICT_UNREADABLE");
        assertThat(verifier.state()).isEqualTo(StepState.AWAITING_RETRY);
        assertThat(verifier.errorCode()).isEqualTo("VERDICT_UNREADABLE");
    }

    @Test
    void aReviewedTaskWaitsForAHumanAfterItsVerifiers() {
        start(task("a").verify("v").review());
        world.verdict(world.claim("a"), Outcome.PASSED);
        assertThat(world.task("a").state()).isEqualTo(TaskState.AWAITING_HUMAN);
        decide(Choice.APPROVE, 1);
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
        assertThat(world.last("task_human_approved").members()).containsEntry("approved_by", "ann");
        assertThat(world.last("task_human_approved").actor()).isEqualTo(World.WHO);
    }

    @Test
    void aTaskWithoutVerifiersMayBeReviewedToo() {
        start(task("a").review());
        assertThat(world.task("a").state()).isEqualTo(TaskState.AWAITING_HUMAN);
    }

    @Test
    void aRejectionByAHumanIsFinal() {
        start(task("a").review());
        decide(Choice.REJECT, 1);
        assertThat(world.state()).isEqualTo(RunState.FAILED);
        assertThat(world.view.run().errorCode()).isEqualTo("OUTPUT_REJECTED");
        assertThat(world.task("a").attempt()).isEqualTo(1);
        assertThat(world.task("a").verifiedBy).isEqualTo("human");
        assertThat(world.last("task_human_rejected").members()).containsEntry("reason", "because")
                .containsEntry("retries_remaining", 2);
    }

    @Test
    void aHumanMayHaveItDoneAgainWhileRetriesAreLeft() {
        start(task("a").review());
        for (int gate = 1; gate <= 2; gate++) {
            decide(Choice.RETRY, gate);
            assertThat(world.last("task_human_rejected").members()).containsEntry("retries_remaining", 3 - gate);
            assertThat(world.task("a").attempt()).isEqualTo(gate + 1);
            assertThat(world.task("a").errorMessage()).isEqualTo("because");
            world.complete(world.claim("a"));
        }
        assertThat(world.refused(command(Choice.RETRY, 3)).code()).isEqualTo("RETRIES_EXHAUSTED");
        decide(Choice.APPROVE, 3);
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void decisionsAreBoundToOneGate() {
        start(task("a").review());
        decide(Choice.RETRY, 1);
        world.complete(world.claim("a"));
        assertThat(world.refused(command(Choice.APPROVE, 1)).code()).isEqualTo("GATE_CHANGED");
        assertThat(world.task("a").state()).isEqualTo(TaskState.AWAITING_HUMAN);
    }

    @ParameterizedTest
    @CsvSource({"APPROVE", "REJECT", "RETRY"})
    void decisionsAreIdempotent(Choice choice) {
        start(task("a").review());
        decide(choice, 1);
        assertThat(world.send(command(choice, 1))).isEqualTo(Reply.UNCHANGED);
    }

    @ParameterizedTest
    @CsvSource({"APPROVE, REJECT", "REJECT, APPROVE", "RETRY, APPROVE", "RETRY, REJECT", "APPROVE, RETRY"})
    void anotherDecisionAboutTheSameGateIsRefused(Choice first, Choice second) {
        start(task("a").review());
        decide(first, 1);
        assertThat(world.refused(command(second, 1)).code()).isEqualTo("INVALID_STATE_TRANSITION");
    }

    @Test
    void noVerdictWithinThreeMinutesIsAHumansMatter() {
        start(task("a").verify("v"));
        StepRow verifier = world.claim("a");
        world.watchUntil(world.now.plus(Duration.ofMinutes(3)));
        assertThat(world.task("a").state()).isEqualTo(TaskState.AWAITING_HUMAN);
        assertThat(verifier.state()).isEqualTo(StepState.CANCELLED);
        assertThat(world.refused(new Command.Complete(world.id(), verifier.id(), 1, World.GOOD, World.WHO)).code())
                .isEqualTo("STALE_LEASE");
    }

    @Test
    void pauseDuringVerificationKeepsTheVerdict() {
        start(task("a").verify("v1", "v2"));
        StepRow verifier = world.claim("a");
        world.done(new Command.Pause(world.id(), null, World.WHO));
        world.verdict(verifier, Outcome.PASSED);
        assertThat(world.queue).isEmpty();
        world.done(new Command.Resume(world.id(), World.WHO));
        world.verdict(world.claim("a"), Outcome.PASSED);
        assertThat(world.state()).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void verifiedTaskKeepsItsSlotUntilAHumanIsAsked() {
        start(task("a").verify("v"));
        assertThat(world.task("a").hasSlot).isTrue();
        world.verdict(world.claim("a"), Outcome.UNSURE);
        assertThat(world.task("a").hasSlot).isFalse();
    }

    /** The task's work is done. */
    private void start(Plans.T task) {
        world = World.start(rules().policy(), plan(task));
        List<StepRow> claimed = world.claimAll();
        claimed.forEach(world::complete);
    }

    private void decide(Choice choice, int gate) {
        world.done(command(choice, gate));
    }

    private Command.DecideTask command(Choice choice, int gate) {
        return new Command.DecideTask(world.id(), world.task("a").id(), choice, gate, "because", World.WHO);
    }
}
