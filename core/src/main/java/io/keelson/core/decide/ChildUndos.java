package io.keelson.core.decide;

import io.keelson.core.lifecycle.StepState;
import io.keelson.core.plan.Undoes;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Command.Evaluation;
import io.keelson.core.run.PayloadPart;
import io.keelson.core.run.Reply;
import io.keelson.core.run.StepError;
import io.keelson.core.run.StepPayload;
import io.keelson.core.run.TimerKind;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Steps of an undo that have child runs of the original undone. The evaluator requests the undo of the child, which notes the run that
 * waits for it, and reads its progress. The end of that undo arms a timer of the waiting run. As a run has one undo at most, it makes no
 * difference whether a child was undone before, at the same time, or by this request.
 */
final class ChildUndos {
    private ChildUndos() {}

    /** The evaluator has requested the undo of a child. */
    static void begin(Decision d, StepRow step, Evaluation.ChildUndo is) {
        d.changes.resolvedInput(step, step.spec().input());
        advance(d, step, is);
    }

    /** The evaluator has read the progress of the undo of a child, or the child is gone. */
    static Reply isNow(Decision d, UUID child, Evaluation evaluation) {
        StepRow step = waiting(d, child);
        if (evaluation instanceof Evaluation.ChildUndo is) {
            d.disarm(TimerKind.EVALUATE_CHILD_UNDO, child, is.armed());
            return step == null ? Reply.UNCHANGED : advance(d, step, is);
        }
        d.disarm(TimerKind.EVALUATE_CHILD_UNDO, child);
        if (step == null) {
            return Reply.UNCHANGED;
        }
        fail(d, step, ((Evaluation.Broken) evaluation).error());
        return Reply.CHANGED;
    }

    static boolean waits(Decision d, UUID child) {
        return waiting(d, child) != null;
    }

    private static @Nullable StepRow waiting(Decision d, UUID child) {
        return d.view.steps.values().stream()
                .filter(step -> step.state == StepState.WAITING && child.equals(childOf(step))).findFirst()
                .orElse(null);
    }

    /** The run that a step has undone; null for any other step. */
    static @Nullable UUID childOf(StepRow step) {
        Undoes undoes = step.task().spec().policy().undoes();
        return undoes == null || !step.spec().undoesRun() ? null : undoes.run();
    }

    private static Reply advance(Decision d, StepRow step, Evaluation.ChildUndo is) {
        String run = "run " + is.undoRun() + ", which undoes run " + is.run() + ",";
        switch (UndoRow.State.of(is.state())) {
            case REQUESTED, RUNNING -> {
                return Reply.UNCHANGED;
            }
            case UNDONE, NOTHING -> TaskProgress.succeed(d, step, "{\"run_id\":\"" + is.run() + "\",\"undo_run_id\":"
                    + (is.undoRun() == null ? null : "\"" + is.undoRun() + "\"") + ",\"state\":\"" + is.state()
                    + "\"}", new StepPayload.Completed(null, null));
            case PARTLY_UNDONE ->
                UndoAnswers.childLeft(d, step, run + " left " + is.notUndone() + " of its tasks not undone");
            case FAILED -> fail(d, step, "CHILD_UNDO_FAILED", run + " has failed: `keelson retry " + is.undoRun()
                    + "` continues it, then answer `resume`");
            case CANCELLED -> fail(d, step, "CHILD_UNDO_CANCELLED", run + " was cancelled");
            case REFUSED -> fail(d, step, "CHILD_UNDO_REFUSED", "the run that undoes run " + is.run()
                    + " could not be created: " + Objects.requireNonNullElse(is.error(), ""));
        }
        return Reply.CHANGED;
    }

    private static void fail(Decision d, StepRow step, String code, String message) {
        fail(d, step, new StepError(code, ErrorClass.PERMANENT, message));
    }

    private static void fail(Decision d, StepRow step, StepError error) {
        StepFailures.failWithoutHolder(d, step, error,
                new StepPayload.Failed(PayloadPart.Failure.of(error), null, null, false));
    }
}
