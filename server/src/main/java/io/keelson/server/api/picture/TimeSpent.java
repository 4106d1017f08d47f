package io.keelson.server.api.picture;

import io.keelson.server.api.picture.Stretch.Kind;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * The time of a run by what its tasks did, each moment once.
 *
 * @param millis by kind; the first kind that any task has at a moment counts
 * @param other of no task: before a plan was there, between attempts, while the run was paused
 * @param idle stretches in which nothing was executed or queued, in order
 */
public record TimeSpent(Map<Kind, Long> millis, long other, List<Idle> idle) {

    /** Times in milliseconds since 1970. */
    public record Idle(long from, long to) {}

    /** @param change +1 where a stretch begins, -1 where it ends */
    private record Edge(long at, Kind kind, int change) {}

    /** Stretches of all tasks, in any order, between two times. */
    public static TimeSpent of(List<Stretch> stretches, long from, long to) {
        List<Edge> edges = new ArrayList<>(stretches.size() * 2);
        for (Stretch each : stretches) {
            long begin = Math.max(from, each.from());
            long end = Math.min(to, each.to());
            if (end > begin) {
                edges.add(new Edge(begin, each.kind(), 1));
                edges.add(new Edge(end, each.kind(), -1));
            }
        }
        edges.sort((a, b) -> Long.compare(a.at, b.at));
        return new Sweep(from).over(edges, to);
    }

    private static final class Sweep {
        private final int[] open = new int[Kind.values().length];
        private final Map<Kind, Long> millis = new EnumMap<>(Kind.class);
        private final List<Idle> idle = new ArrayList<>();
        private long other;
        private long at;

        private Sweep(long from) {
            at = from;
        }

        private TimeSpent over(List<Edge> edges, long to) {
            for (Edge edge : edges) {
                until(edge.at);
                open[edge.kind.ordinal()] += edge.change;
            }
            until(Math.max(at, to));
            return new TimeSpent(millis, other, idle);
        }

        private void until(long next) {
            if (next <= at) {
                return;
            }
            Kind kind = null;
            for (int i = open.length - 1; i >= 0; i--) {
                if (open[i] > 0) {
                    kind = Kind.values()[i];
                }
            }
            if (kind == null) {
                other += next - at;
            } else {
                millis.merge(kind, next - at, Long::sum);
            }
            if (kind == null || kind.compareTo(Kind.QUEUED) > 0) {
                boolean joins = !idle.isEmpty() && idle.getLast().to() == at;
                Idle before = joins ? idle.removeLast() : new Idle(at, at);
                idle.add(new Idle(before.from(), next));
            }
            at = next;
        }
    }
}
