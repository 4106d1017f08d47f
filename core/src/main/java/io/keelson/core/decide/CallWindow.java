package io.keelson.core.decide;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Counts a run's recent calls and their failures per second. All failures of one system that is out of order count as
 * one. Drops seconds before the window.
 */
public final class CallWindow {
    private final Duration length;
    private final Deque<Bucket> buckets = new ArrayDeque<>();
    private @Nullable Instant ignoredUntil;

    private static final class Bucket {
        private final long second;
        private int calls;
        private int errors;
        private final Set<String> systems = new HashSet<>();

        private Bucket(long second) {
            this.second = second;
        }
    }

    CallWindow(Duration length) {
        this.length = length;
    }

    /**
     * Counts calls that ended in one second; in order of time.
     *
     * @param errors failures that do not belong to a named system
     * @param systems that were out of order
     */
    public void add(Instant at, int calls, int errors, Set<String> systems) {
        if (ignoredUntil != null && !at.isAfter(ignoredUntil)) {
            return;
        }
        long second = at.getEpochSecond();
        Bucket last = buckets.peekLast();
        if (last == null || last.second < second) {
            last = new Bucket(second);
            buckets.add(last);
        }
        last.calls += calls;
        last.errors += errors;
        last.systems.addAll(systems);
    }

    /** Forgets all calls so far. */
    void forgive(Instant now) {
        ignoredUntil = now;
        buckets.clear();
    }

    int calls(Instant now) {
        return recent(now).mapToInt(bucket -> bucket.calls).sum();
    }

    int errors(Instant now) {
        return recent(now).mapToInt(bucket -> bucket.errors).sum()
                + (int) recent(now).flatMap(bucket -> bucket.systems.stream()).distinct().count();
    }

    private Stream<Bucket> recent(Instant now) {
        long since = now.minus(length).getEpochSecond();
        while (!buckets.isEmpty() && buckets.peek().second < since) {
            buckets.poll();
        }
        return buckets.stream();
    }
}
