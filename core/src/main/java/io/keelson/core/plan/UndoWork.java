package io.keelson.core.plan;

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
 * repetition may fix does not tell whether the effect happened.
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
     */
    public record Step(String name, boolean completed, int executions, boolean effects, @Nullable String errorCode,
            @Nullable String errorClass) {

        /** True when nothing tells whether it was done. */
        boolean unknown() {
            return effects && !completed && executions > 0 && !isRefusal();
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

        private Original original() {
            return after(upstreams);
        }

        private Original after(Collection<String> others) {
            return new Original(task, key, title, group, round, List.copyOf(others), parallel,
                    parts(undo, completed, steps));
        }
    }

    private UndoWork() {}

    /**
     * The tasks of a run with the work to undo. Of several rows of a task, the last completed row counts, else the last row
     * with possible effects. The task comes after the upstreams of all its rows, without circles, because a row does not have all
     * upstreams of the row that it replaces.
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
        return latest.values().stream().map(row -> row.after(upstreams.getOrDefault(row.key(), Set.of()))).toList();
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
        if (later.completed() && later.undo() != null || earlier.original().parts().isEmpty()) {
            return later;
        }
        return earlier.completed() || later.original().parts().isEmpty() ? earlier : later;
    }

    /**
     * The parts of a task to undo, in the order of its steps.
     *
     * @param completed whether the task completed
     * @param steps of all its attempts, in order
     */
    static List<Part> parts(@Nullable Undo undo, boolean completed, List<Step> steps) {
        List<Part> parts = new ArrayList<>();
        if (undo == null) {
            return parts;
        }
        if (!undo.whole().isEmpty()) {
            if (completed || steps.stream().anyMatch(step -> step.completed() && step.effects() || step.unknown())) {
                parts.add(new Part(null, completed, undo.whole()));
            }
            return parts;
        }
        Map<String, Boolean> known = new LinkedHashMap<>();
        for (Step step : steps) {
            if (undo.steps().containsKey(step.name()) && (step.completed() || step.unknown())) {
                known.merge(step.name(), step.completed(), Boolean::logicalOr);
            }
        }
        known.forEach((name, done) -> parts.add(new Part(name, done, undo.steps().getOrDefault(name, List.of()))));
        return parts;
    }
}
