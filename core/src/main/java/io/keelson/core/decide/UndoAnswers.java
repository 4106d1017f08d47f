package io.keelson.core.decide;

import io.keelson.core.decide.UndoRow.State;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Command;
import io.keelson.core.run.Command.Evaluation;
import io.keelson.core.run.NewRun;
import io.keelson.core.run.Reply;
import io.keelson.core.run.RunPayload;
import io.keelson.core.run.StepError;
import io.keelson.core.run.TaskPayload;
import io.keelson.core.run.TimerKind;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Answers requests to undo a run, the evaluator's answers about its undo, and people's answers about single tasks of an undo. */
final class UndoAnswers {

    private UndoAnswers() {}

    static Reply request(Decision d, Command.Undo command) {
        if (Undoing.is(d)) {
            return new Reply.Rejected("UNDO_OF_UNDO",
                    "the run is an undo itself: if it failed, `keelson retry` continues it",
                    d.run.state.wire(), List.of());
        }
        if (!d.run.state.terminal() && command.waiter() == null) {
            return RunActions.forbidden(d, "undo");
        }
        UndoRow known = d.view.undo;
        if (known != null && known.state() != State.REFUSED) {
            return isAwaited(d, known, command.waiter());
        }
        Undoing.request(d, d.by(), command.reason(), command.waiter());
        return Reply.CHANGED;
    }

    private static Reply isAwaited(Decision d, UndoRow known, @Nullable UUID waiter) {
        if (waiter == null || waiter.equals(known.waiter()) || !known.open()) {
            return Reply.UNCHANGED;
        }
        Undoing.put(d, known.awaitedBy(waiter));
        return Reply.CHANGED;
    }

    static Reply evaluated(Decision d, Evaluation evaluation) {
        UndoRow row = d.view.undo;
        if (evaluation instanceof Evaluation.UndoIs is) {
            d.disarm(TimerKind.EVALUATE_UNDO, d.run.id(), is.armed());
            return row == null || row.undoRun() == null ? Reply.UNCHANGED : isNow(d, row, is);
        }
        if (row == null || row.state() != State.REQUESTED) {
            return Reply.UNCHANGED;
        }
        d.disarm(TimerKind.EVALUATE_UNDO, d.run.id());
        if (evaluation instanceof Evaluation.Broken(StepError error)) {
            refuse(d, row, error);
        } else if (((Evaluation.Undoes) evaluation).run() instanceof NewRun run) {
            create(d, row, run);
        } else {
            end(d, row.in(State.NOTHING, Evaluation.UndoCounts.NONE));
        }
        return Reply.CHANGED;
    }

    private static void create(Decision d, UndoRow row, NewRun run) {
        NewRun undoing = run.approvedBy(d.run.policy().humans().approvals(),
                d.run.policy().humans().fourEyes());
        Created created = RunCreation.create(new Command.Create(undoing, true, d.actor), null, d.changes, d.now, d.ids,
                d.capacity, d.funds);
        if (created.reply() instanceof Reply.Rejected refusal) {
            refuse(d, row, new StepError(refusal.code(), ErrorClass.PERMANENT, refusal.message()));
            return;
        }
        int size = run.plan().tasks().size();
        Undoing.put(d, row.by(run.id(), size));
        d.note(new RunPayload.UndoStarted(run.id(), size));
    }

    private static void refuse(Decision d, UndoRow row, StepError error) {
        Undoing.put(d, row.withRefusal(error));
        d.note(new RunPayload.UndoRefused(error.code(), error.message()));
        ChildLinks.tellWaiter(d, row);
    }

    private static Reply isNow(Decision d, UndoRow row, Evaluation.UndoIs is) {
        State now = switch (is.state()) {
            case COMPLETED, SKIPPED -> is.counts().notUndone() == 0 ? State.UNDONE : State.PARTLY_UNDONE;
            case FAILED -> State.FAILED;
            case CANCELLED -> State.CANCELLED;
            case CREATED, PENDING, PLANNING, AWAITING_APPROVAL, READY, RUNNING, PAUSED, BUDGET_EXCEEDED, ESCALATED,
                    RESUMING, RETRYING ->
                State.RUNNING;
        };
        if (now == row.state()) {
            return Reply.UNCHANGED;
        }
        if (now == State.RUNNING) {
            Undoing.put(d, row.in(now, Evaluation.UndoCounts.NONE));
        } else {
            end(d, row.in(now, is.counts()));
        }
        return Reply.CHANGED;
    }

    private static void end(Decision d, UndoRow row) {
        Undoing.put(d, row);
        Evaluation.UndoCounts counts = row.counts();
        d.note(new RunPayload.UndoEnded(row.state().wire(), row.undoRun(), counts.undone(), counts.byHand(),
                counts.notDone(), counts.notUndone()));
        ChildLinks.tellWaiter(d, row);
    }

    /** A person rejects the question whether the original was done. */
    static void notDone(Decision d, StepRow step, @Nullable String comment) {
        skip(d, step.task(), Undoing.NOT_DONE, comment == null ? "the original was not done" : comment, null);
    }

    /** The undo of a child run has left some of its work not undone, by answers of people. */
    static void childLeft(Decision d, StepRow step, String why) {
        skip(d, step.task(), Undoing.NOT_UNDONE, why, null);
    }

    /** A person leaves the failed task of an undo as it is, or has done it by other means. */
    static void leave(Decision d, TicketRow ticket, boolean byHand) {
        TaskRow task = ticket.taskId() == null ? null : d.view.tasks.get(ticket.taskId());
        if (task != null && !task.terminal()) {
            skip(d, task, byHand ? Undoing.BY_HAND : Undoing.NOT_UNDONE, byHand ? "done by hand" : "not undone",
                    ticket);
        }
    }

    private static void skip(Decision d, TaskRow task, String code, String why, @Nullable TicketRow ticket) {
        task.errorCode = code;
        task.errorMessage = why;
        task.errorClass = null;
        Completion.skipped(d, task, new TaskPayload.Skipped(why, null, code.toLowerCase(Locale.ROOT), d.by(),
                ticket == null ? null : ticket.id(), null));
    }
}
