package io.keelson.server.annex.model.gateway;

import io.keelson.server.api.http.gateway.GatewayError;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A request that was sent to a provider, and its answer as far as clients have not read it. Read to its end also when its client is gone;
 * further clients with the same request follow it. Of an answer that is recorded, and of events that all have read, nothing stays in
 * memory.
 */
final class Exchange {
    private final UUID id;
    private final boolean streamed;
    private final Set<Follower> followers = new HashSet<>();
    /** Events from the number {@link #first}. */
    private final Deque<byte[]> events = new ArrayDeque<>();
    private int first;
    /** The number of the first event that is held. */
    private int passing;
    private boolean recorded;
    /** The recorded answer, as long as it has followers. */
    private @Nullable JsonNode answer;
    private @Nullable GatewayError error;
    private long maxOutput;

    /** @param streamed whether the provider streams the answer */
    Exchange(UUID id, boolean streamed) {
        this.id = id;
        this.streamed = streamed;
    }

    /** Events that have passed since an earlier read. */
    record News(List<byte[]> events, boolean ended) {}

    /** A client of the answer. */
    static final class Follower {
        private final boolean live;
        private int next;

        private Follower(boolean live) {
            this.live = live;
        }

        /** Whether it gets the events as they pass; the beginning is in memory no more for others, which wait for the answer. */
        boolean live() {
            return live;
        }
    }

    UUID id() {
        return id;
    }

    /** A further client; null if the record has the answer. */
    synchronized @Nullable Follower follow() {
        if (recorded && answer == null) {
            return null;
        }
        Follower follower = new Follower(streamed && first == 0);
        followers.add(follower);
        return follower;
    }

    /** The client has the answer, or is gone. */
    synchronized void leave(Follower follower) {
        followers.remove(follower);
        forget();
    }

    boolean streamed() {
        return streamed;
    }

    /** The output that is paid, if the program requests more; else 0. */
    synchronized long maxOutput() {
        return maxOutput;
    }

    synchronized void lower(long tokens) {
        maxOutput = tokens;
    }

    /** Adds an event, which passes unless it is held until the end. */
    synchronized void add(byte[] event, boolean held) {
        events.add(event);
        if (!held) {
            passing = first + events.size();
            notifyAll();
        }
        forget();
    }

    /** The answer is recorded. */
    synchronized void record(JsonNode whole) {
        recorded = true;
        answer = whole;
        passing = first + events.size();
        forget();
        notifyAll();
    }

    /** No answer comes. */
    synchronized void fail(GatewayError reason) {
        error = reason;
        notifyAll();
    }

    /** Whether no answer comes. */
    synchronized boolean failed() {
        return error != null;
    }

    private void forget() {
        int unread = first + events.size();
        for (Follower each : followers) {
            unread = each.live ? Math.min(unread, each.next) : unread;
        }
        while (first < unread) {
            events.removeFirst();
            first++;
        }
        if (followers.isEmpty()) {
            answer = null;
        }
    }

    /**
     * Waits for the first event of a stream, or for the end.
     *
     * @throws GatewayError if there is no answer
     */
    synchronized void awaitBeginning() throws GatewayError, InterruptedException {
        while (!recorded && error == null && passing == 0) {
            wait();
        }
        if (error != null && passing == 0) {
            throw error;
        }
    }

    /**
     * Waits for the recorded answer; null after the time.
     *
     * @throws GatewayError if there is none
     */
    synchronized @Nullable JsonNode await(Duration atMost) throws GatewayError, InterruptedException {
        long end = System.nanoTime() + atMost.toNanos();
        long left = atMost.toMillis();
        while (answer == null && error == null && left > 0) {
            wait(left);
            left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
        }
        if (error != null) {
            throw error;
        }
        return answer;
    }

    /**
     * Further events for a live follower, at the latest after the time.
     *
     * @throws GatewayError if the answer has broken off
     */
    synchronized News after(Follower follower, Duration atMost) throws GatewayError, InterruptedException {
        long end = System.nanoTime() + atMost.toNanos();
        long left = atMost.toMillis();
        while (passing <= follower.next && !recorded && error == null && left > 0) {
            wait(left);
            left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
        }
        if (error != null) {
            throw error;
        }
        List<byte[]> news = events.stream().skip(follower.next - first).limit(passing - follower.next).toList();
        follower.next = passing;
        forget();
        return new News(news, recorded);
    }
}
