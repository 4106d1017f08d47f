package io.keelson.core.decide;

import io.keelson.core.decide.TicketRow.Kind;
import io.keelson.core.decide.TicketRow.Severity;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.policy.EscalationPolicy;
import io.keelson.core.policy.RetryReason;
import io.keelson.core.run.OtherPayload;
import io.keelson.core.run.RunPayload;
import io.keelson.core.run.StepError;
import io.keelson.core.run.TimerKind;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Opens tickets, which hold up the run, and closes them. */
final class Tickets {
    private Tickets() {}

    /** Opens a ticket about a step or task that is parked in {@code awaiting_retry}. */
    static void failure(Decision d, TaskRow task, @Nullable StepRow step, StepError error, String reason) {
        String what = step == null ? "task '" + task.key() + "'" : "step '" + task.key() + "/" + step.name() + "'";
        open(d, new TicketRow(d.ids.next(), Kind.FAILURE, d.run.attempt, task.id(), step == null ? null : step.id(),
                Severity.HIGH, reason, error.code(), error.system(),
                what + " failed: " + error.message() + bound(d, reason), d.now));
    }

    /** The bound of the escalation that a run's errors have crossed; empty for other reasons. */
    private static String bound(Decision d, String reason) {
        EscalationPolicy escalation = d.run.policy().failures().escalation();
        String errors = reason.equals(RetryReason.ERROR_COUNT_EXCEEDED.wire())
                ? escalation.errorThreshold() + " errors of a run"
                : reason.equals(RetryReason.ERROR_RATE_EXCEEDED.wire())
                        ? "the share " + escalation.errorRate() + " of failed calls of a run"
                        : null;
        return errors == null ? ""
                : "; more than " + errors + " within " + escalation.window().toSeconds()
                        + " s ask a person (config.escalation)";
    }

    static void open(Decision d, TicketRow ticket) {
        d.view.tickets.put(ticket.id(), ticket);
        d.changes.insert(d.run, ticket);
        d.ask(ticket.id());
        d.note(ticket.taskId() == null ? null : d.view.tasks.get(ticket.taskId()),
                ticket.stepId() == null ? null : d.view.steps.get(ticket.stepId()), new OtherPayload.EscalationOpened(
                        ticket.id(), ticket.kind().wire(), ticket.severity().wire(), ticket.reason(),
                        ticket.message()));
        hold(d);
    }

    /**
     * Escalates a running run with an open ticket; a paused run is escalated when it resumes, and an undo once all its other tasks
     * have ended.
     */
    static void hold(Decision d) {
        if (d.run.state == RunState.RUNNING && !d.view.tickets.isEmpty() && !Undoing.othersContinue(d)) {
            TicketRow first = d.view.tickets.values().iterator().next();
            d.move(RunState.ESCALATED, new RunPayload.Escalated(first.id(), first.reason(), first.message()));
            Pauses.rest(d);
        }
    }

    /** The run or the ticket's subject has ended: voids the ticket. */
    static void voidAll(Decision d) {
        List.copyOf(d.view.tickets.values()).forEach(ticket -> close(d, ticket, OtherPayload.VOID, null));
    }

    static void voidOf(Decision d, TaskRow task) {
        for (TicketRow ticket : List.copyOf(d.view.tickets.values())) {
            if (Objects.equals(ticket.taskId(), task.id())) {
                close(d, ticket, OtherPayload.VOID, null);
            }
        }
    }

    static void voidOf(Decision d, StepRow step) {
        for (TicketRow ticket : List.copyOf(d.view.tickets.values())) {
            if (step.id().equals(ticket.stepId())) {
                close(d, ticket, OtherPayload.VOID, null);
            }
        }
    }

    static void close(Decision d, TicketRow ticket, String resolution, @Nullable String comment) {
        ticket.resolution = resolution;
        ticket.resolvedBy = d.by();
        ticket.comment = comment;
        ticket.resolvedAt = d.now;
        d.view.tickets.remove(ticket.id());
        d.changes.touch(d.run, ticket);
        d.disarm(TimerKind.HUMAN, ticket.id());
        d.note(new OtherPayload.EscalationResolved(ticket.id(), resolution, ticket.resolvedBy, comment));
    }
}
