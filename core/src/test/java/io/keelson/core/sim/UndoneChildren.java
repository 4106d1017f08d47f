package io.keelson.core.sim;

import static io.keelson.core.sim.Violation.unless;

import io.keelson.core.decide.UndoRow.State;
import io.keelson.core.lifecycle.RunState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.TaskSpec;
import io.keelson.core.plan.Undo;
import io.keelson.core.plan.Undoes;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;

/**
 * The runs that steps of an undone run started: each is undone by one task of the undo, unless an undo of its task or step covers it, and
 * that task has completed only if the child is undone.
 */
final class UndoneChildren {
    private static final Set<State> ENDED = Set.of(State.UNDONE, State.NOTHING);

    private UndoneChildren() {}

    static void check(Store store, RunRows rows, RunRows undo) {
        Map<UUID, Integer> undone = new HashMap<>();
        for (TaskSpec task : undo.accepted.plan().tasks()) {
            Undoes original = task.policy().undoes();
            if (original.run() != null) {
                undone.merge(original.run(), 1, Integer::sum);
                of(store, rows, undo, task, store.run(original.run()));
            }
        }
        for (RunRows child : store.runs()) {
            if (child.parent == null || !child.parent.runId().equals(rows.id())) {
                continue;
            }
            int times = undone.getOrDefault(child.id(), 0);
            unless(times == 0 || !covered(rows, child) && times == 1, "undone %s times: %s", times, child.run);
            unless(times == 1 || covered(rows, child) || child.tasks.values().stream()
                    .allMatch(task -> task.spec().policy().undo() == null), "a child is not undone: %s", child.run);
        }
    }

    /**
     * A task that a commit completes has its child undone before.
     *
     * @param before null for a run that the commit makes
     * @param runs the rows of a run after the commit; null for a deleted one
     */
    static void check(RunRows before, RunRows after, Function<UUID, RunRows> runs) {
        if (before == null || !Undos.is(after)) {
            return;
        }
        for (Saved.Task task : after.tasks.values()) {
            Undoes original = task.spec().policy().undoes();
            Saved.Task was = before.tasks.get(task.id());
            boolean completes = task.state() == TaskState.COMPLETED && (was == null || was.state() != task.state());
            RunRows child = completes && original != null && original.run() != null ? runs.apply(original.run()) : null;
            unless(child == null || child.undo != null && ENDED.contains(child.undo.state()),
                    "%s completes before its child is undone: %s", task, child == null ? null : child.undo);
        }
    }

    private static boolean covered(RunRows rows, RunRows child) {
        Saved.Step step = rows.steps.get(child.parent.stepId());
        Undo undo = rows.tasks.get(step.taskId()).spec().policy().undo();
        return undo != null && (!undo.whole().isEmpty() || undo.steps().containsKey(step.spec().name()));
    }

    private static void of(Store store, RunRows rows, RunRows undo, TaskSpec task, RunRows child) {
        unless(rows.id().equals(child.parent.runId()), "a child of another run: %s", child.run);
        List<Saved.Task> ends = undo.tasks.values().stream()
                .filter(each -> each.spec().id().equals(task.id()) && each.state() == TaskState.COMPLETED).toList();
        if (ends.isEmpty()) {
            return;
        }
        unless(child.undo != null && ENDED.contains(child.undo.state()), "%s completed, and %s is not undone: %s",
                task.id(), child.run, child.undo);
        RunRows by = child.undo.undoRun() == null ? null : store.run(child.undo.undoRun());
        unless(by == null || by.run.state() == RunState.COMPLETED || by.run.state() == RunState.SKIPPED,
                "not undone yet: %s", by == null ? null : by.run);
    }
}
