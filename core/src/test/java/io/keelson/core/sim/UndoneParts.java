package io.keelson.core.sim;

import static io.keelson.core.sim.Violation.unless;

import io.keelson.core.lifecycle.StepState;
import io.keelson.core.lifecycle.TaskState;
import io.keelson.core.plan.Plan;
import io.keelson.core.plan.TaskSpec;
import io.keelson.core.plan.Undo;
import io.keelson.core.plan.UndoPlan;
import io.keelson.core.plan.Undoes;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * The work that an undo has to undo, by the recorded facts alone: work that was done, and work of which nothing tells whether it was. A
 * person is asked about the latter only. Of repeated work, the last one is undone. The steps of a task are undone one after the other, the last one first.
 */
final class UndoneParts {
    private static final List<String> LOST = List.of("OUTCOME_UNKNOWN", "STEP_TIMEOUT", "WORKER_HEARTBEAT_TIMEOUT");

    private UndoneParts() {}

    static void check(RunRows rows, RunRows undo) {
        Map<String, Boolean> asked = new HashMap<>();
        Map<String, UUID> tasks = new HashMap<>();
        for (TaskSpec task : undo.accepted.plan().tasks()) {
            Undoes original = Objects.requireNonNull(task.policy().undoes());
            if (original.run() != null) {
                continue;
            }
            tasks.put(original.key(), original.task());
            asked.put(original.key() + "/" + original.step(),
                    task.steps().getFirst().name().equals(UndoPlan.QUESTION));
        }
        rows.tasks.values().stream().filter(task -> task.spec().policy().undo() != null && !Undos.isGroup(task)
                && task.reusedFrom() == null && !task.key().startsWith("."))
                .collect(Collectors.groupingBy(Saved.Task::key))
                .forEach((key, tries) -> parts(rows, key, tries, asked, tasks));
        undo.accepted.plan().tasks().forEach(task -> order(rows, undo.accepted.plan(), task));
    }

    private static void parts(RunRows rows, String key, List<Saved.Task> tries, Map<String, Boolean> asked,
            Map<String, UUID> tasks) {
        Undo undo = tries.getLast().spec().policy().undo();
        if (tries.stream().anyMatch(each -> !each.spec().policy().undo().equals(undo))) {
            return;
        }
        if (!undo.whole().isEmpty()) {
            boolean done = tries.stream().anyMatch(each -> each.state() == TaskState.COMPLETED);
            boolean begun = any(rows, tries, step -> step.state() == StepState.COMPLETED || lost(step));
            part(key + "/null", done, begun || asked.containsKey(key + "/null") && started(rows, tries, step -> true),
                    asked);
            tries.stream().filter(each -> each.state() == TaskState.COMPLETED).reduce((_, last) -> last)
                    .ifPresent(last -> unless(last.id().equals(tasks.get(key)), "the undo of %s is not that of %s: %s",
                            key, last, tasks));
        } else if (tries.size() == 1) {
            undo.steps().keySet().forEach(name -> part(key + "/" + name,
                    any(rows, tries, step -> step.spec().name().equals(name) && step.state() == StepState.COMPLETED),
                    any(rows, tries, step -> step.spec().name().equals(name) && lost(step))
                            || asked.containsKey(key + "/" + name)
                                    && started(rows, tries, step -> step.spec().name().equals(name)),
                    asked));
        }
    }

    private static void part(String part, boolean done, boolean begun, Map<String, Boolean> asked) {
        unless(asked.containsKey(part) == (done || begun), "%s, done %s, perhaps done %s, is in %s", part, done, begun,
                asked);
        unless(!asked.containsKey(part) || asked.get(part) == !done, "a person is asked about work %s: %s", part,
                asked);
    }

    /** Whether steps started runs, in which something may have been done. */
    private static boolean started(RunRows rows, List<Saved.Task> tries, Predicate<Saved.Step> of) {
        return tries.stream().flatMap(each -> rows.stepsOf(each.id()))
                .anyMatch(step -> of.test(step) && rows.children.containsKey(step.id()));
    }

    private static boolean any(RunRows rows, List<Saved.Task> tries, Predicate<Saved.Step> is) {
        return tries.stream().flatMap(each -> rows.stepsOf(each.id())).filter(Undos::isWork).anyMatch(is);
    }

    /** Executed without a recorded result, and not refused in its only execution. */
    private static boolean lost(Saved.Step step) {
        return step.state() != StepState.COMPLETED && step.leaseEpoch() > 0 && !(step.leaseEpoch() == 1
                && "permanent".equals(step.errorClass()) && !LOST.contains(String.valueOf(step.errorCode())));
    }

    private static void order(RunRows rows, Plan plan, TaskSpec task) {
        Undoes one = task.policy().undoes();
        if (one.step() == null || one.run() != null || rows.tasks.get(one.task()).spec().parallelSteps()) {
            return;
        }
        Set<String> before = Undos.before(plan, task.id());
        plan.tasks().stream().filter(other -> other.policy().undoes().task().equals(one.task()))
                .filter(other -> other.policy().undoes().run() == null)
                .filter(other -> position(rows, other) > position(rows, task))
                .forEach(other -> unless(before.contains(other.id()), "not undone after the step after it: %s %s", task,
                        other));
    }

    private static int position(RunRows rows, TaskSpec task) {
        Undoes original = task.policy().undoes();
        return rows.stepsOf(original.task()).filter(step -> step.spec().name().equals(original.step()))
                .mapToInt(Saved.Step::position).min().orElseThrow();
    }
}
