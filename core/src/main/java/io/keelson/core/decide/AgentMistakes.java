package io.keelson.core.decide;

import io.keelson.core.lifecycle.StepState;
import io.keelson.core.plan.StepKind;
import io.keelson.core.policy.CallCycle;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.policy.Repetition;
import io.keelson.core.run.StepError;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Bounds an agent's mistakes, see {@link Repetition}. They open no ticket. A program may repeat its calls. */
final class AgentMistakes {
    static final String STUCK = "AGENT_STUCK";

    private AgentMistakes() {}

    /** True for an error that an agent's call has caused and the next turn can correct; the run is not at fault. */
    static boolean isMistake(StepRow step, StepError error) {
        return step.spec().kind() == StepKind.CALL && error.errorClass() == ErrorClass.PERMANENT;
    }

    /**
     * Handles repetition after the end of a step. Warns an agent that repeats a call, or a cycle of calls, in the message of an
     * error, and fails the task at the bound of {@code Repetition}, for equal errors and for equal results.
     *
     * @return whether the task continues
     */
    static boolean tolerated(Decision d, StepRow step) {
        if (step.spec().kind() != StepKind.CALL || step.caller() != null) {
            return true;
        }
        boolean completed = step.state == StepState.COMPLETED;
        Repetition repetition = completed ? Repetition.RESULT : Repetition.ERROR;
        int repeats = repeats(step);
        String notice = repetition.notice(repeats);
        CallCycle cycle = notice == null ? CallCycle.of(latest(step.task())) : null;
        if (!completed && (notice != null || cycle != null)) {
            step.errorMessage += " (" + (cycle == null ? notice : cycle.notice()) + ")";
        }
        if (cycle != null && cycle.ends()) {
            Propagation.failed(d, step.task(), new StepError(STUCK, ErrorClass.PERMANENT, "the agent has made the same "
                    + cycle.period() + " calls in turn " + cycle.times() + " times in a row, '" + step.spec().tool()
                    + "' the last, and each call ended as before"));
            return false;
        }
        if (repetition.ends(repeats)) {
            Propagation.failed(d, step.task(), new StepError(STUCK, ErrorClass.PERMANENT, "the agent has called '"
                    + step.spec().tool() + "' with one input " + repeats + " times in a row, and each call ended in "
                    + (completed ? "the same result" : step.errorCode)));
        }
        return !repetition.ends(repeats);
    }

    /** The latest calls of the task that have ended, without later ones of the same turn that are open, the latest last. */
    private static List<@Nullable String> latest(TaskRow task) {
        List<@Nullable String> calls = new ArrayList<>();
        for (int i = task.steps.size() - 1; i >= 0 && calls.size() < CallCycle.WINDOW; i--) {
            StepRow each = task.steps.get(i);
            if (each.spec().kind() == StepKind.CALL && (each.state.terminal() || !calls.isEmpty())) {
                calls.add(CallCycle.signature(each.callEffect(), each.callResult, each.errorCode));
            }
        }
        return calls.reversed();
    }

    /** Number of equal calls in a row that ended alike, this one included. Calls that run side by side end in any order. */
    private static int repeats(StepRow call) {
        List<StepRow> calls =
                call.task().steps.stream().filter(step -> step.spec().kind() == StepKind.CALL).toList();
        int at = calls.indexOf(call);
        int first = at;
        while (first > 0 && equal(calls.get(first - 1), call)) {
            first--;
        }
        int next = at + 1;
        while (next < calls.size() && equal(calls.get(next), call)) {
            next++;
        }
        return next - first;
    }

    private static boolean equal(StepRow each, StepRow call) {
        return Repetition.content(each.callEffect()).equals(Repetition.content(call.callEffect()))
                && (call.state == StepState.COMPLETED
                        ? each.state == StepState.COMPLETED && each.callResult != null
                                && each.callResult.equals(call.callResult)
                        : (each.state == StepState.FAILED || each.state == StepState.SKIPPED)
                                && String.valueOf(each.errorCode).equals(call.errorCode));
    }
}
