package io.keelson.server.expr;

import java.util.Set;

/**
 * What a template names of its scope without being run.
 *
 * @param tasks ids after {@code .tasks}
 * @param allTasks whether it can reach tasks it does not name, for example {@code .tasks | keys} or {@code .}
 * @param steps names after {@code .steps}
 * @param inputs names after {@code .inputs}
 */
public record References(
        Set<String> tasks, boolean allTasks,
        Set<String> steps, boolean allSteps,
        Set<String> inputs, boolean allInputs) {

    public References {
        tasks = Set.copyOf(tasks);
        steps = Set.copyOf(steps);
        inputs = Set.copyOf(inputs);
    }
}
