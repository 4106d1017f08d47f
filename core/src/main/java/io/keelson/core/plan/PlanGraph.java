package io.keelson.core.plan;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The dependency graph of a plan by task index; unknown upstreams are left out. No recursion: plans may be deep. */
final class PlanGraph {
    private static final int NEW = 0;
    private static final int OPEN = 1;
    private static final int DONE = 2;

    private final Plan plan;
    private final int[][] upstreams;

    PlanGraph(Plan plan, Map<String, Integer> indexOf) {
        this.plan = plan;
        this.upstreams = plan.tasks().stream().map(task -> task.dependsOn().stream().map(d -> indexOf.get(d.task()))
                .filter(i -> i != null).mapToInt(Integer::intValue).toArray()).toArray(int[][]::new);
    }

    /** A cycle's path with its first task repeated at the end, in the direction of depends_on; empty when acyclic. */
    Optional<List<String>> cycle() {
        int[] mark = new int[upstreams.length];
        int[] next = new int[upstreams.length];
        for (int start = 0; start < upstreams.length; start++) {
            Deque<Integer> path = new ArrayDeque<>();
            if (mark[start] == NEW) {
                path.addLast(start);
                mark[start] = OPEN;
            }
            while (!path.isEmpty()) {
                int at = path.getLast();
                if (next[at] == upstreams[at].length) {
                    mark[at] = DONE;
                    path.removeLast();
                    continue;
                }
                int up = upstreams[at][next[at]++];
                if (mark[up] == OPEN) {
                    return Optional.of(pathFrom(path, up));
                }
                if (mark[up] == NEW) {
                    mark[up] = OPEN;
                    path.addLast(up);
                }
            }
        }
        return Optional.empty();
    }

    private List<String> pathFrom(Deque<Integer> path, int start) {
        List<String> names = new ArrayList<>();
        boolean on = false;
        for (int index : path) {
            on |= index == start;
            if (on) {
                names.add(plan.tasks().get(index).id());
            }
        }
        names.add(plan.tasks().get(start).id());
        return names;
    }

    /** Everything that must have ended before a task may start, directly or not. */
    Set<Integer> allUpstreams(int task) {
        Set<Integer> seen = new HashSet<>();
        Deque<Integer> todo = new ArrayDeque<>();
        todo.add(task);
        while (!todo.isEmpty()) {
            for (int up : upstreams[todo.poll()]) {
                if (seen.add(up)) {
                    todo.add(up);
                }
            }
        }
        return seen;
    }
}
