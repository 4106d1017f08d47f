package io.keelson.server.api.picture;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The tasks of a plan as at most {@value #MAX} boxes: items of one fan-out are one box; then, as long as there are too many, tasks
 * with the same dependencies and dependents, tasks in a row, and whole layers are.
 */
public final class TaskGraph {

    /** At most so many boxes, unless boxes are expanded. */
    public static final int MAX = 300;

    /** At most so many tasks of an expanded box; the others are one box. */
    static final int MAX_EXPANDED = 100;

    private static final int LEAST = 3;

    /** @param group the number of the task whose item this task is; -1 if absent */
    public record Task(String key, String title, int group) {}

    /**
     * @param id stable for one plan; that of a single task is its key
     * @param kind {@code task}, {@code group}, {@code alike}, {@code chain}, {@code layers} or {@code rest}
     * @param expandable whether it can be shown as its tasks
     * @param tasks their numbers in plan order; the task that fanned out is not among them
     */
    public record Box(String id, String title, String kind, boolean expandable, int[] tasks) {

        static Box of(int number, Task task) {
            return new Box(task.key(), task.title().isEmpty() ? task.key() : task.title(), "task", false,
                    new int[] {number});
        }
    }

    /**
     * A picture of the plan.
     *
     * @param edges pairs of boxes
     */
    public record Picture(List<Box> boxes, int[][] edges, Layout layout) {}

    private final Set<String> expanded;
    private List<Box> boxes;
    private Graph graph;

    private TaskGraph(List<Box> boxes, Graph graph, Set<String> expanded) {
        this.boxes = boxes;
        this.graph = graph;
        this.expanded = expanded;
    }

    /**
     * @param tasks in plan order
     * @param edges pairs of an upstream's number and that of the task that depends on it
     * @param expanded ids of boxes that are shown as their tasks
     */
    public static Picture picture(List<Task> tasks, int[][] edges, Set<String> expanded) {
        TaskGraph all = fannedOut(tasks, edges, expanded);
        if (all.boxes.size() > MAX) {
            all.merge("alike", all.alike());
        }
        if (all.boxes.size() > MAX) {
            all.merge("chain", all.chains());
        }
        if (all.boxes.size() > MAX) {
            all.merge("layers", all.bands());
        }
        return new Picture(all.boxes, all.graph.edges(), Layout.of(all.graph));
    }

    /** Each fan-out is one box, or its first items and the others. */
    private static TaskGraph fannedOut(List<Task> tasks, int[][] edges, Set<String> expanded) {
        int[] boxOf = new int[tasks.size()];
        Arrays.fill(boxOf, -1);
        Map<Integer, List<Integer>> items = new HashMap<>();
        for (int i = 0; i < tasks.size(); i++) {
            if (tasks.get(i).group() >= 0) {
                items.computeIfAbsent(tasks.get(i).group(), _ -> new ArrayList<>()).add(i);
            }
        }
        List<Box> boxes = new ArrayList<>();
        for (int i = 0; i < tasks.size(); i++) {
            Task task = tasks.get(i);
            List<Integer> own = items.get(i);
            String id = "group:" + task.key();
            if (own == null && task.group() < 0) {
                boxOf[i] = boxes.size();
                boxes.add(Box.of(i, task));
            } else if (own != null && !expanded.contains(id)) {
                own.add(i);
                place(boxOf, own, boxes.size());
                own.removeLast();
                boxes.add(new Box(id, Box.of(i, task).title(), "group", true, numbers(own)));
            } else if (own != null) {
                List<Integer> first = own.subList(0, Math.min(own.size(), MAX_EXPANDED));
                first.forEach(item -> {
                    boxOf[item] = boxes.size();
                    boxes.add(Box.of(item, tasks.get(item)));
                });
                boxOf[i] = boxes.size() - 1;
                if (own.size() > first.size()) {
                    List<Integer> others = own.subList(first.size(), own.size());
                    place(boxOf, others, boxes.size());
                    boxes.add(new Box("rest:" + task.key(), Box.of(i, task).title(), "rest", false, numbers(others)));
                }
            }
        }
        // Items depend on what their fan-out depends on, and what depends on it waits for all items.
        List<int[]> ways = new ArrayList<>(List.of(edges));
        items.forEach((parent, own) -> {
            if (expanded.contains("group:" + tasks.get(parent).key())) {
                for (int[] edge : edges) {
                    own.stream().filter(item -> boxOf[item] != boxOf[parent]).forEach(item -> {
                        if (edge[1] == parent) {
                            ways.add(new int[] {edge[0], item});
                        } else if (edge[0] == parent) {
                            ways.add(new int[] {item, edge[1]});
                        }
                    });
                }
            }
        });
        Graph whole = new Graph(tasks.size(), ways.toArray(int[][]::new));
        return new TaskGraph(boxes, whole.grouped(boxOf, boxes.size()), expanded);
    }

    private static void place(int[] boxOf, List<Integer> tasks, int box) {
        tasks.forEach(task -> boxOf[task] = box);
    }

    private static int[] numbers(List<Integer> list) {
        return list.stream().mapToInt(Integer::intValue).toArray();
    }

    /** Merges boxes with an equal name of their group; null keeps a box alone. Groups of a few stay as they are. */
    private void merge(String kind, IntFunction<@Nullable Object> groupOf) {
        Map<Object, List<Integer>> groups = new HashMap<>();
        for (int i = 0; i < boxes.size(); i++) {
            Object group = groupOf.apply(i);
            if (group != null) {
                groups.computeIfAbsent(group, _ -> new ArrayList<>()).add(i);
            }
        }
        int[] next = new int[boxes.size()];
        List<Box> merged = new ArrayList<>();
        Map<Object, Integer> known = new HashMap<>();
        for (int i = 0; i < boxes.size(); i++) {
            Object group = groupOf.apply(i);
            List<Integer> members = group == null ? List.of() : Objects.requireNonNull(groups.get(group));
            boolean together =
                    members.size() >= LEAST && !expanded.contains(kind + ":" + boxes.get(members.getFirst()).id());
            if (together && known.containsKey(group)) {
                next[i] = known.get(group);
                continue;
            }
            next[i] = merged.size();
            if (together) {
                known.put(group, merged.size());
                merged.add(together(kind, members));
            } else {
                merged.add(boxes.get(i));
            }
        }
        graph = graph.grouped(next, merged.size());
        boxes = merged;
    }

    private Box together(String kind, List<Integer> members) {
        Box first = boxes.get(members.getFirst());
        Box last = boxes.get(members.getLast());
        int[] tasks = members.stream().flatMapToInt(each -> Arrays.stream(boxes.get(each).tasks())).sorted().toArray();
        return new Box(kind + ":" + first.id(), first.title() + " … " + last.title(), kind,
                members.size() <= MAX_EXPANDED, tasks);
    }

    private IntFunction<@Nullable Object> alike() {
        int[][] ups = graph.upstreams();
        int[][] downs = graph.downstreams();
        return box -> List.of(sorted(ups[box]), sorted(downs[box]));
    }

    private static List<Integer> sorted(int[] ends) {
        return Arrays.stream(ends).sorted().boxed().toList();
    }

    /** The first box of the row of boxes that each box is in: each has one dependency and one dependent in it. */
    private IntFunction<@Nullable Object> chains() {
        int[][] ups = graph.upstreams();
        int[][] downs = graph.downstreams();
        int[] head = new int[boxes.size()];
        Integer[] byLayer = new Integer[boxes.size()];
        Arrays.setAll(byLayer, i -> i);
        int[] layers = graph.layers();
        Arrays.sort(byLayer, (a, b) -> Integer.compare(layers[a], layers[b]));
        for (int box : byLayer) {
            boolean follows = ups[box].length == 1 && downs[ups[box][0]].length == 1;
            head[box] = follows ? head[ups[box][0]] : box;
        }
        return box -> head[box];
    }

    /** Neighbouring layers, as many as make few boxes. */
    private IntFunction<@Nullable Object> bands() {
        int[] layers = graph.layers();
        int deepest = Arrays.stream(layers).max().orElse(0) + 1;
        int width = (deepest + MAX - 1) / MAX;
        return box -> layers[box] / width;
    }

    /** Ids of boxes in a stable order, as part of a key of a cache. */
    public static String key(Set<String> expanded) {
        return String.join("\n", new TreeSet<>(expanded));
    }
}
