package io.keelson.server.engine.store;

import io.keelson.core.decide.ChangeSet;
import io.keelson.core.decide.TaskRow;
import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.StepKind;
import io.keelson.server.engine.store.sql.TextColumns;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The short form of a task's output. */
final class OutputSummary {
    /** States in which the work of a task is done, though it may still be judged. */
    private static final Set<TaskState> DONE = EnumSet.of(TaskState.COMPLETED, TaskState.VERIFYING,
            TaskState.AWAITING_HUMAN);

    private OutputSummary() {}

    /** Null if these changes have no output of the task. */
    static @Nullable String of(ChangeSet changes, TaskRow task) {
        String made = changes.outputOf(task);
        return TextColumns.summary(made == null ? lastOutput(changes, task) : made);
    }

    /** The summary of a run whose only final task has completed with this summary. */
    static String ofRun(@Nullable String task) {
        return task == null || task.equals("null") ? TaskState.COMPLETED.wire() : task;
    }

    /**
     * The output of the last step of a task whose work is done, if this batch has it; verifiers' outputs do not count. A failure
     * or a skip may end a task: an output of an earlier step is not used, which only some batches have.
     */
    private static @Nullable String lastOutput(ChangeSet changes, TaskRow task) {
        if (!DONE.contains(task.state())) {
            return null;
        }
        return task.steps().reversed().stream().filter(step -> step.spec().kind() != StepKind.VERIFY).findFirst()
                .filter(step -> step.state() == StepState.COMPLETED).map(changes::outputOf).orElse(null);
    }
}
