package io.keelson.core.decide;

import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.money.Amounts;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Command;
import io.keelson.core.run.Command.Evaluation.ChildIs;
import io.keelson.core.run.Command.Evaluation.ParentIs;
import io.keelson.core.run.Command.Evaluation.Starts;
import io.keelson.core.run.NewRun;
import io.keelson.core.run.OtherPayload;
import io.keelson.core.run.PayloadPart;
import io.keelson.core.run.Reply;
import io.keelson.core.run.StepError;
import io.keelson.core.run.StepPayload;
import io.keelson.core.run.TimerKind;
import java.math.BigDecimal;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Child runs, which steps start. One commit creates the child and moves its step to waiting, so neither exists without
 * the other. Parent and child learn of each other by timers: the commit of one arms a timer of the other, which stays
 * due until the evaluator has read the state. No message is lost in a crash. The answer describes the current state, so
 * late or repeated answers are harmless.
 */
final class ChildRuns {
    /** Levels of runs below the root run. */
    static final int MAX_DEPTH = 5;
    /** Child runs that a run may start in its life. */
    static final int MAX_CHILDREN = 1_000;

    private ChildRuns() {}

    /** A step starts a child run and waits for it. */
    static void start(Decision d, StepRow step, Starts starts) {
        int depth = d.run.parent == null ? 1 : d.run.parent.depth() + 1;
        if (HardLimit.holdsBackChild(d, step.task())) {
            return;
        }
        BigDecimal room = HardLimit.roomForChild(d, step.task().planKey());
        d.move(step, StepState.WAITING, new StepPayload.Waiting());
        d.changes.resolvedInput(step, starts.input());
        if (depth > MAX_DEPTH || d.view.children.size() >= MAX_CHILDREN) {
            refuse(d, step, "CHILD_RUN_LIMIT", "a run starts at most " + MAX_CHILDREN + " runs, and those are at most "
                    + MAX_DEPTH + " levels deep");
            return;
        }
        BigDecimal allotment = ChildBudgets.of(room, starts);
        NewRun run = starts.run().approvedBy(d.run.policy().humans().approvals(),
                d.run.policy().humans().fourEyes());
        ChildRow child = new ChildRow(step.id(), run.id(), step.task().planKey(), allotment, Amounts.ZERO, 0, false);
        Created created = RunCreation.create(new Command.Create(run, true, d.actor),
                new ParentRow(d.run.id(), step.id(), depth, starts.abandon(), allotment, 0, false), d.changes, d.now,
                d.ids, d.capacity, d.funds);
        if (created.reply() instanceof Reply.Rejected refusal) {
            refuse(d, step, refusal.code(), "the child run: " + refusal.message());
            return;
        }
        ChildLinks.put(d, child);
        d.note(step.task(), step, new OtherPayload.ChildRunStarted(run.id(), run.name(), allotment));
        if (starts.timeout() != null) {
            step.nextRunAt = d.now.plus(starts.timeout());
            d.arm(TimerKind.STEP_WAIT, step.id(), step.nextRunAt);
        }
    }

    private static void refuse(Decision d, StepRow step, String code, String message) {
        fail(d, step, new StepError(code, ErrorClass.PERMANENT, message), null);
    }

    private static void fail(Decision d, StepRow step, StepError error, PayloadPart.@Nullable Waited waited) {
        StepFailures.failWithoutHolder(d, step, error,
                new StepPayload.Failed(PayloadPart.Failure.of(error), null, waited, false));
    }

    /** Times out a child run. */
    static void late(Decision d, StepRow step) {
        ChildLinks.notifyChild(d, step.id());
        fail(d, step, new StepError("CHILD_RUN_TIMEOUT", ErrorClass.INFRASTRUCTURE, "the child run took too long"),
                null);
    }

    /** The evaluator has read a child's state. */
    static Reply childIs(Decision d, UUID stepId, ChildIs is) {
        d.disarm(TimerKind.EVALUATE_CHILD, stepId, is.armed());
        ChildRow child = d.view.children.get(stepId);
        if (child == null || child.ended() || !is.state().terminal()) {
            return Reply.UNCHANGED;
        }
        ChildRow now = is.settled() ? child.ended(is.charged(), is.tokens()) : child.atMost(is.charged());
        StepRow step = d.view.steps.get(stepId);
        boolean waits = step != null && step.state == StepState.WAITING;
        if (now.equals(child) && !waits) {
            return Reply.UNCHANGED;
        }
        BigDecimal before = Thresholds.usedCredits(d);
        ChildLinks.put(d, now);
        if (!d.run.state.terminal()) {
            Thresholds.reached(d, before);
        }
        d.budgets.add(child.task());
        if (d.run.state.terminal()) {
            ChildLinks.tellParent(d);
        }
        BigDecimal charged = Amounts.of(is.charged());
        if (step == null || !waits) {
            LimitStop.after(d);
            return Reply.CHANGED;
        }
        d.note(step.task(), step,
                new OtherPayload.ChildRunEnded(child.runId(), is.state().wire(), charged, is.tokens()));
        PayloadPart.Waited waited = new PayloadPart.Waited(null, null, false, child.runId(), is.state().wire(), charged,
                is.tokens());
        d.disarm(TimerKind.STEP_WAIT, stepId);
        switch (is.state()) {
            case COMPLETED, SKIPPED ->
                TaskProgress.succeed(d, step, is.output() == null ? "null" : is.output(), waited);
            case CANCELLED -> fail(d, step, new StepError("CHILD_RUN_CANCELLED", ErrorClass.CANCELLED,
                    "the child run was cancelled" + because(is.error())), waited);
            case FAILED -> fail(d, step, new StepError("CHILD_RUN_FAILED", ErrorClass.INFRASTRUCTURE,
                    "the child run failed" + because(is.error())), waited);
            case CREATED, PENDING, PLANNING, AWAITING_APPROVAL, READY, RUNNING, PAUSED, BUDGET_EXCEEDED, ESCALATED,
                    RESUMING,
                    RETRYING ->
                throw new IllegalStateException(is.toString());
        }
        return Reply.CHANGED;
    }

    private static String because(@Nullable String error) {
        return error == null ? "" : ": " + error;
    }

    /** The evaluator has read the parent's state. */
    static Reply parentIs(Decision d, UUID subject, ParentIs is) {
        d.disarm(TimerKind.EVALUATE_PARENT, subject);
        ParentRow parent = d.run.parent;
        if (parent == null || d.run.state.terminal() || is.version() < parent.seen()) {
            return Reply.UNCHANGED;
        }
        boolean held = is.waits() && is.paused() && (parent.held() || d.run.state != RunState.PAUSED);
        ChildLinks.parentChanged(d, parent.observed(is.version(), held));
        if (!is.waits() && !parent.abandon()) {
            RunEnd.cancelRun(d, "the run that started it waits for it no longer");
            return Reply.CHANGED;
        }
        if (parent.held() && !held && d.run.state == RunState.PAUSED) {
            return Resumption.resume(d);
        }
        return Pauses.pauseWithParent(d) ? Reply.CHANGED : Reply.UNCHANGED;
    }
}
