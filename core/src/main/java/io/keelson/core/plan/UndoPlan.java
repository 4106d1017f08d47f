package io.keelson.core.plan;

import io.keelson.core.policy.RetryPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The plan of an undo: a task for each piece of work that may have had effects. The order is that of the original plan in
 * reverse: work is undone after all work that depended on it. Work without a dependency between each other is undone side by side.
 */
public final class UndoPlan {
    /** Maximum number of tasks, and of their dependencies. */
    public static final int MAX_TASKS = 10_000;
    public static final int MAX_DEPENDENCIES = 50_000;
    /** Name of the question to a person about work with an unknown outcome. */
    public static final String QUESTION = "was-it-done";
    private static final Duration QUESTION_TIMEOUT = Duration.ofDays(365);
    private static final Pattern FOREIGN = Pattern.compile("[^A-Za-z0-9_.-]+");
    private static final int MAX_ID = 180;
    private static final int MAX_TITLE = 480;

    private final Map<String, Original> originals = new LinkedHashMap<>();
    private final Map<String, List<Original>> members = new HashMap<>();
    private final Map<String, Set<String>> near = new HashMap<>();
    /** The ids of each task's tasks in the undo, in the order of the work. */
    private final Map<String, List<String>> numbered = new HashMap<>();
    private final Set<String> ids = new HashSet<>();
    private final List<TaskSpec> tasks = new ArrayList<>();
    private int dependencies;

    /**
     * A task of the original run. All its tasks are given, as work without an undo still orders the rest.
     *
     * @param key its id in the plan; an item or a round has its number in brackets
     * @param group key of the task with {@code for_each} or {@code repeat} that it belongs to; null if absent
     * @param round number of the round, from 1; 0 for any other task
     * @param upstreams keys of the tasks that it depends on
     * @param parallel whether its steps ran side by side
     * @param parts the work to undo, in the order of its beginning; may be empty
     */
    public record Original(UUID task, String key, String title, @Nullable String group, int round,
            List<String> upstreams, boolean parallel, List<Part> parts) {
        public Original {
            upstreams = List.copyOf(upstreams);
            parts = List.copyOf(parts);
        }
    }

    /**
     * Work of one task that is undone together.
     *
     * @param step name of the step; null for the whole task
     * @param known false when nothing tells whether it was done
     * @param calls that undo it, in order
     * @param child the run that the step started and that is undone; null for the work of the task itself
     */
    public record Part(@Nullable String step, boolean known, List<StepSpec> calls, @Nullable Child child) {
        public Part {
            calls = List.copyOf(calls);
        }

        /** Work of the task itself. */
        public Part(@Nullable String step, boolean known, List<StepSpec> calls) {
            this(step, known, calls, null);
        }
    }

    /** A child run. Its own undo reads the record of its work. */
    public record Child(UUID run, String name) {

        Part of(String step) {
            return new Part(step, true, List.of(new StepSpec("undo", StepKind.RUN, StepSpec.UNDO_RUN,
                    "{\"run_id\":\"" + run + "\"}", RetryPolicy.NONE, StepSpec.OF_TASK)), this);
        }
    }

    /** The undo has more tasks or dependencies than a run may have. */
    public static final class TooLargeException extends RuntimeException {
        private static final long serialVersionUID = 1;

        TooLargeException(String message) {
            super(message);
        }
    }

    private UndoPlan(List<Original> all) {
        for (Original each : all) {
            originals.put(each.key(), each);
            if (each.group() != null) {
                members.computeIfAbsent(each.group(), group -> new ArrayList<>()).add(each);
            }
        }
        members.values().forEach(group -> group.sort((one, other) -> Integer.compare(one.round(), other.round())));
    }

    /**
     * The tasks that undo a run.
     *
     * @param all tasks of the run by their keys, in plan order, groups before their members
     * @return empty if nothing is to be undone
     * @throws TooLargeException beyond {@link #MAX_TASKS} or {@link #MAX_DEPENDENCIES}
     */
    public static Plan of(List<Original> all) {
        long parts = all.stream().mapToLong(each -> each.parts().size()).sum();
        if (parts > MAX_TASKS) {
            throw new TooLargeException(parts + " pieces of work are to be undone, at most " + MAX_TASKS + " can be");
        }
        UndoPlan plan = new UndoPlan(all);
        plan.originals.values().forEach(plan::number);
        List<Original> reversed = List.copyOf(plan.originals.values()).reversed();
        Map<String, Set<String>> after = new HashMap<>();
        for (Original each : reversed) {
            if (plan.numbered.containsKey(each.key())) {
                for (String upstream : plan.upstreamWork(each)) {
                    after.computeIfAbsent(upstream, key -> new LinkedHashSet<>()).add(each.key());
                }
            }
        }
        reversed.forEach(each -> plan.add(each, after.getOrDefault(each.key(), Set.of())));
        return new Plan(1, plan.tasks);
    }

    private void number(Original each) {
        List<String> own = new ArrayList<>();
        for (Part part : each.parts()) {
            own.add(id(each.key() + (part.step() == null ? "" : "." + part.step())));
        }
        if (!own.isEmpty()) {
            numbered.put(each.key(), own);
        }
    }

    private String id(String of) {
        String clean = FOREIGN.matcher("undo." + of.replace("[", ".").replace("]", "")).replaceAll("-");
        String base = clean.length() <= MAX_ID ? clean : clean.substring(0, MAX_ID);
        String id = base;
        for (int number = 2; !ids.add(id); number++) {
            id = base + "-" + number;
        }
        return id;
    }

    /** The nearest tasks with work to undo before a task with work to undo. */
    private Set<String> upstreamWork(Original task) {
        Set<String> found = new LinkedHashSet<>();
        if (task.round() > 0) {
            List<Original> before = lastRound(members.getOrDefault(String.valueOf(task.group()), List.of()).stream()
                    .filter(each -> each.round() < task.round() && numbered.containsKey(each.key())).toList());
            task.upstreams().forEach(upstream -> found.addAll(work(upstream)));
            before.forEach(each -> found.add(each.key()));
            if (!before.isEmpty()) {
                return found;
            }
        }
        Original group = task.group() == null ? null : originals.get(task.group());
        (group == null ? task : group).upstreams().forEach(upstream -> found.addAll(work(upstream)));
        return found;
    }

    /** The tasks with work to undo in place of a task: itself, its members, else the tasks before it. */
    private Set<String> work(String key) {
        Set<String> known = near.get(key);
        Original task = originals.get(key);
        if (known != null || task == null) {
            return known == null ? Set.of() : known;
        }
        near.put(key, Set.of());
        Set<String> found = new LinkedHashSet<>();
        if (numbered.containsKey(key)) {
            found.add(key);
        }
        List<Original> own =
                members.getOrDefault(key, List.of()).stream().filter(each -> numbered.containsKey(each.key()))
                        .toList();
        lastRound(own).forEach(each -> found.add(each.key()));
        if (found.isEmpty()) {
            task.upstreams().forEach(upstream -> found.addAll(work(upstream)));
        }
        near.put(key, found);
        return found;
    }

    /** The tasks of the last round among sorted members; all items of a {@code for_each}. */
    private static List<Original> lastRound(List<Original> sorted) {
        return sorted.stream().filter(each -> each.round() == sorted.getLast().round()).toList();
    }

    private void add(Original task, Set<String> later) {
        List<String> own = numbered.getOrDefault(task.key(), List.of());
        List<String> before = later.stream().flatMap(key -> last(key).stream()).toList();
        for (int i = task.parts().size() - 1; i >= 0; i--) {
            boolean first = task.parallel() || i == task.parts().size() - 1;
            List<String> upstreams = first ? before : List.of(own.get(i + 1));
            dependencies += upstreams.size();
            if (dependencies > MAX_DEPENDENCIES) {
                throw new TooLargeException("the undo has more than " + MAX_DEPENDENCIES + " dependencies");
            }
            tasks.add(spec(own.get(i), task, task.parts().get(i), upstreams));
        }
    }

    /** The tasks of the undo that end the undo of a task. */
    private List<String> last(String key) {
        List<String> own = numbered.getOrDefault(key, List.of());
        Original task = originals.get(key);
        return task == null || own.isEmpty() || task.parallel() ? own : List.of(own.getFirst());
    }

    private static String question(String key) {
        return "{\"question\":\"It is unknown whether task '" + key.replace('\\', ' ').replace('"', ' ')
                + "' was done. Approve if it was: then it is undone. Reject if it was not.\"}";
    }

    private static TaskSpec spec(String id, Original task, Part part, List<String> upstreams) {
        List<StepSpec> steps = new ArrayList<>();
        if (!part.known()) {
            steps.add(new StepSpec(QUESTION, StepKind.APPROVAL, "approval", question(task.key()),
                    RetryPolicy.STEP, QUESTION_TIMEOUT));
        }
        steps.addAll(part.calls());
        Child child = part.child();
        String title = "Undo: " + task.title() + (child != null ? ", run '" + child.name() + "'"
                : part.step() == null ? "" : ", " + part.step());
        return new TaskSpec(id, title.length() <= MAX_TITLE ? title : title.substring(0, MAX_TITLE), null,
                TaskType.OTHER, null, upstreams.stream().map(each -> new Dependency(each, false)).toList(),
                TriggerRule.ALL_DONE, null, null, null, false, steps, null,
                TaskPolicy.DEFAULT.undoing(
                        new Undoes(task.task(), task.key(), part.step(), child == null ? null : child.run())));
    }
}
