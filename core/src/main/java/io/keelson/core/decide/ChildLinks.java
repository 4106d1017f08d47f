package io.keelson.core.decide;

import io.keelson.core.decide.ChangeSet.Evaluate;
import io.keelson.core.decide.ChangeSet.Timer;
import io.keelson.core.decide.ChangeSet.TimerKey;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.run.TimerKind;
import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Knowledge of child runs and of the parent run, and the timers by which these runs have each other checked. */
final class ChildLinks {
    private ChildLinks() {}

    static void put(Decision d, ChildRow child) {
        d.view.children.put(child.stepId(), child);
        d.changes.put(d.run, child);
    }

    /**
     * This run has ended, and its timers are gone, including those to check its children. It checks its open children
     * once more, as it may have another attempt. Its parent checks it.
     */
    static void runEnded(Decision d) {
        for (ChildRow child : d.view.children.values()) {
            if (!child.ended()) {
                d.changes.arm(new Timer(new TimerKey(TimerKind.EVALUATE_CHILD, child.stepId()), d.run.id(),
                        d.now.plus(Decision.EVALUATION_TIMEOUT)));
            }
        }
        tellParent(d);
        tellOriginal(d);
    }

    /** Has the parent check this run: it has ended, or its children have changed since. */
    static void tellParent(Decision d) {
        ParentRow parent = d.run.parent;
        if (parent != null) {
            requestCheck(d, parent.runId(), TimerKind.EVALUATE_CHILD, parent.stepId());
        }
    }

    /** Has the original run check the run that undoes it. */
    static void tellOriginal(Decision d) {
        UUID original = d.run.policy().undo().undoes();
        if (original != null) {
            requestCheck(d, original, TimerKind.EVALUATE_UNDO, original);
        }
    }

    /** Has the run that undoes the parent check the undo of this run. */
    static void tellWaiter(Decision d, UndoRow undo) {
        if (undo.waiter() != null) {
            requestCheck(d, undo.waiter(), TimerKind.EVALUATE_CHILD_UNDO, d.run.id());
        }
    }

    /** Another attempt begins: restores the check of the parent, whose timer went with the last attempt. */
    static void anotherAttempt(Decision d) {
        tellOriginal(d);
        if (d.run.parent != null) {
            requestCheck(d, d.run.id(), TimerKind.EVALUATE_PARENT, d.ids.next());
        }
    }

    /** Has the child check its parent, because the step or this run has changed. */
    static void notifyChild(Decision d, UUID step) {
        ChildRow child = d.view.children.get(step);
        if (child != null && !child.ended()) {
            requestCheck(d, child.runId(), TimerKind.EVALUATE_PARENT, d.ids.next());
        }
    }

    static void tellAll(Decision d) {
        for (StepRow step : d.view.steps.values().stream().filter(ChildLinks::waits).sorted(StepRow.BY_ID).toList()) {
            notifyChild(d, step.id());
        }
    }

    /** Children pause with the run: the pause does not count against their time. */
    static void rested(Decision d, @Nullable Instant since) {
        for (StepRow step : d.view.steps.values().stream().filter(ChildLinks::waits).sorted(StepRow.BY_ID).toList()) {
            if (since != null && step.nextRunAt != null) {
                step.nextRunAt = step.nextRunAt.plus(Duration.between(since, d.now));
                d.changes.touch(step);
                d.arm(TimerKind.STEP_WAIT, step.id(), step.nextRunAt);
            }
        }
    }

    private static boolean waits(StepRow step) {
        return step.spec().startsRun() && step.state == StepState.WAITING;
    }

    /** Has another run check this one; its view does not know of the timer. */
    private static void requestCheck(Decision d, UUID run, TimerKind kind, UUID subject) {
        d.changes.arm(new Timer(new TimerKey(kind, subject), run, d.now.plus(Decision.EVALUATION_TIMEOUT)));
        d.changes.evaluate(new Evaluate(run, kind, subject));
    }

    static boolean open(RunView view) {
        return view.children.values().stream().anyMatch(child -> !child.ended());
    }

    static boolean hasOpenChild(Decision d, UUID step) {
        ChildRow child = d.view.children.get(step);
        return child != null && !child.ended();
    }

    static void parentChanged(Decision d, ParentRow parent) {
        d.run.parent = parent;
        d.changes.touchParent(d.run);
    }

    /** A person lets it continue although its parent is paused. */
    static void released(Decision d) {
        if (d.run.parent != null && d.run.parent.held()) {
            parentChanged(d, d.run.parent.observed(d.run.parent.seen(), false));
        }
    }
}
