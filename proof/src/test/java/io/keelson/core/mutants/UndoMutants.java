package io.keelson.core.mutants;

import java.util.List;
import java.util.stream.Stream;

/**
 * Mistakes in undos. The simulations whose numbers leave 2 after a division by 7 have undos, and after a division by 28 also undos of
 * children.
 */
final class UndoMutants {
    private static final String PLAN = "plan/UndoPlan.java";
    private static final String WORK = "plan/UndoWork.java";
    private static final String UNDOING = "decide/Undoing.java";
    private static final String ANSWERS = "decide/UndoAnswers.java";
    private static final int SEED = 16;
    private static final int CHILDREN = 86;

    private UndoMutants() {}

    static List<Mutant> all() {
        return Stream.of(plans(), requests(), children(), tickets()).flatMap(List::stream).toList();
    }

    private static List<Mutant> plans() {
        return List.of(
                new Mutant(PLAN, "tasks.add(spec(own.get(i), task, task.parts().get(i), upstreams));",
                        "tasks.add(spec(own.get(i), task, task.parts().get(i), List.of()));",
                        "work is undone beside the work that depended on it").foundBy(SEED),
                new Mutant(PLAN, "boolean first = task.parallel() || i == task.parts().size() - 1;",
                        "boolean first = true;", "the steps of a task are undone in any order").foundBy(72),
                new Mutant(PLAN, "TriggerRule.ALL_DONE, null, null, null, false, steps, null,",
                        "TriggerRule.ALL_SUCCESS, null, null, null, false, steps, null,",
                        "work that is not undone ends the undo of the work before it").foundBy(72),
                new Mutant(PLAN, "if (!part.known()) {", "if (part.calls().isEmpty()) {",
                        "work with an unknown outcome is undone without a question").foundBy(SEED),
                new Mutant(WORK,
                        "return effects && !completed && (executions > 0 && !isRefusal() || !children.isEmpty());",
                        "return false;",
                        "work with an unknown outcome is not undone").foundBy(SEED),
                new Mutant(WORK, "return executions == 1 && ErrorClass", "return ErrorClass",
                        "a refused repetition tells that no execution had an effect").foundBy(387),
                new Mutant(WORK,
                        "if (later.completed() && later.undo() != null || earlier.isEmpty()) {",
                        "if (earlier.isEmpty()) {",
                        "the undo of repeated work is that of its first try").foundBy(317),
                new Mutant(WORK, "return earlier.completed() || later.isEmpty() ? earlier : later;",
                        "return later;", "a retry hides the completed work of the attempt before").foundBy(632));
    }

    private static List<Mutant> requests() {
        return List.of(
                new Mutant(UNDOING, "d.run.state == RunState.FAILED && rules.onFailure()",
                        "d.run.state == RunState.FAILED && rules.onFailure() && rules.onCancel()",
                        "a failed run is not undone").foundBy(65),
                new Mutant(UNDOING, "d.run.state == RunState.CANCELLED && rules.onCancel()",
                        "d.run.state == RunState.CANCELLED && rules.onCancel() && !rules.onFailure()",
                        "a cancelled run is not undone").foundBy(SEED),
                new Mutant(UNDOING, "if (d.run.state.terminal()) { d.evaluate(TimerKind.EVALUATE_UNDO, d.run.id()); }",
                        "",
                        "a requested undo is never made").foundBy(SEED),
                new Mutant(ANSWERS, "if (!d.run.state.terminal() && command.waiter() == null) {",
                        "if (d.run.startedAt == null) {",
                        "an open run is undone").foundBy(SEED),
                new Mutant(ANSWERS, "if (Undoing.is(d)) {", "if (Undoing.is(d) && !d.run.state.terminal()) {",
                        "an undo is undone").foundBy(SEED),
                new Mutant(ANSWERS, "if (known != null && known.state() != State.REFUSED) {",
                        "if (known != null && known.state() == State.REQUESTED) {",
                        "a repeated request makes a second undo").foundBy(SEED),
                new Mutant(ANSWERS, "if (row == null || row.state() != State.REQUESTED) {", "if (row == null) {",
                        "a repeated answer makes a second undo").foundBy(72),
                new Mutant("decide/RunActions.java",
                        "return d.view.undo != null && d.view.undo.state() != UndoRow.State.REFUSED",
                        "return d.view.undo != null && d.view.undo.state() == UndoRow.State.REQUESTED",
                        "an undone run is tried again").foundBy(23),
                new Mutant("decide/ChildLinks.java", "tellParent(d); tellOriginal(d);", "tellParent(d);",
                        "a run does not learn that it is undone").foundBy(SEED),
                new Mutant(ANSWERS, "is.counts().notUndone() == 0 ? State.UNDONE : State.PARTLY_UNDONE;",
                        "State.UNDONE;", "work that is not undone counts as undone").foundBy(SEED));
    }

    private static List<Mutant> children() {
        return List.of(
                new Mutant(WORK, "step.children().forEach(child -> parts.put(child.run(), child.of(step.name())));", "",
                        "a child is not undone with its parent").foundBy(170),
                new Mutant(ANSWERS, "if (waiter == null || waiter.equals(known.waiter()) || !known.open()) {",
                        "if (known.undoRun() != null || !known.open()) {",
                        "the undo of a parent waits forever for an undo that was requested before").foundBy(CHILDREN),
                new Mutant(UNDOING, "if (d.view.undo != null && d.view.undo.state() == State.REQUESTED) {",
                        "if (d.view.undo != null && d.run.startedAt == null) {",
                        "a child that was open is never undone").foundBy(261),
                new Mutant(ANSWERS, "counts.notDone(), counts.notUndone())); ChildLinks.tellWaiter(d, row);",
                        "counts.notDone(), counts.notUndone()));",
                        "the undo of a parent does not learn that a child is undone").foundBy(198),
                new Mutant("decide/ChildUndos.java", "switch (UndoRow.State.of(is.state())) {",
                        "switch (is.state().equals(\"running\") ? UndoRow.State.UNDONE : UndoRow.State.of(is.state())) {",
                        "the undo of a parent does not wait for the undo of a child").foundBy(CHILDREN));
    }

    private static List<Mutant> tickets() {
        return List.of(
                new Mutant(UNDOING,
                        "return task.spec().policy().undoes() != null && error.errorClass() != ErrorClass.HUMAN_REJECTION;",
                        "return false;", "a failed task of an undo asks no person").foundBy(SEED),
                new Mutant(UNDOING, "return is(d) && d.view.tasks", "return d.run == null && d.view.tasks",
                        "a ticket of an undo holds up the others").foundBy(SEED),
                new Mutant(UNDOING, "&& !task.parked() && task.steps.stream()", "&& task.steps.stream()",
                        "an undo whose tasks all wait for people continues").foundBy(SEED),
                new Mutant("decide/HumanGates.java", "if (!approve && Undoing.asks(step)) {",
                        "if (!approve && Undoing.asks(step) && step.task().startedAt == null) {",
                        "work that was not done fails its undo").foundBy(79),
                new Mutant("decide/TicketAnswers.java", "case DONE -> UndoAnswers.leave(d, ticket, true);",
                        "case DONE -> UndoAnswers.leave(d, ticket, false);",
                        "work that a person has undone counts as not undone").foundBy(93));
    }
}
