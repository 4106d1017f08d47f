package io.keelson.client;

import io.keelson.api.run.Event;
import io.keelson.api.run.Run;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Waiting for one run. Who listens to events polls by ETag, quickly at first and while something happens, slower while
 * nothing does; who wants the end only lets the server hold the call open until then.
 */
final class Await {

    private static final Duration SHORTEST = Duration.ofMillis(50);
    private static final Duration LONGEST = Duration.ofSeconds(1);
    private static final Duration SHORTEST_HELD = Duration.ofMillis(1);
    private static final Duration HELD_OPEN = Duration.ofSeconds(10);
    private static final int EVENTS_AT_A_TIME = 500;

    private final Runs runs;
    private final String id;
    private final Duration limit;
    private final @Nullable Consumer<Event> listener;
    private final long deadline;
    private @Nullable String etag;
    private @Nullable Run latest;
    private @Nullable KeelsonException lost;
    private long lastSeq;

    Await(Runs runs, String id, Duration limit, @Nullable Consumer<Event> listener) {
        this.runs = runs;
        this.id = id;
        this.limit = limit;
        this.listener = listener;
        this.deadline = System.nanoTime() + limit.toNanos();
    }

    Run untilEnd() {
        Backoff backoff = new Backoff(SHORTEST, LONGEST);
        while (true) {
            long asked = System.nanoTime();
            if (look()) {
                backoff.reset();
            }
            boolean heldOpen = System.nanoTime() - asked > LONGEST.toNanos();
            if (latest != null && latest.ended()) {
                return latest;
            }
            long left = deadline - System.nanoTime();
            if (left <= 0) {
                throw KeelsonException.local("AWAIT_TIMEOUT",
                        "run " + id + " has not ended within " + limit.toMillis() / 1000.0
                                + " s; it is " + (latest == null ? "unknown" : latest.state()),
                        lost);
            }
            if (!heldOpen) {
                Duration delay = backoff.next(null);
                Api.pause(delay.toNanos() < left ? delay : Duration.ofNanos(left));
            }
        }
    }

    /** One look; true when something changed. A server that is away is waited for. */
    private boolean look() {
        try {
            boolean changed = readRun();
            return tellEvents() || changed;
        } catch (KeelsonException e) {
            if (!e.isTransient()) {
                throw e;
            }
            lost = e;
            return false;
        }
    }

    /** Reads the run before its events, so that all events of an ended run are delivered. */
    private boolean readRun() {
        HttpReply reply = runs.getIfChanged(id, etag, listener == null ? heldOpen() : Duration.ZERO);
        if (reply.status() == 304) {
            return false;
        }
        latest = Json.document(reply.body(), Run.class);
        etag = reply.etag();
        return etag != null;
    }

    private Duration heldOpen() {
        return heldOpen(Duration.ofNanos(deadline - System.nanoTime()));
    }

    /** For how long the server is asked to hold a call open, of the time that is left: at least 1 ms. */
    static Duration heldOpen(Duration left) {
        Duration some = left.compareTo(SHORTEST_HELD) < 0 ? SHORTEST_HELD : left;
        return some.compareTo(HELD_OPEN) < 0 ? some : HELD_OPEN;
    }

    private boolean tellEvents() {
        if (listener == null) {
            return false;
        }
        long before = lastSeq;
        Page<Event> page;
        do {
            page = runs.events(id, lastSeq, EVENTS_AT_A_TIME);
            for (Event event : page.items()) {
                lastSeq = event.seq();
                listener.accept(event);
            }
        } while (page.nextCursor() != null);
        return lastSeq > before;
    }
}
