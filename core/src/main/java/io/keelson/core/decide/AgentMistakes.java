package io.keelson.core.decide;

import io.keelson.core.lifecycle.StepState;
import io.keelson.core.plan.StepKind;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.StepError;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Bounds an agent's mistakes: equal calls in a row that end in equal errors. They open no ticket. */
final class AgentMistakes {
    static final String STUCK = "AGENT_STUCK";
    private static final int WARNED_REPEATS = 3;
    private static final int MAX_REPEATS = 5;

    private AgentMistakes() {}

    /** True for an error that an agent's call has caused and the next turn can correct; the run is not at fault. */
    static boolean isMistake(StepRow step, StepError error) {
        return step.spec().kind() == StepKind.CALL && error.errorClass() == ErrorClass.PERMANENT;
    }

    /**
     * A call has failed for good or was refused. Tells the agent where it repeats itself, in the call's message, and fails
     * its task at last.
     *
     * @return whether the task continues
     */
    static boolean tolerated(Decision d, StepRow call) {
        int repeats = repeats(call);
        if (repeats >= WARNED_REPEATS) {
            call.errorMessage += " (this call has had this error " + repeats + " times in a row; the task fails at "
                    + MAX_REPEATS + ")";
        }
        if (repeats >= MAX_REPEATS) {
            Propagation.failed(d, call.task(), new StepError(STUCK, ErrorClass.PERMANENT, "the agent has called '"
                    + call.spec().tool() + "' with one input " + repeats + " times in a row, and each call ended in "
                    + call.errorCode));
        }
        return repeats < MAX_REPEATS;
    }

    /** Number of equal calls with this error in a row, this one included. Calls that run side by side end in any order. */
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
        return (each.state == StepState.FAILED || each.state == StepState.SKIPPED)
                && content(each.callEffect()).equals(content(call.callEffect()))
                && String.valueOf(each.errorCode).equals(call.errorCode);
    }

    /** Tool and input. */
    private static String content(@Nullable String callEffect) {
        return callEffect == null ? "" : callEffect.substring(0, callEffect.lastIndexOf('/'));
    }
}
