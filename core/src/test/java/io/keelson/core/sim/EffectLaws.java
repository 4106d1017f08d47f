package io.keelson.core.sim;

import static io.keelson.core.sim.Violation.unless;

import io.keelson.core.plan.StepKind;
import io.keelson.core.run.Event;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Laws of effect keys: a row that repeats a task has the same or a later generation, and a later
 * one after a rejected output. A task of a group's round gets its generation when it is queued. Calls of agents have one key exactly if they ask the same, each in its turn.
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
            after.tasks.values().stream().filter(task -> !task.isLoop()
                    && (task.groupId() == null || task.queuedAt() != null)).forEach(task -> {
                        Integer earlier = generations.put(task.key(), task.effectGeneration());
                        unless(earlier == null || earlier <= task.effectGeneration(),
                                "done again under an older key: %s",
                                task);
                    });
        }
        calls();
        events.stream().filter(event -> event.taskId() != null && event.stepId() == null && event.to() != null
                && "quality".equals(event.members().get("error_class"))).forEach(this::raised);
    }

    /** Within an attempt of a task no two calls share a key; in all attempts equal keys are equal calls. */
    private void calls() {
        Map<String, String> contents = new HashMap<>();
        Set<String> keys = new HashSet<>();
        after.steps.values().stream().filter(step -> step.spec().kind() == StepKind.CALL).forEach(step -> {
            unless(keys.add(step.taskId() + "." + step.taskAttempt() + step.callEffect()), "one key for two calls: %s",
                    step);
            String content = step.spec().tool() + step.spec().input();
            unless(content.equals(contents.getOrDefault(step.callEffect(), content)), "one key for two contents: %s",
                    step);
            contents.put(step.callEffect(), content);
        });
    }

    private void raised(Event event) {
        Saved.Task task = after.tasks.get(event.taskId());
        Saved.Task old = before == null ? null : before.tasks.get(event.taskId());
        boolean group = task.isGroup();
        unless(group || old == null || task.effectGeneration() > old.effectGeneration(),
                "what was rejected would be done under the same key: %s", task);
    }
}
