package io.keelson.core.plan;

import java.util.List;
import java.util.Map;

/**
 * The calls that compensate a task.
 *
 * @param whole calls that undo the whole task, in order; empty if its steps have their own
 * @param steps calls that undo single steps, by the steps' names
 */
public record Undo(List<StepSpec> whole, Map<String, List<StepSpec>> steps) {

    public Undo {
        whole = List.copyOf(whole);
        steps = Map.copyOf(steps);
    }
}
