package io.keelson.server.api.http.support;

import io.keelson.server.base.db.Page;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Holds a call open until there is an answer, at most as long as requested, allowed, and the server runs. A key that
 * ends meanwhile is refused: it is checked before each poll.
 */
public final class LongPoll {

    /** How soon a call that waits notices that the server stops or its client is gone. */
    private static final Duration SLICE = Duration.ofMillis(500);

    /** How often a call that waits for rows of the database looks for them. */
    private static final Duration POLL_INTERVAL = Duration.ofMillis(100);

    private final Duration longest;
    private final ShutdownSignal shutdown;
    private final Authenticator authenticator;

    public LongPoll(Duration longest, ShutdownSignal shutdown, Authenticator authenticator) {
        this.longest = longest;
        this.shutdown = shutdown;
        this.authenticator = authenticator;
    }

    public long longestMillis() {
        return longest.toMillis();
    }

    /**
     * Whether the server stops.
     *
     * @throws ApiProblem when the call's key is no longer good
     */
    public boolean isOver(ApiRequest request) {
        authenticator.requireStillOpenTo(request);
        return shutdown.hasBegun();
    }

    /** Waits for the event, at most for the given time, and not longer than the client does. */
    public void await(ApiRequest request, CompletableFuture<?> event, Duration timeout) throws InterruptedException {
        long end = System.nanoTime() + timeout.toNanos();
        while (true) {
            authenticator.requireStillOpenTo(request);
            long left = Math.max(0, end - System.nanoTime());
            try {
                event.get(Math.min(left, SLICE.toNanos()), TimeUnit.NANOSECONDS);
                return;
            } catch (TimeoutException | ExecutionException e) {
                if (left <= SLICE.toNanos() || shutdown.hasBegun() || request.clientGone()) {
                    return;
                }
            }
        }
    }

    /** A source that is polled. */
    public interface Lookup<T> {
        Page<T> look();
    }

    /** Does not wait for a run that is read from the archive: nothing happens in it. */
    public <T> Page<T> look(ApiRequest request, Duration timeout, Lookup<T> source) throws InterruptedException {
        long end = System.nanoTime() + (ArchivedRuns.recalled() == null ? timeout.toNanos() : 0);
        while (true) {
            authenticator.requireStillOpenTo(request);
            Page<T> page = source.look();
            Duration left = Duration.ofNanos(Math.max(0, end - System.nanoTime()));
            if (!page.items().isEmpty() || left.isZero()
                    || shutdown.await(left.compareTo(POLL_INTERVAL) < 0 ? left : POLL_INTERVAL)) {
                return page;
            }
        }
    }
}
