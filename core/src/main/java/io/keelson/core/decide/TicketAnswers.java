package io.keelson.core.decide;

import io.keelson.core.decide.TicketRow.Kind;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.policy.RetryReason;
import io.keelson.core.run.Command;
import io.keelson.core.run.Command.Resolution;
import io.keelson.core.run.OtherPayload;
import io.keelson.core.run.Reply;
import io.keelson.core.run.StepError;
import io.keelson.core.run.StepPayload;
import io.keelson.core.run.TaskPayload;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Applies people's answers to tickets. */
final class TicketAnswers {
    /** A person who resumes despite one of these forgives the errors behind it. */
    private static final Set<String> ALARMS =
            Set.of(RetryReason.ERROR_COUNT_EXCEEDED.wire(), RetryReason.ERROR_RATE_EXCEEDED.wire());

    private TicketAnswers() {}

    static Reply resolve(Decision d, Command.Resolve command) {
        TicketRow ticket = d.view.tickets.get(command.ticketId());
        if (ticket == null) {
            return Reply.rejected("TICKET_NOT_OPEN", "the run has no such open ticket");
        }
        if (command.resolution() == Resolution.DONE && !Undoing.is(d)) {
            return new Reply.Rejected("NOT_AN_UNDO", "only the ticket of an undo is answered with `done`",
                    d.run.state.wire(), List.of("resume", "skip", "fail", "cancel"));
        }
        List<TicketRow> asked = command.alike() ? Alike.of(d.view, ticket) : List.of(ticket);
        asked.forEach(each -> answerOpen(d, each, command.resolution(), command.comment()));
        return Reply.CHANGED;
    }

    /** An answer before it may have ended the run, which voids the others. */
    private static void answerOpen(Decision d, TicketRow ticket, Resolution resolution, @Nullable String comment) {
        if (d.view.tickets.containsKey(ticket.id())) {
            answer(d, ticket, resolution, comment);
        }
    }

    /** A resume of the run answers the tickets about its failures; a new plan is not approved by it. */
    static Reply resumeAll(Decision d) {
        List<TicketRow> open = List.copyOf(d.view.tickets.values());
        TicketRow plan = open.stream().filter(each -> each.kind() == Kind.REPLAN_APPROVAL).findFirst().orElse(null);
        if (plan != null) {
            return new Reply.Rejected("INVALID_STATE_TRANSITION",
                    "the run waits for a decision on its new plan: answer ticket "
                            + plan.id() + " with resume, skip, fail or cancel",
                    d.run.state.wire(), List.of());
        }
        open.forEach(ticket -> answerOpen(d, ticket, Resolution.RESUME, null));
        return Reply.CHANGED;
    }

    static void answer(Decision d, TicketRow ticket, Resolution resolution, @Nullable String comment) {
        Tickets.close(d, ticket, resolution.wire(), comment);
        switch (resolution) {
            case RESUME -> resume(d, ticket);
            case SKIP -> {
                if (Undoing.is(d)) {
                    UndoAnswers.leave(d, ticket, false);
                } else {
                    skip(d, ticket);
                }
            }
            case DONE -> UndoAnswers.leave(d, ticket, true);
            case FAIL -> {
                d.run.errorCode = ticket.errorCode() == null ? "ESCALATION_FAILED" : ticket.errorCode();
                d.run.errorMessage = comment == null ? ticket.message() : ticket.message() + " (" + comment + ")";
                StepRow step = ticket.stepId() == null ? null : d.view.steps.get(ticket.stepId());
                if (step != null && step.parked()) {
                    TaskFailures.rejected(step);
                }
                RunEnd.failAll(d, ticket.reason(), ticket.taskId() == null ? null : d.view.tasks.get(ticket.taskId()),
                        d.by(), null);
            }
            case CANCEL -> RunEnd.cancelRun(d, comment);
        }
        if (d.run.state == RunState.ESCALATED && (d.view.tickets.isEmpty() || Undoing.othersContinue(d))) {
            Resumption.resume(d);
        }
    }

    private static void resume(Decision d, TicketRow ticket) {
        if (ALARMS.contains(ticket.reason())) {
            d.view.calls.forgive(d.now);
        }
        StepRow step = ticket.stepId() == null ? null : d.view.steps.get(ticket.stepId());
        TaskRow task = ticket.taskId() == null ? null : d.view.tasks.get(ticket.taskId());
        if (step != null && step.parked()) {
            step.failures = 0;
            step.grantedRetries = step.attempt;
            step.deliveries = 0;
            step.nextRunAt = d.now;
            d.changes.touch(step);
            d.view.lookAtWaits(step.task());
            if (d.run.state == RunState.RUNNING) {
                SlotScheduling.open(d, step, null);
            }
        } else if (step == null && task != null && task.parked()) {
            task.failures = 0;
            task.grantedRetries = task.attempt;
            task.nextRunAt = d.now;
            d.changes.touch(task);
            d.view.lookAtWaits(task);
            if (d.run.state == RunState.RUNNING) {
                AttemptRestarts.nextAttempt(d, task);
            }
        } else if (ticket.kind() == Kind.REPLAN_APPROVAL && d.run.gate == RunRow.Gate.REPLANNING) {
            d.run.gate = RunRow.Gate.REPLAN_APPROVED;
        }
    }

    private static void skip(Decision d, TicketRow ticket) {
        StepRow step = ticket.stepId() == null ? null : d.view.steps.get(ticket.stepId());
        TaskRow task = ticket.taskId() == null ? null : d.view.tasks.get(ticket.taskId());
        if (step != null && step.state == StepState.AWAITING_RETRY) {
            LostAnswers.ended(d, step);
            Requests.abandon(d, step);
            d.move(step, StepState.SKIPPED, new StepPayload.Skipped("ticket", null, null, ticket.id()));
            TaskProgress.advance(d, step.task(), null);
        } else if (step == null && task != null && task.state == TaskState.AWAITING_RETRY) {
            Completion.skipped(d, task,
                    new TaskPayload.Skipped("skipped by the ticket's answer", null, "ticket", d.by(), ticket.id(),
                            null));
        } else if (ticket.kind() == Kind.REPLAN_APPROVAL) {
            PlanAnswers.retryOrPropagate(d, new StepError("REPLAN_REJECTED", ErrorClass.HUMAN_REJECTION,
                    "the new plan was rejected"));
        }
    }

    /** The answer did not come in time. */
    static void overdue(Decision d, TicketRow ticket) {
        switch (d.run.policy().humans().onTimeout()) {
            case REMIND -> {
                ticket.severity = ticket.severity.raised();
                d.changes.touch(d.run, ticket);
                d.note(new OtherPayload.EscalationReminded(ticket.id(), ticket.severity.wire()));
                d.ask(ticket.id());
            }
            case FAIL -> answer(d, ticket, Resolution.FAIL, "no answer in time");
            case APPROVE -> answer(d, ticket, Resolution.RESUME, "no answer in time");
        }
    }
}
