package io.keelson.core.decide;

import io.keelson.core.lifecycle.ActorType;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.Judge;
import io.keelson.core.plan.StepSpec;
import io.keelson.core.plan.TaskPolicy;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Command;
import io.keelson.core.run.Command.DecideTask.Choice;
import io.keelson.core.run.PayloadPart;
import io.keelson.core.run.Reply;
import io.keelson.core.run.StepError;
import io.keelson.core.run.TaskPayload;
import io.keelson.core.run.TimerKind;
import io.keelson.core.run.Verdict;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Judges a task's output: by verifying steps, then by a person if required. */
final class Verdicts {
    /** Decimals of the column {@code verifier_score}. */
    private static final int SCORE_DECIMALS = 2;

    /** Value of {@code verified_by}: a person gave the last verdict. */
    private static final String HUMAN = "human";
    /** Value of {@code verified_by}: a verifying tool, or a decision that did not come in time. */
    private static final String AUTO = "auto";

    private Verdicts() {}

    /** Whether a person gave the last verdict on the task's output. */
    static boolean byHuman(TaskRow task) {
        return HUMAN.equals(task.verifiedBy);
    }

    /** A task's work is done and its output exists. */
    static void submit(Decision d, TaskRow task) {
        List<StepSpec> verifiers = task.isGroup() ? List.of() : verifiers(d, task);
        if (verifiers.isEmpty()) {
            acceptOutput(d, task, null);
            return;
        }
        d.move(task, TaskState.VERIFYING, EventPayloads.submitted(d, task, verifiers.size()));
        EventPayloads.verifies(d, task, verifiers.getFirst());
        int position = task.steps.isEmpty() ? 0 : task.steps.getLast().position();
        for (StepSpec spec : verifiers) {
            PlanRows.addStep(d, task, spec, ++position);
        }
        SlotScheduling.open(d, task, null);
    }

    /** The checks of the output: free checks before judges, without judges of outputs that cost too little. */
    private static List<StepSpec> verifiers(Decision d, TaskRow task) {
        TaskPolicy policy = task.spec().policy();
        if (policy.judges().isEmpty()) {
            return policy.verify();
        }
        List<StepSpec> ordered = new ArrayList<>();
        List<StepSpec> judging = new ArrayList<>();
        for (StepSpec verifier : policy.verify()) {
            Judge judge = policy.judges().get(verifier.name());
            BigDecimal least = judge == null ? null : judge.skipBelow();
            if (judge == null) {
                ordered.add(verifier);
            } else if (least == null || task.cost.compareTo(least) >= 0) {
                judging.add(verifier);
            } else {
                d.note(task, new TaskPayload.VerificationSkipped(verifier.tool(), judge.model(),
                        "the task has cost " + task.cost.stripTrailingZeros().toPlainString() + ", less than "
                                + least.stripTrailingZeros().toPlainString()));
            }
        }
        ordered.addAll(judging);
        return ordered;
    }

    private static void acceptOutput(Decision d, TaskRow task, @Nullable String feedback) {
        task.errorCode = null;
        task.errorMessage = null;
        task.errorClass = null;
        if (task.spec().policy().review() && !task.isGroup()) {
            if (task.state == TaskState.VERIFYING) {
                d.note(task, new TaskPayload.VerificationPassed(task.verifierScore, feedback, task.tokens,
                        task.cost.stripTrailingZeros()));
            }
            requestReview(d, task, "the plan asks for a review", null);
        } else {
            Completion.completed(d, task, feedback);
        }
    }

    /** A verifying step has returned its verdict. */
    static void applyVerdict(Decision d, StepRow step, Verdict verdict, String holder) {
        TaskRow task = step.task();
        if (verdict.score() != null) {
            task.verifierScore = verdict.score().setScale(SCORE_DECIMALS, RoundingMode.HALF_UP);
        }
        task.verifiedBy = AUTO;
        d.changes.touch(task);
        switch (verdict.outcome()) {
            case PASSED -> {
                String doubt = doubt(step, verdict);
                if (doubt == null) {
                    continueVerification(d, task, holder, verdict.feedback());
                } else {
                    requestReview(d, task, doubt, verdict.feedback());
                }
            }
            case REJECTED -> TaskFailures.task(d, task, new StepError("VERIFICATION_REJECTED", ErrorClass.QUALITY,
                    Objects.requireNonNullElse(verdict.feedback(), "rejected by " + step.spec().tool())));
            case TASK_WRONG -> taskWrong(d, task, verdict.feedback());
            case UNSURE -> requestReview(d, task, "the verifier is not sure", verdict.feedback());
        }
    }

    /** A new plan is asked for, or a person where there can be none. */
    private static void taskWrong(Decision d, TaskRow task, @Nullable String feedback) {
        if (!Replanning.possible(d) || Replanning.underWay(d) || task.group() != null) {
            requestReview(d, task, "the verifier finds the task wrong", feedback);
            return;
        }
        StepError error = new StepError("TASK_WRONG", ErrorClass.QUALITY,
                Objects.requireNonNullElse(feedback, "the verifier finds the task wrong"));
        PayloadPart.Failure failure = PayloadPart.Failure.of(error);
        d.note(task, new TaskPayload.VerificationFailed(task.verifierScore, error.message(), 0, failure));
        Propagation.replan(d, task, error, failure);
    }

    /** Why a positive verdict does not decide; null where it does. */
    private static @Nullable String doubt(StepRow step, Verdict verdict) {
        BigDecimal least = step.task().spec().policy().thresholds().get(step.name());
        if (least == null) {
            return null;
        }
        return verdict.score() == null ? "the verifier gives no score"
                : verdict.score().compareTo(least) >= 0 ? null
                        : "the score " + verdict.score().stripTrailingZeros().toPlainString() + " is below "
                                + least.toPlainString();
    }

    /** One verifier is done: starts the next, or ends. */
    static void continueVerification(Decision d, TaskRow task, @Nullable String holder) {
        continueVerification(d, task, holder, null);
    }

    static void continueVerification(Decision d, TaskRow task, @Nullable String holder, @Nullable String feedback) {
        if (!SlotScheduling.open(d, task, holder)) {
            acceptOutput(d, task, feedback);
        } else if (task.cursor < task.steps.size() && task.steps.get(task.cursor).attempt <= 1) {
            EventPayloads.verifies(d, task, task.steps.get(task.cursor).spec());
        }
    }

    /** Asks a person for the verdict. */
    static void missing(Decision d, TaskRow task, StepError error) {
        requestReview(d, task, "there is no verdict: " + error.code(), error.message());
    }

    static void requestReview(Decision d, TaskRow task, String why, @Nullable String feedback) {
        TaskMoves.cancelSteps(d, task);
        if (feedback != null) {
            task.errorMessage = feedback;
        }
        d.move(task, TaskState.AWAITING_HUMAN,
                new TaskPayload.HumanReviewRequested(why, task.verifierScore, task.attempt, feedback));
        SlotScheduling.free(d, task);
        d.ask(task.id());
    }

    static Reply decide(Decision d, Command.DecideTask command) {
        TaskRow task = d.view.tasks.get(command.taskId());
        if (task == null) {
            return Reply.rejected("TASK_NOT_FOUND", "the run's current attempt has no such task");
        }
        return decide(d, task, command.choice(), command.gate(), command.comment());
    }

    static Reply decide(Decision d, TaskRow task, Choice choice, @Nullable Integer gate, @Nullable String comment) {
        if (task.state != TaskState.AWAITING_HUMAN) {
            return repeated(task, choice, gate) ? Reply.UNCHANGED
                    : new Reply.Rejected("INVALID_STATE_TRANSITION", "task '" + task.key()
                            + "' is not waiting for a decision", task.state.wire(), List.of());
        }
        if (gate != null && gate != task.attempt) {
            return new Reply.Rejected("GATE_CHANGED",
                    "the decision is about attempt " + gate + " of task '" + task.key()
                            + "', which is at attempt " + task.attempt,
                    task.state.wire(), List.of());
        }
        int retries = TaskFailures.retriesLeft(d, task);
        if (choice == Choice.RETRY && retries == 0) {
            return new Reply.Rejected("RETRIES_EXHAUSTED", "task '" + task.key() + "' has been tried " + task.attempt
                    + " times and has no retry left; approve or reject its output", task.state.wire(), List.of());
        }
        d.disarm(TimerKind.HUMAN, task.id());
        task.verifiedBy = d.actor.type() == ActorType.SYSTEM ? AUTO : HUMAN;
        task.effectGeneration += choice == Choice.APPROVE ? 0 : 1;
        switch (choice) {
            case APPROVE -> {
                task.errorMessage = null;
                Completion.approved(d, task, comment);
            }
            case REJECT -> {
                d.note(task, null, new TaskPayload.HumanRejected(d.by(), comment, retries));
                Propagation.failed(d, task, new StepError("OUTPUT_REJECTED", ErrorClass.HUMAN_REJECTION,
                        comment == null ? "a person rejected the output" : comment));
            }
            case RETRY -> {
                StepError why = new StepError("OUTPUT_REJECTED", ErrorClass.QUALITY,
                        comment == null ? "a person asked for another attempt" : comment);
                task.errorCode = why.code();
                task.errorMessage = why.message();
                task.errorClass = why.errorClass().wire();
                TaskFailures.awaitRetry(d, task, d.now, new TaskPayload.HumanRejected(d.by(), comment, retries));
                EventPayloads.retrying(d, task, 0, PayloadPart.Failure.of(why));
                AttemptRestarts.nextAttempt(d, task);
            }
        }
        return Reply.CHANGED;
    }

    /**
     * Whether the same decision was already made about that gate; the only way out of a gate, except an end, is another
     * attempt.
     */
    private static boolean repeated(TaskRow task, Choice choice, @Nullable Integer gate) {
        boolean rejected = "OUTPUT_REJECTED".equals(task.errorCode);
        return switch (choice) {
            case APPROVE -> task.state == TaskState.COMPLETED;
            case REJECT -> task.state == TaskState.FAILED && rejected;
            case RETRY -> rejected && task.state == TaskState.AWAITING_RETRY || gate != null && gate < task.attempt;
        };
    }
}
