package io.keelson.server.engine.store;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Lower bounds of {@code queued_at}, by queue. While a snapshot of the database stays open, removed rows stay in the index of the
 * queue, and each search from the beginning of a queue reads them again. From the moment at which a survey of all queues has read
 * many blocks, searches begin at the floors; below them the last poll has found no unclaimed row.
 *
 * <p>Rows may come below a floor. A row of this node lowers it. The next survey, which reads whole queues, finds the rows of other
 * nodes. Surveys take at most a part of 1 / {@value #SHARE} of the time. Pure, and thread-safe.
 */
final class QueueFloors {
    /** Known queues; with more of them, searches are as if there were no floors. */
    static final int MAX_QUEUES = 2_000;
    static final int SHARE = 200;
    static final Duration SURVEY_INTERVAL = Duration.ofSeconds(5);
    static final Duration LONGEST_WAIT = Duration.ofMinutes(1);
    /** A queue without unclaimed rows is known for that long. */
    static final Duration KEPT = Duration.ofMinutes(10);

    /** Blocks that a poll and a survey read in a queue without removed rows, at most: in all, and for each queue. */
    private static final int BLOCKS = 60;
    private static final int BLOCKS_OF_QUEUE = 8;

    /** A range of the queue's index. */
    record Queue(UUID workspaceId, String tool, String model, int priority) {}

    /** No unclaimed row of the queue was seen below this time. */
    record Floor(Queue queue, Instant from) {}

    /** The extent of a poll. */
    enum Extent {
        /** Due times from the beginning, and the first unclaimed row. */
        WHOLE,
        /** Due times from the beginning, and all queues. */
        SURVEY,
        /** Recent due times, and known queues from their floors. */
        BOUNDED
    }

    private static final class Known {
        private Instant from;
        /** The lowest row since the current poll has begun; null if absent. */
        private @Nullable Instant put;
        private long seen;

        private Known(Instant from) {
            this.from = from;
        }
    }

    private final Map<Queue, Known> known = new HashMap<>();
    private boolean bounded;
    private boolean polling;
    private boolean surveyed;
    private long nextSurvey;

    /** Whether searches begin at the floors. */
    synchronized boolean bounded() {
        return bounded;
    }

    /** The floors of the workspace's queues for these tools. */
    synchronized List<Floor> floors(@Nullable UUID workspace, Collection<String> tools) {
        Set<String> wanted = new HashSet<>(tools);
        List<Floor> floors = new ArrayList<>();
        known.forEach((queue, each) -> {
            if ((workspace == null || workspace.equals(queue.workspaceId)) && wanted.contains(queue.tool)) {
                floors.add(new Floor(queue, each.from));
            }
        });
        return floors;
    }

    synchronized List<Floor> floors() {
        return known.entrySet().stream().map(each -> new Floor(each.getKey(), each.getValue().from)).toList();
    }

    /** Begins a poll, which {@link #end} ends. A poll that begins during another one changes no floor. */
    synchronized Extent begin(long nanos) {
        if (polling) {
            return Extent.WHOLE;
        }
        if (surveyed && nanos - nextSurvey < 0) {
            if (!bounded) {
                return Extent.WHOLE;
            }
            polling = true;
            known.values().forEach(each -> each.put = null);
            return Extent.BOUNDED;
        }
        polling = true;
        known.values().forEach(each -> each.put = null);
        return Extent.SURVEY;
    }

    /** Ends a poll that has changed floors, or has failed. */
    synchronized void end(Extent extent) {
        polling &= extent == Extent.WHOLE;
    }

    /** This node has put an unclaimed row into the queue. */
    synchronized void put(Queue queue, Instant queuedAt, long nanos) {
        Known of = known.get(queue);
        if (of == null) {
            if (known.size() >= MAX_QUEUES) {
                reset(nanos);
            }
            of = new Known(queuedAt);
            known.put(queue, of);
        }
        of.from = earlier(of.from, queuedAt);
        of.put = of.put == null ? queuedAt : earlier(of.put, queuedAt);
        of.seen = nanos;
    }

    /**
     * A survey has found these queues.
     *
     * @param empty the floor of queues without an unclaimed row
     * @param blocks that the poll and the survey have read
     * @param began before the poll
     */
    synchronized void surveyed(List<Floor> found, Instant empty, long blocks, long began, long nanos) {
        known.values().forEach(each -> each.from = lowest(empty, each));
        found.forEach(floor -> raise(floor, nanos));
        known.values().removeIf(each -> each.put == null && nanos - each.seen > KEPT.toNanos());
        surveyed = true;
        if (known.size() > MAX_QUEUES) {
            reset(nanos);
        } else {
            bounded = blocks > BLOCKS + (long) BLOCKS_OF_QUEUE * found.size();
        }
        long wait = Math.min(SHARE * (nanos - began), LONGEST_WAIT.toNanos());
        nextSurvey = nanos + (bounded ? wait : Math.max(wait, SURVEY_INTERVAL.toNanos()));
    }

    /** A bounded poll has found these floors; {@code ready} are the queues with an unclaimed row. */
    synchronized void advanced(List<Floor> floors, Set<Queue> ready, long nanos) {
        for (Floor floor : floors) {
            Known of = known.get(floor.queue);
            if (of != null) {
                of.from = lowest(floor.from, of);
                of.seen = ready.contains(floor.queue) ? nanos : of.seen;
            }
        }
    }

    private void raise(Floor floor, long nanos) {
        Known of = known.computeIfAbsent(floor.queue, queue -> new Known(floor.from));
        of.from = lowest(floor.from, of);
        of.seen = nanos;
    }

    /** The floor that a poll has found, or a row that came meanwhile. */
    private static Instant lowest(Instant found, Known of) {
        return of.put == null ? found : earlier(found, of.put);
    }

    private void reset(long nanos) {
        known.clear();
        bounded = false;
        nextSurvey = nanos + SURVEY_INTERVAL.toNanos();
    }

    private static Instant earlier(Instant a, Instant b) {
        return a.isBefore(b) ? a : b;
    }
}
