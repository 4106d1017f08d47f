package io.keelson.core.decide;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Counts a run's recent calls and their failures per second. Forgets what is older than the window. */
public final class CallWindow {
    private final Duration length;
    private final Deque<Bucket> buckets = new ArrayDeque<>();
    private @Nullable Instant ignoredUntil;

    private static final class Bucket {
        private final long second;
        private int calls;
        private int errors;

        private Bucket(long second) {
            this.second = second;
        }
    }

    CallWindow(Duration length) {
        this.length = length;
    }

    /** Counts calls that ended in one second; in order of time. */
    public void add(Instant at, int calls, int errors) {
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
        return recent(now).mapToInt(bucket -> bucket.errors).sum();
    }

    private Stream<Bucket> recent(Instant now) {
        long since = now.minus(length).getEpochSecond();
        while (!buckets.isEmpty() && buckets.peek().second < since) {
            buckets.poll();
        }
        return buckets.stream();
    }
}
