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
    private static final int TOLD = 3;
    private static final int MOST = 5;

    private AgentMistakes() {}

    /** True for an error that an agent's call has caused and the next turn can correct; the run is not at fault. */
    static boolean isMistake(StepRow step, StepError error) {
        return step.spec().kind() == StepKind.CALL && error.errorClass() == ErrorClass.PERMANENT;
    }

    /**
     * A call has failed for good or was refused. Tells the agent where it repeats itself, in the call's message, and fails
     * its task at last.
     *
     * @return whether the task goes on
     */
    static boolean tolerated(Decision d, StepRow call) {
        int repeats = repeats(call);
        if (repeats >= TOLD) {
            call.errorMessage += " (this call has had this error " + repeats + " times in a row; the task fails at "
                    + MOST + ")";
        }
        if (repeats >= MOST) {
            Propagation.failed(d, call.task(), new StepError(STUCK, ErrorClass.PERMANENT, "the agent has called '"
                    + call.spec().tool() + "' with one input " + repeats + " times in a row, and each call ended in "
                    + call.errorCode));
        }
        return repeats < MOST;
    }

    /** Number of equal calls with this error in a row, this one included. */
    private static int repeats(StepRow call) {
        List<StepRow> steps = call.task().steps;
        int repeats = 0;
        for (int i = steps.indexOf(call); i >= 0; i--) {
            StepRow each = steps.get(i);
            if (each.spec().kind() == StepKind.CALL) {
                if (!equal(each, call)) {
                    return repeats;
                }
                repeats++;
            }
        }
        return repeats;
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
