package io.keelson.core.decide;

import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.run.PayloadPart;
import io.keelson.core.run.StepPayload;
import io.keelson.core.run.TaskPayload;
import io.keelson.core.run.TimerKind;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Moves a task on after a step: opens its next steps, or ends its work. */
final class TaskProgress {
    static final Duration CONTINUATION_PAUSE = Duration.ofSeconds(1);

    private TaskProgress() {}

    /** The pause before a further turn is over. */
    static void nextTurn(Decision d, TaskRow task) {
        d.disarm(TimerKind.TASK_CONTINUE, task.id());
        if (task.state == TaskState.CONTINUING && d.atWork()) {
            d.move(task, TaskState.RUNNING, new TaskPayload.Resumed(task.continuations));
            SlotScheduling.open(d, task, null);
        }
    }

    /** The engine completes a step without a holder: a wait, an approval. */
    static void succeed(Decision d, StepRow step, String output, PayloadPart.@Nullable Waited waited) {
        succeed(d, step, output, new StepPayload.Completed(null, waited));
    }

    /** @param payload of its event */
    static void succeed(Decision d, StepRow step, String output, StepPayload payload) {
        d.changes.output(step, output);
        d.yielded = output;
        d.run.stepsCompleted++;
        Requests.abandon(d, step);
        d.move(step, StepState.COMPLETED, payload);
        if (AgentMistakes.tolerated(d, step)) {
            advance(d, step.task(), null);
        }
    }

    /** After a step's success: opens the task's next steps, or ends the task. While the run is paused nothing opens. */
    static void advance(Decision d, TaskRow task, @Nullable String holder) {
        if (task.state == TaskState.VERIFYING) {
            Verdicts.continueVerification(d, task, holder);
        } else if (d.atWork() ? !SlotScheduling.open(d, task, holder) : allDone(task)) {
            finish(d, task);
        }
    }

    static boolean allDone(TaskRow task) {
        return task.steps.stream().allMatch(step -> step.state.terminal());
    }

    /** All work of a task or of a group's children is done: computes its output, then ends it. */
    static void finish(Decision d, TaskRow task) {
        if (task.isGroup() || task.spec().output() != null) {
            TaskMoves.evaluateOutput(d, task);
        } else {
            Verdicts.submit(d, task);
        }
    }
}
