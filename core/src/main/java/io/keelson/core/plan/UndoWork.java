package io.keelson.core.plan;

import io.keelson.core.plan.UndoPlan.Child;
import io.keelson.core.plan.UndoPlan.Original;
import io.keelson.core.plan.UndoPlan.Part;
import io.keelson.core.policy.ErrorClass;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Decides which work of a task is to be undone. Work whose outcome is unknown is among it: a timeout, a lost worker or an error that a
 * repetition may fix does not tell whether the effect happened. A run that a step without an undo started is undone as a run: of
 * repeated work each one, as each has recorded its own effects.
 */
public final class UndoWork {
    /** Permanent errors that do not tell whether the effect happened. */
    private static final Set<String> UNKNOWN = Set.of("OUTCOME_UNKNOWN", "STEP_TIMEOUT", "WORKER_HEARTBEAT_TIMEOUT");

    /**
     * A step of a task, in any attempt of the task.
     *
     * @param completed whether its result is recorded
     * @param executions number of executions that began
     * @param effects false when it changes nothing outside the run
     * @param errorCode of the last failure; null if absent
     * @param errorClass of the last failure; null if absent
     * @param children the runs that it started, without runs in which nothing can be undone
     */
    public record Step(String name, boolean completed, int executions, boolean effects, @Nullable String errorCode,
            @Nullable String errorClass, List<Child> children) {
        public Step {
            children = List.copyOf(children);
        }

        /** A step that started no run. */
        public Step(String name, boolean completed, int executions, boolean effects, @Nullable String errorCode,
                @Nullable String errorClass) {
            this(name, completed, executions, effects, errorCode, errorClass, List.of());
        }

        /** True when nothing tells whether it was done. */
        boolean unknown() {
            return effects && !completed && (executions > 0 && !isRefusal() || !children.isEmpty());
        }

        /** True when its only execution ended with a refusal: nothing was done. */
        private boolean isRefusal() {
            return executions == 1 && ErrorClass.PERMANENT.wire().equals(errorClass) && errorCode != null
                    && !UNKNOWN.contains(errorCode);
        }
    }

    /**
     * A task of the run in one of its attempts.
     *
     * @param key its id in the plan; an item or a round has its number in brackets
     * @param group key of the task with {@code for_each} or {@code repeat} that it belongs to; null if absent
     * @param round number of the round, from 1; 0 for any other task
     * @param upstreams keys of the tasks that it depends on
     * @param parallel whether its steps ran side by side
     * @param undo null for a task without an undo, and for work of another run
     */
    public record Row(UUID task, String key, String title, @Nullable String group, int round, List<String> upstreams,
            boolean parallel, @Nullable Undo undo, boolean completed, List<Step> steps) {
        public Row {
            upstreams = List.copyOf(upstreams);
            steps = List.copyOf(steps);
        }

        private List<Part> parts() {
            return UndoWork.parts(undo, completed, steps);
        }

        private boolean isEmpty() {
            return parts().stream().allMatch(part -> part.child() != null);
        }

        private Original after(Collection<String> others, List<Part> all) {
            return new Original(task, key, title, group, round, List.copyOf(others), parallel, all);
        }
    }

    private UndoWork() {}

    /**
     * The tasks of a run with the work to undo. Of several rows of a task, the last completed row counts, else the last row
     * with possible effects. The task comes after the upstreams of all its rows, without circles, because a row does not have all
     * upstreams of the row that it replaces. It has the child runs of all its rows.
     *
     * @param rows of all attempts of the run, in their order, groups before their members
     */
    public static List<Original> of(List<Row> rows) {
        Map<String, Row> latest = new LinkedHashMap<>();
        for (Row row : rows) {
            latest.merge(row.key(), row, UndoWork::rather);
        }
        Map<String, Set<String>> upstreams = new HashMap<>();
        latest.forEach((key, row) -> upstreams.put(key, new LinkedHashSet<>(row.upstreams())));
        for (Row row : rows) {
            Set<String> known = upstreams.getOrDefault(row.key(), Set.of());
            row.upstreams().stream().filter(each -> !known.contains(each) && !comesAfter(each, row.key(), upstreams))
                    .toList().forEach(known::add);
        }
        Map<String, List<Part>> parts = new HashMap<>();
        Set<UUID> children = new HashSet<>();
        for (Row row : rows) {
            row.parts().stream().filter(part -> part.child() == null ? row == latest.get(row.key())
                    : children.add(part.child().run()))
                    .forEach(parts.computeIfAbsent(row.key(), key -> new ArrayList<>())::add);
        }
        return latest.values().stream().map(row -> row.after(upstreams.getOrDefault(row.key(), Set.of()),
                parts.getOrDefault(row.key(), List.of()))).toList();
    }

    /** True when a task is another one, or depends on it. */
    private static boolean comesAfter(String task, String other, Map<String, Set<String>> upstreams) {
        Deque<String> open = new ArrayDeque<>(List.of(task));
        Set<String> seen = new HashSet<>();
        while (!open.isEmpty()) {
            String next = open.remove();
            if (next.equals(other)) {
                return true;
            }
            if (seen.add(next)) {
                open.addAll(upstreams.getOrDefault(next, Set.of()));
            }
        }
        return false;
    }

    private static Row rather(Row earlier, Row later) {
        if (later.completed() && later.undo() != null || earlier.isEmpty()) {
            return later;
        }
        return earlier.completed() || later.isEmpty() ? earlier : later;
    }

    /**
     * The parts of a task to undo, in the order of its steps. The undo of a task or step covers the runs that it started.
     *
     * @param completed whether the task completed
     * @param steps of all its attempts, in order
     */
    static List<Part> parts(@Nullable Undo undo, boolean completed, List<Step> steps) {
        if (undo != null && !undo.whole().isEmpty()) {
            boolean begun = completed
                    || steps.stream().anyMatch(step -> step.completed() && step.effects() || step.unknown());
            return begun ? List.of(new Part(null, completed, undo.whole())) : List.of();
        }
        Map<Object, Part> parts = new LinkedHashMap<>();
        for (Step step : steps) {
            List<StepSpec> calls = undo == null ? null : undo.steps().get(step.name());
            if (calls == null) {
                step.children().forEach(child -> parts.put(child.run(), child.of(step.name())));
            } else if (step.completed() || step.unknown()) {
                parts.merge(step.name(), new Part(step.name(), step.completed(), calls),
                        (first, other) -> first.known() ? first : other);
            }
        }
        return List.copyOf(parts.values());
    }
}
