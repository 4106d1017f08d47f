package io.keelson.server.annex.model.gateway;

import io.keelson.server.api.http.gateway.GatewayError;
import io.keelson.server.base.json.DocumentMemory;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A request that was sent to a provider, and its answer as far as clients have not read it. Read to its end also when its client is gone;
 * further clients with the same request follow it. Of an answer that is recorded, and of events that all have read, nothing stays in
 * memory. If there is no memory for unread events, the answer is read no further for a while; then the slowest client gets no further events.
 */
final class Exchange {
    /** Bytes of unread events for which no memory is taken, as clients that read fast leave so many. */
    static final int UNCOUNTED = 8 << 10;
    /** About the bytes of events that a follower gets at a time, and that its client may not have read. */
    static final int BATCH = 8 << 10;
    private static final long MEMORY_POLL_MILLIS = 50;
    private static final int UNAVAILABLE = 503;

    private final UUID id;
    private final boolean streamed;
    private final DocumentMemory.Share memory;
    /** Left of the time for which all of the answer waits for clients that read slowly. */
    private long patienceNanos;
    private final Set<Follower> followers = new HashSet<>();
    /** Events from the number {@link #first}. */
    private final Deque<byte[]> events = new ArrayDeque<>();
    private int first;
    /** The number of the first event that is held. */
    private int passing;
    /** Bytes of {@link #events}. */
    private long unread;
    /** Bytes of them for which memory is taken. */
    private long taken;
    private boolean recorded;
    /** The recorded answer, as long as it has followers. */
    private @Nullable JsonNode answer;
    private @Nullable GatewayError error;
    private long maxOutput;

    /**
     * @param streamed whether the provider streams the answer
     * @param memory for events that clients have not read
     * @param patience for clients that read slowly, while there is no memory
     */
    Exchange(UUID id, boolean streamed, DocumentMemory.Share memory, Duration patience) {
        this.id = id;
        this.streamed = streamed;
        this.memory = memory;
        this.patienceNanos = patience.toNanos();
    }

    /** Events that have passed since an earlier read. */
    record News(List<byte[]> events, boolean ended) {}

    /** A client of the answer. */
    static final class Follower {
        private final boolean live;
        private int next;
        private boolean cutOff;

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

    /** Adds an event, which passes unless it is held until the end. Waits for memory while clients read slowly. */
    synchronized void add(byte[] event, boolean held) {
        events.add(event);
        unread += event.length;
        if (!held) {
            passing = first + events.size();
            notifyAll();
        }
        forget();
        while (!takesMemory()) {
            if (!awaitsReaders()) {
                cutOffSlowest();
                notifyAll();
            }
            forget();
        }
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
        int needed = first + events.size();
        for (Follower each : followers) {
            needed = each.live && !each.cutOff ? Math.min(needed, each.next) : needed;
        }
        while (first < needed) {
            unread -= events.removeFirst().length;
            first++;
        }
        long counted = Math.max(0, unread - UNCOUNTED);
        if (counted < taken) {
            memory.giveBack(taken - counted);
            taken = counted;
        }
        if (followers.isEmpty()) {
            answer = null;
        }
    }

    /** Takes memory for all unread events; false if the memory is used up. */
    private boolean takesMemory() {
        long counted = Math.max(0, unread - UNCOUNTED);
        if (counted > taken) {
            try {
                memory.take(counted - taken);
            } catch (DocumentMemory.FullException e) {
                return false;
            }
            taken = counted;
        }
        return true;
    }

    /** Waits a little for clients of this and of other answers; false once the time for that is over. */
    @SuppressWarnings("WaitNotInLoop")
    private boolean awaitsReaders() {
        if (patienceNanos <= 0) {
            return false;
        }
        long begun = System.nanoTime();
        try {
            wait(MEMORY_POLL_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
        patienceNanos -= System.nanoTime() - begun;
        return true;
    }

    /** The client that has read least gets no more. */
    private void cutOffSlowest() {
        followers.stream().filter(each -> each.live && !each.cutOff).min(Comparator.comparingInt(each -> each.next))
                .ifPresent(each -> each.cutOff = true);
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
     * @throws GatewayError if the answer has broken off, or {@code answer_unread}
     */
    synchronized News after(Follower follower, Duration atMost) throws GatewayError, InterruptedException {
        long end = System.nanoTime() + atMost.toNanos();
        long left = atMost.toMillis();
        while (passing <= follower.next && !follower.cutOff && !recorded && error == null && left > 0) {
            wait(left);
            left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
        }
        if (error != null) {
            throw error;
        }
        if (follower.cutOff) {
            throw new GatewayError(UNAVAILABLE, "answer_unread",
                    "unread answers of the workspace have too many bytes at this"
                            + " server; this one is read to its end and recorded: send the request again");
        }
        List<byte[]> news = new ArrayList<>();
        Iterator<byte[]> rest = events.stream().skip(follower.next - first).iterator();
        for (int bytes = 0; follower.next < passing && bytes < BATCH; follower.next++) {
            byte[] event = rest.next();
            news.add(event);
            bytes += event.length;
        }
        forget();
        notifyAll();
        return new News(news, recorded && follower.next == passing);
    }
}
