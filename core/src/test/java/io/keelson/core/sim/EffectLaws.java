package io.keelson.core.sim;

import static io.keelson.core.sim.Violation.unless;

import io.keelson.core.run.Event;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Laws of effect keys: a row that repeats a task has the same or a later generation, and a later
 * one after a rejected output.
 */
final class EffectLaws {
    private final RunRows before;
    private final RunRows after;

    /** @param before null for a run that the commit makes */
    EffectLaws(RunRows before, RunRows after) {
        this.before = before;
        this.after = after;
    }

    void check(List<Event> events) {
        if (after.run.effectGeneration() == 1) {
            Map<String, Integer> generations = new HashMap<>();
            after.tasks.values().forEach(task -> {
                Integer earlier = generations.put(task.key(), task.effectGeneration());
                unless(earlier == null || earlier <= task.effectGeneration(), "done again under an older key: %s",
                        task);
            });
        }
        events.stream().filter(event -> event.taskId() != null && event.stepId() == null && event.to() != null
                && "quality".equals(event.members().get("error_class"))).forEach(this::raised);
    }

    private void raised(Event event) {
        Saved.Task task = after.tasks.get(event.taskId());
        Saved.Task old = before == null ? null : before.tasks.get(event.taskId());
        boolean group = task.spec().forEach() != null && task.groupId() == null;
        unless(group || old == null || task.effectGeneration() > old.effectGeneration(),
                "what was rejected would be done under the same key: %s", task);
    }
}
