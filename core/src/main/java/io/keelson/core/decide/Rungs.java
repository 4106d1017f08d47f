package io.keelson.core.decide;

import io.keelson.core.plan.AgentTerms;
import io.keelson.core.plan.StepKind;
import org.jspecify.annotations.Nullable;

/** The rung of a task's ladder in force: the one whose turn the task has. */
final class Rungs {
    private Rungs() {}

    /** The terms of the agent that does the task now; null if absent. */
    static @Nullable AgentTerms terms(TaskRow task) {
        return task.spec().policy().agentOn(takenRungs(task));
    }

    /** The agent of the roster that does the task now; null if absent. */
    static @Nullable String agent(TaskRow task) {
        AgentTerms terms = terms(task);
        return terms == null || terms.id() == null ? null : terms.slug();
    }

    /** The number of the rung in force, from 1; 0 before the first that changes the task's agent. */
    static int takenRungs(TaskRow task) {
        return task.spec().policy().rung(name -> task.steps.stream().anyMatch(
                step -> step.spec().kind() == StepKind.TURN && step.spec().name().equals(name)));
    }
}
