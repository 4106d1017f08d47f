package io.keelson.core.decide;

import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.StepKind;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Explanation;
import io.keelson.core.run.PayloadPart;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The failures that a run's current attempt ignored. */
final class IgnoredFailure {

    private IgnoredFailure() {}

    /**
     * Tasks that failed, and steps that failed in tasks which continued without them. A planner's failure does not
     * count: another plan followed, or the run failed. Nor does an agent's failed call, which the agent judges itself.
     */
    static Stream<Explanation> in(RunView view) {
        return Stream.concat(
                view.tasks.values().stream()
                        .filter(task -> task.state == TaskState.FAILED && !SystemTasks.plans(task))
                        .map(task -> failed("task '" + task.key() + "'", task, null, task.errorCode,
                                task.errorMessage)),
                view.steps.values().stream()
                        .filter(step -> step.failureIgnored && step.spec().kind() != StepKind.CALL
                                && step.task().state != TaskState.FAILED)
                        .map(step -> failed("step '" + step.name() + "' of task '" + step.task().key() + "'",
                                step.task(), step, step.errorCode, step.errorMessage)));
    }

    /** The first ignored failure within an ended task; null if absent. */
    static PayloadPart.@Nullable Cause within(TaskRow task) {
        return Stream.concat(
                task.children.stream().filter(child -> child.failureIgnored)
                        .map(child -> new PayloadPart.Cause(child.errorCode, child.errorClass, child.errorMessage)),
                task.steps.stream().filter(step -> step.failureIgnored)
                        .map(step -> new PayloadPart.Cause(step.errorCode, step.errorClass, step.errorMessage)))
                .findFirst().orElse(null);
    }

    /** Whether a step of the task failed because its output was rejected, and the failure was ignored. */
    static boolean rejected(TaskRow task) {
        return task.steps.stream().anyMatch(step -> step.failureIgnored
                && ErrorClass.QUALITY.wire().equals(step.errorClass));
    }

    private static Explanation failed(String what, TaskRow task, @Nullable StepRow step, @Nullable String code,
            @Nullable String message) {
        return new Explanation("FAILURE_IGNORED", what + " failed and the run continued without it"
                + (code == null ? "" : ": " + code) + (message == null ? "" : ": " + message), task.id(),
                step == null ? null : step.id(), null, List.of());
    }
}
