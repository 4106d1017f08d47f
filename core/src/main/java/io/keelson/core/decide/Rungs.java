package io.keelson.core.decide;

import io.keelson.core.plan.AgentTerms;
import io.keelson.core.plan.Rung;
import io.keelson.core.plan.StepKind;
import io.keelson.core.plan.StepSpec;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The rung of a task's ladder in force: the one whose turn the task has. */
final class Rungs {
    private Rungs() {}

    /** The terms of the agent that does the task now; null for none. */
    static @Nullable AgentTerms terms(TaskRow task) {
        int taken = taken(task);
        return taken == 0 ? task.spec().policy().agent() : task.spec().policy().ladder().get(taken - 1).agent();
    }

    /** The number of the rung in force, from 1; 0 before the first that changes the task's agent. */
    static int taken(TaskRow task) {
        List<Rung> rungs = task.spec().policy().ladder();
        for (int i = rungs.size(); i > 0; i--) {
            StepSpec turn = rungs.get(i - 1).turn();
            if (turn != null && task.steps.stream().anyMatch(step -> step.spec().kind() == StepKind.TURN
                    && step.spec().name().equals(turn.name()))) {
                return i;
            }
        }
        return 0;
    }
}
