package io.keelson.core.decide;

import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.StepKind;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Command;
import io.keelson.core.run.OtherPayload;
import io.keelson.core.run.PayloadPart;
import io.keelson.core.run.Reply;
import io.keelson.core.run.Signal;
import io.keelson.core.run.SignalWait;
import io.keelson.core.run.StepError;
import io.keelson.core.run.StepPayload;
import io.keelson.core.run.TimerKind;
import java.time.Instant;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Delivers external messages to steps of kind {@code signal}. Each signal goes to exactly one step: the step that has
 * waited longest for its name, or else the first step that waits later. Kept signals outlive attempts.
 */
final class Signals {
    /** Maximum number of kept signals. */
    static final int MAX_UNREAD = 100;
    /** Maximum number of signals in a run's life. */
    static final int MAX_SIGNALS = 1_000;

    private static final Comparator<StepRow> BY_TURN = Comparator
            .<StepRow, Instant>comparing(step -> Objects.requireNonNull(step.startedAt))
            .thenComparing(step -> step.task().sequence()).thenComparing(step -> step.task().itemIndex())
            .thenComparing(StepRow::position).thenComparing(StepRow::id);

    private Signals() {}

    static Reply received(Decision d, Command.SendSignal command) {
        Signal signal = new Signal(command.id(), command.name(), command.payload());
        if (d.view.signalsSeen.contains(signal.id())) {
            return Reply.UNCHANGED;
        }
        if (d.run.state.terminal()) {
            return RunActions.forbidden(d, "signal");
        }
        StepRow step = waiting(d, signal.name());
        if (d.view.signalsSeen.size() >= MAX_SIGNALS || step == null && d.view.signals.size() >= MAX_UNREAD) {
            return new Reply.Rejected("TOO_MANY_SIGNALS",
                    "a run takes " + MAX_SIGNALS + " signals, and keeps " + MAX_UNREAD
                            + " that no step has waited for",
                    d.run.state.wire(), List.of());
        }
        if (step == null && command.awaiting() != null && !mayWait(d, command.awaiting())) {
            return new Reply.Rejected("SIGNAL_NOT_AWAITED",
                    "no open step of the run waits for the signal '" + signal.name() + "'", d.run.state.wire(),
                    List.of());
        }
        d.note(step == null ? null : step.task(), step, new OtherPayload.SignalReceived(signal.name(), signal.id()));
        d.changes.add(
                new ChangeSet.NewSignal(d.run, signal, d.run.seq, d.actor, step == null ? null : step.id(), d.now));
        if (step == null) {
            d.view.add(signal);
        } else {
            d.view.addTakenSignal(signal.id());
            take(d, step, signal);
        }
        return Reply.CHANGED;
    }

    private static @Nullable StepRow waiting(Decision d, String name) {
        return d.view.steps.values().stream().filter(step -> step.state == StepState.WAITING && step.signalWait != null
                && step.signalWait.signal().equals(name)).min(BY_TURN).orElse(null);
    }

    /** Whether a step that the sender saw open may still begin to wait. */
    private static boolean mayWait(Decision d, Command.SendSignal.Awaiting awaiting) {
        return awaiting.steps().stream().map(d.view.steps::get).anyMatch(step -> step != null && mayWait(step))
                || awaiting.tasks().stream().anyMatch(id -> mayWait(d, id));
    }

    /** A step that waits already, waits for another name. */
    private static boolean mayWait(StepRow step) {
        return !step.state.terminal() && step.signalWait == null;
    }

    /** A task may get further steps while it has none or is tried again; so may each item of a fan-out. */
    private static boolean mayWait(Decision d, String id) {
        List<TaskRow> rows =
                d.view.tasks.values().stream().filter(task -> !task.superseded && task.spec().id().equals(id))
                        .toList();
        return rows.isEmpty() || rows.stream().anyMatch(task -> !task.state.terminal()
                && (task.state == TaskState.AWAITING_RETRY || task.steps.isEmpty() && task.children.isEmpty()
                        || task.steps.stream()
                                .anyMatch(step -> step.spec().kind() == StepKind.SIGNAL && mayWait(step))));
    }

    /** A step begins to wait; a kept signal of that name goes to it. */
    static void await(Decision d, StepRow step, Command.Evaluation.Awaits awaits) {
        step.signalWait = new SignalWait(awaits.name(), awaits.continues());
        d.changes.resolvedInput(step, awaits.input());
        for (Iterator<Signal> kept = d.view.signals.iterator(); kept.hasNext();) {
            Signal signal = kept.next();
            if (signal.name().equals(awaits.name())) {
                kept.remove();
                d.changes.add(new ChangeSet.TakenSignal(signal.id(), step.id(), d.now));
                take(d, step, signal);
                return;
            }
        }
        if (awaits.timeout() != null) {
            step.nextRunAt = d.now.plus(awaits.timeout());
            d.arm(TimerKind.STEP_WAIT, step.id(), step.nextRunAt);
        }
    }

    private static void take(Decision d, StepRow step, Signal signal) {
        d.disarm(TimerKind.STEP_WAIT, step.id());
        step.signalWait = null;
        TaskProgress.succeed(d, step, signal.payload(), PayloadPart.Waited.signal(signal));
    }

    /** The signal did not arrive in time. */
    static void missed(Decision d, StepRow step) {
        SignalWait signalWait = Objects.requireNonNull(step.signalWait);
        step.signalWait = null;
        if (signalWait.continues()) {
            TaskProgress.succeed(d, step, "null",
                    new PayloadPart.Waited(signalWait.signal(), null, true, null, null, null, null));
            return;
        }
        StepError error = new StepError("SIGNAL_TIMEOUT", ErrorClass.INFRASTRUCTURE,
                "the signal '" + signalWait.signal() + "' did not come in time");
        StepFailures.failWithoutHolder(d, step, error, new StepPayload.Failed(PayloadPart.Failure.of(error), null,
                new PayloadPart.Waited(signalWait.signal(), null, false, null, null, null, null), false));
    }
}
