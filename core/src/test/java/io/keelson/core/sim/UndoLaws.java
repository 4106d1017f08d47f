package io.keelson.core.sim;

import static io.keelson.core.sim.Violation.unless;

import io.keelson.core.decide.UndoRow;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.RunPolicy;

/** Laws of undos: a run that is to be undone is, only ended runs are, and an undo loses no task. */
final class UndoLaws {
    private final RunRows rows;
    private final RunPolicy policy;

    UndoLaws(RunRows rows) {
        this.rows = rows;
        this.policy = rows.accepted.policy();
    }

    void check() {
        RunState state = rows.run.state();
        boolean wanted = state == RunState.FAILED && policy.undo().onFailure()
                || state == RunState.CANCELLED && policy.undo().onCancel();
        unless(!wanted || rows.run.startedAt() == null || rows.undo != null, "not undone: %s", rows.run);
        unless(rows.undo == null || state.terminal() || rows.undo.state() == UndoRow.State.REFUSED
                || rows.undo.state() == UndoRow.State.NOTHING
                || rows.undo.state() == UndoRow.State.REQUESTED && rows.undo.waiter() != null, "undone and open: %s",
                rows.run);
        if (!Undos.is(rows)) {
            return;
        }
        unless(rows.undo == null, "an undo of an undo: %s", rows.undo);
        unless(rows.tasksNow().stream().noneMatch(task -> task.state() == TaskState.FAILED), "a task is lost: %s",
                rows.tasksNow());
        rows.tickets.values().stream().filter(ticket -> "done".equals(ticket.resolution())).forEach(
                ticket -> unless("DONE_BY_HAND".equals(rows.tasks.get(ticket.taskId()).errorCode()),
                        "not done by hand: %s", ticket));
        boolean others = rows.tasksNow().stream().anyMatch(task -> !task.state().terminal()
                && task.state() != TaskState.PENDING && !task.parked()
                && rows.stepsOf(task.id()).noneMatch(Saved.Step::parked));
        unless(state != RunState.ESCALATED || !others, "held up by a ticket: %s", rows.tasksNow());
        unless(state != RunState.RUNNING || rows.openTickets().isEmpty() || others, "a ticket that is not in force: %s",
                rows.tickets);
    }
}
