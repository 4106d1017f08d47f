package io.keelson.core.plan;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The dependency graph of a plan by task index; unknown upstreams are left out. No recursion: plans may be deep. */
final class PlanGraph {
    private static final int NEW = 0;
    private static final int OPEN = 1;
    private static final int DONE = 2;

    private final Plan plan;
    private final int[][] upstreams;
    private final List<Integer> upstreamsFirst = new ArrayList<>();
    private final @Nullable List<String> cycle;
    private BitSet @Nullable [] closure;

    PlanGraph(Plan plan, Map<String, Integer> indexOf) {
        this.plan = plan;
        this.upstreams = plan.tasks().stream().map(task -> task.dependsOn().stream().map(d -> indexOf.get(d.task()))
                .filter(Objects::nonNull).mapToInt(Integer::intValue).toArray()).toArray(int[][]::new);
        this.cycle = walk();
    }

    /** A cycle's path with its first task repeated at the end, in the direction of depends_on; empty when acyclic. */
    Optional<List<String>> cycle() {
        return Optional.ofNullable(cycle);
    }

    /**
     * Whether one task must have ended before another may start, directly or not.
     *
     * @throws IllegalStateException when the graph has a cycle
     */
    boolean isUpstream(int upstream, int task) {
        for (int direct : upstreams[task]) {
            if (direct == upstream) {
                return true;
            }
        }
        return closure()[task].get(upstream);
    }

    /** Depth first; orders the tasks until it meets a cycle, whose path it returns. */
    private @Nullable List<String> walk() {
        int[] mark = new int[upstreams.length];
        int[] next = new int[upstreams.length];
        Deque<Integer> path = new ArrayDeque<>();
        for (int start = 0; start < upstreams.length; start++) {
            if (mark[start] == NEW) {
                path.addLast(start);
                mark[start] = OPEN;
            }
            while (!path.isEmpty()) {
                int at = path.getLast();
                if (next[at] == upstreams[at].length) {
                    mark[at] = DONE;
                    upstreamsFirst.add(path.removeLast());
                    continue;
                }
                int up = upstreams[at][next[at]++];
                if (mark[up] == OPEN) {
                    return pathFrom(path, up);
                }
                if (mark[up] == NEW) {
                    mark[up] = OPEN;
                    path.addLast(up);
                }
            }
        }
        return null;
    }

    private List<String> pathFrom(Deque<Integer> path, int start) {
        List<String> names = new ArrayList<>();
        path.stream().dropWhile(index -> index != start).forEach(index -> names.add(plan.tasks().get(index).id()));
        names.add(plan.tasks().get(start).id());
        return names;
    }

    /** All upstreams of every task as bits: 12 MB and one pass over the edges for 10,000 tasks, where sets are 2 GB. */
    private BitSet[] closure() {
        if (cycle != null) {
            throw new IllegalStateException("a cycle has no order: " + cycle);
        }
        if (closure == null) {
            BitSet[] all = new BitSet[upstreams.length];
            for (int task : upstreamsFirst) {
                all[task] = new BitSet(upstreams.length);
                for (int up : upstreams[task]) {
                    all[task].set(up);
                    all[task].or(all[up]);
                }
            }
            closure = all;
        }
        return closure;
    }
}
