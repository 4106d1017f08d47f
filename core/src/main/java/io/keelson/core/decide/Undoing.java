package io.keelson.core.decide;

import io.keelson.core.decide.UndoRow.State;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.StepKind;
import io.keelson.core.plan.UndoPlan;
import io.keelson.core.plan.UndoRules;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Actor;
import io.keelson.core.run.Command.Evaluation.UndoCounts;
import io.keelson.core.run.RunPayload;
import io.keelson.core.run.StepError;
import io.keelson.core.run.TimerKind;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Undoes of ended runs. An undo is a run of its own, which the original's commit creates: so there is one at most. In that run a
 * task that fails for good waits under its ticket, while the others continue.
 */
final class Undoing {
    /** Error codes of skipped tasks of an undo. */
    static final String NOT_UNDONE = "NOT_UNDONE";
    static final String BY_HAND = "DONE_BY_HAND";
    static final String NOT_DONE = "NOT_DONE";

    private Undoing() {}

    /** The run has ended and is not retried by itself: undoes it by a request that waits, or by its rules. */
    static void ended(Decision d) {
        if (d.view.undo != null && d.view.undo.state() == State.REQUESTED) {
            d.evaluate(TimerKind.EVALUATE_UNDO, d.run.id());
            return;
        }
        UndoRules rules = d.run.policy().undo();
        boolean wanted = d.run.state == RunState.FAILED && rules.onFailure()
                || d.run.state == RunState.CANCELLED && rules.onCancel();
        if (wanted && d.run.startedAt != null && d.view.undo == null) {
            request(d, Actor.SYSTEM.name(), null, null);
        }
    }

    /**
     * Requests the undo of a run, for the time after its end.
     *
     * @param waiter the run that undoes its parent and waits for it; null if absent
     */
    static void request(Decision d, String by, @Nullable String reason, @Nullable UUID waiter) {
        put(d, new UndoRow(State.REQUESTED, null, 0, UndoCounts.NONE, by, reason, d.now, null, null, waiter));
        d.note(new RunPayload.UndoRequested(by, reason));
        if (d.run.state.terminal()) {
            d.evaluate(TimerKind.EVALUATE_UNDO, d.run.id());
        }
    }

    static void put(Decision d, UndoRow row) {
        d.view.undo = row;
        d.changes.put(d.run, row);
    }

    /** Whether the evaluator receives the request again. */
    static boolean isUndone(Decision d) {
        return d.view.undo != null;
    }

    /** True for a run that undoes another. */
    static boolean is(Decision d) {
        return d.run.policy().undo().undoes() != null;
    }

    /** True when the failure of a task of an undo waits for a person: its steps have used their retries, and it holds no slot meanwhile. */
    static boolean asksAbout(TaskRow task, StepError error) {
        return task.spec().policy().undoes() != null && error.errorClass() != ErrorClass.HUMAN_REJECTION;
    }

    /** True for the question whether the original was done. */
    static boolean asks(StepRow step) {
        return step.spec().kind() == StepKind.APPROVAL && step.name().equals(UndoPlan.QUESTION)
                && step.task().spec().policy().undoes() != null;
    }

    /** True after a person rejected the question about the original. */
    static boolean saidNotDone(StepRow step) {
        return asks(step) && NOT_DONE.equals(step.task().errorCode);
    }

    /** True in an undo while tasks without an open ticket have not ended: its tickets do not hold it up yet. */
    static boolean othersContinue(Decision d) {
        return is(d) && d.view.tasks.values().stream().anyMatch(task -> !task.terminal()
                && task.state != TaskState.PENDING && !task.parked() && task.steps.stream().noneMatch(StepRow::parked));
    }
}
